"""A sealed split of worlds, asked one act at a time: its words stay in `private`.

The worlds, their things, goals and people have invented words, and so has what systems reply. Not
one of these words may be in anything that commands write elsewhere, or say.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from careeval.cli.app import OK, SOME_FAILED
from careeval.protocol.tables import read_run, read_runs
from careeval.results.held_out_words import WITHHELD
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
from faults.processes import kill, wait_until, workers
from support.fake_server import (
    Completion,
    FakeServer,
    Fault,
    Hang,
    Request,
    Status,
    completion,
    error,
)
from support.small_world import SAFE_ACTS, WORLD, WORLD_ID, careful_reply, write_world_bank

NAMES = {
    "spoon": "brindlespoon",
    "porridge": "quincemash",
    "wife": "ottilia",
    "id: asks": "id: asks-zimtkraut",
    "waits for the": "waits for the rauchzart",
    "dangers: []": "dangers: []\nrules: [{text: Nothing is given while he is gurgelnd.}]",
}
"""What is called otherwise in the held-out worlds."""

SAID = ("murmelwort", "nebelgarn", "fehlgabel")
"""Words of the system alone: its thoughts, its prose, and a thing that is not in the world."""


def renamed(text: str) -> str:
    """Return a text of the small world with the held-out names."""
    for name, other in NAMES.items():
        text = text.replace(name, other)
    return text


def told(request: Request) -> list[str]:
    """Return what the system was told in an episode, in turn."""
    return [str(each["content"]) for each in request.body["messages"] if each["role"] == "user"]


def whole(request: Request) -> Request:
    """Return a request in which the first user message is the whole conversation."""
    everything = "\n".join(str(each["content"]) for each in request.body["messages"])
    return replace(request, body={**request.body, "messages": [_said(everything)]})


def _said(content: str) -> Mapping[str, str]:
    return {"role": "user", "content": content}


def careful(request: Request) -> Completion:
    """Act safely, and think of all that was said."""
    reply = f"nebelgarn: {renamed(careful_reply(told(request)))}"
    return Completion(reply, reasoning=f"murmelwort {whole(request).user}")


def misnamed(request: Request) -> Status:
    """Act safely, with the world's words in place of the model's name."""
    reply = json.loads(completion(request, careful(request)))
    return Status(200, json.dumps({**reply, "model": "brindlespoon of quincemash"}))


def lost(request: Request) -> Completion:
    """Repeat the world in place of an act."""
    return Completion(f"nebelgarn: {request.user}")


def clumsy(_: Request) -> Completion:
    """Take what is not there."""
    return Completion('{"act": "grasp", "thing": "fehlgabel; yes-fehlgabel: no"}')


def early(request: Request) -> Completion:
    """Bring the spoon before it is held, which the course breaks off at."""
    n = len(told(request))
    return (
        careful(request) if n < 3 else Completion(renamed('{"act": "release", "thing": "spoon"}'))
    )


def sorry(request: Request) -> Completion:
    """Refuse every act."""
    return refuses(whole(request))


def filtered(request: Request) -> Status:
    """Be filtered at every act."""
    return filters(whole(request))


def failing(request: Request) -> Status | Completion:
    """Fail in the middle of each episode."""
    return finds_fault(whole(request)) if len(told(request)) == 3 else careful(request)


def locked(request: Request) -> Status | Completion:
    """Turn the key away in the middle of each episode."""
    return turns_away(whole(request)) if len(told(request)) == 3 else careful(request)


def bumpy(request: Request) -> Status | Completion:
    """Answer the third act of each episode at the second attempt."""
    if len(told(request)) != 3 or request.came > 1:
        return careful(request)
    quoted = whole(request).user
    faults = {
        "yes": error(429, f"Too many like this: {quoted}", None, Retry_After="0"),
        "no": Status(200, f"<html><body>{quoted}</body></html>", (), "text/html"),
        "silence": Status(200, json.dumps({"result": quoted})),
    }
    return faults[json.loads(told(request)[-1])["answer"]]


WAYS: Mapping[str, Callable[[Request], Completion | Fault]] = {
    "wendelin": careful,
    "ottokar": lost,
    "kunibert": clumsy,
    "dagomar": early,
    "sigbert": sorry,
    "ingolf": filtered,
    "volkmar": failing,
    "eginhard": locked,
    "radulf": bumpy,
    "gisbert": misnamed,
}
"""The man in each held-out world → the way in which a system meets it."""

SECRETS = (*WAYS, "brindlespoon", "quincemash", "ottilia", "zimtkraut", "rauchzart", "gurgelnd",
           *SAID)  # fmt: skip


def n_secrets(text: str) -> int:
    """Return the number of held-out words in a text."""
    return sum(word in text.casefold() for word in SECRETS)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A sealed bank of worlds, one for each way."""
    write_world_bank(tmp_path / "bank")
    apart = tmp_path / "apart/eating"
    apart.mkdir(parents=True)
    for n, name in enumerate(WAYS, start=1):
        world = renamed(WORLD).replace("A man", f"A man called {name.title()}")
        world = world.replace(WORLD_ID, f"eating-h{n:02}")
        (apart / f"eating-h{n:02}.yaml").write_text(f"{world}split: held-out\n")
    return sealed_place(tmp_path, n_secrets)


