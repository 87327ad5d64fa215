"""Runs with pictures: who sees none is refused, no call is made twice, no picture is kept twice."""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from careeval.core.picture import as_data, picture_hash
from careeval.protocol.estimate import plan_run, priced
from careeval.protocol.evaluate import resume
from careeval.protocol.pictures import read_pictures
from careeval.protocol.run import Run, Stop
from careeval.protocol.sight_test import COLOURS, REQUEST, SIZE, sees, sight_request
from careeval.protocol.tables import read_run
from careeval.worlds.judge import JUDGE
from careeval.worlds.mode import PLAN
from support.fake_server import Completion, FakeServer, Fault, Request, Status, error
from support.fakes import begin
from support.seen_world import OTHER, PICTURE, TWIN_ID, write_seen_bank
from support.small_world import SAFE_PLAN, WORLD_ID

MODEL = "openai-api/fake/a"


def parts(request: Request) -> list[Mapping[str, Any]]:
    """Return the parts of the last message of a request."""
    content = request.body["messages"][-1]["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def pictures(request: Request) -> list[str]:
    """Return the pictures of a request, as data URIs."""
    return [part["image_url"]["url"] for part in parts(request) if part["type"] == "image_url"]


def is_test(request: Request) -> bool:
    """Tell whether a request is the sight test."""
    return any(part.get("text") == REQUEST for part in parts(request))


def seeing(request: Request) -> Completion | Fault:
    """Name the colours, and plan as if the picture had been seen."""
    text = "yellow, blue, red, green" if is_test(request) else json.dumps(SAFE_PLAN)
    return Completion(text)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A server that sees."""
    with FakeServer(seeing) as fake:
        monkeypatch.setenv("FAKE_BASE_URL", fake.base_url)
        monkeypatch.setenv("FAKE_API_KEY", "key")
        yield fake


def a_run(bank: Path, **more: Any) -> Run:
    """Return a run over both worlds of a bank, each asked twice."""
    task = {"bank": str(bank), "given": "seen", "twins": True, **more}
    return Run("a", MODEL, JUDGE, 2, task, protocol=PLAN.protocol)


def test_each_call_has_its_picture_and_the_folder_has_each_once(
    tmp_path: Path, server: FakeServer
) -> None:
    """Base and twin go with their own pictures; the log has none of their bytes."""
    asked: list[tuple[str, ...]] = []

    def watching(request: Request) -> Completion | Fault:
        if not is_test(request):
            asked.append(tuple(pictures(request)))
        return seeing(request)

    server.script = watching
    folder = tmp_path / "runs/a"
    assert begin(a_run(write_seen_bank(tmp_path / "bank")), folder).complete
    one, other = as_data(PICTURE), as_data(OTHER)
    assert sorted(asked) == sorted([(one,), (one,), (other,), (other,)])
    assert server.n_arrived("ask") == 5
    run = read_run(folder)
    assert run.pictures == {picture_hash(data): data for data in (one, other)}
    shown = {(row["scenario"], row["picture"]) for row in run.responses.iter_rows(named=True)}
    assert shown == {(WORLD_ID, picture_hash(one)), (TWIN_ID, picture_hash(other))}
    assert all("The picture shows" in text for text in run.responses["scenario_text"])
    encoded = one.partition(",")[2].encode()
    assert len(list((folder / "pictures").iterdir())) == 2
    for log in folder.glob("*.eval"):
        with ZipFile(log) as archive:
            assert all(encoded not in archive.read(name) for name in archive.namelist())


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Completion("I see no picture."), "named the colours of a test picture as 'I see no"),
        (Completion("red green blue yellow"), "as 'red green blue yellow'"),
        (
            error(400, "this model takes no image_url"),
            "refused a test picture: the server answered 400",
        ),
    ],
)
def test_a_model_that_sees_nothing_is_refused(
    tmp_path: Path, server: FakeServer, reply: Completion | Status, words: str
) -> None:
    """No world is asked: the run ends with the reason, after the sight test alone."""
    server.script = lambda _: reply
    outcome = begin(a_run(write_seen_bank(tmp_path / "bank")), tmp_path / "runs/a")
    assert outcome.stopped is Stop.blind
    assert words in outcome.why
    assert MODEL in outcome.why
    assert server.n_arrived("ask") <= 2  # some errors are tried again


def test_a_run_that_was_stopped_makes_no_call_twice(tmp_path: Path, server: FakeServer) -> None:
    """The sight test and what was answered are on disk; resuming asks for the rest."""
    folder, ended = tmp_path / "runs/a", 0

    def ending(request: Request) -> Completion | Fault:
        nonlocal ended
        if not is_test(request):
            ended += 1
            if ended > 2:
                return error(401, "no more")
        return seeing(request)

    server.script = ending
    assert not begin(a_run(write_seen_bank(tmp_path / "bank")), folder).complete
    answered = dict(server.answered)
    server.script = seeing
    assert resume(folder).complete
    assert server.n_answered("ask") == 5
    assert all(server.answered[key] == n for key, n in answered.items())


def test_an_answer_that_was_wrong_once_is_asked_for_again(
    tmp_path: Path, server: FakeServer
) -> None:
    """A run that ended for a wrong answer goes on when the model sees after all."""
    server.script = lambda _: Completion("red")
    folder = tmp_path / "runs/a"
    assert begin(a_run(write_seen_bank(tmp_path / "bank")), folder).stopped is Stop.blind
    server.script = seeing
    assert resume(folder).complete


def test_a_key_that_a_server_repeats_is_not_said(
    tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason of a refused test picture has no key in it."""
    monkeypatch.setenv("FAKE_API_KEY", "sk-a-long-secret-key")
    server.script = lambda request: error(400, f"no picture for {request.authorization}")
    outcome = begin(a_run(write_seen_bank(tmp_path / "bank")), tmp_path / "runs/a")
    assert outcome.stopped is Stop.blind
    assert "no picture for" in outcome.why
    assert "sk-a-long-secret-key" not in outcome.why


def test_words_go_without_a_sight_test(tmp_path: Path, server: FakeServer) -> None:
    """A run without pictures asks nothing else; its folder has no pictures."""
    folder = tmp_path / "runs/a"
    assert begin(a_run(write_seen_bank(tmp_path / "bank"), given="described"), folder).complete
    assert server.n_arrived("ask") == 4
    assert not (folder / "pictures").exists()


def test_a_picture_that_has_been_changed_is_not_read(tmp_path: Path) -> None:
    """A file is known by its content; what is no picture, or too large, is left out."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.webp").write_bytes(PICTURE)
    (folder / "b.webp").write_bytes(b"<svg/>")
    (folder / "c.webp").write_bytes(PICTURE + bytes(60_000))
    assert read_pictures(tmp_path) == {picture_hash(as_data(PICTURE)): as_data(PICTURE)}


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("yellow blue red green", True),
        ("Above: Yellow, Blue. Below: Red, Green.", True),
        ("Not red, but: yellow, blue, red, green", True),
        ("red green blue yellow", False),
        ("yellow blue red", False),
        ("", False),
    ],
)
def test_the_colours_are_named_in_their_order(reply: str, right: bool) -> None:
    """Case and other words do not matter; order does."""
    assert sees(reply) is right


def test_the_estimate_counts_pictures_where_the_provider_says_how(tmp_path: Path) -> None:
    """A picture of a known provider has tokens; with another, the cost is unknown."""
    bank = write_seen_bank(tmp_path / "bank")

    def line(model: str, given: str) -> Any:
        run = Run("a", model, None, 2, {"bank": str(bank), "given": given, "twins": True})
        return plan_run(priced(run))[0]

    seen, told = (line("anthropic/claude-sonnet-4-5", given) for given in ("seen", "facts"))
    assert seen.input_tokens - told.input_tokens == pytest.approx(4 * 1049, abs=150)
    assert seen.expected_usd > told.expected_usd
    assert line("mistral/mistral-large-latest", "facts").expected_usd is not None
    unsaid = line("mistral/mistral-large-latest", "seen")
    assert unsaid.expected_usd is None
    assert unsaid.worst_usd is not None


def test_the_test_picture_has_its_four_colours() -> None:
    """Its rows, unpacked, have the first two colours above, and the others below."""
    (message,) = sight_request()
    assert isinstance(message.content, list)
    png = b64decode(message.content[1].image.partition(",")[2])  # type: ignore[union-attr]
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (SIZE, SIZE)
    size = int.from_bytes(png[33:37])
    rows = zlib.decompress(png[41 : 41 + size])
    width = 1 + 3 * SIZE
    at = [(9, 9), (99, 9), (9, 99), (99, 99)]
    corners = [tuple(rows[y * width + 1 + 3 * x :][:3]) for x, y in at]
    assert corners == [*COLOURS.values()]
