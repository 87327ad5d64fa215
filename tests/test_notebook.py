"""The notebooks in the documentation: each of their cells runs, and shows what is stored."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOKS = sorted(DOCS.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    """Executed anew in an empty folder, it shows what a reader of the file sees."""
    stored = nbformat.read(path, as_version=4)
    assert _shown(_executed(path, tmp_path)) == _shown(stored)


def _executed(path: Path, folder: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    return client.execute()


def _shown(notebook: Any) -> list[Any]:
    """Return what the cells show, as text and as HTML."""
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    return [
        [o.get("text") or o.data.get("text/html") or o.data["text/plain"] for o in each]
        for each in outputs
    ]


def _write(path: Path) -> None:
    """Write what the cells of a notebook show into its file."""
    with tempfile.TemporaryDirectory() as name:
        executed = _executed(path, Path(name))
    for cell in executed.cells:
        cell.metadata.clear()
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):  # the text says the same, at length
                output.data.pop("text/plain", None)
    executed.metadata = nbformat.from_dict({"language_info": {"name": "python"}})
    nbformat.write(executed, path)


if __name__ == "__main__":
    for each in [Path(name) for name in sys.argv[1:]] or NOTEBOOKS:
        _write(each)
