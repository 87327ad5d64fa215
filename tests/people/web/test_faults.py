"""Faults while people rate or label: a clear message each time, and nothing lost.

Every fault is tried on a study and on an audit; `careeval.people.store` alone is tried in
`test_store`, and faults of a browser in `test_browser`.
"""

from __future__ import annotations

import os
import re
import runpy
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from careeval.bank import Bank
from careeval.cli.app import USAGE, run
from careeval.people import database
from careeval.people.store import Store
from careeval.people.study.plan import StudyPlan
from support.bank_folder import GOOD_BANK
from support.review_audit import FIRST, SECOND, Audit
from support.review_study import Study, hidden, made_plan

BENCH = Path(__file__).parents[3] / "bench" / "rating_load.py"

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=a()> {{ 7*7 }} \x00\x07\x1b[31m\u202e\x9f'\"&"
)
HOSTILE_KEPT = re.sub("[\x00\x07\x1b\u202e\x9f]", "\N{REPLACEMENT CHARACTER}", HOSTILE)


@dataclass
class Work:
    """A study or an audit being served, in what both have in common.

    Attributes:
        path: Of the first page with something to answer.
        choice: The field of a choice, and two of its values.
        words: The field of free words.
        told: What a later window is told of the first of these values.
    """

    served: Study | Audit
    path: str
    choice: tuple[str, str, str]
    words: str
    told: str

    @property
    def kind(self) -> str:
        """As the command line calls it."""
        return "study" if isinstance(self.served, Study) else "audit"

    @property
    def store(self) -> Store:
        """Its file."""
        return self.served.store

    def form(self, client: TestClient, **answers: str) -> dict[str, str]:
        """The form of the first page: `choice` and `words` stand for its fields."""
        named = {"choice": self.choice[0], "words": self.words}
        typed = {f"q.{named[name]}": value for name, value in answers.items()}
        return hidden(client.get(self.path).text) | typed

    def task(self, rater: str = "r01") -> str:
        """The store's name of the first page of somebody who has not handed in."""
        return hidden(self.served.client(rater).get(self.path).text)["task"]

    def answers(self, rater: str = "r01") -> dict[str, str]:
        """Return somebody's answers on the first page, by field."""
        return {n: a.value for n, a in self.store.answers(rater, self.task(rater)).items()}


@pytest.fixture(params=["study", "audit"])
def work(request: pytest.FixtureRequest) -> Work:
    """A study, and then an audit."""
    served = request.getfixturevalue(request.param)
    if request.param == "study":
        told = "realism to “4, realistic: only a detail is off”. What you"
        return Work(served, "/rate/1", ("realism", "4", "2"), "comment", told)
    told = "your answer to “Present”. What you"
    return Work(served, "/label/1", ("says", "present", "absent"), "note", told)


@pytest.fixture
def client(work: Work) -> TestClient:
    """A browser of the first rater."""
    return work.served.client("r01")


# The load


@pytest.mark.parametrize("more", [[], ["--audit"]], ids=["study", "audit"])
def test_load(more: list[str]) -> None:
    """No save is lost or doubled when many save at once on a server that is killed."""
    line = [sys.executable, str(BENCH), "--bank", str(GOOD_BANK), "--raters", "6"]
    line += ["--saves", "10", "--think", "0.02", *more]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost 0, doubled 0, out of order 0" in done.stdout
    assert "killed once" in done.stdout
    found = re.search(r"saved (\d+)", done.stdout)
    assert found is not None
    assert int(found[1]) >= 6 * 10


@pytest.mark.parametrize(
    ("said", "found", "expected"),
    [
        (["4", "2"], ["4", "2"], (0, 0, 0)),
        (["4", "2"], ["4"], (1, 0, 1)),
        (["4", "2"], ["4", "2", "2"], (0, 1, 1)),
        (["4", "2"], ["2", "4"], (0, 0, 1)),
        ([], ["4"], (0, 1, 0)),
    ],
)
def test_the_load_test_would_see_it(
    said: list[str], found: list[str], expected: tuple[int, int, int]
) -> None:
    """A save that is lost, doubled or out of order is counted as that."""
    compare = runpy.run_path(str(BENCH))["compare"]
    key = ("r01", "1/dressing-001@1", "realism")
    assert compare({key: said} if said else {}, {key: found}) == expected


# The disk and the file


