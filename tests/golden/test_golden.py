"""Each command's output is what was recorded, but for what differs from run to run."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest

from golden.commands import CASES, Case, carry_out
from golden.inputs import shared_inputs
from golden.page_reader import dead_links, read_page
from golden.record import RECORDED, recorded

MOST_LINES = 60
"""Lines of a difference that are shown."""


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the runs that commands are given, once for all processes of the session."""
    folder = tmp_path_factory.getbasetemp()
    return shared_inputs(folder.parent if os.environ.get("PYTEST_XDIST_WORKER") else folder)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_output_is_as_recorded(case: Case, inputs: Path, tmp_path: Path) -> None:
    """A command prints and writes what it did when its golden was recorded."""
    before = recorded(case.name).read_text(encoding="utf-8")
    now = carry_out(case, inputs, tmp_path)
    if now != before:
        pytest.fail(difference(case.name, before, now), pytrace=False)


def difference(name: str, before: str, now: str) -> str:
    """Return the first lines of a unified difference, and how to record the golden anew."""
    lines = list(
        difflib.unified_diff(
            before.splitlines(), now.splitlines(), "recorded", "now", lineterm="", n=1
        )
    )
    shown = lines[:MOST_LINES]
    if len(lines) > len(shown):
        shown.append(f"… and {len(lines) - len(shown)} lines more")
    again = f"python tests/golden/record.py {name}"
    return "\n".join([*shown, "", f"If this is meant: {again}, and read what git shows."])


def test_every_golden_is_of_a_command() -> None:
    """No golden is left of a command that is held no more, and no two have one name."""
    names = [recorded(case.name) for case in CASES]
    assert sorted(names) == sorted(RECORDED.iterdir())


def test_a_difference_says_how_to_record_anew() -> None:
    """Of a long difference the first lines are shown, and what to type."""
    told = difference("summary", "\n".join("ab" * 99), "\n".join("cd" * 99)).splitlines()
    assert len(told) == MOST_LINES + 3
    assert "record.py summary" in told[-1]


PAGE = """<h2 id="a">Score</h2><table><caption>Scores</caption><thead><tr><th>system<th>score</tr>
<tbody><tr><td>robot</td><td>74.0</td></tr></tbody></table><p><a href="#a">Up</a></p>
<svg aria-label="Scores of one system"><title>Scores</title><text>robot</text></svg>"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("74.0", "74"),
        ("<th>system<th>score", "<th>score<th>system"),
        ('<a href="#a">Up</a>', "Up"),
        ("Scores of one system", "Scores"),
        ("<text>robot", "<text>robots"),
        ("<h2", "<h3"),
    ],
)
def test_reader_of_pages_sees_what_a_reader_sees(old: str, new: str) -> None:
    """Another format, order, link, label or level of a heading is another golden."""
    assert read_page(PAGE).lines != read_page(PAGE.replace(old, new)).lines


def test_reader_of_pages_ignores_looks() -> None:
    """Classes, styles and white space are not held."""
    page = PAGE.replace("<h2", '<h2 class="big"').replace("><", ">\n<") + "<style>p {}</style>"
    assert read_page(page).lines == read_page(PAGE).lines


def test_links_that_lead_nowhere_are_found() -> None:
    """A link to a file or to a place that is not there is told."""
    links = '<a href="b.html#x"></a><a href="c.html"></a><a href="https://example.org"></a>'
    pages = {"a.html": read_page(links), "b.html": read_page('<p id="y">')}
    assert dead_links(pages, pages) == ["a.html → b.html#x", "a.html → c.html"]
