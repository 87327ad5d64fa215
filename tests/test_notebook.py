"""The notebook in the documentation: each of its cells runs, and shows what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"


def test_the_notebook_runs(tmp_path: Path) -> None:
    """Executed anew in an empty folder, it shows what a reader of the file sees."""
    stored = nbformat.read(NOTEBOOK, as_version=4)
    assert _shown(_executed(tmp_path)) == _shown(stored)


def _executed(folder: Path) -> Any:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
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


if __name__ == "__main__":  # write what the cells show into the file
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        executed = _executed(Path(name))
    for cell in executed.cells:
        cell.metadata.clear()
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):  # the text says the same, at length
                output.data.pop("text/plain", None)
    executed.metadata = nbformat.from_dict({"language_info": {"name": "python"}})
    nbformat.write(executed, NOTEBOOK)