@pytest.fixture
def full_disk(work: Work) -> Iterator[Callable[[], None]]:
    """The file cannot grow, until the function is called."""
    execute = work.store._database._connection.execute
    (pages,) = execute("PRAGMA page_count").fetchone()

    def free() -> None:
        execute("PRAGMA max_page_count = 100000")

    execute(f"PRAGMA max_page_count = {pages}")
    yield free
    free()


def test_a_full_disk(work: Work, client: TestClient, full_disk: Callable[[], None]) -> None:
    """The form comes back as typed and says why; sent again where there is room, it is saved."""
    long = "not lost " * 1000
    answer = client.post(work.path, data=work.form(client, words=long) | {"go": "skip"})
    assert answer.status_code == 503
    assert "the disk is full" in answer.text
    assert long.strip() in answer.text
    assert work.answers() == {}
    full_disk()
    assert client.post(work.path, data=hidden(answer.text)).status_code == 303
    assert work.answers()[work.words] == long.strip()


def test_a_full_disk_at_the_door(work: Work, full_disk: Callable[[], None]) -> None:
    """A visitor who cannot be let in for want of room is told so, and can try again."""
    client, link = work.served.client(), f"/i/{work.served.tokens['r02']}"
    (pages,) = work.store._database.rows("PRAGMA page_count")[0]
    answers = [client.post(link, data={"go": "x"}) for _ in range(120)]
    assert {answer.status_code for answer in answers} == {303, 503}
    assert "the disk is full" in answers[-1].text
    assert work.store._database.rows("PRAGMA page_count")[0] == (pages,)
    full_disk()
    assert client.post(link, data={"go": "x"}).status_code == 303


