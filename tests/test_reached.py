"""Every definition of the package is reached: by a command, a script, a page, or its public names.

A function, class or constant is reached where something reached says it, under the name that it was
defined or imported by; a method, where something reached says its name of anything at all.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

REGISTERS = re.compile(
    r"\b(command|default|get|hooks|modelapi|post|scorer|solver|task|model_validator|field_serializer)\b"
)
"""Decorators by which a framework comes to call what stands below them."""

ALLOWED = {
    "Inspect calls it": "._create_http_client .completion_params .connection_key"
    " .handle_bad_request .on_before_model_generate .on_model_retry .on_run_end .on_sample_end"
    " .schema_exclude_fields",
    "asyncio, h11 or uvicorn calls it": ".connection_lost .connection_made .data_received"
    " .handle_events .next_event .on_response_complete .send_400_response .startup",
    "it makes schemas that the package ships": "careeval.bank.schema:write_schemas",
}
"""What nothing here says by its name, by the reason why it is there all the same."""


class Code:
    """The names that each definition of some files uses, by its place, `module:name`."""

    def __init__(self) -> None:
        self.defined: set[str] = set()
        self.says: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, code: str, module: str) -> None:
        """Add a file; what it says outside of its definitions is said by the empty place."""
        tree = ast.parse(code)
        self.module, self.imported = module, dict[str, str]()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.imported[alias.asname or alias.name] = f"{node.module}:{alias.name}"
        for name, place in self.imported.items():
            self.says[f"{module}:{name}"].add(place)
        self._add(tree.body, "")

    def _add(self, body: Iterable[ast.stmt], owner: str) -> None:
        for node in body:
            match node:
                case ast.Import() | ast.ImportFrom() | ast.Assign(targets=[ast.Name(id="__all__")]):
                    pass
                case ast.ClassDef(name=name):
                    place = self._place(node, name, owner)
                    self.says[place].update(
                        self._said([*node.bases, *node.keywords, *node.decorator_list])
                    )
                    self._add(node.body, place)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    self.says[self._place(node, name, owner)].update(self._said([node]))
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                ) if not owner:
                    self.says[self._place(node, name, owner)].update(self._said([node]))
                case _:
                    self.says[owner].update(self._said([node]))

    def _place(self, node: ast.stmt, name: str, owner: str) -> str:
        """Return the place of a definition; one that a framework calls has the place around it."""
        if name.startswith("__") or name == "_repr_html_":  # a notebook calls it
            return owner
        place = f".{name}" if owner else f"{self.module}:{name}"
        self.defined.add(place)
        if any(REGISTERS.search(ast.unparse(d)) for d in getattr(node, "decorator_list", ())):
            self.says[owner].add(place)
        return place

    def _said(self, nodes: Iterable[ast.AST]) -> Iterator[str]:
        for node in (below for top in nodes for below in ast.walk(top)):
            match node:
                case ast.Name(id=name):
                    yield f"{self.module}:{name}"
                case ast.Attribute(value=ast.Name(id=of), attr=name) if of in self.imported:
                    yield from (f".{name}", f"{self.imported[of].replace(':', '.')}:{name}")
                case ast.Attribute(attr=name):
                    yield f".{name}"
                case ast.Constant(value=str(text)):  # for `getattr`, or an entry point
                    yield from (text, f".{text}")

    def unreached(self, roots: Iterable[str]) -> set[str]:
        """The places that nothing leads to from the files themselves and `roots`."""
        reached, todo = set[str](), ["", *roots]
        while todo:
            if (place := todo.pop()) not in reached:
                reached.add(place)
                todo += self.says.get(place, ())
        return self.defined - reached


def code_of(package: Path) -> Code:
    """All files of a package."""
    code = Code()
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        code.add(path.read_text(encoding="utf-8"), module.removesuffix(".__init__"))
    return code


def starts() -> Iterator[str]:
    """Return the names that commands, scripts and pages of the documentation use."""
    yield "careeval.__main__:main"
    scripts = Code()
    for folder in ("bench", "pilot", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            scripts.add(path.read_text(encoding="utf-8"), path.stem)
    yield from (place for said in scripts.says.values() for place in said)
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.html")]
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        pages += re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    yield from (f".{word}" for page in pages for word in re.findall(r"\w+", page))


def test_everything_is_reached() -> None:
    """No function, class, constant or method of the package is there for its own tests alone."""
    code, roots = code_of(ROOT / "src" / "careeval"), set(starts())
    roots |= {place for place in code.says if place.startswith("careeval:")}

    allowed = {place for places in ALLOWED.values() for place in places.split()}
    assert code.unreached(roots | allowed) == set()
    assert allowed <= code.unreached(roots)


def test_a_definition_that_nothing_says_is_found(tmp_path: Path) -> None:
    """A definition that is only exported, or used by unreached ones, is not reached."""
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "__init__.py").write_text(
        "from made.parts import left, used\n__all__ = ['left', 'used']\n"
    )
    (tmp_path / "made" / "parts.py").write_text(
        "LIMIT = 3\n"
        "class Thing:\n"
        "    def kept(self): ...\n"
        "    def dropped(self): return self.kept()\n"
        "def used(): return Thing().kept()\n"
        "def left(): return LIMIT + _below()\n"
        "def _below(): return 0\n"
    )
    (tmp_path / "made" / "__main__.py").write_text("from made import used as u\nu()\n")

    found = code_of(tmp_path / "made").unreached([])

    assert found == {".dropped", "made.parts:LIMIT", "made.parts:_below", "made.parts:left"}
