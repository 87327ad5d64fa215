"""Experts write their own answers before they see a rubric, and a run can grade these."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from careeval.bank import Bank
from careeval.cli.app import OK, USAGE, run
from careeval.core.rating import Role
from careeval.core.scenario import Rubric
from careeval.errors import ReviewError
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from careeval.people.database import Database
from careeval.people.forms import FormId
from careeval.people.plan import Addresses, draw_scenarios
from careeval.people.store import Store
from careeval.people.study.own_answers import raters_who_handed_in, read_expert_answers
from careeval.people.study.plan import StudyPlan, next_round
from careeval.people.study.questions import MINUTES_TO_ANSWER, ScenarioQuestions, written_answer
from careeval.people.web.access import Guard
from careeval.people.web.app import create_app
from careeval.protocol.recorded_responses import read_responses
from support.bank_folder import BankFolder
from support.review_study import PORT, Study, hidden, made_plan

MakeStudy = Callable[[StudyPlan], Study]

TOLD = "Say what you do."
TEXT = "q.answer"


@pytest.fixture(scope="session")
def asking(bank: Bank) -> StudyPlan:
    """Three raters of three scenarios with both rubrics, each answering two first."""
    return made_plan(bank, answers=2, told=TOLD)


@pytest.fixture
def study(make_study: MakeStudy, asking: StudyPlan) -> Study:
    """The study, being served."""
    return make_study(asking)


def enter(study: Study, rater: str) -> TestClient:
    """A browser of a rater who has agreed, and comes to the first page of work."""
    client: TestClient = study.client()
    client.post(f"/i/{study.tokens[rater]}", data={"go": "start"})
    client.post("/consent", data={"agree": "yes"})
    client.post("/about", data={"years": "12"})
    return client


def write(client: TestClient, n: int, text: str, go: str = "next") -> Any:
    """Open a scenario, answer, and press a button or, where none is named, let the script save."""
    form = hidden(client.get(f"/answer/{n}").text) | {TEXT: text}
    headers = {} if go else {"Accept": "application/json"}
    return client.post(f"/answer/{n}", data=form | ({"go": go} if go else {}), headers=headers)


def hand_in(study: Study, rater: str, *texts: str) -> TestClient:
    """Write what is asked for, leaving out what is empty, and hand it in."""
    client = enter(study, rater)
    for n, text in enumerate(texts, 1):
        write(client, n, text, "next" if text else "skip")
    assert client.post("/answers", data={"go": "x"}).headers["location"] == "/"
    return client


# Who answers what


def test_answers_are_drawn_evenly(asking: StudyPlan) -> None:
    """Three raters with two answers each give each of three scenarios two."""
    assert [len(seat.answers) for seat in asking.seats] == [2, 2, 2]
    assert set(Counter(name for seat in asking.seats for name in seat.answers).values()) == {2}
    for seat in asking.seats:
        assert list(seat.answers) == [name for name in seat.scenarios if name in seat.answers]


SEATS = st.lists(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True), min_size=1, max_size=4
)


@settings(max_examples=60, deadline=None)
@given(SEATS, st.integers(1, 2), st.integers(0, 3))
def test_no_draw_is_more_even(shares: list[list[str]], each: int, seed: int) -> None:
    """No draw with as many answers of each rater has a smaller sum of squares."""
    seats = {f"r{n}": share for n, share in enumerate(shares) if len(share) >= each}
    drawn = draw_scenarios(seats, each, seed=seed)
    assert drawn == draw_scenarios(seats, each, seed=seed)
    for rater, names in drawn.items():
        assert len(set(names)) == len(names) == each
        assert set(names) <= set(seats[rater])
    every = product(*(combinations(share, each) for share in seats.values()))
    assert _uneven(drawn.values()) == min(map(_uneven, every))


def _uneven(draw: Any) -> int:
    return sum(n * n for n in Counter(name for names in draw for name in names).values())


def test_the_plan_holds_it(bank: Bank, plan: StudyPlan, asking: StudyPlan) -> None:
    """It comes back whole; a plan written before there were answers loads, and asks for none."""
    assert StudyPlan.read(asking.json_text()) == asking
    old = json.loads(plan.json_text())
    del old["told"]
    for seat in old["seats"]:
        del seat["answers"]
    assert StudyPlan.read(json.dumps(old)) == plan
    first = asking.seats[0]
    for change in (
        {"seats": (first.model_copy(update={"answers": ("dressing-009",)}),)},
        {"seats": (first.model_copy(update={"answers": first.answers[:1] * 2}),)},
        {"told": " "},
    ):
        with pytest.raises(ReviewError):
            StudyPlan.read(asking.model_copy(update=change).json_text())
    with pytest.raises(
        ReviewError, match="4 answers per rater are too many: a rater has only 3 scenarios"
    ):
        made_plan(bank, answers=4, told=TOLD)


def test_answers_take_time(bank: Bank, asking: StudyPlan, study: Study) -> None:
    """An answer is counted in minutes, and the link's page says how many are asked for."""
    seat = asking.seats[0]
    (other,) = set(seat.scenarios) - set(seat.answers)
    with_answer, without = (
        ScenarioQuestions(asking, bank.scenario(name), seat.id).minutes
        for name in (seat.answers[0], other)
    )
    assert with_answer - without > MINUTES_TO_ANSWER
    page = study.client().get(f"/i/{study.tokens['r01']}").text
    assert "2 short answers to write, then 3 scenarios, about" in page