def test_a_locked_store(work: Work, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another program holds the file a form comes back, and is saved when sent again."""
    form = work.form(client, words="not lost", choice=work.choice[1]) | {"go": "skip"}
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.02)
    other = sqlite3.connect(work.store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = client.post(work.path, data=form)
    script = client.post(work.path, data=form, headers={"Accept": "application/json"})
    other.execute("ROLLBACK")
    other.close()
    assert (answer.status_code, script.status_code) == (503, 503)
    assert "another program holds it locked" in answer.text
    assert "not lost" in answer.text
    assert "another program holds it locked" in script.json()["error"]
    client.post(work.path, data=hidden(answer.text))
    assert {
        work.words: "not lost",
        work.choice[0]: work.choice[1],
    }.items() <= work.answers().items()


def test_a_damaged_file(work: Work, client: TestClient, capsys: Any) -> None:
    """Damage is said in words to a rater and on the command line, and the file is left as it is."""
    form = work.form(client, words="not lost") | {"go": "skip"}
    for n in range(40):
        client.post(work.path, data=form | {"page": f"p{n}", f"q.{work.words}": f"{n} " * 1000})
    assert work.store._database.empty_log()
    content = bytearray(work.store.path.read_bytes())
    content[3 * 4096 : -4096] = os.urandom(len(content) - 4 * 4096)
    work.store.path.write_bytes(content)
    work.store._database.rows("PRAGMA cache_size = 0")
    answer = client.post(work.path, data=form | {f"q.{work.words}": "typed"})
    assert answer.status_code == 503, answer.text
    assert "it is damaged" in answer.text
    assert work.store.path.read_bytes() == content
    for command in ("status", "serve"):
        line = [work.kind, command, str(work.store.path)]
        line += ["--bank", str(GOOD_BANK)] if work.kind == "study" else []
        assert run(line) == USAGE
        said = capsys.readouterr().err
        assert "it is damaged" in said
        assert "hint: keep it, and go on from the last backup" in said
        assert "Traceback" not in said


def test_a_clock_set_back(work: Work, client: TestClient) -> None:
    """If the clock goes back, the later answer counts, no session ends, and nothing is lost."""
    client.post(work.path, data=work.form(client, choice=work.choice[1], words="first"))
    work.store._now = lambda: datetime.now(UTC) - timedelta(days=400)
    answer = client.post(work.path, data=work.form(client, choice=work.choice[2]))
    assert answer.status_code in (200, 303)
    found = work.answers()
    assert (found[work.choice[0]], found[work.words]) == (work.choice[2], "first")
    checked = re.findall(r'value="(\w+)"[^>]* checked', client.get(work.path).text)
    assert checked == [work.choice[2]]
    assert client.get("/overview").status_code == 200


# Forms


def test_a_replayed_form(work: Work, client: TestClient) -> None:
    """A form sent twice is saved once, and so is one that a later one of its page overtook."""
    form = work.form(client, choice=work.choice[1]) | {"number": "1"}
    later = form | {"number": "2", f"q.{work.choice[0]}": work.choice[2]}
    client.post(work.path, data=form)
    client.post(work.path, data=later)
    before = work.served.dump()
    for old in (form, later, form):
        answer = client.post(work.path, data=old, headers={"Accept": "application/json"})
        assert answer.json()["notices"] == ["This had been saved already; nothing was changed."]
    assert work.served.dump() == before
    assert work.answers()[work.choice[0]] == work.choice[2]


def test_a_forged_form(work: Work, client: TestClient) -> None:
    """A form that none of our pages sends is refused in words, and changes nothing."""
    good = work.form(client, choice=work.choice[1])
    of_another = work.form(work.served.client("r02"), choice=work.choice[1])
    last = client.get(re.sub("1$", "2", work.path)).text
    before = work.served.dump()
    forged: list[Mapping[str, str]] = [
        good | {"q.score": "4"},
        good | {"q.": "4"},
        good | {"known": "-1"},
        good | {"known": "9" * 30},
        good | {"number": "٣"},
        good | {"number": "1e9"},
        good | {"page": ""},
        good | {"page": "x" * 65},
        good | {"task": "consent"},
        good | {"task": hidden(last)["task"]},
        {name: value for name, value in good.items() if name != "task"},
    ]
    for form in forged:
        answer = client.post(work.path, data=form | {"go": "next"})
        assert answer.status_code in (400, 409), form
        assert "nothing was saved" in answer.text
    bare = {"Content-Type": "application/x-www-form-urlencoded"}
    for content in (b"q.x=%ff", b"q.x=1&q.x=2", b"\xff\xfe", "q.x=ü".encode(), b"a=&" * 900):
        assert client.post(work.path, content=content, headers=bare).status_code in (400, 409)
    assert client.post(work.path, json=good).status_code == 415
    for origin in ("https://evil.example", "null", ""):
        answer = client.post(work.path, data=good, headers={"Origin": origin})
        assert answer.status_code == 403
    assert client.post(work.path, data=good, headers={"Host": "evil.example"}).status_code == 421
    assert work.served.dump() == before
    # another's form says nothing of whose it is: the session does, and here it is the sender's
    client.post(work.path, data=good | {"page": of_another["page"]})
    assert work.answers("r02") == {}


def test_a_choice_that_is_none(work: Work, client: TestClient) -> None:
    """A value that is no choice is refused in words, and what else the form says is saved."""
    for wrong in ("6", "0", "yes", "<b>", "4 ' OR 1=1 --"):
        answer = client.post(work.path, data=work.form(client, choice=wrong, words=f"with {wrong}"))
        assert answer.status_code == 422
        assert "not one of the answers" in answer.text
        assert work.answers() == {work.words: f"with {wrong}"}


def test_a_stolen_link_of_closed_work(work: Work, client: TestClient) -> None:
    """After the end a link shows and changes nothing; its owner may still withdraw."""
    client.post(work.path, data=work.form(client, choice=work.choice[1], words="mine alone"))
    form = work.form(client, choice=work.choice[2])
    work.store.set_closed(True)
    before = work.served.dump()
    thief, link = work.served.client(), f"/i/{work.served.tokens['r01']}"
    assert "mine alone" not in thief.get(link).text
    answers = [thief.get(work.path), client.post(work.path, data=form)]
    answers += [client.get(p) for p in ("/", work.path, "/overview", "/finish", "/consent")]
    for answer in answers:
        assert answer.status_code in (401, 403), answer.url
        assert "mine alone" not in answer.text
        assert not re.search(r'name="task"', answer.text)
    assert "set-cookie" not in {name.lower() for answer in answers for name in answer.headers}
    assert work.served.dump() == before
    work.store.set_closed(False)
    work.store.replace_token("r01")  # and a link that was stolen is replaced
    assert thief.get(link).status_code == 404
    assert client.get(work.path).status_code == 401


def test_two_tabs(work: Work, client: TestClient) -> None:
    """The later tab counts where both chose, undoes nothing else, and is told of the other."""
    old, new = (work.form(client) for _ in range(2))
    choice, words = f"q.{work.choice[0]}", f"q.{work.words}"
    client.post(work.path, data=new | {choice: work.choice[1], words: "new"})
    answer = client.post(work.path, data=old | {choice: work.choice[2], words: "", "go": "next"})
    told = unescape(re.sub(r"<[^>]+>", " ", answer.text))
    assert told.count("In another window you changed") == 2
    assert work.told in told
    assert "What you gave here has replaced it." in told
    assert "That stands." in told
    found = work.answers()
    assert (found[work.choice[0]], found[work.words]) == (work.choice[2], "new")


def test_a_comment_of_a_megabyte(work: Work, client: TestClient) -> None:
    """It comes back to be shortened, what else the form says is saved, and more is turned away."""
    text = "ünd so weiter " * 75_000
    answer = client.post(work.path, data=work.form(client, words=text, choice=work.choice[1]))
    assert answer.status_code == 422
    assert "at most 10,000 can be kept" in answer.text
    assert text.strip() in answer.text
    assert work.answers() == {work.choice[0]: work.choice[1]}
    before = work.served.dump()
    too_much = client.post(work.path, data=work.form(client, words="x" * 5_000_000))
    assert too_much.status_code == 413
    assert "too much text" in too_much.text
    assert work.served.dump() == before


def test_hostile_text_in_every_field(work: Work, client: TestClient) -> None:
    """Markup, templates and control characters are words, in whatever field they are sent."""
    fields = {unescape(n) for n in re.findall(r' name="([^"]+)"', client.get(work.path).text)}
    assert {"task", "page", "number", "known", "go"} <= fields
    posts = [(work.path, name) for name in sorted(fields)]
    posts += [("/about", "years"), ("/about", "go"), ("/consent", "agree"), ("/help", "shortcuts")]
    posts += [("/practice/1", "go"), ("/practice/1", f"q.{work.choice[0]}"), ("/finish", "go")]
    posts += [("/withdraw", "delete"), (f"/i/{work.served.tokens['r01']}", "go")]
    for path, name in posts:
        form = work.form(client) if path == work.path else {}
        for answer in (
            client.post(path, data=form | {name: HOSTILE}),
            client.post(path, data=form | {HOSTILE: "x"}),
            client.get(path, params={HOSTILE: HOSTILE, "missing": HOSTILE, "again": HOSTILE}),
        ):
            assert answer.status_code < 500, (path, name)
            _is_harmless(answer.text)
        if (path, name) == (work.path, f"q.{work.words}"):
            html = client.get(work.path).text
            _is_harmless(html)
            assert escape(HOSTILE_KEPT[:40], quote=False) in html
            assert "{{ 7*7 }}" in html
            assert work.answers()[work.words] == HOSTILE_KEPT


def _is_harmless(html: str) -> None:
    assert "<script>alert" not in html
    assert "<img" not in html
    assert not re.search("[\x00\x07\x1b\u202e\x9f]", html)


def test_hostile_words_of_labellers_before_the_adjudicator(audit: Audit) -> None:
    """Labellers' notes are shown to the adjudicator as plain text."""
    for rater, says in (("r01", FIRST), ("r02", SECOND)):
        client = audit.client(rater)
        for n in range(1, 7):
            form = hidden(client.get(f"/label/{n}").text)
            answers = {"q.says": says[form["task"][-1]], "q.note": HOSTILE}
            client.post(f"/label/{n}", data=form | answers | {"go": "next"})
        client.post("/finish", data={"go": "x"})
    html = audit.client(audit.plan.adjudicator.id).get("/settle/1").text
    assert html.count("{{ 7*7 }}") == 2
    _is_harmless(html)


def test_an_answer_of_ones_own(make_study: Callable[[StudyPlan], Study], bank: Bank) -> None:
    """An expert's answer is words too, comes back where it is too long, and is saved once."""
    plan = made_plan(bank, answers=1, told="Write alone.")
    study = make_study(plan)
    client = study.client("r01")
    form = hidden(client.get("/answer/1").text) | {"go": "next"}
    long = "I wait. " * 130_000
    answer = client.post("/answer/1", data=form | {"q.answer": long})
    assert answer.status_code == 422
    assert f"Your answer has {len(long.strip()):,} characters; at most" in answer.text
    assert long.strip() in answer.text
    form = hidden(answer.text) | {"go": "next", "q.answer": HOSTILE}
    for _ in range(3):
        assert client.post("/answer/1", data=form).status_code == 303
    html = client.get("/answer/1").text
    _is_harmless(html)
    assert "{{ 7*7 }}" in html
    assert escape(HOSTILE_KEPT[:40], quote=False) in html
    written = [event.value for event in study.store.events() if event.field == "answer"]
    assert written == [HOSTILE_KEPT]
