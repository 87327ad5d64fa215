"""The page as text: what stands on it, what is kept off it, and what cannot run."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from careeval.report import tables
from careeval.report.page import UNMEASURED, render_page, write_page
from careeval.report.responses import shown
from careeval.results.summary import Summary, summarise
from careeval.results.tables import Runs

SECRET = "words of the held-out split"


class Outline(HTMLParser):
    """A page's tags, ids, headings and text, as a browser without scripts would find them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(page)

    @property
    def said(self) -> str:
        """All its text, each space one space."""
        return " ".join(" ".join(self.pieces).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keep the text."""
        self.pieces.append(data)

    def attributes(self, name: str) -> list[str]:
        """Values of an attribute, wherever it stands."""
        return [attrs[name] or "" for _, attrs in self.tags if name in attrs]


@pytest.fixture(scope="module")
def page(runs: Runs, summaries: list[Summary]) -> str:
    """The page of both systems."""
    return render_page(
        runs, summaries, grader_agreement={"vendor/judge (batched)": "It is right in 9 of 10."}
    )


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    """What stands on it."""
    return Outline(page)


def test_the_answer_is_the_summary(outline: Outline, summaries: list[Summary]) -> None:
    """Each entry's score, worst of n and errors stand on the page as the summary has them."""
    for s in summaries:
        assert s.score.value is not None
        assert s.severe is not None
        score = f"{100 * s.score.value:.1f}%".replace("-", "−")
        assert f"Score, on the ladder {score}" in outline.said
        assert f"{s.severe.count} of {s.severe.opportunities} on the ladder" in outline.said
    assert "mean over scenarios of the lowest of 2" in outline.said
    assert "not for comparing systems" in outline.said


def test_limits_stand_with_the_answer(page: str) -> None:
    """What bounds the numbers is said before the second section begins: it is no footnote."""
    answer = page[page.index('id="answer"') : page.index('id="activities"')]
    for limit in (
        "Made for tests.",
        "do not compare with those of the CareEval paper",
        "one log was left out",
        "not medical advice",
        "Not for training models",
        "It is right in 9 of 10.",
    ):
        assert limit in " ".join(answer.split())


def test_a_demonstration_says_so(one_run: Runs) -> None:
    """What the lexical grader judged is tagged, with the reason and its agreement."""
    said = Outline(render_page(one_run, summarise(one_run))).said
    assert "Not for ranking" in said
    assert "the lexical grader compares words" in said
    assert UNMEASURED in said


def test_systems_asked_differently_are_not_compared(runs: Runs) -> None:
    """Two systems whose scenarios differ carry a warning; two with the same do not."""
    rows = runs.responses.to_dicts()
    other = [row | {"bank_hash": "other"} if row["system"] == "beta" else row for row in rows]
    changed = Runs.of(other, runs.judgments.to_dicts())
    warning = "The runs are over different scenarios of bank made-bank 1-A: do not compare"
    assert warning in render_page(changed, summarise(changed))
    assert "do not compare or rank" not in render_page(runs, summarise(runs))


def test_what_a_run_cost(runs: Runs) -> None:
    """The methods say what asking and grading cost, or why that is unknown."""
    rows = [row | {"cost_usd": 0.25} for row in runs.responses.to_dicts()]
    priced = Runs.of(rows, runs.judgments.to_dicts())
    said = Outline(render_page(priced, summarise(priced))).said
    # seven public scenarios and a held-out one, twice each
    assert "alpha: asking $4.00 (16 responses), grading unknown (the price of 16 of 16" in said


def test_the_held_out_split_is_not_on_the_page(page: str) -> None:
    """Neither text, response nor id of a held-out scenario is on the page; their number is."""
    assert SECRET not in page
    assert "bathing-009" not in page
    assert "4 responses to held-out scenarios" in page


def test_hostile_text_is_text(page: str, outline: Outline) -> None:
    """Markup and template code are shown as written, and control characters are not shown."""
    assert "<script>window.broken = true</script> {{ 7 * 7 }} {% raw %}" in outline.said
    assert [attrs for tag, attrs in outline.tags if tag == "script"] == [{}]
    assert not [tag for tag, _ in outline.tags if tag == "img"]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)


def test_hostile_names_are_text(runs: Runs) -> None:
    """A system, a grader and a scenario may be named like markup, and a title too."""
    bad = "\"><svg onload=alert(1)>{{ 1 }}'"
    responses = [r | {"system": bad, "scenario": bad} for r in runs.responses.to_dicts()[:1]]
    judged = [
        j | {"system": bad, "scenario": bad, "grader": bad} for j in runs.judgments.to_dicts()[:10]
    ]
    made = Runs.of(responses, judged)
    found = Outline(render_page(made, summarise(made), title=bad))
    assert not any(name.startswith("on") for _, attrs in found.tags for name in attrs)
    assert found.said.count("<svg onload") > 5