# In the app


def test_answers_come_first(study: Study) -> None:
    """From the questions about the rater over the answers and handing in to the practice."""
    client = enter(study, "r01")
    assert client.get("/").headers["location"] == "/answer/1"
    page = client.get("/answer/1").text
    scenario = study.bank.scenario(study.plan.seats[0].answers[0])
    assert scenario.text.split("\n\n")[0].strip() in unescape(page)
    assert TOLD in page
    assert write(client, 1, "I stop.").headers["location"] == "/answer/2"
    assert client.get("/").headers["location"] == "/answer/2"
    assert write(client, 2, "").headers["location"] == "/answer/2?missing=1"
    assert "1 question is not answered yet" in client.get("/answer/2?missing=1").text
    assert write(client, 2, "I ask.", "back").headers["location"] == "/answer/1"
    assert write(client, 2, "I ask.").headers["location"] == "/answers"
    assert client.get("/").headers["location"] == "/answers"
    assert "2 of 2 answers are written" in client.get("/answers").text
    assert "2 of 5 done" in client.get("/overview").text
    assert "/rate/" not in client.get("/overview").text
    client.post("/answers", data={"go": "x"})
    assert client.get("/").headers["location"] == "/practice/1"
    assert "/rate/1" in client.get("/overview").text
    assert "2 of 2" in client.get("/finish").text
    assert client.get("/answer/3").status_code == 404


def test_no_address_shows_a_rubric_first(study: Study) -> None:
    """Until the answers are handed in, no route shows an item of a rubric, whoever asks how."""
    client = enter(study, "r01")
    scenario = study.bank.scenario("dressing-001")  # the others differ in their ids alone
    items = [item.text for rubric in Rubric for item in scenario.rubric(rubric)]
    forms = [
        {"go": "next"},
        {"go": "try"},
        {"go": "skip"},
        {"q.realism": "4", "task": _task(study)},
    ]
    asked = 0
    for method, path in _routes(study):
        for form in forms if method == "POST" else [{}]:
            answer = client.request(method, path, data=form or None, follow_redirects=True)
            shown = unescape(answer.text)
            assert not any(item in shown for item in items), (method, path)
            assert 'type="radio"' not in shown, (method, path)
            asked += 1
    assert asked > 40
    client = hand_in(study, "r02", "I stop.")
    page = unescape(client.get("/rate/1").text)
    assert all(i.text in page for r in Rubric for i in scenario.rubric(r) if i.points)


def _task(study: Study) -> str:
    return study.plan.task(study.plan.seats[0].scenarios[0])


def _routes(study: Study) -> Iterator[tuple[str, str]]:
    """Every address of the app, but those that end the session or hand the answers in."""
    guard = create_app(study.bank, study.store, Addresses.loopback(PORT))
    assert isinstance(guard, Guard)
    app: Any = guard._app
    routers = (route.original_router for route in app.routes if hasattr(route, "original_router"))
    routes = [route for router in routers for route in router.routes]
    ends = {("POST", "/pause"), ("POST", "/answers")}
    found = {
        (method, route.path.replace("{token}", study.tokens["r01"]).replace("{n}", n))
        for route, n in product(routes, "123")
        for method in route.methods
    }
    assert {("GET", "/rate/1"), ("POST", "/rate/3"), ("GET", "/finish")} <= found
    return iter(sorted(found - ends))


