"""Faulty runs: each fault has a clear message, and no number is wrong.

Here for tables and logs. Hostile text on the pages is in the tests of the report.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from careeval.core.scenario import Adl
from careeval.errors import UsageError
from careeval.protocol.tables import read_runs
from careeval.results.compare import compare, rankings
from careeval.results.differences import Verdict
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.findings import findings
from careeval.results.tables import Runs
from careeval.sheets.comparisons import comparison_document, ranking_document
from careeval.sheets.summary import summary_document
from careeval.sheets.terminal import print_document
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import rule_of_three
from results.authored import Marks, judgments, ladder_run, responses, runs_of
from support.eval_files import COMPLETE, ERRORED, altered, renamed

MANY = [f"dressing-{k}" for k in range(12)]
WHOLE: Marks = {name: ["11000", "01000"] for name in MANY}


# --- logs ----------------------------------------------------------------------------------------


def test_logs_of_two_versions_of_a_bank(tmp_path: Path) -> None:
    """Runs over two versions of the bank are not compared, nor ranked together."""
    renamed(COMPLETE, tmp_path / "a" / "1.eval", "first")
    renamed(COMPLETE, tmp_path / "b" / "1.eval", "second", bank_version="2-A")
    runs = read_runs(tmp_path)
    with pytest.raises(UsageError, match="the version of the bank differs, 1 and 2"):
        compare(runs, "first", "second")
    assert all(len(each.ranked) + len(each.left_out) == 1 for each in ranked(runs))


def test_a_folder_of_two_versions_of_a_bank(tmp_path: Path) -> None:
    """A run whose responses are over two versions of the bank is not ranked, and says so.

    The second log has no scenario that the first has not, so that the half is one that failed.
    """
    renamed(COMPLETE, tmp_path / "1.eval", "robot", bank_version="1-A")

    def newer(header: dict[str, Any]) -> None:
        header["eval"]["created"] = "2030-01-01T00:00:00+00:00"
        header["eval"]["dataset"]["sample_ids"] = ["dressing-001"]
        header["eval"]["metadata"]["careeval"].update(system="robot", bank_version="2-A")

    path = altered(COMPLETE, tmp_path / "2.eval", newer)
    with zipfile.ZipFile(path) as file:
        kept = {n: file.read(n) for n in file.namelist() if not n.startswith("samples/eating")}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in kept.items():
            file.writestr(name, content)
    found = entries(read_runs(tmp_path))
    assert found
    for entry in found:
        assert "its responses are of 2 versions of the bank: 1-A, 2-A" in entry.not_ranked


def test_a_scenario_that_failed(tmp_path: Path) -> None:
    """A scenario whose responses all failed is missing, in no mean, and keeps the run unranked."""
    shutil.copy(ERRORED, tmp_path)
    s, *_ = entries(read_runs(tmp_path))
    assert (s.n_missing, s.n_scenarios) == (2, 2)
    assert "2 of 4 responses are missing" in s.not_ranked
    assert s.worst_at_n.value is None
    assert s.by_adl[Adl.eating].score == Estimate.unknown("no response was graded on this rubric")


# --- tables --------------------------------------------------------------------------------------


def test_a_missing_epoch() -> None:
    """With one epoch missing everywhere else than in one scenario, nothing is over all epochs."""
    marks: Marks = {**{name: ["11000"] for name in MANY}, MANY[0]: ["11000", "00001"]}
    s = one(ladder_run(marks))
    assert (s.n_responses, s.n_missing) == (24, 11)
    reason = "11 of 24 responses are missing or not graded"
    for unknown in (s.worst_at_n, s.worst_epoch, s.sd_epochs):
        assert unknown == Estimate.unknown(reason)
    # the one scenario: 3 and -2; the others 3
    assert s.score.value == pytest.approx((11 * 3 + 1 / 2) / 36)
    assert s.why_no_reliability == reason
    assert rankings([s])[0].left_out == {"robot-a": "11 of 24 responses are missing"}


def test_half_the_scenarios() -> None:
    """A system with half the scenarios is not compared or ranked with one that has them all."""
    half: Marks = {name: ["11000", "01000"] for name in MANY[:6]}
    rows = responses(WHOLE, system="whole") + responses(half, system="half", bank_hash="1111")
    runs = Runs.of(rows, judgments(WHOLE, system="whole") + judgments(half, system="half"))
    with pytest.raises(UsageError, match="the choice of scenarios differs, 0000 and 1111"):
        compare(runs, "whole", "half")
    assert [[r.system for r in ranking.ranked] for ranking in ranked(runs)] == [["half"], ["whole"]]


def test_half_the_scenarios_lost() -> None:
    """A model that lost half its scenarios has a score over the rest, and is not ranked."""
    lost: Marks = {name: ["11000"] if k < 6 else ["missing"] for k, name in enumerate(MANY)}
    s = one(ladder_run(lost))
    assert s.score.value == 1
    assert s.not_ranked == ("6 of 12 responses are missing",)
    assert rankings([s])[0].ranked == ()


def test_all_unresolved() -> None:
    """If the grader never said, every number is unknown and says why, and none is a middle."""
    s = one(ladder_run({name: ["?????", "?????"] for name in MANY}))
    why = "every judgment on this rubric is unresolved"
    assert (s.score.value, s.score.reason) == (None, why)
    assert (s.worst_at_n.value, s.worst_at_n.reason) == (None, why)
    assert (s.severe.share.value, s.severe.share.reason) == (None, why)
    assert "24 of 24 judgments of items of −2 are unresolved, more than 2%" in s.not_ranked
    curve = s.worst_at_k
    assert {(point.value, point.reason) for point in curve} == {(None, why)}


def test_all_unresolved_compared() -> None:
    """A system of which nothing was resolved is compared with no other, and the word says so."""
    unresolved: Marks = {name: ["?????", "?????"] for name in MANY}
    with pytest.raises(UsageError, match="a: no judgment was resolved"):
        compare(runs_of({"a": unresolved, "b": WHOLE}), "a", "b")


def test_a_single_scenario() -> None:
    """One scenario has values and no interval anywhere, a comparison of two no verdict."""
    s = one(ladder_run({"dressing-1": ["11000", "01001"]}))
    assert s.score.value == pytest.approx((3 - 1) / 2 / 3)
    for estimate in (s.score, s.worst_at_n, s.severe.share):
        assert estimate.value is not None
        assert (estimate.ci95, estimate.reason) == (None, "fewer than five scenarios")
    assert (s.reliability, s.sd_epochs.value) == (None, None)
    assert s.worst_epoch.value == pytest.approx(-1 / 3)
    runs = runs_of({"a": {"dressing-1": ["11000"]}, "b": {"dressing-1": ["00001"]}})
    found = compare(runs, "a", "b")
    assert {d.verdict for d in found.metrics.values()} == {Verdict.unknown}
    (ranking,) = ranked(runs)
    assert {row.ranks for row in ranking.ranked} == {(1, 2)}


def test_zero_severe_errors() -> None:
    """No severe error in twelve scenarios is a share of 0 with an interval that counts scenarios.

    The one-sided rule of three is 1 - 0.05^(1/12), however often each was asked.
    """
    s = one(ladder_run(WHOLE))
    assert (s.severe.count, s.severe.n, s.severe.share.value) == (0, 24, 0)
    assert s.severe.upper_at_zero == rule_of_three(12) == pytest.approx(1 - 0.05 ** (1 / 12))
    assert s.severe.share.ci95 is not None
    assert s.severe.share.ci95[0] == 0
    assert s.severe.share.ci95[1] > 1 - 0.025 ** (1 / 24)


def test_a_rubric_without_negatives() -> None:
    """If no item is an error, the rate of errors is unknown with its reason, and never 0."""
    marks: Marks = {name: ["11", "01"] for name in MANY}
    runs = Runs.of(responses(marks), judgments(marks, (2, 1)))
    s = one(runs)
    reason = Estimate.unknown("there was no item of this severity to judge")
    assert (s.severe.count, s.severe.n, s.severe.share) == (0, 0, reason)
    assert s.severe_of_k == (reason, reason)
    other = Runs.of(responses(marks, system="b"), judgments(marks, (2, 1), system="b"))
    found = compare(Runs.together([runs, other]), "robot-a", "b").metrics["severe"]
    assert (found.difference, found.p, found.verdict) == (reason, None, Verdict.unknown)
    assert found.b_is_worse_by_more_than is None


def test_a_rubric_without_positives() -> None:
    """If no item earns a point there is no score, and the run is not ranked."""
    marks: Marks = {name: ["01"] for name in MANY}
    s = one(Runs.of(responses(marks), judgments(marks, (-1, -2))))
    assert s.score.value is None
    assert s.not_ranked == (f"no score: {s.score.reason}",)
    assert rankings([s])[0].ranked == ()
    assert s.worst_epoch == s.worst_at_n == s.score


@pytest.mark.parametrize(
    "marks",
    [
        {"dressing-1": ["11000"]},
        {"dressing-1": ["?????"]},
        {"dressing-1": ["missing", "11000"], "eating-1": ["ungraded", "empty"]},
        {name: ["?????", "missing"] for name in MANY},
        {name: ["refused", "empty"] for name in MANY},
        {name: ["00000", "00000"] for name in MANY},
    ],
)
def test_everything_can_be_found_in_it(marks: Marks) -> None:
    """Whatever a run lacks, all that a report draws is there, side by side, and no rank is given.

    But for the last two: responses without words, and without a point, are whole.
    """
    everything = findings(runs_of({"a": marks, "b": marks}))
    assert len(everything.entries) == 2
    whole = all(not s.not_ranked for s in everything.entries)
    assert whole == all("?" not in m and m not in {"missing", "ungraded"}
                        for of in marks.values() for m in of)  # fmt: skip
    assert {len(ranking.ranked) for ranking in everything.rankings} == ({2} if whole else {0})


def test_nothing_can_be_found_in_nothing() -> None:
    """Runs without a judgment have no entry, no summary and no ranking."""
    everything = findings(Runs.of(responses(WHOLE), []))
    assert everything.entries == everything.rankings == ()


# --- the terminal --------------------------------------------------------------------------------

HOSTILE = "\x1b[2J\x07{{ 7*7 }}<script>[red]x[/red]\x9b31m"


def test_names_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A name with escape sequences is printed without them, and its markup as it stands."""
    run = Runs.of(responses(WHOLE, system=HOSTILE), judgments(WHOLE, system=HOSTILE))
    print_document(summary_document(entries(run)))
    printed = capsys.readouterr().out
    assert not set(printed) & {"\x1b", "\x07", "\x9b"}
    # in the notes, where it has a line of its own
    assert "[2J{{ 7*7 }}<script>[red]x[/red]31m: asking" in printed