def test_the_policy_names_the_very_style_and_script(page: str) -> None:
    """The content policy lets in one style and one script, by the hash of what stands there."""
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    said = policy[1].replace("&#39;", "'")
    assert said.startswith("default-src 'none';")
    assert "unsafe" not in said
    for tag in ("style", "script"):
        (text,) = re.findall(
            f"<{tag}>(.*?)</{tag}>", page.partition("</head>")[2 * (tag == "script")], re.S
        )
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in said


def test_nothing_is_fetched(outline: Outline) -> None:
    """No attribute is an address outside the page, and no element has a style of its own."""
    for name in ("src", "href", "action", "srcset"):
        assert all(value.startswith(("#", "data:,")) for value in outline.attributes(name))
    assert outline.attributes("style") == []


def test_ids_and_links(outline: Outline) -> None:
    """Every id is there once, and every link, label and description leads to one."""
    ids = outline.attributes("id")
    assert len(ids) == len(set(ids))
    targets = [
        href[1:] for href in outline.attributes("href") if href.startswith("#") and "=" not in href
    ]
    targets += [
        t for name in ("aria-labelledby", "aria-describedby") for t in outline.attributes(name)
    ]
    assert set(targets) <= set(ids)


def test_headings_are_in_order(outline: Outline) -> None:
    """There is one first heading, and none skips a level."""
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_harms_are_read_first(runs: Runs) -> None:
    """Present items come first: severe errors, then mild ones, then the rest."""
    answers = [a for found in shown(runs).by_adl.values() for asked in found for a in asked.answers]
    bad = next(a for a in answers if a.severe)
    actions = bad.gradings[0].rubrics[1]
    assert [(line.points, line.present) for line in actions.lines] == [
        (-2, True),
        (-1, True),
        (2, False),
        (2, False),
        (2, False),
    ]
    assert (actions.earned, actions.maximum) == ("−3", 6)


def test_an_unresolved_item_makes_the_points_a_range(runs: Runs) -> None:
    """A +2 that nobody could judge adds 0 to 2 points, and its line says why."""
    first = shown(runs).by_adl["dressing"][0].answers[0]
    ladder = first.gradings[0].rubrics[0]
    low, high = (float(n.replace("−", "-")) for n in ladder.earned.split(" to "))
    assert high - low == 2
    assert [line.reason for line in ladder.lines if line.present is None] == [
        "not judged in 3 attempts: it is empty"
    ]


def test_a_state_is_said(outline: Outline) -> None:
    """A refused response is shown as one, with its note and without a list of absent items."""
    assert "The provider refused to answer: 0 points. content filter" in outline.said


def test_a_table_of_one_system_has_no_column_for_its_name(
    one_run: Runs, summaries: list[Summary]
) -> None:
    """The system is a column where there are several and none where there is one."""
    for make in (tables.activities, tables.errors, tables.domains):
        one, several = make(summarise(one_run)), make(summaries)
        assert ("System" in one.heads, "System" in several.heads) == (False, True)
        assert {len(row) for t in (one,) for row in t.rows} == {len(one.heads)}
        assert {len(row) for t in (several,) for row in t.rows} == {len(several.heads)}


def test_small_cells_are_marked(summaries: list[Summary]) -> None:
    """A row of fewer than five scenarios has an asterisk, and the table says why."""
    table = tables.activities(summaries)
    assert {(row[0], row[2]) for row in table.rows} == {
        ("Dressing", "5"),
        ("Eating", "2*"),
        ("Bathing", "1*"),
    }
    assert table.note.startswith("* fewer than five")


def test_records_come_from_the_tables(runs: Runs, summaries: list[Summary]) -> None:
    """What was run is read from the responses, the date too: the clock is not asked."""
    table = tables.records(runs, summaries)
    assert table.heads == ("", "alpha", "beta")
    said = {row[0]: row[1] for row in table.rows}
    assert said["Run begun"] == "2026-11-20"
    assert said["Bank"] == "made-bank 1-A"
    assert said["Model asked"] == "openai/alpha"


def test_nothing_graded_is_said() -> None:
    """Without a summary and a response the page says that there is no number, instead of one."""
    said = Outline(render_page(Runs.of([], []), [])).said
    assert "No response has been graded, so there is no number." in said
    assert "There is no public response to show." in said


def test_the_file_is_the_page(runs: Runs, summaries: list[Summary], tmp_path: Path) -> None:
    """The same runs give the same file, byte for byte, in a folder that need not be there."""
    for name in ("a", "b"):
        write_page(runs, summaries, tmp_path / name / "page.html", title="A title")
    first, second = ((tmp_path / name / "page.html").read_bytes() for name in ("a", "b"))
    assert first == second
    assert b"<h1>A title</h1>" in first
