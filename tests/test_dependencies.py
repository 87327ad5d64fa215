"""Tests of the declared dependencies: what is imported is declared."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]

COMES_WITH = {"pydantic-core"}
"""Distributions that a declared one asks for in exactly one version."""


def imported() -> dict[str, Path]:
    """Return every package of others that `src` imports, with a module that does."""
    packages: dict[str, Path] = {}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            packages |= {name.partition(".")[0]: path for name in names}
    own = {*sys.stdlib_module_names, "careeval", "_typeshed"}
    return {name: path for name, path in packages.items() if name not in own}


def test_every_import_is_declared() -> None:
    """A package that only comes with another one may go when that one changes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = [*project["dependencies"], *(line for extra in extras for line in extra)]
    names = {_normal(re.match(r"[\w.-]+", line)[0]) for line in declared}  # type: ignore[index]
    distributions = packages_distributions()
    undeclared = {
        name: path.name
        for name, path in imported().items()
        if names.isdisjoint(_normal(each) for each in distributions.get(name, [name]))
        and not any(_normal(each) in COMES_WITH for each in distributions.get(name, [name]))
    }
    assert not undeclared


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