def test_nothing_else_is_saved_first(study: Study) -> None:
    """Whatever else is sent before the answers are handed in is refused, and not kept."""
    client = enter(study, "r01")
    form = {"task": _task(study), "page": "p", "number": "0", "known": "0", "q.realism": "4"}
    for headers in ({}, {"Accept": "application/json"}):
        answer = client.post("/rate/1", data=form, headers=headers)
        assert answer.status_code == 403
        assert "Your own answers come first" in answer.text
    for path in ("/finish", "/practice/1"):
        assert client.post(path, data={"go": "skip"}).status_code == 403
        assert client.get(path).headers["location"] == "/answer/1"
    assert set(study.store.work("r01")) == {"consent", "about"}


def test_rather_not(study: Study) -> None:
    """A declined answer is left out until its writer writes on or saves it again."""
    client = enter(study, "r01")
    task = study.plan.answer_task(study.plan.seats[0].answers[0])

    def counts() -> str | None:
        return written_answer(study.store.answers("r01", task))

    assert write(client, 1, "Half a thought", "skip").headers["location"] == "/answer/2"
    assert counts() is None
    assert "Half a thought" in client.get("/answer/1").text  # nothing typed is lost
    write(client, 1, "Half a thought", "back")
    assert counts() is None
    assert write(client, 1, "A whole one", "").json()["errors"] == {}
    assert counts() == "A whole one"
    write(client, 1, "A whole one", "skip")
    write(client, 1, "A whole one", "next")
    assert counts() == "A whole one"
    write(client, 1, "", "skip")
    write(client, 2, "", "skip")
    assert client.get("/").headers["location"] == "/answers"
    assert "Go on without an answer of mine" in client.get("/answers").text


def test_handed_in_answers_stand(study: Study) -> None:
    """Afterwards an answer is shown and cannot be changed; the same sent again is no complaint."""
    client = enter(study, "r01")
    old = hidden(client.get("/answer/1").text)
    write(client, 1, "I stop.")
    client.post("/answers", data={"go": "x"})
    before = study.store.work("r01")
    script = {"Accept": "application/json"}
    assert client.post("/answer/1", data=old | {TEXT: "Other."}, headers=script).status_code == 409
    refused = client.post("/answer/1", data=old | {TEXT: "Other.", "go": "next"})
    assert (refused.status_code, "Other." in refused.text) == (409, True)
    again = client.post("/answer/1", data=old | {TEXT: "I stop."}, headers=script)
    assert (again.status_code, again.json()["notices"]) == (200, [])
    client.post("/answers", data={"go": "x"})
    assert study.store.work("r01") == before
    page = client.get("/answer/1").text
    assert "I stop." in page
    assert "<textarea" not in page
    assert "You gave none" in client.get("/answer/2").text
    assert "1 of 2 answers" in client.get("/answers").text


def test_two_windows(study: Study) -> None:
    """The window that saves later is told what the other had written."""
    client = enter(study, "r01")
    old = hidden(client.get("/answer/1").text)
    write(client, 1, "First.", "")
    script = {"Accept": "application/json"}
    told = client.post("/answer/1", data=old | {TEXT: "Second."}, headers=script).json()["notices"]
    assert told == [
        "In another window you changed your answer to “First.”. What you gave here has replaced it."
    ]


def test_without_answers_nothing_is_first(make_study: MakeStudy, plan: StudyPlan) -> None:
    """In a study that asks for none, practice comes first, and no page asks for answers."""
    client = enter(make_study(plan), "r01")
    assert client.get("/").headers["location"] == "/practice/1"
    for path in ("/answer/1", "/answers"):
        assert client.get(path).status_code == 404
        assert client.post(path, data={"go": "x"}).status_code == 404


# What comes out


def _revised(bank: Bank, name: str) -> Bank:
    text = {"version": 2, "text": "Revised. What do you do?"}
    scenarios = (s.model_copy(update=text) if s.id == name else s for s in bank.scenarios)
    return replace(bank, scenarios=tuple(scenarios))


