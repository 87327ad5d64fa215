"""A sealed world with a picture: neither its words nor its picture leave `private`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from careeval.cli.app import OK, SOME_FAILED
from careeval.core.picture import DATA, as_data
from faults.held_out import publish, sealed_place, telling
from support.fake_server import Completion, FakeServer, Fault, Request, error
from support.seen_world import PICTURE, seen_world
from support.small_world import SAFE_PLAN, write_world_bank

# a picture of its own, long enough to be told from others by any part of its text
OWN = PICTURE + bytes(range(256)) * 4
ENCODED = as_data(OWN).removeprefix(DATA)
SECRETS = (ENCODED[40:120], ENCODED[400:480], "zimtkraut", "quendelbank")


def n_secrets(text: str) -> int:
    """Return the number of parts of the picture and of held-out words in a text."""
    return sum(secret in text for secret in SECRETS)


def sees(request: Request) -> Completion | Fault:
    """Name the colours of the test picture; fail once with the whole request, then plan."""
    asked = json.dumps(request.body)
    if "four squares" in asked:
        return Completion("yellow blue red green")
    return error(400, f"not this: {asked}") if request.came == 1 else plans(request)


def plans(request: Request) -> Completion:
    """Name the colours, or plan and repeat what was said."""
    asked = json.dumps(request.body)
    if "four squares" in asked:
        return Completion("yellow blue red green")
    return Completion(f"{json.dumps(SAFE_PLAN)} {request.user}")


def test_a_sealed_picture_stays_in_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked about, fails, is resumed and published; no file outside has a part of it."""
    write_world_bank(tmp_path / "bank")
    world = seen_world().replace("eating-001.webp", as_data(OWN)).replace("A man", "A zimtkraut")
    world = world.replace("eating-001", "eating-h01").replace("A drawn man", "A quendelbank")
    apart = tmp_path / "apart/eating"
    apart.mkdir(parents=True)
    (apart / "eating-h01.yaml").write_text(f"{world}split: held-out\n", encoding="utf-8")
    place = sealed_place(tmp_path, n_secrets)
    typed = ("run", "--bank", "bank", "--split", "held-out", "--given", "seen", "--samples", "2")
    with FakeServer(sees) as server:
        place.env |= telling(place) | {"FAKE_BASE_URL": server.base_url}
        models = ("-m", "openai-api/fake/a", "-m", "openai-api/fake/b")
        live = (*typed, *models, "--yes", "-o", "runs/a")
        assert place.run(*live) == SOME_FAILED
        assert place.leaks() == {}
        server.script = plans
        assert place.run("run", "--resume", "-o", "runs/a", "--yes") == OK
    publish(place, capsys, monkeypatch)
    assert place.leaks() == {}
    assert n_secrets(place.inside("runs/a")) == len(SECRETS)  # the server quoted all of it
    assert not list((tmp_path / "runs").rglob("pictures"))
