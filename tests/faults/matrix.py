"""The fault matrix: what can go wrong, whom it befalls, and what careeval does about it.

One row a fault. A row of the system or of the grader holds what the fake server does and what is to
be found afterwards, and `test_matrix.py` has each of them happen; the others name their test.
"""

from __future__ import annotations

from faults.grader_rows import GRADER
from faults.machine_rows import COMMAND, DISK
from faults.rows import Row
from faults.system_rows import SYSTEM

ROWS: tuple[Row, ...] = (*SYSTEM, *GRADER, *DISK, *COMMAND)


def table() -> str:
    """Return the matrix as a Markdown table, one row a fault."""
    lines = ["| who | what happens | what careeval does |", "|---|---|---|"]
    lines += [f"| {row.who} | {row.fault} | {row.does} |" for row in ROWS]
    return "\n".join(lines) + "\n"