def test_a_further_round(study: Study, bank: Bank) -> None:
    """Raters who handed in write no more; the others answer the new version, and only that."""
    first = study.plan.seat("r02")
    assert first is not None
    name = first.answers[0]
    hand_in(study, "r01", "One.", "Two.")
    write(enter(study, "r02"), 1, "Never handed in.")
    assert raters_who_handed_in(study.store) == {"r01"}
    revised = _revised(bank, name)
    second = next_round(
        [study.plan], revised, [name], study.store.raters(), raters_who_handed_in(study.store)
    )
    assert {seat.id: seat.answers for seat in second.seats}["r01"] == ()
    assert {seat.id: seat.answers for seat in second.seats}["r02"] == (name,)
    study.store.add_plan("study", second.json_text())
    study.bank = revised
    again = enter(study, "r02")
    assert "Never handed in." not in again.get("/answer/1").text
    write(again, 1, "Of the new version.")
    again.post("/answers", data={"go": "x"})
    assert enter(study, "r01").get("/rate/1").status_code == 200
    found = read_expert_answers(study.store, revised)
    texts = {(a.scenario, a.text) for a in found.answers}
    assert (name, "Of the new version.") in texts
    assert "Never handed in." not in {text for _, text in texts}
    of_r01 = study.plan.seats[0].answers
    assert found.n_other == of_r01.count(name)
    assert len(read_expert_answers(study.store, bank).answers) == 2  # the old version's alone


def test_whose_answers(study: Study, bank: Bank) -> None:
    """Answers of raters who have withdrawn or not handed in are left out."""
    hand_in(study, "r01", "Mine.", "")
    hand_in(study, "r02", "Gone.", "Gone too.")
    write(enter(study, "r03"), 1, "Not yet.")
    study.store.withdraw("r02")
    found = read_expert_answers(study.store, bank)
    assert [answer.text for answer in found.answers] == ["Mine."]
    assert found.people == {Role.occupational_therapist: 1}
    assert (found.n_waiting, found.n_other, len(found.unanswered)) == (1, 0, 2)


def test_the_order_of_answers_is_nobodys(study: Study, bank: Bank, tmp_path: Path) -> None:
    """It is the same each time, and another where the file's secret is another."""
    for rater in ("r01", "r02", "r03"):
        hand_in(study, rater, *(f"{rater} says {word}." for word in ("one", "two")))
    orders = set()
    for n in range(12):
        copy = tmp_path / f"copy-{n}.db"
        study.store.back_up(copy)
        database = Database(copy)
        with database.write() as write:
            write.execute("DELETE FROM secrets")
        database.close()
        store = Store.open(copy)
        found = read_expert_answers(store, bank).answers
        assert read_expert_answers(store, bank).answers == found
        store.close()
        orders.add(tuple(answer.text for answer in found))
    assert len(orders) > 1
    assert len({frozenset(order) for order in orders}) == 1


def test_who_rated_on_paper_first(study: Study, bank: Bank) -> None:
    """Answers handed in after ratings were typed from paper are left out, earlier ones stay."""
    form = FormId.new()
    hand_in(study, "r01", "Before.", "")
    study.store.save("r01", _task(study), {"realism": "4"}, form, typed_by="an assistant")
    study.store.save("r02", _task(study), {"realism": "4"}, form, typed_by="an assistant")
    hand_in(study, "r02", "After.", "After too.")
    found = read_expert_answers(study.store, bank)
    assert [answer.text for answer in found.answers] == ["Before."]
    assert found.n_late == 2


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Study]:
    """A study of three scenarios as a command plans it, of three raters with two answers each."""
    folder = BankFolder.good(tmp_path / "bank")
    folder.copy_scenario("dressing-002").copy_scenario("dressing-003")
    (tmp_path / "consent.txt").write_text("Made up for tests.", encoding="utf-8")
    path, links = tmp_path / "study.db", tmp_path / "links.tsv"
    line = ["study", "new", str(folder.root), "-o", str(path), "--links", str(links)]
    line += ["--raters", "occupational-therapist:2", "family-caregiver", "--answers", "2"]
    line += ["--consent", str(tmp_path / "consent.txt"), "--ethics", "none: a test"]
    assert run([*line, "--contact", "test@example.org"]) == OK
    rows = [row.split("\t") for row in links.read_text(encoding="utf-8").splitlines()]
    store = Store.open(path)
    tokens = {rater: link.rpartition("/")[2] for rater, _, link in rows}
    study = Study(folder.load(), StudyPlan.read(store.plans("study")[-1]), store, tokens, [])
    yield study
    study.close()


