"""The app as browsers use and misuse it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from careeval.core.rating import STEPS
from careeval.core.scenario import Rubric
from careeval.people.deck import duration_in_words
from careeval.people.forms import FormId
from careeval.people.study.plan import StudyPlan, planned_scenarios
from careeval.people.study.questions import ScenarioQuestions
from support.outline import text_of
from support.review_study import Study, fill, hidden

MakeStudy = Callable[[StudyPlan], Study]


def test_a_rater_goes_through(study: Study) -> None:
    """From the link over consent, role and practice to the first scenario, and on to the end."""
    client = study.client()
    link = f"/i/{study.tokens['r01']}"
    assert "3 scenarios, about" in client.get(link).text
    assert client.post(link, data={"go": "x"}).headers["location"] == "/"
    assert client.get("/").headers["location"] == "/consent"
    assert client.get("/rate/1").headers["location"] == "/consent"
    client.post("/consent", data={"agree": "yes"})
    assert client.get("/").headers["location"] == "/about"
    assert client.post("/about", data={"years": "many"}).status_code == 422
    client.post("/about", data={"years": "12"})
    assert client.get("/").headers["location"] == "/practice/1"
    tried = client.post("/practice/1", data={"q.realism": "5", "go": "try"})
    assert "Where you have seen nearly this" in tried.text
    assert client.post("/practice/1", data={"go": "next"}).headers["location"] == "/practice/2"
    client.post("/practice/2", data={"go": "next"})
    assert client.get("/").headers["location"] == "/rate/1"
    tasks = {event.task for event in study.store.events()}
    assert tasks == {"consent", "about", "practice"}


def test_no_other_page_of_practice_is_noted(study: Study) -> None:
    """A page of practice that there is not is not found, and nothing is kept of it."""
    client = study.client("r01")
    before = study.store.events()
    for n in (0, 3, 10**12):
        assert client.post(f"/practice/{n}", data={"go": "next"}).status_code == 404
    assert study.store.events() == before


def test_how_busy_others_are_is_on_no_page(study: Study) -> None:
    """The number on a rater's page rises by their own saves alone."""
    mine, theirs = study.client("r01"), study.client("r02")
    risen = []
    for rating, others in (("4", ""), ("3", "12345"), ("2", "1")):
        form = hidden(mine.get("/rate/1").text)
        for value in others:
            fill(theirs, 1, {"q.realism": value}, "skip")
        sent = form | {"q.realism": rating}
        answer = mine.post("/rate/1", data=sent, headers={"Accept": "application/json"})
        risen.append(answer.json()["seen"] - int(form["known"]))
    assert risen == [1, 1, 1]


def test_it_resumes_at_the_first_incomplete(study: Study) -> None:
    """Another device goes on where the first stopped; what was skipped comes last."""
    first = study.client("r01")
    fill(first, 1, {}, "skip")
    assert _rate_all(first, 2) == "/rate/3"
    second = study.arrived("r01")
    assert second.get("/").headers["location"] == "/rate/3"
    _rate_all(second, 3)
    assert second.get("/").headers["location"] == "/rate/1"
    _rate_all(second, 1)
    assert second.get("/").headers["location"] == "/finish"
    assert "All 3 scenarios are done" in second.get("/finish").text


def _required(client: TestClient, n: int) -> set[str]:
    html = client.get(f"/rate/{n}").text
    return {unescape(name) for name in re.findall(r'type="radio" name="([^"]+)"', html)}


def _fours(client: TestClient, n: int) -> dict[str, str]:
    """An answer to all that is asked first."""
    given = dict.fromkeys(_required(client, n), "4")
    return given | {"q.information": "enough"}


def _agree(client: TestClient, n: int) -> dict[str, str]:
    return {name: "agree" for name in _required(client, n) if name.endswith("/points")}


def _rate_all(client: TestClient, n: int) -> str:
    """Rate all that a scenario asks for, then agree to all points; where that leads."""
    fill(client, n, _fours(client, n))
    return str(fill(client, n, _agree(client, n)).headers["location"])


