"""The page on the architecture names only what exists, and every layer."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache, reduce
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "careeval"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

_TOP = "|".join(
    sorted(path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py")
)
_CODE = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL))
PATHS = sorted({code for code in _CODE if re.fullmatch(r"[\w.-]+/[\w./-]*|\w+\.(py|toml)", code)})
NAMES = sorted({code for code in _CODE if re.fullmatch(rf"(?:{_TOP})(?:\.[A-Za-z_]+)+", code)})
NAMES = [name for name in NAMES if name not in PATHS]
IN_FOLDERS = [
    (name, folder)
    for names, folder in re.findall(r"((?:`\w+`(?: and )?)+) in `([\w/]+)/`", PAGE)
    for name in re.findall(r"\w+", names.replace(" and ", " "))
]
"""Name of a function, class or constant, and the folder in which some module has it."""


def _tree() -> list[str]:
    """Return the paths that the map shows, below the package."""
    tree = re.search(r"```text\nsrc/careeval/\n(.*?)```", PAGE, re.DOTALL)
    assert tree is not None
    paths: list[str] = []
    parent = ""
    for line in tree[1].splitlines():
        indent, names = re.fullmatch(r"([│ ]*[├└]── )((?:[\w.]+/?(?:, )?)+) .*", line).groups()  # type: ignore[union-attr]
        for name in names.split(", "):
            paths.append(name if len(indent) == 4 else f"{parent}{name}")
        parent = names if len(indent) == 4 else parent
    return paths


@cache
def _defined(folder: str) -> frozenset[str]:
    """Return the names that modules of a folder define at their top level."""
    names: set[str] = set()
    for path in (PACKAGE / folder).rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    names.add(node.name)
                case ast.Assign():
                    names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
                case ast.AnnAssign(target=ast.Name(id=name)):
                    names.add(name)
    return frozenset(names)


def test_the_page_names_code() -> None:
    """The patterns of this file find what the page names."""
    assert len(PATHS) > 40
    assert len(NAMES) > 15
    assert len(IN_FOLDERS) >= 4


@pytest.mark.parametrize("path", PATHS)
def test_path_exists(path: str) -> None:
    """A path of the page leads to a file or folder of the package or of the repository."""
    assert (PACKAGE / path).exists() or (ROOT / path).exists()


@pytest.mark.parametrize("name", NAMES)
def test_name_exists(name: str) -> None:
    """A dotted name of the page is a function, class or constant of that module."""
    *parts, last = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(["careeval", *parts[:n]]))
        except ModuleNotFoundError:
            continue
        assert reduce(getattr, [*parts[n:], last], module) is not None
        return
    pytest.fail(f"no module of careeval begins {name}")


@pytest.mark.parametrize(("name", "folder"), IN_FOLDERS)
def test_name_is_in_its_folder(name: str, folder: str) -> None:
    """A name that the page places in a folder is defined by a module below it."""
    assert name in _defined(folder)


def test_map_shows_every_package() -> None:
    """The map has every package and top-level module, and nothing that is not there."""
    shown = _tree()
    assert [path for path in shown if not (PACKAGE / path).exists()] == []
    packages = {
        path.parent.relative_to(PACKAGE).as_posix() + "/"
        for path in PACKAGE.rglob("__init__.py")
        if path.parent != PACKAGE
    }
    # these stand in the line of the package that holds them
    within = {
        "modes/response/",
        "cli/audit/",
        "cli/bank/",
        "cli/plan/",
        "cli/study/",
    }
    assert packages - within <= set(shown)


def test_layers_are_those_of_the_contract() -> None:
    """The page has the layers that are checked, in their order."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        each for each in settings["tool"]["importlinter"]["contracts"] if each["type"] == "layers"
    )
    section = PAGE.partition("## The layers")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert [row.replace("`", "").split(", ") for row in rows] == [
        layer.split(" | ") for layer in contract["layers"]
    ]