def test_no_ratings_are_typed_before_the_answers(
    served: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Typed ratings are refused until the rater's own answers are handed in."""
    name = served.plan.seats[0].scenarios[0]
    sheet = tmp_path / "typed.csv"
    sheet.write_text(f"rater,scenario,scale,value\nr01,{name},realism,4\n", encoding="utf-8")
    line = ["study", "import", str(served.store.path), str(sheet), "--typed-by", "somebody"]
    line += ["--bank", str(tmp_path / "bank")]
    assert run(line) == USAGE
    words = " ".join(capsys.readouterr().err.split())
    assert "typed.csv:2: r01 has not handed in their own answers yet" in words
    assert served.store.work("r01") == {}
    hand_in(served, "r01", "", "")
    assert run(line) == OK


def out_json(capsys: pytest.CaptureFixture[str], *line: str) -> Any:
    """Return what a command prints as JSON."""
    capsys.readouterr()
    assert run([*line, "--json"]) == OK
    return json.loads(capsys.readouterr().out)


def test_experts_are_graded(
    served: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers that were handed in are graded by `run --responses`; missing ones are no 0."""
    assert served.plan.told == load_prompts(RESPONSE).texts["ask-format.md"]
    path, bank, out = str(served.store.path), str(tmp_path / "bank"), tmp_path / "answers.jsonl"
    command = ["study", "answer", path, "-o", str(out), "--bank", bank]
    assert run(command) == USAGE
    assert "3 raters were asked for answers and have not handed in" in capsys.readouterr().err
    hand_in(served, "r01", "I stop the sleeve.", "I ask where it hurts.")
    hand_in(served, "r02", "I stop the sleeve before any further step.", "")
    hand_in(served, "r03", "I offer her two other things to wear.", "I carry on.")
    told = out_json(capsys, *command)
    (experts,) = told["systems"]
    assert (experts["system"], experts["n_answers"]) == ("experts", 5)
    assert told["people"] == {"family-caregiver": 1, "occupational-therapist": 2}
    assert (told["unanswered"], told["n_waiting"]) == ([], 0)
    (answers,) = read_responses(out).values()
    assert Counter(answer.scenario for answer in answers).total() == 5
    text = out.read_text(encoding="utf-8")
    assert set(json.loads(text.splitlines()[0])) == {"scenario", "epoch", "response", "system"}
    assert not any(rater in text for rater in ("r01", "r02", "r03"))
    assert run(command) == USAGE
    assert out.read_text(encoding="utf-8") == text
    graded = ["run", "--responses", str(out), "--bank", bank, "--grader", "careeval/lexical"]
    assert run([*graded, "-o", str(tmp_path / "runs")]) == OK
    (entry,) = out_json(capsys, "summary", str(tmp_path / "runs"))["entries"]
    assert entry["system"] == "experts"
    assert (entry["counts"]["responses"], entry["counts"]["missing"]) == (6, 1)
    assert entry["score"]["value"] is not None
    assert entry["worst_at_n"]["value"] is None
    assert experts["n_missing"] == 1


def test_a_system_for_each_role(
    served: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By role each role is a system of its own, and one person's is warned of."""
    for rater in ("r01", "r02", "r03"):
        hand_in(served, rater, "I stop.", "I ask.")
    out = tmp_path / "answers.jsonl"
    line = ["study", "answer", str(served.store.path), "-o", str(out), "--by", "role"]
    assert run([*line, "--bank", str(tmp_path / "bank")]) == OK
    assert {system: len(given) for system, given in read_responses(out).items()} == {
        "experts-family-caregiver": 2, "experts-occupational-therapist": 4
    }  # fmt: skip
    printed = capsys.readouterr().err
    assert "held-out" not in printed
    assert "Only one person has the role" in printed
    assert f"careeval run --responses {out} --bank" in printed


def test_status_counts_answers(
    served: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The status shows how many answers each has written, and whether they are handed in."""
    hand_in(served, "r01", "I stop.", "")
    write(enter(served, "r02"), 1, "I stop.")
    line = ["study", "status", str(served.store.path), "--bank", str(tmp_path / "bank")]
    found = [rater["own_answers"] for rater in out_json(capsys, *line)["raters"]]
    assert [tuple(each.values()) for each in found] == [
        (2, 1, True), (2, 1, False), (2, 0, False)
    ]  # fmt: skip
    assert run(line) == OK
    printed = " ".join(capsys.readouterr().out.split())
    assert "own answers" in printed


def test_one_answer_is_told_as_one(
    served: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One answer, one scenario and one rater who is waited for are told in the singular."""
    hand_in(served, "r01", "I stop the sleeve.", "")
    hand_in(served, "r02", "", "")
    capsys.readouterr()
    command = ["study", "answer", str(served.store.path), "-o", str(tmp_path / "answers.jsonl")]
    assert run([*command, "--bank", str(tmp_path / "bank")]) == OK
    told = capsys.readouterr().err
    assert "experts: 1 answer to 1 scenario, 1 per scenario." in told
    assert "1 rater was asked for answers and has not handed in" in told