def test_no_name_tells_an_items_points(make_study: MakeStudy, plan: StudyPlan) -> None:
    """Inputs are called by the item's place: nothing of a page has an item's id, which tells it."""
    study = make_study(plan.model_copy(update={"points": False}))
    client = study.client("r01")
    names = _required(client, 1) | set(_comments(client))
    assert {"q.realism", "q.1/relevance", "q.1/comment"} <= names
    page = client.get("/rate/1").text
    for item in study.bank.scenario(study.plan.seats[0].scenarios[0]).ladder:
        assert f"ladder/{item.id}" not in unescape(page)
    fill(client, 1, {"q.1/relevance": "2"}, "skip")
    (stored,) = set(study.store.answers("r01", study.first_task)) - {"skipped"}
    assert re.fullmatch(r"ladder/[-+]?\d/relevance", stored)
    assert client.post("/rate/1", data=hidden(page) | {f"q.{stored}": "2"}).status_code == 400


def test_every_step_of_a_scale_has_words(study: Study) -> None:
    """No number stands alone, and each of a scale means something else."""
    text = unescape(study.client("r01").get("/rate/1").text)
    for scale in STEPS.values():
        assert len(set(scale)) == 5
        for n, words in enumerate(scale, 1):
            assert f"<span>{n}, {words}</span>" in text


def test_relevance_is_asked_before_points_are_shown(study: Study) -> None:
    """Nothing of a page tells points until all else is answered; then it asks what they deserve.

    Of an act of negative points the likely result is asked, and nothing of one of 0 points.
    """
    client = study.client("r01")
    first = text_of(client.get("/rate/1").text)
    assert "· we propose" not in first
    assert "points right?" not in first
    for question in ("What would be the likely result of exactly", "Is this worth looking for in"):
        assert client.get("/rate/1").text.count(f"<legend>{question}") == 2
    zero = next(i for i in study.bank.scenario("dressing-001").ladder if i.points == 0)
    assert zero.text not in first
    assert study.plan.rubrics == (Rubric.ladder,)
    answer = fill(client, 1, _fours(client, 1))
    assert answer.headers["location"] == "/rate/1#items"
    second = text_of(client.get("/rate/1").text)
    assert len(_agree(client, 1)) == 5
    assert zero.text in second
    assert "we propose −2" in second
    again = fill(client, 1, {"q.1/comment": ""})  # as a browser sends what is empty
    assert again.headers["location"] == "/rate/1?missing=1"
    assert fill(client, 1, _agree(client, 1)).headers["location"] == "/rate/2"


def test_who_has_seen_points_goes_on_seeing_them(study: Study) -> None:
    """A view that was given before relevance was asked first is on the page, to be changed."""
    stored = {"ladder/-2/points": "-1"}
    study.store.save("r01", study.first_task, stored, FormId.new())
    text = study.client("r01").get("/rate/1").text
    assert "we propose −2" in unescape(text)
    assert len(re.findall(r'value="-1" checked', text.replace("  ", " "))) == 1


def test_what_is_missing(study: Study) -> None:
    """A page that is not done stays and leads to what is open, many by the first; so does the end.

    A box that only says so is not coloured as an error is.
    """
    client = study.client("r01")
    answer = fill(client, 1, {"q.realism": "4"})
    assert answer.headers["location"] == "/rate/1?missing=1"
    page = client.get("/rate/1?missing=1").text
    assert "6 questions are not answered yet; what you gave is saved." in page
    assert re.findall(r'<a href="#(q\d+)"', page) == ["q2"]
    untouched = client.get("/rate/2?missing=1").text
    assert "7 questions are not answered yet. " in untouched
    assert re.findall(r'<a href="#(q\d+)"', untouched) == ["q1"]
    fill(client, 3, _fours(client, 3))
    choices = _agree(client, 3)
    last = [name for name in choices if name.endswith("/points")][-1]
    choices[last] = choices["q.validity"] = ""
    fill(client, 3, choices)
    few = client.get("/rate/3?missing=1").text
    places = re.findall(r'<li><a href="#(q\d+)"', few)
    names = [re.findall(f'name="([^"]+)" [^>]*id="{q}"', few) for q in places]
    assert names == [["q.validity"], [last]]
    assert not any('"summary wrong"' in each for each in (page, untouched, few))
    assert fill(client, 1, {}, "skip").headers["location"] == "/rate/2"
    assert fill(client, 2, {}, "back").headers["location"] == "/rate/1"
    gaps = re.findall(r'href="(/rate/\d\?missing=1#q\d+)"', client.get("/finish").text)
    assert gaps == ["/rate/1?missing=1#q2", "/rate/2?missing=1#q1", "/rate/3?missing=1#q2"]
    assert "skipped" in client.get("/overview").text


