"""Tests of the documents of audits: graders on probes, samples, and graders against people."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from careeval.core.scenario import Rubric
from careeval.people.audit.documents import results_document, results_json, sample_document
from careeval.people.audit.results import audit_results
from careeval.people.audit.sample import draw
from careeval.results.findings import findings
from careeval.results.grader_accuracy import PeopleAudit
from careeval.results.probe_check import LabelledJudgment, ProbeAgreement, ProbeTrial
from careeval.results.tables import Cost
from careeval.sheets import graders
from careeval.sheets.entries import CORRECTED, corrected_sheet
from careeval.sheets.kinds import DASH, FLAG, SECONDS, SIGNED, Kind
from careeval.sheets.labels import probes_document
from careeval.sheets.latex import latex
from careeval.sheets.markup import markdown
from careeval.sheets.sheet import Document, View
from results.sampled import at_random, judged, read_by

SAMPLE = draw(judged({f"robot-{name}": at_random(k, 12, 4) for k, name in enumerate("ab")}))
GRADERS = ("openai/gpt-5.1 (batched)", "google/gemini-3 (batched)")


@pytest.fixture(scope="module")
def audit() -> PeopleAudit:
    """Return an audit by two people who find every other item that the grader found."""
    labels = read_by(SAMPLE, lambda each, of: of.present and each.epoch % 2 == 0)
    return audit_results(SAMPLE, labels)


def tried(grader: str, missed: bool) -> ProbeTrial:
    """Return a probe check on twelve scenarios; if `missed`, no −2 item is found."""
    labelled = (
        LabelledJudgment(
            rubric, points, trap, label, label and not (missed and points == -2), f"s-{k}"
        )
        for k in range(12)
        for rubric in Rubric
        for points in (2, -2)
        for trap in ("harmful", "expert")
        for label in (True, False)
    )
    return ProbeTrial(
        grader, ProbeAgreement.of(labelled), Cost(0.5, "", 0.5, 1, 0, 1, 1, 0.5), None
    )


def rows(view: View) -> list[dict[str, str]]:
    """Return what a table reads: head → cell, a row each."""
    return [dict(zip(view.heads, view.cells(row), strict=True)) for row in view.sheet.rows]


def test_graders_stand_side_by_side_the_severe_items_first() -> None:
    """Each group of probes has a row a grader, in the order given; −2 comes before +2."""
    trials = [tried(GRADERS[0], missed=False), tried(GRADERS[1], missed=True)]
    document = probes_document("small", "1-A", trials)
    overall, by_points, by_trap = document.views
    assert overall.heads[:3] == ("grader", "finds of −2 % [95% CI]", "clears of −2 % [95% CI]")
    first, second = rows(overall)
    assert (first["grader"], first["probes"]) == ("openai/gpt-5.1", "passed")
    assert (second["grader"], second["probes"]) == ("google/gemini-3", "failed")
    assert second["finds of −2 % [95% CI]"].startswith("0.0 [")
    assert (second["cost"], second["time of calls"]) == ("$0.50", DASH)
    classes = [(row["points"], row["rubric"], row["grader"]) for row in rows(by_points)]
    assert classes[:3] == [
        ("−2", "ladder", "openai/gpt-5.1"),
        ("−2", "ladder", "google/gemini-3"),
        ("−2", "actions", "openai/gpt-5.1"),
    ]
    assert [row["trap"] for row in rows(by_trap)] == ["expert"] * 2 + ["harmful"] * 2
    frame = document.data.data.frame
    severe = frame.filter(points=-2, grader=GRADERS[1])
    assert severe.filter(severe["rubric"].is_null())["sensitivity"].to_list() == [0]
    assert frame["cost.value"].drop_nulls().to_list() == [0.5, 0.5]


def test_a_sample_is_counted_over_systems_and_stored_by_system() -> None:
    """The table sums the systems of one kind of judgment; files have a row for each."""
    document = sample_document(SAMPLE)
    (view,) = document.views
    strata = SAMPLE.hidden.strata
    assert sum(int(row["drawn"]) for row in rows(view)) == sum(s.n for s in strata)
    assert (rows(view)[0]["points"], rows(view)[0]["the grader"]) == ("−2", "found it")
    frame = document.data.data.frame
    assert frame["system"].to_list() == [s.system for s in strata]
    assert frame["chance"].to_list() == [s.chance for s in strata]
    assert document.notes[0].startswith(f"{len(SAMPLE.hidden.drawn)} judgments of judge")


def test_people_are_read_beside_the_grader(audit: PeopleAudit) -> None:
    """The tables, the files and JSON have the same numbers of the same judgments."""
    document = results_document(audit)
    grader, people, systems, _ = document.views
    assert [row["items"] for row in rows(grader)][:3] == ["−2 items", "all items", "ladder −2"]
    assert rows(grader)[1]["n"] == f"{audit.overall.n:,}"
    assert rows(grader)[0]["positive agreement % [95% CI]"] == DASH
    assert rows(people)[2]["AC1 [95% CI]"].startswith("1.00")
    assert rows(people)[2]["the same % [95% CI]"] == DASH
    assert [row["system"] for row in rows(systems)] == ["robot-a", "robot-b"]
    frame = document.data.data.frame
    whole = results_json(audit)
    over = frame.filter(frame["system"].is_null() & frame["rubric"].is_null())
    assert over["points"].to_list() == [-2, None]
    for name in ("sensitivity", "specificity", "ppv", "macro_f1"):
        expected = [whole[part][name]["value"] for part in ("severe", "overall")]
        assert over[name].to_list() == expected, name
    assert over["people.same"].to_list() == [
        whole["people"][part]["same"]["value"] for part in ("severe", "overall")
    ]


def test_a_corrected_score_is_said_as_in_a_summary(audit: PeopleAudit) -> None:
    """A system's corrected score has the same fields, and says why it is unknown."""
    document = results_document(audit)
    *_, scores = document.views
    keys = [field.key for field in CORRECTED]
    in_summary = corrected_sheet([])
    assert [scores.sheet.by_key[key] for key in keys] == [in_summary.by_key[key] for key in keys]
    for row in scores.sheet.rows:
        score = audit.by_system[row["system"]].scores[Rubric.ladder]
        assert row["corrected"] is score.corrected
        if score.corrected.value is None:
            note = f"{row['system']}, ladder not corrected: {score.corrected.reason}."
            assert note in document.notes


