"""A held-out split against servers that repeat what they are asked: its words stay in `private`.

Everything that the commands write anywhere, and all that they say, is searched for five words of
the split in a row.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from careeval.cli.app import SOME_FAILED
from careeval.protocol.tables import read_runs
from faults.held_out import (
    Place,
    filters,
    finds_fault,
    publish,
    refuses,
    sealed_place,
    telling,
    turns_away,
)
from support.fake_server import (
    Completion,
    FakeServer,
    Fault,
    Request,
    Status,
    asked_of_grader,
    entries,
    error,
    well,
)
from support.fakes import item, write_bank

N_RUN = 5
"""Words in a row by which the split is known."""

SCENARIO = (
    "Quiet Mrs Wendelin counts seven marbles beside a tilted porcelain bowl. Her nephew hums "
    "an old ferry tune while rain drums upon copper gutters. What do you do?"
)
ITEMS = (
    "Offers the marbles one by one into her open left palm.",
    "Hums the ferry tune together with the nephew before lunch.",
    "Sweeps every marble off the tray without one word to her.",
)
RUNG = "Turns the porcelain bowl until its painted heron faces her."


def in_a_row(text: str) -> set[tuple[str, ...]]:
    """Every five words in a row of a text; what JSON escapes parts words."""
    words = re.findall(r"[^\W_]+", re.sub(r"\\[nrt]", " ", text).casefold())
    return set(zip(*(words[n:] for n in range(N_RUN)), strict=False))


SECRETS = frozenset().union(*map(in_a_row, (SCENARIO, *ITEMS, RUNG)))


@dataclass
class Echo:
    """A server that repeats each question in another way."""

    asked: Sequence[Callable[[Request], Completion | Fault]]  # how a question is met, in turn
    # How a grading request is met, in turn
    graded: Sequence[Callable[[Request], Completion | Fault]]
    seen: dict[str, int] = field(default_factory=dict)  # question → the number of its way
    met: Counter[str] = field(default_factory=Counter)  # how often each way was gone

    def __call__(self, request: Request) -> Completion | Fault:
        """Return the server's reply."""
        ways = self.asked if request.kind == "ask" else self.graded
        n_before = sum(key.startswith(request.kind) for key in self.seen)
        way = ways[self.seen.setdefault(f"{request.kind} {request.key}", n_before) % len(ways)]
        self.met[way.__name__] += 1
        return way(request)


def answers(request: Request) -> Completion:
    """Repeat the question, with other words."""
    return Completion(f"{request.user}\n\n{well(request).text}")


def breaks(request: Request) -> Status | Completion:
    """429 at first, which is tried again."""
    if request.came > 1:
        return answers(request)
    return error(429, f"Too many like this: {request.user}", None, Retry_After="0")


def shows_a_page(request: Request) -> Status | Completion:
    """200 with a page, at first."""
    if request.came > 1:
        return answers(request)
    return Status(200, f"<html><body>{request.user}</body></html>", (), "text/html")


def answers_otherwise(request: Request) -> Status | Completion:
    """200 with JSON of another form, at first."""
    if request.came > 1:
        return answers(request)
    return Status(200, json.dumps({"result": request.user}))


def quotes(request: Request) -> Completion:
    """Whole judgments, with the items' words for reasons and the response's for quotes."""
    response, items = asked_of_grader(request.user)
    said = entries([True] * len(items), response[:200])
    given = [{**entry, "reason": text} for entry, text in zip(said, items, strict=True)]
    return Completion(json.dumps({"judgments": given}))


def rambles(request: Request) -> Completion:
    """No JSON."""
    return Completion(f"Let me see. {request.user}")


def names_a_key(request: Request) -> Completion:
    """JSON, with what it was asked as a key."""
    return Completion(json.dumps({request.user: True, "judgments": [{request.user: 1}]}))


ASKED = (answers, finds_fault, breaks, refuses, filters, shows_a_page, answers_otherwise, answers)
GRADED = (quotes, rambles, finds_fault, refuses, names_a_key, shows_a_page)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A sealed bank of words."""
    write_bank(tmp_path / "bank")
    rung = {"points": 1, "text": RUNG, "domains": {}}
    more: dict[str, Any] = {
        "split": "held-out",
        "text": SCENARIO,
        "actions": [item(name, 2, text) for name, text in zip("abc", ITEMS, strict=True)],
        "ladder": [rung],
    }
    write_bank(tmp_path / "apart", ["eating-h01", "dressing-h01"], **more)
    return sealed_place(tmp_path, lambda text: len(in_a_row(text) & SECRETS))


TYPED = ("run", "-m", "openai-api/fake/a", "--bank", "bank", "--grader", "openai-api/fake/g",
         "--split", "held-out", "--yes")  # fmt: skip
BESIDE = ("-m", "openai-api/fake/b")


@pytest.mark.parametrize("told", ["nothing", "by variables", "by a file"])
def test_a_run_against_a_server_that_repeats_what_it_is_asked(
    place: Place,
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No five words in a row of the split are printed, or in a file outside `private`."""
    if told == "by variables":
        place.env |= telling(place)
    elif told == "by a file":
        # as Inspect reads it, over the variables that are there: see its `init_dotenv`
        place.env["TERM_PROGRAM"] = "vscode"
        lines = [f"{name}={value}\n" for name, value in telling(place).items()]
        (place.root / ".env").write_text("".join(lines))
    script = Echo(ASKED, GRADED)
    with FakeServer(script) as server:
        place.env["FAKE_BASE_URL"] = server.base_url
        systems = BESIDE if told == "by variables" else ()
        assert place.run(*TYPED, *systems, "--samples", "5", "-o", "runs/a") == SOME_FAILED
    assert {way.__name__ for way in (*ASKED, *GRADED)} == set(script.met)
    assert in_a_row(place.inside("runs/a")) >= SECRETS - in_a_row(RUNG)
    assert place.leaks() == {}
    if told != "by variables":
        return

    publish(place, capsys, monkeypatch)
    assert place.leaks() == {}
    assert read_runs("runs/a").judgments.height


def test_a_server_that_turns_everything_away(place: Place) -> None:
    """A run that ends early names the file with the server's error, and does not quote it."""
    with FakeServer(Echo([turns_away], GRADED)) as server:
        place.env |= telling(place) | {"FAKE_BASE_URL": server.base_url}
        assert place.run(*TYPED, "--samples", "8", "-o", "runs/a") == SOME_FAILED
    assert "no call succeeded" in place.said[-1]
    (words,) = (place.root / "runs/a/private").rglob("last-words.txt")
    assert in_a_row(words.read_text(encoding="utf-8")) & SECRETS
    assert place.leaks() == {}


def test_the_search_finds(place: Place) -> None:
    """A run over the public split leaves its words in every place that the search looks at."""
    script = Echo([answers, finds_fault, breaks], [quotes, rambles])
    typed = [word for word in TYPED if word not in {"--split", "held-out"}]
    with FakeServer(script) as server:
        place.env |= telling(place) | {"FAKE_BASE_URL": server.base_url}
        # the sealed scenarios as a public bank of their own
        for path in (place.root / "apart").rglob("*.yaml"):
            text = path.read_text().replace("held-out", "public")
            path.write_text(text)
        typed[typed.index("bank")] = "apart"
        place.run(*typed, "--samples", "6", "-o", "runs/a")
    found = " ".join(place.leaks())
    for where in ("traced.log", "spied", "runs/a/"):
        assert where in found
