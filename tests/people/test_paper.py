"""A study on paper: the form asks what the app asks, and its sheet, filled in, is the results."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape

from careeval.bank import Bank
from careeval.cli.app import OK, USAGE, run
from careeval.people.forms import FormId
from careeval.people.paper import (
    numbered_questions,
    read_typed_ratings,
    render_form,
    sheet_csv,
)
from careeval.people.plan import Consent
from careeval.people.study.plan import StudyPlan, planned_scenarios
from careeval.people.study.questions import HANDED_IN, ScenarioQuestions
from support.bank_folder import GOOD_BANK
from support.review_study import CONSENT, Study, made_plan

HOSTILE = "<script>alert(1)</script> {{ 7 * 7 }} }}</style> \"' & <img src=x>"


def _words(html: str) -> str:
    """A page's words, without what stands in its style."""
    body = re.sub(r"<(style)>.*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def _fill(path: Path, says: Callable[[dict[str, str]], str]) -> None:
    """Fill in a sheet's one column by hand."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "value": says(row)} for row in rows)


@pytest.fixture
def typed(tmp_path: Path) -> tuple[Path, Path]:
    """A study of one scenario by five raters, and the folder of their forms."""
    path, out = tmp_path / "study.db", tmp_path / "paper"
    consent = tmp_path / "consent.txt"
    consent.write_text("Made up.", encoding="utf-8")
    line = ["study", "new", str(GOOD_BANK), "-o", str(path), "--items", "--points"]
    line += ["--raters", "occupational-therapist:3", "other:2", "--consent", str(consent)]
    assert run([*line, "--ethics", "none: a test", "--contact", "t@example.org"]) == OK
    print_line = ["study", "print", str(path), "-o", str(out), "--csv", "--bank", str(GOOD_BANK)]
    assert run(print_line) == OK
    return path, out


def _import(study: Path, sheet: Path) -> int:
    line = ["study", "import", str(study), str(sheet), "--typed-by", "an assistant"]
    return run([*line, "--bank", str(GOOD_BANK)])


def test_filled_in_and_imported(
    typed: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Five filled-in sheets give 4 of 5 for realism, 5 of 5 for validity, and their comments."""
    study, out = typed
    realism = {"r01": "5", "r02": "4", "r03": "4", "r04": "3", "r05": "5"}
    for rater, value in realism.items():

        def says(row: dict[str, str], value: str = value) -> str:
            of_scenario = {
                "realism": value,
                "validity": "5",
                "information": "enough",
                "comment": f"by {row['rater']}, =1",
            }
            if not row["item"]:
                return of_scenario.get(row["scale"], "")
            # one item is rated, its points are objected to, and of all others nothing is said
            of_item = {"relevance": "2", "points": "0", "comment": ""}
            return of_item[row["scale"]] if row["item"] == "ladder/-2" else ""

        _fill(out / f"{rater}.csv", says)
        assert _import(study, out / f"{rater}.csv") == OK
    capsys.readouterr()
    assert run(["study", "results", str(study), "--bank", str(GOOD_BANK), "--json"]) == OK
    found = json.loads(capsys.readouterr().out)
    (scenario,) = found["scenarios"]
    counts = [(scenario[s]["i_cvi"]["k"], scenario[s]["i_cvi"]["n"]) for s in SCALES]
    assert (counts, scenario["decision"]) == ([(4, 5), (5, 5)], "keep")
    assert {each["text"] for each in scenario["comments"]} == {f"by {r}, =1" for r in realism}
    by_item = {(each["rubric"], each["item"]): each for each in scenario["items"]}
    assert by_item["ladder", "-2"]["relevance"]["i_cvi"]["k"] == 0
    assert [seat["n_typed"] for seat in found["panel"]] == [6] * 5
    assert "ladder/-2: 5 of 5 would not give it −2" in scenario["to_read"]


SCALES = ("realism", "validity")


def test_an_empty_sheet_says_nothing(
    typed: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A sheet that comes back with no value is accepted, and nothing is saved."""
    study, out = typed
    assert _import(study, out / "r01.csv") == OK
    assert "Saved: 0 answers" in capsys.readouterr().err


def test_the_form_asks_what_the_app_asks(study: Study) -> None:
    """Every question of the app, its choices' words stand there once, in order."""
    scenarios = planned_scenarios(study.plan, study.bank)
    seat = study.plan.seats[1]
    html = render_form(study.plan, scenarios, seat, {})
    text = _words(html)
    at = -1
    for asked in numbered_questions(study.plan, scenarios, seat, {}):
        start = text.find(f"{asked.number}. {asked.question.text}", at + 1)
        assert start > at, asked
        between = text[start : text.find(f" {asked.number + 1}. ", start)]
        assert all(asked.beside(*each) in between for each in asked.question.options)
        at = start
    questions = (ScenarioQuestions(study.plan, scenarios[n], "r02") for n in seat.scenarios)
    assert html.count('class="question ') == sum(len(each.asked) for each in questions)
    order = [text.index(f"{name}, version") for name in seat.scenarios]
    assert order == sorted(order)
    assert text.index(CONSENT.text.split("\n")[0]) < text.index("I agree") < order[0]


def test_a_form_needs_nothing_and_runs_nothing(bank: Bank) -> None:
    """Everybody's words are plain text, and no address, script or picture is in the file."""
    consent = Consent(text=HOSTILE, ethics=HOSTILE, contact=HOSTILE)
    plan = made_plan(bank, title=HOSTILE, consent=consent)
    html = render_form(plan, planned_scenarios(plan, bank), plan.seats[0], {})
    assert html.count(str(escape(HOSTILE))) == html.count("alert(1)") == 6
    assert re.findall(r"<(script|img|link|iframe|object)|\b(?:src|href)=[\"']", html) == []


def test_points_are_not_given_away(bank: Bank) -> None:
    """A form without questions on points has no rung's id; the sheet has it."""
    plan = made_plan(bank, points=False)
    scenarios = planned_scenarios(plan, bank)
    html = render_form(plan, scenarios, plan.seats[0], {})
    assert "ladder/" not in html
    assert "we propose" not in html
    assert "ladder/+2" in sheet_csv(plan, scenarios, plan.seats[0], {})


@settings(max_examples=25)
@given(data=st.data(), seed=st.integers(0, 99))
def test_a_filled_sheet_is_read_as_it_was_meant(
    bank: Bank, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, seed: int
) -> None:
    """Whatever boxes are ticked, each answer is read for the question that it stands at."""
    plan = made_plan(bank, seed=seed)
    scenarios, seat = planned_scenarios(plan, bank), plan.seats[0]
    meant = {
        str(asked.number): data.draw(st.sampled_from(["", *asked.question.choices]))
        for asked in numbered_questions(plan, scenarios, seat, {})
    }
    path = tmp_path_factory.mktemp("sheet") / "r01.csv"
    path.write_text(sheet_csv(plan, scenarios, seat, {}), encoding="utf-8-sig", newline="")
    _fill(path, lambda row: meant[row["number"]])

    sheets = read_typed_ratings(path, plan, scenarios, _NothingYet(plan))  # type: ignore[arg-type]

    by_task = {sheet.task: sheet.values for sheet in sheets}
    for asked in numbered_questions(plan, scenarios, seat, {}):
        said = by_task.get(plan.task(asked.scenario), {}).get(asked.question.field, "")
        assert said == meant[str(asked.number)]


class _NothingYet:
    """Stands for a store in which nobody has answered."""

    def __init__(self, plan: StudyPlan) -> None:
        self._plan = plan

    def raters(self) -> Sequence[Any]:
        return [seat.rater for seat in self._plan.seats]

    def answers(self, _rater: str, _task: str) -> dict[str, Any]:
        return {}

    def newest(self, _rater: str, _task: str) -> int:
        return 0

    def revoked_ids(self) -> frozenset[str]:
        return frozenset()


def test_who_is_printed(typed: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """One rater where one is named, nobody who is not there, and nothing over what is there."""
    study, out = typed
    assert len(list(out.iterdir())) == 10
    line = ["study", "print", str(study), "--bank", str(GOOD_BANK), "-o"]
    assert run([*line, str(out.with_name("one")), "r03"]) == OK
    assert [path.name for path in out.with_name("one").iterdir()] == ["r03.html"]
    before = (out / "r03.html").read_bytes()
    assert run([*line, str(out), "r03"]) == USAGE
    assert "r03.html exists already" in capsys.readouterr().err
    assert (out / "r03.html").read_bytes() == before
    assert run(["study", "withdraw", str(study), "r02", "--yes"]) == OK
    assert run([*line, str(out.with_name("two")), "r02"]) == USAGE
    assert "choose from r01, r03, r04, r05" in capsys.readouterr().err
    assert not out.with_name("two").exists()


def test_own_answers_come_before_the_paper(
    make_study: Callable[[StudyPlan], Study],
    bank: Bank,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A rater who still owes answers of their own gets no form, which would show the rubric."""
    plan = made_plan(bank, answers=1, told="Write alone.")
    study = make_study(plan)
    root = Path(bank.documents["bank"].path).parent
    line = ["study", "print", str(study.store.path), "r01", "--bank", str(root)]
    assert run([*line, "-o", str(tmp_path / "paper")]) == USAGE
    assert "answers yet: r01" in capsys.readouterr().err
    assert not (tmp_path / "paper").exists()
    study.store.save("r01", HANDED_IN, {"1": "yes"}, FormId.new())
    assert run([*line, "-o", str(tmp_path / "paper")]) == OK
