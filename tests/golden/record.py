"""Write the goldens anew: `python tests/golden/record.py [NAME …]`.

Read the difference that git shows before it is committed: each line of it is a change that a user
sees.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from golden.commands import CASES, carry_out  # noqa: E402
from golden.inputs import make_inputs  # noqa: E402

RECORDED = Path(__file__).with_name("recorded")


def recorded(name: str) -> Path:
    """Return the file of a golden."""
    return RECORDED / f"{name}.txt"


def record(names: list[str]) -> None:
    """Write the goldens of these names, or all of them and none besides."""
    chosen = [case for case in CASES if not names or case.name in names]
    RECORDED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        inputs = Path(place) / "inputs"
        make_inputs(inputs)
        for case in chosen:
            folder = Path(place) / case.name
            folder.mkdir()
            text = carry_out(case, inputs, folder)
            recorded(case.name).write_text(text, encoding="utf-8", newline="\n")
    if not names:
        paths = {recorded(case.name) for case in CASES}
        for path in set(RECORDED.iterdir()) - paths:
            path.unlink()


if __name__ == "__main__":
    record(sys.argv[1:])
