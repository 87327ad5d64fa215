"""A run over the held-out split: it works with the key, and its results hold no words."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pyrage
import pytest

from careeval.bank.sealed import KEY_VARIABLE, pack, seal
from careeval.cli.app import OK, SOME_FAILED, run
from careeval.errors import ProtocolError
from careeval.protocol.tables import read_run, read_runs
from careeval.protocol.task import careeval
from support.command_line import CommandLine
from support.fake_server import Completion, FakeServer, Request, error, well
from support.fakes import write_bank

MODEL, GRADER = "openai-api/fake/a", "openai-api/fake/g"
SECRETS = ("Scenario eating-h01", "Asks her about the blouse", "I would ask in a whisper")
"""Words of a held-out scenario, of one of its items, and of the answer to it."""


def whispered(request: Request) -> Completion:
    """Return an answer with words of its own, and judgments that quote it."""
    said = well(request)
    if request.kind != "ask":
        return said
    return Completion(f"{SECRETS[2]}. {said.text}")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A server of both models."""
    with FakeServer(whispered) as running:
        monkeypatch.setenv("FAKE_BASE_URL", running.base_url)
        monkeypatch.setenv("FAKE_API_KEY", "planted")
        yield running


@pytest.fixture
def line(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A run over the sealed split of a small bank, whose key is set."""
    monkeypatch.chdir(tmp_path)
    write_bank(Path("bank"))
    write_bank(Path("apart"), ["eating-h01"], split="held-out")
    key = str(pyrage.x25519.Identity.generate())
    monkeypatch.setenv(KEY_VARIABLE, key)
    seal(pack(Path("apart")), Path("bank"), key)
    return ["run", "-m", MODEL, "--grader", GRADER, "--bank", "bank", "--samples", "2", "--yes",
            "--split", "held-out", "-o", "runs/a"]  # fmt: skip


def test_a_held_out_run_tells_numbers_and_no_words(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its logs lie in `private`, which is its owner's; no table and no page has a word of it."""
    assert run(line) == OK
    place = Path("runs/a/private")
    assert {path.name for path in Path("runs/a").iterdir()} == {"private"}
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert (place / ".gitignore").read_text(encoding="utf-8") == "*\n"
    (folder,) = (path for path in place.iterdir() if path.is_dir())
    kept = read_run(folder)
    assert SECRETS[0] in kept.responses["scenario_text"][0]
    assert SECRETS[2] in kept.responses["text"][0]
    assert SECRETS[1] in kept.judgments["item_text"].to_list()[0] + str(kept.judgments.rows())

    assert run(["grade", "runs/a", "--grader", "careeval/lexical", "--bank", "bank"]) == OK
    said = capsys.readouterr()
    for form in ("table", "md", "csv", "json"):
        assert run(["summary", "runs/a", "--format", form]) == OK
    made = capsys.readouterr()
    assert run(["report", "runs/a", "-o", "report.html"]) == OK
    page = Path("report.html").read_text(encoding="utf-8")
    shown = "".join((said.out, said.err, made.out, made.err, page))
    for secret in SECRETS:
        assert secret not in shown
    assert "(held-out)" in page
    assert "(held-out)" in made.out

    runs = read_runs("runs/a")
    assert set(runs.responses["text"]) == {"(held out)"}
    assert runs.judgments["quote"].null_count() == len(runs.judgments)
    assert runs.judgments["points"].to_list() == read_runs("runs/a").judgments["points"].to_list()


def test_without_the_key_nothing_is_asked(
    line: list[str], server: FakeServer, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The split cannot be run, and the error says which variable is meant."""
    monkeypatch.delenv(KEY_VARIABLE)
    assert f"set its key: {KEY_VARIABLE}" in cli.refused(*line)
    assert not Path("runs").exists()
    assert not server.arrived


def test_a_public_run_is_not_hidden(line: list[str], cli: CommandLine) -> None:
    """With the key at hand the public split is still the one that is asked, in clear."""
    at = line.index("--split")
    assert run([*line[:at], *line[at + 2 :]]) == OK
    assert not Path("runs/a/private").exists()
    runs = read_runs("runs/a")
    assert set(runs.responses["split"]) == {"public"}
    assert SECRETS[2] in runs.responses["text"][0]
    told = cli.json("summary", "runs/a", "--json")
    assert told["entries"][0]["counts"]["scenarios"] == 2


def test_a_provider_that_repeats_what_it_was_asked_is_not_quoted(
    line: list[str], server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """A 400 with the prompt in it is counted in the notes; its words stay in the private logs."""
    server.script = lambda request: (
        error(400, f"Invalid prompt: {request.user}", None)
        if request.kind == "ask"
        else well(request)
    )
    assert run(line) == SOME_FAILED
    assert run(["summary", "runs/a"]) == OK
    said = capsys.readouterr()
    notes = read_runs("runs/a").notes
    assert any("2 samples failed" in note for note in notes)
    assert SECRETS[0] not in "".join((said.out, said.err, *notes))


def test_a_useless_grader_is_not_quoted_and_may_be_replaced(
    line: list[str], server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run ends, says what the replies are like and where they are; another grader grades it."""
    server.script = lambda request: (
        whispered(request) if request.kind == "ask" else Completion(f"Let me see: {request.user}")
    )
    line[line.index("--samples") + 1] = "25"
    assert run(line) == SOME_FAILED
    said = "".join(capsys.readouterr())
    assert "none of 20 responses was judged; the replies' problems: it holds no" in said
    assert "careeval run --resume -o runs/a --grader MODEL" in said
    assert not [secret for secret in SECRETS if secret in said]
    (words,) = Path("runs/a/private").rglob("last-words.txt")
    assert "Let me see:" in words.read_text(encoding="utf-8")
    asked = server.n_arrived("ask")
    assert run(["run", "--resume", "-o", "runs/a", "--grader", "careeval/lexical"]) == OK
    assert server.n_arrived("ask") == asked == 25
    graders = set(read_runs("runs/a").judgments["grader"])
    assert len(graders) == 1
    assert graders.pop().startswith("careeval/lexical")


def test_a_grader_that_has_begun_is_not_replaced(
    line: list[str], server: FakeServer, cli: CommandLine
) -> None:
    """Half of a run by one grader and half by another would be no grading at all."""
    server.script = lambda request: (
        error(400, "No.", None) if request.kind == "ask" and request.number == 1 else well(request)
    )
    assert run(line) == SOME_FAILED
    assert f"{GRADER} has begun to grade it" in cli.refused(
        "run", "--resume", "-o", "runs/a", "--grader", "careeval/lexical"
    )


def test_recorded_answers_to_both_splits_share_a_folder(line: list[str], cli: CommandLine) -> None:
    """A system's held-out run has a name of its own, and may not be given its public one's."""
    for name, scenario in (("public", "eating-001"), ("secret", "eating-h01")):
        answer = {"scenario": scenario, "response": "I ask her.", "system": "robot"}
        Path(f"{name}.jsonl").write_text(json.dumps(answer), encoding="utf-8")
    rest = ["--grader", "careeval/lexical", "--bank", "bank", "-o", "runs/b"]
    held_out = ["run", "--responses", "secret.jsonl", "--split", "held-out", *rest]
    assert run(["run", "--responses", "public.jsonl", *rest]) == OK
    assert "already has a run of 'robot'" in cli.refused(*held_out, "--name", "robot")
    assert run(held_out) == OK
    assert set(read_runs("runs/b").responses["system"]) == {"robot", "robot (held-out)"}


def test_inspect_alone_does_not_take_the_split(line: list[str]) -> None:
    """Inspect alone refuses the split, since its logs would not be in the private folder."""
    with pytest.raises(ProtocolError, match="only 'careeval run' may use the held-out split"):
        careeval(bank="bank", split="held-out")


def test_an_id_of_the_split_asks_for_its_key(
    line: list[str], cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the key, the hint is the key, and no other scenario."""
    assert run(["bank", "show", "eating-h01", "--bank", "bank"]) == OK
    monkeypatch.delenv(KEY_VARIABLE)
    assert f"set {KEY_VARIABLE}" in cli.refused("bank", "show", "eating-h01", "--bank", "bank")
