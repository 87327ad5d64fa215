"""The app as browsers use and misuse it."""

from __future__ import annotations

import asyncio
import re
import socket
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import pytest
from anyio import to_thread
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from careeval.bank import Bank
from careeval.core.rating import STEPS
from careeval.core.scenario import Rubric
from careeval.errors import ReviewError
from careeval.people.deck import duration_in_words
from careeval.people.forms import FormId
from careeval.people.plan import Addresses
from careeval.people.study.plan import StudyPlan, new_plan, next_round, planned_scenarios
from careeval.people.study.questions import ScenarioQuestions
from careeval.people.web import access
from careeval.people.web.access import HEADERS
from careeval.people.web.app import create_app, serve
from support.review_study import CONSENT, ORIGIN, PORT, ROLES, Study, fill, hidden

MakeStudy = Callable[[StudyPlan], Study]

PAGES = ["/overview", "/rate/1", "/rate/2", "/rate/3", "/finish", "/practice/1", "/pause"]
PAGES += ["/withdraw", "/help", "/accessibility", "/consent", "/about"]


def _words(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", html))


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
    second = study.client()
    second.post(f"/i/{study.tokens['r01']}", data={"go": "x"})
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
    (stored,) = set(study.store.answers("r01", plan_task(study))) - {"skipped"}
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
    first = _words(client.get("/rate/1").text)
    assert "· we propose" not in first
    assert "points right?" not in first
    for question in ("What would be the likely result of exactly", "Is this worth looking for in"):
        assert client.get("/rate/1").text.count(f"<legend>{question}") == 2
    zero = next(i for i in study.bank.scenario("dressing-001").ladder if i.points == 0)
    assert zero.text not in first
    assert study.plan.rubrics == (Rubric.ladder,)
    answer = fill(client, 1, _fours(client, 1))
    assert answer.headers["location"] == "/rate/1#items"
    second = _words(client.get("/rate/1").text)
    assert len(_agree(client, 1)) == 5
    assert zero.text in second
    assert "we propose −2" in second
    again = fill(client, 1, {"q.1/comment": ""})  # as a browser sends what is empty
    assert again.headers["location"] == "/rate/1?missing=1"
    assert fill(client, 1, _agree(client, 1)).headers["location"] == "/rate/2"


def test_who_has_seen_points_goes_on_seeing_them(study: Study) -> None:
    """A view that was given before relevance was asked first is on the page, to be changed."""
    stored = {"ladder/-2/points": "-1"}
    study.store.save("r01", plan_task(study), stored, FormId.new())
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
    assert [re.findall(f'name="([^"]+)" [^>]*id="{q}"', few) for q in places] == [
        ["q.validity"],
        [last],
    ]
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
    stored = study.store.answers("r01", plan_task(study))
    assert {name: each.value for name, each in stored.items() if name != "skipped"} == {
        "realism": "2"
    }
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
        tried = _words(client.post("/practice/1", data={"go": "try"}).text)
        assert tried.count("points right?") == 2 * points
        assert ("Think of what would come of it" in tried) == relevance
        assert ("how wrong it is. We propose −2" in tried) == points
    bare = make_study(plan.model_copy(update={"rubrics": ()})).client("r01")
    assert "points right?" not in bare.get("/practice/1").text
    assert "worth looking for" not in bare.get("/practice/1").text


def test_what_stands_above_the_items(make_study: MakeStudy, bank: Bank) -> None:
    """With both rubrics the page says which comes first, and with one that they are mixed."""
    kinds = [Rubric.actions, Rubric.ladder]
    for rubrics, said in (
        (kinds, r"first \d single acts, then 5 whole answers, each in mixed order"),
        (kinds[::-1], r"first 5 whole answers, then \d single acts, each in mixed order"),
        (kinds[1:], "5 things that an answer may contain, good or harmful, in mixed order"),
    ):
        plan = new_plan(
            bank,
            ROLES,
            study_id="aaaa",
            title="x",
            consent=CONSENT,
            seed=7,
            rubrics=rubrics,
            relevance=False,
        )
        client = make_study(plan).client("r01")
        assert re.search(said, client.get("/rate/1").text)


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
        assert (
            f"Time left, by our estimate: {duration_in_words(left)}."
            in client.get("/overview").text
        )
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


def test_looking_changes_nothing(study: Study) -> None:
    """No page that is only looked at changes the file, the link's included."""
    client = study.client("r01")
    for place in (f"/i/{study.tokens['r01']}", "/", *PAGES):
        before = study.dump()
        client.get(place)
        assert study.dump() == before, place


def test_the_cookie(study: Study) -> None:
    """The session's cookie is out of reach of scripts and other sites, random, and hashed."""
    client = study.client()
    answer = client.post(f"/i/{study.tokens['r01']}", data={"go": "x"})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    secret = cookie.partition("=")[2].partition(";")[0]
    assert len(secret) >= 43
    assert secret not in "".join(study.dump())


def test_every_answer_is_guarded(study: Study) -> None:
    """Pages, files, errors and refusals all carry the same headers, and name no other site."""
    client = study.client("r01")
    places = [*PAGES, "/", "/nothing", "/rate/99", "/rate/x", "/i/wrong", "/static/review.css"]
    for place in places:
        answer = client.get(place)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, place
        assert not re.search(r"(src|href|action)=\"?(https?:)?//", answer.text), place
    wrong = client.get("/", headers={"Host": "evil.example"})
    assert (wrong.status_code, wrong.headers["cache-control"]) == (421, "no-store")
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", None])
def test_forms_of_other_sites(study: Study, origin: str | None) -> None:
    """A form from another page, or from nowhere, changes nothing at any address."""
    client = study.client("r01")
    form = hidden(client.get("/rate/1").text) | {"q.realism": "1", "go": "next"}
    before = study.dump()
    headers = {"Origin": origin} if origin else {}
    if origin is None:
        del client.headers["Origin"]
    for place in ("/rate/1", "/withdraw", "/pause", "/finish", f"/i/{study.tokens['r01']}"):
        answer = client.post(place, data=form | {"delete": "everything"}, headers=headers)
        assert answer.status_code == 403
    assert study.dump() == before


@pytest.mark.parametrize("first", [ORIGIN, "http://evil.example"])
@pytest.mark.parametrize("second", [ORIGIN, "http://evil.example"])
def test_a_form_with_two_origins(study: Study, first: str, second: str) -> None:
    """A form that states two origins is refused, whichever of them is ours."""
    client = study.client("r01")
    before = study.dump()
    headers = [("Origin", first), ("Origin", second)]
    answer = client.post("/withdraw", data={"delete": "everything"}, headers=headers)
    assert answer.status_code == 403
    assert study.dump() == before


def test_no_address_is_made_from_the_host(study: Study) -> None:
    """An address with a slash too many or too few is unknown, and redirects nowhere."""
    client = study.client("r01")
    for place in ("/overview/", "/rate/1/", "/static", "/i/x/"):
        answer = client.get(place)
        assert (answer.status_code, answer.headers.get("location")) == (404, None), place


def test_large_forms_are_parsed_in_a_few_threads(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While ten large forms are parsed, two at a time, pages are served and no thread waits."""
    parse, release = access.parse_form, Event()
    n_parsing: list[int] = []

    def parse_later(body: bytes) -> Mapping[str, str]:
        n_parsing.append(1)
        assert release.wait(30)
        return parse(body)

    monkeypatch.setattr("careeval.people.web.access.parse_form", parse_later)
    app = create_app(study.bank, study.store, Addresses.loopback(PORT))

    async def ask() -> tuple[list[int], int]:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(
            transport=transport, base_url=ORIGIN, headers={"Origin": ORIGIN}, timeout=30
        ) as client:
            door, large = f"/i/{study.tokens['r01']}", {"x": "a" * 100_000}
            posts = [asyncio.create_task(client.post(door, data=large)) for _ in range(10)]
            while len(n_parsing) < 2:
                await asyncio.sleep(0.01)
            page = await client.get("/help")
            started = len(n_parsing)
            taken = to_thread.current_default_thread_limiter().borrowed_tokens
            release.set()
            answers = await asyncio.gather(*posts)
        return [page.status_code, *(each.status_code for each in answers)], max(started, taken)

    statuses, n_threads = asyncio.run(ask())
    assert statuses == [200, *[303] * 10]
    assert n_threads == 2


def test_nobody_sees_another(make_study: MakeStudy, plan: StudyPlan) -> None:
    """With two sessions, no address shows or changes what the other rater gave."""
    own = [
        seat.model_copy(update={"scenarios": (f"dressing-00{n}",)})
        for n, seat in enumerate(plan.seats, 1)
    ]
    study = make_study(plan.model_copy(update={"seats": tuple(own)}))
    one, two = study.client("r01"), study.client("r02")
    fill(two, 1, {"q.comment": "seen by nobody", "q.realism": "5"})
    theirs = study.store.work("r02")
    for place in (
        *PAGES,
        "/rate/0",
        "/rate/-1",
        "/i/r02",
        "/rate/1?missing=1",
        "/rate/1?rater=r02",
    ):
        answer = one.get(place)
        assert "seen by nobody" not in answer.text, place
        assert "r02" not in _words(answer.text), place
        assert "dressing-002" not in answer.text, place
    assert one.get("/rate/2").status_code == 404
    forged = hidden(two.get("/rate/1").text) | {"q.comment": "forged", "rater": "r02"}
    answer = one.post("/rate/1", data=forged)
    assert answer.status_code == 409
    assert "forged" in answer.text  # back to whoever wrote it
    assert study.store.work("r02") == theirs
    assert plan.task("dressing-002") not in study.store.work("r01")


def test_who_declines_sees_nothing_and_may_think_again(study: Study) -> None:
    """Declining opens nothing, and is over once they agree; the terms can be read again."""
    client = study.client()
    client.post(f"/i/{study.tokens['r01']}", data={"go": "x"})
    assert "What cannot be withdrawn" in client.get("/consent").text
    client.post("/consent", data={"agree": "no"})
    assert "You have said that you do not agree" in client.get("/consent").text
    assert client.get("/rate/1").headers["location"] == "/consent"
    client.post("/consent", data={"agree": "yes"})
    assert "You have agreed to this" in client.get("/consent").text
    work = study.store.work("r01")["consent"]
    assert set(work) == {"given"}


def test_who_withdraws_after_the_close_is_deleted(study: Study) -> None:
    """A closed study shows nothing but the way to withdraw, and that deletes what was answered."""
    client = study.client("r01")
    form = hidden(client.get("/rate/1").text) | {"q.realism": "1", "go": "next"}
    client.post("/rate/1", data=form)
    study.store.set_closed(True)
    again = study.client("r01")  # a new browser, with the same link
    closed = again.get("/rate/1")
    assert (closed.status_code, 'href="/withdraw"' in closed.text) == (403, True)
    assert again.get("/withdraw").status_code == 200
    assert again.post("/withdraw", data={"delete": "no"}).status_code == 303
    assert study.store.work("r01")
    answer = again.post("/withdraw", data={"delete": "everything"})
    assert (answer.status_code, "Your answers are deleted" in answer.text) == (200, True)
    assert study.store.work("r01") == {}


def test_a_link_that_opens_nothing(study: Study) -> None:
    """A wrong, a revoked and a closed link each say what they are, and whom to ask."""
    client = study.client("r01")
    form = hidden(client.get("/rate/1").text) | {"q.realism": "1", "go": "next"}
    assert client.get("/i/guessed").status_code == 404
    study.store.set_closed(True)
    for answer in (
        client.get("/rate/1"),
        client.post("/rate/1", data=form),
    ):
        assert answer.status_code == 403
        assert "This is closed" in answer.text
        assert "test@example.org" in answer.text
    assert plan_task(study) not in study.store.work("r01")
    study.store.set_closed(False)
    study.store.revoke("r01")
    for answer in (
        client.get(f"/i/{study.tokens['r01']}"),
        client.get("/rate/1"),
        client.post("/rate/1", data=form),
        client.post("/rate/1", data=form, headers={"Accept": "application/json"}),
    ):
        assert answer.status_code == 403
        assert "This link has been revoked" in answer.text
        assert "test@example.org" in answer.text
        assert "try again" not in answer.text.lower()


def test_a_link_that_is_revoked_during_a_save(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A save after the link was revoked or the study closed is refused with that reason."""
    client = study.client("r01")
    form = hidden(client.get("/rate/1").text) | {"q.comment": "mine", "go": "next"}
    save = study.store.save
    close, revoke = (lambda: study.store.set_closed(True)), (lambda: study.store.revoke("r01"))
    for turn, words in ((close, "is closed"), (revoke, "has been revoked")):

        def late(*args: Any, turn: Any = turn, **options: Any) -> Any:
            turn()
            return save(*args, **options)

        monkeypatch.setattr(study.store, "save", late)
        answer = client.post("/rate/1", data=form)
        assert answer.status_code == 403
        assert words in answer.text
        assert "mine" in answer.text
        assert "try again" not in answer.text.lower()
        study.store.set_closed(False)


def plan_task(study: Study) -> str:
    """Return the name that the store gives to the first scenario of r01."""
    return study.plan.task(study.plan.seats[0].scenarios[0])


def test_a_session_that_ended(study: Study) -> None:
    """A form sent without a session comes back, to be sent again once signed in."""
    client = study.client("r01")
    form = hidden(client.get("/rate/1").text) | {"q.comment": "Long & thoughtful.", "go": "skip"}
    client.post("/pause", data={"go": "x"})
    answer = client.post("/rate/1", data=form)
    assert answer.status_code == 401
    assert "Long &amp; thoughtful." in answer.text
    client.post(f"/i/{study.tokens['r01']}", data={"go": "x"})
    assert client.post("/rate/1", data=hidden(answer.text)).headers["location"] == "/rate/2"
    stored = study.store.answers("r01", plan_task(study))
    assert stored["comment"].value == "Long & thoughtful."


def _comments(client: TestClient) -> list[str]:
    found = re.findall(r'<textarea id="q\d+" name="([^"]+)"', client.get("/rate/1").text)
    return [unescape(name) for name in found]


def test_what_becomes_of_comments_is_told_before(study: Study) -> None:
    """The terms say that comments are shown; no page says that nobody sees the rater."""
    client = study.client()
    client.post(f"/i/{study.tokens['r01']}", data={"go": "start"})
    words = _words(client.get("/consent").text)
    assert "What you write is shown word for word, with your role and a pseudonym" in words
    words = _words(study.client("r01").get("/help").text)
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
    assert first.json()["seen"] == study.store.newest("r01", plan_task(study))
    again: Any = client.post("/rate/1", data=form, headers=script).json()
    assert again["notices"] == ["This had been saved already; nothing was changed."]
    long = form | {"number": "2", "q.comment": "x" * 10_001, "q.validity": "3"}
    wrong = client.post("/rate/1", data=long, headers=script)
    assert wrong.status_code == 422
    assert list(wrong.json()["errors"]) == ["q4"]
    assert study.store.answers("r01", plan_task(study))["validity"].value == "3"
    client.post("/pause", data={"go": "x"})
    lost = client.post("/rate/1", data=form, headers=script)
    assert (lost.status_code, list(lost.json())) == (401, ["error"])


def test_withdrawing(study: Study) -> None:
    """It takes two steps, deletes all, ends the link, and touches nobody else."""
    one, two = study.client("r01"), study.client("r02")
    fill(one, 1, {"q.realism": "4"}, "skip")
    fill(two, 1, {"q.realism": "3"}, "skip")
    assert one.post("/withdraw", data={"go": "x"}).headers["location"] == "/withdraw"
    assert study.store.work("r01")
    assert "deleted" in one.post("/withdraw", data={"delete": "everything"}).text
    assert study.store.work("r01") == {}
    assert one.get("/overview").status_code == 401
    assert one.get(f"/i/{study.tokens['r01']}").status_code == 404
    assert two.get("/overview").status_code == 200
    assert study.store.withdrawals() == 1


def test_withdrawing_while_the_file_is_read(study: Study) -> None:
    """While another program reads the file the page says that traces are left, else it does not."""
    other = sqlite3.connect(study.store.path)
    for rater, reads in (("r01", True), ("r02", False)):
        client = study.client(rater)
        fill(client, 1, {"q.comment": "Please delete me."})
        if reads:
            other.execute("BEGIN").execute("SELECT * FROM events").fetchone()
        answer = client.post("/withdraw", data={"delete": "everything"})
        assert "has been deleted" in answer.text
        assert ("traces of your answers are left" in answer.text) == reads
        if reads:
            other.rollback()
    other.close()


def test_shortcuts_can_be_switched_off(study: Study) -> None:
    """They are on until a rater switches them off, on every device."""
    client = study.client("r01")
    assert "data-shortcuts" in client.get("/rate/1").text
    client.post("/help", data={"go": "x"})
    assert "data-shortcuts" not in client.get("/rate/1").text
    client.post("/help", data={"shortcuts": "on"})
    assert "data-shortcuts" in client.get("/rate/1").text


def test_new_terms_are_agreed_to_anew(study: Study, bank: Bank) -> None:
    """A further round under other terms asks again, and keeps the answers of the first."""
    client = study.client("r01")
    fill(client, 1, {"q.realism": "4"}, "skip")
    old = hidden(client.get("/rate/1").text) | {"q.realism": "1"}
    revised = tuple(s.model_copy(update={"version": 2}) for s in bank.scenarios)
    study.bank = replace(bank, scenarios=revised, probes={})
    second = next_round([study.plan], study.bank, ["dressing-001"], study.store.raters())
    other = second.consent.model_copy(update={"text": "Other terms."})
    study.store.add_plan("study", second.model_copy(update={"consent": other}).json_text())
    later = study.client()
    later.post(f"/i/{study.tokens['r01']}", data={"go": "x"})
    assert later.get("/rate/1").headers["location"] == "/consent"
    later.post("/consent", data={"agree": "yes"})
    assert "round 2: revised" in later.get("/rate/1").text
    assert later.post("/rate/1", data=old).status_code == 409
    assert study.store.answers("r01", plan_task(study))["realism"].value == "4"


def test_behind_a_proxy(study: Study) -> None:
    """Only the proxy's address is served then, and its cookies travel over https alone."""
    settings = Addresses.behind_proxy("https://rating.example.org/")
    assert (settings.hosts, settings.secure) == (frozenset({"rating.example.org"}), True)
    for wrong in ("http://rating.example.org", "rating.example.org", "https://x.org/path", ""):
        with pytest.raises(ReviewError, match="is not an https address of a host alone"):
            Addresses.behind_proxy(wrong)


def test_a_cookie_behind_a_proxy_is_removed(study: Study) -> None:
    """Whoever signs out or withdraws loses the session's cookie: its flags are those it was set by.

    A browser ignores a `__Host-` cookie that is not Secure, its removal too.
    """
    address = "https://rating.example.org"
    app = create_app(study.bank, study.store, Addresses.behind_proxy(address))
    for place, form in (("/pause", {"go": "x"}), ("/withdraw", {"delete": "everything"})):
        with TestClient(app, address, headers={"Origin": address}, follow_redirects=False) as one:
            into = one.post(f"/i/{study.tokens['r01']}", data={"go": "x"}).headers["set-cookie"]
            out = one.post(place, data=form).headers["set-cookie"]
        name, flags = into.partition("=")[0], _flags(into)
        assert name.startswith("__Host-careeval-")
        assert flags == {"secure", "httponly", "samesite=strict", "path=/"}
        assert out.startswith(f'{name}="";')
        assert flags | {"max-age=0"} <= _flags(out)
        assert not any(flag.startswith("domain") for flag in _flags(out))


def _flags(cookie: str) -> set[str]:
    return {flag.strip().lower() for flag in cookie.split(";")[1:]}


def test_where_it_may_listen(study: Study, bank: Bank, tmp_path: Path) -> None:
    """It is not opened to a network without a proxy, nor on an address that is taken."""
    path = study.store.path
    with pytest.raises(ReviewError, match="open to the network"):
        serve(path, bank, host="0.0.0.0")
    with pytest.raises(ReviewError, match="does not exist"):
        serve(tmp_path / "nothing.db", bank, port=0)
    with pytest.raises(ReviewError, match="not the file of an audit"):
        study.store.plans("audit")
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(ReviewError, match="cannot listen"),
    ):
        serve(path, bank, port=taken.getsockname()[1])


def test_origins() -> None:
    """A page of this machine may be called by any of its names, with its port."""
    assert ORIGIN in Addresses.loopback(8799).origins
    assert "[::1]:8799" in Addresses.loopback(8799).hosts


def test_whoever_types(study: Study) -> None:
    """An answer typed for a rater says by whom, and stands on the rater's own page."""
    study.store.save(
        "r01", plan_task(study), {"realism": "3"}, FormId.new(), typed_by="assistant 1"
    )
    assert [e.typed_by for e in study.store.events()] == ["assistant 1"]
    assert "1 begun" in study.client("r01").get("/overview").text
