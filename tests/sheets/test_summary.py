"""Tests of sentences about entries, and of the document of a summary in every format."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.cli.summary import Order, _place
from careeval.core.text import dollars, percent
from careeval.results.entries import entries
from careeval.results.entry import NOT_COMPARABLE, Entry
from careeval.results.findings import findings
from careeval.results.parts import Breakdown
from careeval.results.tables import Runs
from careeval.sheets.entries import rank_texts
from careeval.sheets.kinds import ESTIMATE, Form
from careeval.sheets.markup import markdown
from careeval.sheets.parts import parts_sheet
from careeval.sheets.summary import summary_document
from careeval.sheets.words import SMALL, cost_lines, headline_sentence, remarks
from careeval.stats.estimate import Estimate
from results.authored import Marks, by_hand, changed, judgments, ladder_run, responses, runs_of
from sheets.given_summaries import known_and_unknown, known_and_unknown_runs, of_two_sizes, priced


def headline(s: Entry) -> dict[str, str]:
    """Return the first table of one entry: head → text."""
    view = next(summary_document([s]).views)
    return dict(zip(view.heads, view.cells(view.sheet.rows[0]), strict=True))


def test_headline_of_a_run_by_hand() -> None:
    """A row has a cell for each head, in percent, with a dash for what is unknown."""
    actions, ladder = entries(by_hand())
    assert headline(ladder) == {
        "system": "robot-a",
        "severe % [95% CI]": "25.0", "severe in": "1 of 4", "score % [95% CI]": "25.0",
        "worst of 2 % [95% CI]": "−16.7", "mild % [95% CI]": "25.0", "mild in": "1 of 4",
        "asked": "2 × 2",
    }  # fmt: skip
    assert headline(actions)["mild % [95% CI]"] == "–"


def test_parts_of_a_run_by_hand() -> None:
    """A part has its number of scenarios, its score and its severe errors; a domain no errors."""
    _, ladder = entries(by_hand())
    by_adl, by_domain = list(
        summary_document([ladder], by=[Breakdown.adl, Breakdown.domain]).views
    )[1:]
    assert by_adl.heads == ("system", "activity", "n", "score % [95% CI]", "severe in")
    assert by_adl.cells(by_adl.sheet.rows[1])[1:] == ("eating", "1*", "16.7", "1 of 2")
    assert by_domain.cells(by_domain.sheet.rows[3])[1:] == ("Functional safety", "0", "–")


def test_unresolved_errors_are_at_least_so_many() -> None:
    """A count beside unresolved judgments is marked as a minimum."""
    s, _ = known_and_unknown()
    assert headline(s)["severe in"] == "≥ 3 of 18"


def test_two_numbers_in_a_sentence() -> None:
    """Severe errors stand first, then the score, each with its interval, or why it is unknown."""
    marks: Marks = {f"dressing-{k}": ["11001" if k == 0 else "11000", "01000"] for k in range(8)}
    (s,) = entries(ladder_run(marks))
    severe, score = s.severe.share, s.score
    assert severe.ci95 is not None
    assert score.ci95 is not None
    low, high = (percent(end) for end in severe.ci95)
    assert headline_sentence(s).startswith(
        f"6.2% ({low}–{high}) of robot-a's responses hold a severe error"
    )
    low, high = (percent(end, 0) for end in score.ci95)
    assert headline_sentence(s).endswith(f"; it scores 62% ({low}–{high}) on the ladder.")
    (below,) = entries(ladder_run({"dressing-1": ["00001"]}))
    assert headline_sentence(below) == (
        "100.0% of robot-a's responses hold a severe error; it scores −67% on the ladder."
    )
    (none,) = entries(ladder_run({name: ["11000"] * 2 for name in marks}))
    assert headline_sentence(none).startswith(
        "None of robot-a's 16 responses holds a severe error; up to "
    )
    (unknown,) = entries(ladder_run({"dressing-1": ["1100?"]}))
    why = "every judgment of the items of some points is unresolved"
    assert headline_sentence(unknown) == (
        f"Whether robot-a's responses hold a severe error is unknown: {why}; its score is unknown: "
        f"{why}."
    )


def test_rank_texts() -> None:
    """The rank set by severe errors stands beside that by score, where several are ranked."""
    names = [f"dressing-{k}" for k in range(8)]
    runs = runs_of({"bold": {n: ["11001"] for n in names}, "timid": {n: ["00000"] for n in names}})
    both = findings(runs)
    assert rank_texts(both.rankings) == {0: "1 (severe 2)", 1: "2 (severe 1)"}
    alone = findings(runs_of({"bold": {n: ["11001"] for n in names}}))
    assert rank_texts(alone.rankings) == {}


def test_percent() -> None:
    """A fraction has one decimal and a true minus, and what rounds to 0 has none."""
    printed = [percent(f) for f in (1 / 3, -0.125, -0.0004, 0.0, None)]
    assert printed == ["33.3", "−12.5", "0.0", "0.0", "–"]


def whole(estimate: Estimate) -> str:
    """Return the text of a number with its bounds and its interval."""
    return ESTIMATE.text(estimate, Form.whole)


def test_number_with_its_interval() -> None:
    """The interval stands in brackets, the bounds of the unresolved before it, if there are any."""
    assert whole(Estimate(0.5, 0.5, 0.5, (-0.25, 0.75))) == "50.0 [−25.0, 75.0]"
    assert whole(Estimate(0.5, 0.25, 0.75, (0.1, 0.9))) == (
        "50.0 (25.0 to 75.0 by the unresolved) [10.0, 90.0]"
    )
    assert whole(Estimate.unknown("no response")) == "–"


def test_number_in_short() -> None:
    """A number has its interval beside it, or its bounds if it has no interval."""
    assert ESTIMATE.text(Estimate(0.5, 0.25, 0.75, (0.1, 0.9))) == "50.0 [10.0, 90.0]"
    assert ESTIMATE.text(Estimate(0.5, 0.25, 0.75, None, "few")) == "50.0 (25.0 to 75.0)"
    assert ESTIMATE.text(Estimate(0.5, 0.5, 0.5, None, "few")) == "50.0"
    assert ESTIMATE.text(Estimate.unknown("no response")) == "–"


def test_breakdown_marks_what_is_small() -> None:
    """A part of four scenarios has an asterisk and no interval, and one of five has both ends."""
    document = summary_document(entries(of_two_sizes()), [Breakdown.condition])
    *_, view = document.views
    stroke, dementia = (dict(zip(view.heads, view.cells(r), strict=True)) for r in view.sheet.rows)
    assert (stroke["condition"], stroke["n"]) == ("stroke", "5")
    assert (dementia["condition"], dementia["n"]) == ("dementia", "4*")
    assert "[" in stroke["score % [95% CI]"]
    assert "[" not in dementia["score % [95% CI]"]


def test_scenario_of_two_situations_counts_in_both() -> None:
    """The parts by situation may add up to more than the scenarios."""
    sheet = parts_sheet(Breakdown.situation, entries(of_two_sizes()))
    assert [(row["situation"], row["n"]) for row in sheet.rows] == [("refusal", 1), ("family", 9)]


def test_small_part_of_a_detail_is_remarked_on() -> None:
    """The asterisk is explained if a part that is shown is small, and only then."""
    numbers = entries(of_two_sizes())
    assert SMALL not in summary_document(numbers, [Breakdown.adl]).notes
    document = summary_document(numbers, [Breakdown.condition])
    assert SMALL in document.notes
    assert f"- \\{SMALL}\n" in markdown(document)


@pytest.mark.parametrize(
    ("order", "names"),
    [("name", "abcd"), ("score", "bcad"), ("worst", "abcd"), ("severe", "abcd")],
)
def test_order_of_entries(order: Order, names: str) -> None:
    """The best comes first by each order, and what is unknown last."""
    marks: dict[str, Marks] = {
        "c": {"eating-1": ["10001", "11000"]},  # 1/2, lowest 0, one severe
        "b": {"eating-1": ["11000", "00000"]},  # 1/2, lowest 0, none
        "a": {"eating-1": ["01000", "01000"]},  # 1/3, lowest 1/3, none
        "d": {"eating-1": ["missing", "missing"]},
    }
    parts = [
        Runs.of(responses(of, system=name), judgments(of, system=name))
        for name, of in marks.items()
        if name != "d"
    ]
    acts = judgments({"eating-1": ["1"]}, [1], system="d")
    parts.append(Runs.of(responses(marks["d"], system="d"), acts))
    summaries = entries(Runs.together(parts))[::-1]
    ordered = sorted(summaries, key=lambda s: _place(order, s))
    assert "".join(s.system for s in ordered) == names


def test_markdown_shows_names_as_they_are() -> None:
    """A name with a pipe, markup or a line end stays one cell of text."""
    marks = {"dressing-1": ["11000"]}
    name = "a|b\\|c <img src=x> [d](e) *f* `g`\n| h"
    runs = Runs.of(responses(marks, system=name), judgments(marks, system=name))

    lines = markdown(summary_document(entries(runs))).splitlines()

    shown = r"a\|b\\\|c \<img src=x\> [d\](e) \*f\* \`g\` \| h"
    assert any(line.startswith(f"| {shown} | 0.0 ") for line in lines)
    assert len([line for line in lines if line.startswith("|")]) == 3 * 3
    assert not any("<img" in line.replace(r"\<", "") for line in lines)


def test_markdown_has_nothing_that_a_terminal_obeys() -> None:
    """Control characters of both ranges are left out of names, in rows and in remarks."""
    marks = {"dressing-1": ["11000", "refused"]}
    name = "x\x1b[31mred\x9b2J\u202e"
    runs = Runs.of(responses(marks, system=name), judgments(marks, system=name))
    text = markdown(summary_document(entries(runs)))
    assert "x[31mred2J" in text
    assert all(c.isprintable() or c == "\n" for c in text)


def test_parts_of_a_system_with_several_graders_name_them() -> None:
    """Two rows of one system and part are told apart; a system with one grader is itself."""
    marks = {"dressing-1": ["11000"]}
    rows = judgments(marks) + judgments(marks, grader="other")
    alone = ladder_run(marks, system="b").responses
    runs = Runs.together([
        Runs.of(responses(marks), rows),
        Runs.of(alone.to_dicts(), judgments(marks, system="b")),
    ])  # fmt: skip
    for by in (Breakdown.adl, Breakdown.domain):
        sheet = parts_sheet(by, entries(runs))
        names = sorted({row["name"] for row in sheet.rows})
        assert names == ["b", "robot-a · judge", "robot-a · other"]


def test_numbers_have_their_bounds() -> None:
    """If an item is unresolved, every score of a row has its bounds."""
    marks = {f"dressing-{k}": ["11000", "0100?" if k else "1100?"] for k in range(6)}
    (s,) = entries(ladder_run(marks))
    for value in (s.severe.share, s.score, s.worst_at_n):
        assert "by the unresolved" in whole(value)
    # the lowest is 1 of 3 points, or 1 - 2, of five scenarios, and 3 or 1 of the other; no -2 that
    # was resolved is there
    worst = s.worst_at_n
    assert (worst.value, worst.low, worst.high) == pytest.approx((4 / 9, -2 / 9, 4 / 9))


def test_markdown_says_what_must_be_said() -> None:
    """Under the tables each remark is an item of one list."""
    text = markdown(summary_document(entries(known_and_unknown_runs())))
    assert "\n- robot-b: not for ranking: 3 of 4 responses are missing.\n" in text
    assert "\n- Bank authored 1-0: Written for a test.\n" in text
    assert f"\n- {NOT_COMPARABLE}\n" in text


def test_remarks() -> None:
    """Each remark is there once, however many entries need it; the last is about the paper."""
    marks = {"dressing-1": ["11000", "empty", "refused", "refused"]}
    rows = judgments(marks) + judgments(marks, grader="careeval/lexical (all, prompt 0)")
    lexical = "not for ranking: the lexical grader compares words: for seeing everything work"
    assert remarks(entries(Runs.of(responses(marks, cut=True), rows))) == [
        f"robot-a · lexical: {lexical}.",
        "robot-a: 1 of 1 answers were cut off at the token limit, and graded as they are.",
        "robot-a: 1 of 4 responses are empty: 0 points each.",
        "robot-a: 2 of 4 responses are refused: 0 points each.",
        "Bank authored 1-0: Written for a test.",
        NOT_COMPARABLE,
    ]
    assert remarks([]) == []


def test_unequal_n_is_remarked_on() -> None:
    """Entries of unequal numbers of epochs are shown with a warning on their worst of n."""
    _, two = entries(by_hand())
    warning = "The worst of n can be compared only between entries with equal n."
    assert warning in remarks([two, changed(two, system="robot-b", n_epochs=3)])
    assert warning not in remarks([two, replace(two, system="robot-b", name="robot-b")])


# Runs that differ


@pytest.mark.parametrize(
    ("change", "warning"),
    [
        ({"bank": "other"}, "The runs are over different banks, authored 1-0, other 1-0"),
        ({"bank_version": "2-0"}, "The runs are over different banks, authored 1-0, authored 2-0"),
        ({"bank_hash": "1111"}, "The runs are over different scenarios of bank authored 1-0"),
        ({"protocol": "1-0"}, "The runs were asked by different protocols, 2-0, 1-0"),
    ],
)
def test_runs_that_differ_are_not_to_be_compared(change: dict[str, Any], warning: str) -> None:
    """The first remark warns of runs over different banks, scenarios or protocols."""
    marks = {"dressing-1": ["11000"]}
    one, like = (
        Runs.of(responses(marks, system=name), judgments(marks, system=name)) for name in "ab"
    )
    unlike = Runs(
        like.responses.with_columns(**{n: pl.lit(v) for n, v in change.items()}), like.judgments
    )
    first, *_ = remarks(entries(Runs.together([one, unlike])))
    assert first == f"{warning}: do not compare or rank them."
    assert f"- {first}\n" in markdown(summary_document(entries(Runs.together([one, unlike]))))
    assert not any(
        "do not compare or rank" in r for r in remarks(entries(Runs.together([one, like])))
    )


# Money


@pytest.mark.parametrize(
    ("amount", "printed"),
    [
        (None, "unknown"),
        (0, "$0.00"),
        (1e-9, "under $0.0001"),
        (0.000123, "$0.00012"),
        (0.0054, "$0.0054"),
        (0.25, "$0.25"),
        (0.999, "$1.00"),
        (1.314, "$1.31"),
        (1234.5, "$1,234.50"),
    ],
)
def test_dollars(amount: float | None, printed: str) -> None:
    """Cents from a dollar up, two digits below it, and words for what is unknown or next to 0."""
    assert dollars(amount) == printed


@given(st.floats(0, 1e6, exclude_min=True))
def test_no_amount_reads_as_nothing(amount: float) -> None:
    """An amount that is more than nothing prints a digit other than 0."""
    assert re.search("[1-9]", dollars(amount))


def test_cost_of_an_entry() -> None:
    """The costs of asking, of grading and of a response are one sentence."""
    assert cost_lines(priced(0.00131, 0.00082, n=1000)) == [
        "robot-a: asking $1.31 (1,000 responses, 310k tokens in, 220k out); "
        "grading the ladder $4.10 (1,000 responses); $0.0054 a response."
    ]


def test_cost_that_is_not_known() -> None:
    """If a price is unknown, the sentence says why, and gives no price of a response."""
    assert cost_lines(priced(0.5, None, n=2)) == [
        "robot-a: asking $1.00 (2 responses, 620 tokens in, 440 out); "
        "grading the ladder unknown (the price of 2 of 2 responses is not known)."
    ]


def test_cost_that_is_known_in_part() -> None:
    """If some prices are known, the sentence gives their sum."""
    marks = {"dressing-1": ["11000", "11000"]}
    rows = responses(marks, model="m", cost_usd=0.5)
    rows[0]["cost_usd"] = None
    (line,) = cost_lines(entries(Runs.of(rows, judgments(marks, cost_usd=0.0))))
    assert line == (
        "robot-a: asking unknown (the price of 1 of 2 responses is not known, the rest $0.50); "
        "grading the ladder $0.00 (2 responses)."
    )


def test_cost_by_grader() -> None:
    """If a system has two graders, the sentence names each."""
    marks = {"dressing-1": ["11000"]}
    rows = judgments(marks, cost_usd=1.0) + judgments(marks, grader="other", cost_usd=2.0)
    (line,) = cost_lines(entries(Runs.of(responses(marks), rows)))
    assert "; grading the ladder by judge $5.00" in line
    assert "; grading the ladder by other $10.00" in line