def test_an_answer_taken_back(study: Study) -> None:
    """“Clear” empties its own question, keeps what else was chosen, and comes back to it."""
    client = study.client("r01")
    fill(client, 1, {"q.realism": "4", "q.validity": "5"}, "skip")
    form = hidden(client.get("/rate/1").text) | {"q.realism": "2", "q.validity": "5"}
    answer = client.post("/rate/1", data=form | {"clear": "q.validity"})
    assert answer.headers["location"] == "/rate/1#q2"
    stored = study.store.answers("r01", study.first_task)
    values = {name: each.value for name, each in stored.items() if name != "skipped"}
    assert values == {"realism": "2"}
    shown = client.get("/rate/1").text
    assert 'name="clear" value="q.validity"' in shown
    assert 'name="clear"' not in client.get("/practice/1").text  # where nothing is kept
    before = study.dump()
    assert client.post("/rate/1", data=hidden(shown) | {"clear": "q.score"}).status_code == 400
    assert study.dump() == before


def test_items_are_practised_where_they_are_asked_about(
    make_study: MakeStudy, plan: StudyPlan
) -> None:
    """A good and a harmful item are practised, with those questions that the study asks."""
    for relevance, points in ((True, True), (True, False), (False, True)):
        asking = plan.model_copy(update={"relevance": relevance, "points": points})
        client = make_study(asking).client("r01")
        text = client.get("/practice/1").text
        assert text.count("Is this worth looking for in an answer") == relevance
        assert text.count("What would be the likely result of exactly this?") == relevance
        at_once = points and not relevance
        assert text.count("points right?") == 2 * at_once
        assert ("we propose +2" in text, "we propose −2" in text) == (at_once, at_once)
        tried = text_of(client.post("/practice/1", data={"go": "try"}).text)
        assert tried.count("points right?") == 2 * points
        assert ("Think of what would come of it" in tried) == relevance
        assert ("how wrong it is. We propose −2" in tried) == points
    bare = make_study(plan.model_copy(update={"rubrics": ()})).client("r01")
    assert "points right?" not in bare.get("/practice/1").text
    assert "worth looking for" not in bare.get("/practice/1").text


def test_what_stands_above_the_items(make_study: MakeStudy, plan: StudyPlan) -> None:
    """With both rubrics the page says which comes first, and with one that they are mixed."""
    kinds = [Rubric.actions, Rubric.ladder]
    for rubrics, said in (
        (kinds, r"first \d single acts, then 5 whole answers, each in mixed order"),
        (kinds[::-1], r"first 5 whole answers, then \d single acts, each in mixed order"),
        (kinds[1:], "5 things that an answer may contain, good or harmful, in mixed order"),
    ):
        asking = plan.model_copy(update={"rubrics": tuple(rubrics), "relevance": False})
        assert re.search(said, make_study(asking).client("r01").get("/rate/1").text)


def test_the_link_says_what_is_asked(study: Study, make_study: MakeStudy) -> None:
    """In a sentence, with what is asked about items where something is."""
    text = study.client().get(f"/i/{study.tokens['r01']}").text
    assert "say how real they are and how well they test what a carer decides; and of" in text
    assert "whether each is worth looking for and has the right points." in text
    bare = make_study(study.plan.model_copy(update={"rubrics": ()}))
    text = bare.client().get(f"/i/{bare.tokens['r01']}").text
    assert "how well they test what a carer decides.</p>" in text


def test_the_time_that_is_left(study: Study) -> None:
    """The overview gives the time for what is not done, and none once all is."""
    client = study.client("r01")
    plan, scenarios = study.plan, planned_scenarios(study.plan, study.bank)
    names = plan.seats[0].scenarios
    for done in range(3):
        left = sum(ScenarioQuestions(plan, scenarios[name], "r01").minutes for name in names[done:])
        said = f"Time left, by our estimate: {duration_in_words(left)}."
        assert said in client.get("/overview").text
        _rate_all(client, done + 1)
    assert "Time left" not in client.get("/overview").text