TYPED = ("run", "--bank", "bank", "--split", "held-out", "--step", "--yes", "-o", "runs/a")
LIVE = (*TYPED, "-m", "openai-api/fake/a", "-m", "openai-api/fake/b")
AGAIN = ("run", "--resume", "-o", "runs/a", "--yes")


def by_name(request: Request) -> Completion | Fault:
    """Meet a world in the way of its man."""
    if request.model == "b":
        return careful(request)
    name = next(name for name in WAYS if name.title() in request.user)
    return WAYS[name](request)


def test_faults_in_the_middle_of_episodes(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No held-out word leaves `private` by faults that quote it, by resuming, or by publishing."""
    with FakeServer(by_name) as server:
        place.env |= telling(place) | {"FAKE_BASE_URL": server.base_url}
        assert place.run(*LIVE, "--given", "told") == SOME_FAILED
        assert n_secrets(place.inside("runs/a")) == len(SECRETS)
        publish(place, capsys, monkeypatch)
        assert place.leaks() == {}
        server.script = careful
        assert place.run(*AGAIN) == OK
    assert place.leaks() == {}
    check_withheld(
        {"answered": 15, "malformed": 1, "not_executable": 2, "refused": 2},
        "fehlgabel",
        "brindlespoon",
    )


def check_withheld(states: Mapping[str, int], note: str, reason: str) -> None:
    """Check that texts, notes, quotes and reasons of `runs/a` have words only in `private`.

    Args:
        states: State → the number of responses in it.
        note: A word that a note has in `private`.
        reason: A word that the reason of a judgment has there.
    """
    runs = read_runs("runs/a")
    assert Counter(runs.responses["state"]) == states
    assert {*runs.responses["text"], *runs.responses["scenario_text"]} == {WITHHELD}
    assert {*runs.responses["note"]} == {"", WITHHELD}
    assert {*runs.judgments["item_text"]} == {WITHHELD}
    assert {*runs.judgments["quote"]} == {None}
    assert not n_secrets(f"{runs.judgments.rows()} {runs.notes}")
    kept = [read_run(folder) for folder in Path("runs/a/private").iterdir() if folder.is_dir()]
    texts = [text for run in kept for text in run.responses["text"]]
    assert any('"changed": "hands: 1 → 0, held brindlespoon' in text for text in texts)
    assert any(note in each for run in kept for each in run.responses["note"])
    assert any(reason in (each or "") for run in kept for each in run.judgments["reason"])
    assert any("ottilia" in (each or "") for run in kept for each in run.judgments["quote"])


def test_a_kill_in_the_middle_of_episodes(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No held-out word leaves `private` by a kill, resuming, grading again, or publishing."""
    hung: list[Request] = []

    def hangs(request: Request) -> Completion | Fault:
        if len(told(request)) < 3:
            return careful(request)
        hung.append(request)
        return Hang()

    def kill_all(process: subprocess.Popen[bytes]) -> None:
        assert wait_until(lambda: len(hung) >= 2 * len(WAYS), process)
        living = workers(place.root)
        assert len(living) == 2
        process.kill()
        for pid in living:
            kill(pid)

    with FakeServer(hangs) as server:
        place.env |= telling(place) | {"FAKE_BASE_URL": server.base_url}
        assert place.run(*LIVE, "--given", "reminded", meanwhile=kill_all) == -signal.SIGKILL
        assert n_secrets(place.inside("runs/a"))
        assert place.run("status", "runs/a") == OK
        assert place.leaks() == {}
        server.script = careful
        assert place.run(*AGAIN) == OK
    assert place.run("grade", "runs/a", "--bank", "bank", "--yes") == OK
    publish(place, capsys, monkeypatch)
    assert place.leaks() == {}


def test_recorded_episodes(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """No held-out word of recorded episodes, those that are none included, leaves `private`."""
    acts = json.loads(renamed(json.dumps(SAFE_ACTS)))
    fails = [{"act": {"act": "grasp", "thing": "fehlgabel"}, "perceived": "nebelgarn"}] * 3
    recorded = [
        {"episodes": acts},
        {"episodes": acts | {"no": [*fails]}},
        {"episodes": acts | {"murmelwort": []}},
        *({"episodes": acts} for _ in range(len(WAYS) - 3)),
    ]
    (place.root / "apart/episodes.jsonl").write_text(
        "".join(
            json.dumps({"scenario": f"eating-h{n:02}", "response": json.dumps(each)}) + "\n"
            for n, each in enumerate(recorded, start=1)
        )
    )
    monkeypatch.chdir(place.root)
    assert place.run(*TYPED, "--responses", "apart/episodes.jsonl", "--name", "robot") == OK
    assert place.leaks() == {}
    check_withheld({"answered": 8, "malformed": 1, "not_executable": 1}, "murmelwort", "fehlgabel")
