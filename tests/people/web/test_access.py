"""Who may open and change what: links, sessions, cookies, origins, and the way out."""

from __future__ import annotations

import asyncio
import re
import socket
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import pytest
from anyio import to_thread
from starlette.testclient import TestClient

from careeval.bank import Bank
from careeval.errors import ReviewError
from careeval.people.plan import Addresses
from careeval.people.study.plan import StudyPlan, next_round
from careeval.people.web import access
from careeval.people.web.access import HEADERS
from careeval.people.web.app import create_app, serve
from support.outline import text_of
from support.review_study import ORIGIN, PORT, Study, fill, hidden

MakeStudy = Callable[[StudyPlan], Study]

PAGES = ["/overview", "/rate/1", "/rate/2", "/rate/3", "/finish", "/practice/1", "/pause"]
PAGES += ["/withdraw", "/help", "/accessibility", "/consent", "/about"]


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
    others = ("/rate/0", "/rate/-1", "/i/r02", "/rate/1?missing=1", "/rate/1?rater=r02")
    for place in (*PAGES, *others):
        answer = one.get(place)
        assert "seen by nobody" not in answer.text, place
        assert "r02" not in text_of(answer.text), place
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
    client = study.arrived("r01")
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
    fill(client, 1, {"q.realism": "1"})
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
    for answer in (client.get("/rate/1"), client.post("/rate/1", data=form)):
        assert answer.status_code == 403
        assert "This is closed" in answer.text
        assert "test@example.org" in answer.text
    assert study.first_task not in study.store.work("r01")
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
    stored = study.store.answers("r01", study.first_task)
    assert stored["comment"].value == "Long & thoughtful."


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
    later = study.arrived("r01")
    assert later.get("/rate/1").headers["location"] == "/consent"
    later.post("/consent", data={"agree": "yes"})
    assert "round 2: revised" in later.get("/rate/1").text
    assert later.post("/rate/1", data=old).status_code == 409
    assert study.store.answers("r01", study.first_task)["realism"].value == "4"


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