def test_times_in_words() -> None:
    """Minutes go up to the next five, hours to the next half."""
    expected = {0: "about 5 minutes", 12: "about 15 minutes", 55: "about 55 minutes"}
    expected |= {56: "about an hour", 60: "about an hour", 61: "about 1.5 hours"}
    expected |= {103: "about 2 hours", 120: "about 2 hours", 121: "about 2.5 hours"}
    assert {minutes: duration_in_words(minutes) for minutes in expected} == expected


@given(st.floats(0, 6000))
def test_times_are_not_understated(real: float) -> None:
    """No time is given as less than it is, nor as more than half an hour longer."""
    words = duration_in_words(real)
    found = re.search(r"[\d.]+", words)
    said = float(found[0]) if found else 1.0
    given_minutes = said if "minutes" in words else 60 * said
    assert real <= given_minutes <= max(5, real + 30)


def _comments(client: TestClient) -> list[str]:
    found = re.findall(r'<textarea id="q\d+" name="([^"]+)"', client.get("/rate/1").text)
    return [unescape(name) for name in found]


def test_what_becomes_of_comments_is_told_before(study: Study) -> None:
    """The terms say that comments are shown; no page says that nobody sees the rater."""
    client = study.arrived("r01")
    words = text_of(client.get("/consent").text)
    assert "What you write is shown word for word, with your role and a pseudonym" in words
    words = text_of(study.client("r01").get("/help").text)
    assert "Your name is not kept." in words
    assert "Nobody sees who you are" not in words


def test_a_replayed_form(study: Study) -> None:
    """A form sent twice is saved once, and its sender is told."""
    client = study.client("r01")
    form = hidden(client.get("/rate/1").text) | {"q.realism": "4", "go": "skip"}
    assert client.post("/rate/1", data=form).headers["location"] == "/rate/2"
    before = study.dump()
    again = client.post("/rate/1", data=form)
    assert again.headers["location"] == "/rate/2?again=1"
    assert "had been saved already" in client.get("/rate/2?again=1").text
    assert study.dump() == before


def test_every_change_is_saved_by_the_script(study: Study) -> None:
    """Requests of our script are saved and answered in data, with errors by field."""
    client = study.client("r01")
    script = {"Accept": "application/json"}
    form = hidden(client.get("/rate/1").text) | {"number": "1", "q.realism": "4"}
    first = client.post("/rate/1", data=form, headers=script)
    assert first.status_code == 200
    assert (first.json()["notices"], first.json()["errors"]) == ([], {})
    assert first.json()["seen"] == study.store.newest("r01", study.first_task)
    again: Any = client.post("/rate/1", data=form, headers=script).json()
    assert again["notices"] == ["This had been saved already; nothing was changed."]
    long = form | {"number": "2", "q.comment": "x" * 10_001, "q.validity": "3"}
    wrong = client.post("/rate/1", data=long, headers=script)
    assert wrong.status_code == 422
    assert list(wrong.json()["errors"]) == ["q4"]
    assert study.store.answers("r01", study.first_task)["validity"].value == "3"
    client.post("/pause", data={"go": "x"})
    lost = client.post("/rate/1", data=form, headers=script)
    assert (lost.status_code, list(lost.json())) == (401, ["error"])


def test_shortcuts_can_be_switched_off(study: Study) -> None:
    """They are on until a rater switches them off, on every device."""
    client = study.client("r01")
    assert "data-shortcuts" in client.get("/rate/1").text
    client.post("/help", data={"go": "x"})
    assert "data-shortcuts" not in client.get("/rate/1").text
    client.post("/help", data={"shortcuts": "on"})
    assert "data-shortcuts" in client.get("/rate/1").text


def test_whoever_types(study: Study) -> None:
    """An answer typed for a rater says by whom, and stands on the rater's own page."""
    answers = {"realism": "3"}
    study.store.save("r01", study.first_task, answers, FormId.new(), typed_by="assistant 1")
    assert [e.typed_by for e in study.store.events()] == ["assistant 1"]
    assert "1 begun" in study.client("r01").get("/overview").text