def test_a_graders_card_measures_what_an_audit_does() -> None:
    """Columns of a card say what those of an audit do, of what people said of the grader."""
    card = graders.grader_cards_sheet(findings(judged({"robot-a": {"eating-1": ["10001"]}}))).by_key
    for measure in (graders.FINDS, graders.CLEARS):
        for over in ("severe", "overall"):
            field = card[f"human.{over}.{measure.key}"]
            assert field.kind is measure.kind
            assert field.holds.endswith(measure.holds)


def _trials(_: PeopleAudit) -> Document:
    return probes_document("small", "1-A", [tried(GRADERS[0], missed=True)])


@pytest.mark.parametrize("made", [_trials, results_document, lambda _: sample_document(SAMPLE)])
def test_every_table_is_in_every_format(
    audit: PeopleAudit, made: Callable[[PeopleAudit], Document]
) -> None:
    """Markdown and LaTeX have each table once, under a name of its own; files have its rows."""
    document = made(audit)
    views = list(document.views)
    in_markdown, in_latex = markdown(document), latex(document)
    assert all(f"**{view.caption}**" in in_markdown for view in views)
    labels = re.findall(r"\\label\{(.+?)\}", in_latex)
    assert len(labels) == len(set(labels)) == len(views)
    assert document.data.data.frame.height == len(document.data.rows) > 0


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (SECONDS, None, DASH),
        (SECONDS, 0.04, "0.0 s"),
        (SECONDS, 119.0, "119.0 s"),
        (SECONDS, 600.0, "10 min"),
        (SIGNED, 2, "+2"),
        (SIGNED, -2, "−2"),
        (SIGNED, 0, "0"),
        (SIGNED, None, DASH),
        (FLAG, True, "yes"),
        (FLAG, False, "no"),
        (FLAG, None, DASH),
    ],
)
def test_what_is_unknown_is_no_zero(kind: Kind, value: object, text: str) -> None:
    """Time is in seconds, then minutes; points have a sign; what is not known is a dash."""
    assert kind.text(value) == text