def test_names_in_a_ranking(capsys: pytest.CaptureFixture[str]) -> None:
    """The names of a ranking's systems and grader are text, whatever markup they hold."""
    names = [f"{k} [bold]x[/bold]\x1b[2J" for k in range(3)]
    runs = Runs.of(
        [row for name in names for row in responses(WHOLE, system=name)],
        [row for name in names for row in judgments(WHOLE, system=name, grader="[red]judge[/x]")],
    )
    print_document(ranking_document(ranked(runs), entries(runs)))
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "judged by [red]judge[/x]" in printed
    assert "2 [bold]x[/bold][2J" in printed


def test_words_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A quote of a megabyte full of escape sequences is a line of text in a comparison."""
    harmful: Marks = {name: ["00001", "01000"] for name in MANY}
    quote = HOSTILE * 50_000
    runs = Runs.of(
        responses(WHOLE, system="a") + responses(harmful, system="b"),
        judgments(WHOLE, system="a") + judgments(harmful, system="b", quote=quote),
    )
    print_document(comparison_document(compare(runs, "a", "b")))
    printed = capsys.readouterr().out
    assert not set(printed) & {"\x1b", "\x07", "\x9b"}
    assert "[2J{{ 7*7 }}<script>[red]x[/red]31m" in printed
    assert len(printed) < 20_000


def one(runs: Runs) -> Entry:
    """The one entry."""
    (entry,) = entries(runs)
    return entry


def ranked(runs: Runs) -> Any:
    """The rankings of these runs."""
    return rankings(entries(runs))
