"""The layers hold, and importing the package costs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

HEAVY = (
    *("inspect_ai", "polars", "numpy", "scipy", "altair", "resvg_py", "jinja2"),
    *("fastapi", "uvicorn", "pydantic", "yaml", "ray", "gymnasium"),
)
KNOWS_SCENARIOS = ("pydantic", "yaml")
"""What a command group may load that only says what it does: its options are made of core types."""


def test_contracts_hold() -> None:
    """No module imports from a layer above it, or a package that another part owns."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["careeval", "careeval.errors"])
def test_import_is_light(module: str) -> None:
    """Importing the package, or its errors, loads none of the heavy packages."""
    code = f"import sys, {module}; print(*(name for name in {HEAVY} if name in sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []


@pytest.mark.parametrize("group", ["study", "audit"])
def test_help_of_a_group_is_light(group: str) -> None:
    """`careeval study --help` and `careeval audit --help` load nothing that counts or serves."""
    names = tuple(name for name in HEAVY if name not in KNOWS_SCENARIOS)
    code = (
        f"import sys; from careeval.cli.app import run; assert run(['{group}', '--help']) == 0; "
        f"print('loaded:', *(name for name in {names} if name in sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "loaded:"


def test_bank_knows_no_inspect() -> None:
    """Loading a bank of scenarios loads neither Inspect, polars and jinja2 nor the worlds."""
    code = (
        "import sys, careeval; careeval.load_bank(); "
        "unwanted = ('inspect_ai', 'polars', 'jinja2', 'careeval.worlds'); "
        "print(*(name for name in unwanted if name in sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
