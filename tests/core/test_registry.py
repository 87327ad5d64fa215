"""Registries list names without importing, and import a part that is looked up."""

from __future__ import annotations

import subprocess
import sys

import pytest

from careeval.core.registry import Registry


def test_a_part_is_imported_when_it_is_looked_up() -> None:
    """Names are listed without importing the modules of their parts."""
    code = (
        "import sys; from careeval.core.registry import Registry; "
        "parts = Registry({'here': 1, 'there': 'colorsys:ONE_THIRD'}); "
        "assert (*parts, len(parts)) == ('here', 'there', 2); assert 'there' in parts; "
        "assert parts['here'] == 1; assert 'colorsys' not in sys.modules; "
        "print(parts['there'])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.startswith("0.333")


def test_an_unknown_name_is_a_key_error() -> None:
    """A registry is a mapping: it holds what it lists."""
    with pytest.raises(KeyError, match="other"):
        Registry({"here": 1})["other"]
