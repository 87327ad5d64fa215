"""Tests of runs without a working server: they end soon, give address and reason, hide the key."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log._samples import set_active_model_event_call
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelAPI,
    ModelCall,
    ModelOutput,
    modelapi,
)

from careeval.cli.app import SOME_FAILED, USAGE
from careeval.cli.app import run as command
from careeval.errors import ProtocolError
from careeval.protocol import connect, failures
from careeval.protocol.evaluate import resume
from careeval.protocol.failures import REDACTED, Redactor
from careeval.protocol.providers import check_address, redacted
from careeval.protocol.run import Outcome, Run, RunCallbacks, RunProgress, Stop
from careeval.protocol.run_folder import RUN_FILE
from careeval.protocol.run_setup import prepare
from careeval.protocol.tables import read_runs
from faults.search import KEY, files_that_hold
from support.fake_server import (
    Completion,
    FakeServer,
    Fault,
    Request,
    Status,
    error,
    too_many,
    well,
)
from support.fakes import begin, write_bank
from support.strange_servers import SERVERS, dropping, http, nobody, serving, silent_plain

MODEL = "openai-api/fake/m"

WORDS = {
    "html 200": "not a completion but a web page: Welcome to nginx!",
    "html 502": "answered 502 (Bad Gateway) with a web page: Welcome to nginx!",
    "html 503": "answered 503 (Service Unavailable) with a web page: Welcome",
    "empty body": "the server's reply is not a completion",
    "half JSON": "the server's reply is not a completion",
    "JSON of another kind": "the server's reply is not a completion",
    "JSON, a list": "the server's reply is not a completion: [1, 2]",
    "insufficient_quota 429": "answered 429 (Too Many Requests): You exceeded your current quota",
    "payment 402": "answered 402 (Payment Required): Insufficient Balance",
    "key 401": "answered 401 (Unauthorized): Incorrect API key",
    "forbidden 403": "answered 403 (Forbidden): Not in your country.",
    "path 404": "answered 404 (Not Found): Not Found",
    "html 404": "answered 404 (Not Found) with a web page: Welcome",
    "method 405": "answered 405 (Method Not Allowed)",
    "closes at once": "the connection failed: the server closed it without an answer",
    "echo, no HTTP": "the connection failed: the server does not speak HTTP",
    "wrong port, SSH": "the connection failed: the server closed it without an answer",
    "hang": "no complete answer within 1 s",
    "slow headers": "no complete answer within 1 s",
    "endless body": "the server's reply is longer than 1 MB, so it was not read to its end",
}
"""What is said of each strange server."""


PROVIDERS = {"vllm": "", "sglang": "", "ollama": "", "together": "", "openrouter": "",
             "anthropic": "anthropic", "groq": "groq", "mistral": "mistralai"}  # fmt: skip
"""Providers that ask over HTTP in ways of their own, with the package that they need."""


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One scenario."""
    return write_bank(tmp_path_factory.mktemp("bank"), ["dressing-001"])


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key, and limits that a test can wait for."""
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "*")
    for name in ("INSPECT_HTTP_CONNECT_TIMEOUT", "INSPECT_HTTP_CONNECT_RETRIES"):
        # taken away again after the test, too
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(connect, "MAX_REPLY", 2**20)
    monkeypatch.setattr(failures, "HOPELESS", 0.0)


def a_run(bank: Path, epochs: int = 8, grader: str | None = None) -> Run:
    """A run that asks eight times, at most five at once."""
    return Run("robot", MODEL, grader, epochs, {"bank": str(bank)}, max_connections=5)


def outcome_at(
    url: str, bank: Path, folder: Path, patch: pytest.MonkeyPatch, watch: RunCallbacks | None = None
) -> Outcome:
    """Return the outcome of a run whose model is asked at an address."""
    patch.setenv("FAKE_BASE_URL", url)
    return resume(prepare(a_run(bank), folder), watch=watch or RunCallbacks())


def assert_turned_away(outcome: Outcome, url: str, words: str) -> None:
    """Check that a run ended early and gives address and reason, without names of classes."""
    assert outcome.stopped is Stop.turned_away
    assert outcome.why.startswith(f"{MODEL} at {url}: ")
    assert words in outcome.why
    assert not re.search(r"[a-z]Error|Timeout|Exception|Client[A-Z]|<|Traceback", outcome.why)


@pytest.mark.parametrize("kind", SERVERS)
def test_a_strange_server(
    kind: str, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five attempts in a row at something that is no model's server end the run, with the reason.

    Neither the reason nor any file of the run holds the key.
    """
    if WORDS[kind].startswith("no complete answer"):
        monkeypatch.setattr(connect, "ATTEMPT_TIMEOUT", 1)
    with serving(SERVERS[kind]) as url:
        outcome = outcome_at(url, bank, tmp_path / "robot", monkeypatch)
    assert_turned_away(outcome, url, WORDS[kind])
    assert files_that_hold(tmp_path, KEY) == []


@pytest.mark.parametrize(("answers_others", "n_attempts", "seconds"), [(False, 1, 2), (True, 5, 1)])
def test_a_server_that_never_answers(
    answers_others: bool,
    n_attempts: int,
    seconds: int,
    bank: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One silent attempt ends a run; five are made where the server answers something else."""
    monkeypatch.setattr(connect, "ATTEMPT_TIMEOUT", seconds)
    monkeypatch.setattr(connect, "PROBE_TIMEOUT", 1)
    asked: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.read(65536):
            if request.startswith(b"GET") and answers_others:
                writer.write(http("404 Not Found", "{}"))
                await writer.drain()
            elif request.startswith(b"POST"):
                asked.append(request)

    with serving(handle) as url:
        monkeypatch.setenv("FAKE_BASE_URL", url)
        run = replace(a_run(bank), max_connections=1)
        outcome = resume(prepare(run, tmp_path / "robot"))
    assert_turned_away(outcome, url, f"no complete answer within {seconds} s")
    assert ("no answer to a request for the server's list" in outcome.why) is not answers_others
    assert len(asked) == n_attempts


def test_nobody_at_the_address(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused connections end a run; resumed when there is a server, it does all that is left."""
    with nobody() as url:
        outcome = outcome_at(url, bank, tmp_path / "robot", monkeypatch)
    assert_turned_away(
        outcome, url, "the connection failed: refused, no server listens at this address"
    )
    with FakeServer() as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        assert resume(tmp_path / "robot").complete
    assert read_runs(tmp_path).responses["state"].to_list() == ["answered"] * 8


def test_no_such_host(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that there is not ends a run."""
    url = "http://no-such-host.invalid/v1"
    outcome = outcome_at(url, bank, tmp_path / "robot", monkeypatch)
    assert_turned_away(outcome, url, "the connection failed: the host does not exist")


@pytest.mark.skipif(sys.platform != "linux", reason="a full queue drops packets on Linux")
@pytest.mark.parametrize("name", ["openai-api/fake", "vllm", "anthropic", "groq"])
def test_packets_are_dropped(
    name: str, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no connection can be made, each attempt is given up soon, and the run ends."""
    if package := PROVIDERS.get(name):
        pytest.importorskip(package)
    monkeypatch.setattr(connect, "CONNECT_TIMEOUT", 0.5)
    variable = name.rpartition("/")[2].upper()
    monkeypatch.setenv(f"{variable}_API_KEY", KEY)
    with dropping() as url:
        monkeypatch.setenv(f"{variable}_BASE_URL", url)
        run = replace(a_run(bank), model=f"{name}/model-of-no-connection")
        folder, began = prepare(run, tmp_path / "robot"), time.monotonic()
        outcome = resume(folder)
    assert outcome.stopped is Stop.turned_away
    assert "the connection failed: timeout while connecting" in outcome.why
    assert time.monotonic() - began < 15


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        (SERVERS["html 200"], "the connection failed: "),
        (silent_plain, "the connection failed: timeout while connecting"),
    ],
    ids=["closes", "waits"],
)
def test_tls_to_a_server_without(
    handler: object, words: str, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TLS that a server does not speak ends a run, whether it closes the connection or waits."""
    monkeypatch.setattr(connect, "CONNECT_TIMEOUT", 0.5)
    with serving(handler) as plain:  # type: ignore[arg-type]
        url = plain.replace("http://", "https://")
        outcome = outcome_at(url, bank, tmp_path / "robot", monkeypatch)
    assert_turned_away(outcome, url, words)


def test_fewer_calls_than_end_a_run(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that fails before five attempts still gives address and reason."""
    with serving(SERVERS["path 404"]) as url:
        line = ["run", "-m", MODEL, "--base-url", url, "--bank", str(bank), "--no-grade", "-y"]
        assert command([*line, "--samples", "2", "-o", str(tmp_path / "r")]) == SOME_FAILED
    said = capsys.readouterr().err
    assert f"2 samples failed, the last of {MODEL} at {url}: the server answered 404" in said


def test_a_server_that_has_answered_is_waited_for(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a call has succeeded, no number of failures ends a run early."""
    n = 0

    def script(request: Request) -> Completion | Fault:
        nonlocal n
        n += 1
        return well(request) if n == 1 else error(404, "gone for a while")

    with FakeServer(script) as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        outcome = begin(Run("robot", MODEL, None, 8, {"bank": str(bank)}, max_connections=1),
                        tmp_path / "robot")  # fmt: skip
    assert (outcome.stopped, outcome.n_failed) == (None, 7)


def test_a_full_server_whose_first_answers_are_under_way(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a call that came before is being answered, those turned away end nothing."""
    refused = Status(503, "<html><h1>Full</h1></html>", (), "text/html")

    class Full(FakeServer):
        begun = False

        async def _handle(self, http: Any) -> Any:
            if not self.begun:
                self.begun = True
                # the others of the first five are turned away meanwhile, twice each
                while sum(self.arrived.values()) < 4 * 2:
                    await asyncio.sleep(0.02)
                self.script = well
            return await super()._handle(http)

    monkeypatch.setattr(failures, "HOPELESS", 0.1)
    with Full(lambda _: refused) as server:
        outcome = outcome_at(server.base_url, bank, tmp_path / "robot", monkeypatch)
    assert outcome.complete


def test_a_server_of_its_own_troubles_is_waited_for(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors of a server that is busy or broken for a while end nothing."""
    monkeypatch.setattr("inspect_ai.model._retry._sleep", _at_once)
    faults = (too_many(), error(500, "oops"), error(503, "loading"), error(529, "overloaded"))

    def script(request: Request) -> Completion | Fault:
        return faults[request.came - 1] if request.came <= len(faults) else well(request)

    with FakeServer(script) as server:
        assert outcome_at(server.base_url, bank, tmp_path / "robot", monkeypatch).complete


async def _at_once(_: float) -> None:
    """No wait."""


# --- a long wait ---------------------------------------------------------------------------------


def test_a_long_wait_is_shown(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Retry-After of an hour is obeyed, and shown with the time of day when it is over.

    Ended meanwhile, the run waits for nothing.
    """
    shown: list[RunProgress] = []
    held: list[object] = []

    def report(progress: RunProgress) -> None:
        shown.append(progress)
        if progress.n_errors:
            held[0].stop(Stop.interrupted, 60)  # type: ignore[attr-defined]

    began = time.monotonic()
    with FakeServer(lambda _: too_many("3600")) as server:
        watch = RunCallbacks(report=report, hold=held.append)
        outcome = outcome_at(server.base_url, bank, tmp_path / "robot", monkeypatch, watch)
    assert outcome.stopped is Stop.interrupted
    assert time.monotonic() - began < 60
    words = r"m: the server answered 429 .*; again in 60 min, at \d\d:\d\d"
    assert any(re.search(words, each.last_error) for each in shown)
    assert not any("Error" in each.last_error for each in shown)


# --- Ctrl-C --------------------------------------------------------------------------------------


def test_ctrl_c_is_one_line(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C prints one line with the command that goes on, and nothing of what it broke off."""
    with FakeServer(latency=1.0) as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        line = ["run", "-m", MODEL, "--bank", str(bank), "--no-grade", "-y", "-o", str(tmp_path)]
        with subprocess.Popen(
            [sys.executable, "-m", "careeval", *line],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:  # fmt: skip
            until = time.monotonic() + 60
            while not server.arrived:
                assert time.monotonic() < until
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    again = f"To resume: careeval run --resume -o {tmp_path}"
    *_, last = said.splitlines()
    assert last == f"Stopped; what was finished is kept. {again}"
    assert not re.search("Traceback|Cancelled|Error|interrupted", said)


# --- secrets -------------------------------------------------------------------------------------


def escaped(key: str) -> str:
    """A key as JSON may write it."""
    return "".join(f"\\u{ord(each):04X}" for each in key)


def saying(text: str) -> str:
    """A completion that says this, which is JSON already."""
    message = f'{{"role": "assistant", "content": "{text}"}}'
    choice = f'{{"index": 0, "finish_reason": "stop", "message": {message}}}'
    head = '"id": "x", "object": "chat.completion", "created": 1, "model": "m"'
    return f'{{{head}, "choices": [{choice}]}}'


REPEATS: dict[str, Status] = {
    "text": Status(200, saying(f"I wait, {KEY}.")),
    "text, escaped": Status(200, saying(f"I wait, {escaped(KEY)}.")),
    "headers": Status(
        200, saying("I wait."), (("x-request-id", KEY), ("x-your-key", f"Bearer {KEY}"))
    ),
    "error": Status(400, json.dumps({"error": {"message": f"no {KEY}"}})),
    "error, escaped": Status(400, f'{{"error": {{"message": "no {escaped(KEY)}"}}}}'),
    "error, half escaped": Status(
        403, f'{{"error": {{"message": "no {escaped(KEY[:3])}{KEY[3:]}"}}}}'),
    "error's headers": Status(401, "{}", (("x-request-id", KEY),)),
    "no completion": Status(200, json.dumps([KEY])),
    "a page": Status(200, f"<html><title>{KEY}</title></html>", (), "text/html"),
    "a redirect": Status(307, "", (("Location", f"http://{KEY}:port/"),)),
}  # fmt: skip
"""Where a server repeats a key."""


@pytest.mark.parametrize("where", REPEATS)
def test_a_key_that_is_repeated(
    where: str,
    bank: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Wherever a server repeats the key, also as JSON may escape it, it is redacted."""
    with FakeServer(lambda _: REPEATS[where]) as server:
        outcome = outcome_at(server.base_url, bank, tmp_path / "runs" / "robot", monkeypatch)
    responses = read_runs(tmp_path / "runs").responses
    told = f"{responses.write_json()} {outcome} {''.join(capfd.readouterr())}"
    assert KEY not in told
    assert KEY[2:] not in told
    assert files_that_hold(tmp_path, KEY) == []
    if where.startswith("text"):
        assert set(responses["text"]) == {f"I wait, {REDACTED}."}
    if where.startswith("error,"):
        assert REDACTED in told


def test_an_answer_keeps_short_words() -> None:
    """A key that is a word, as those of servers without keys, is not taken out of answers."""
    blot = Redactor(["EMPTY"])
    assert blot.body(b"the cup is EMPTY", is_error=False) == b"the cup is EMPTY"
    assert blot.body(b"wrong key: EMPTY", is_error=True) == b"wrong key: (the key)"
    assert Redactor([]).text("EMPTY", is_error=True) == "EMPTY"


SECRET = "planted-secret-81"


@pytest.mark.parametrize(
    "address",
    [
        f"http://user:{SECRET}@127.0.0.1:9/v1",
        f"http://{SECRET}@127.0.0.1:9/v1",
        f"http://127.0.0.1:9/v1?api_key={SECRET}",
        f"http://127.0.0.1:9/v1#{SECRET}",
        f"user:{SECRET}@127.0.0.1:9/v1",
        f"http://user:{SECRET}@127.0.0.1:port/v1",
        f"http://[{SECRET}@x",
    ],
)
@pytest.mark.parametrize("variable", [False, True], ids=["option", "variable"])
def test_a_secret_in_an_address(
    address: str,
    variable: bool,
    bank: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """An address that holds a secret is refused, and the secret is in no file and no message."""
    line = ["run", "-m", MODEL, "--bank", str(bank), "--no-grade", "-y", "-o", str(tmp_path / "r")]
    if variable:
        monkeypatch.setenv("FAKE_BASE_URL", address)
        with pytest.raises(ProtocolError) as caught:
            begin(a_run(bank), tmp_path / "r" / "robot")
        said = f"{caught.value} {caught.value.hint}"
    else:
        assert command([*line, "--base-url", address]) == USAGE
        said = "".join(capfd.readouterr())
        assert "--base-url" in said
    assert SECRET not in said
    assert not list(tmp_path.rglob(RUN_FILE))
    assert files_that_hold(tmp_path, SECRET) == []


@pytest.mark.parametrize(
    "address", ["127.0.0.1:8000/v1", "localhost", "ftp://host/v1", "http://", "http:///v1", "",
                "http://host:99999/v1", "http://host:0"],
)  # fmt: skip
def test_what_is_no_address(
    address: str, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An invalid address of a server is refused before the first call."""
    line = ["run", "-m", MODEL, "--bank", str(bank), "--no-grade", "-y", "-o", str(tmp_path / "r")]
    assert command([*line, "--base-url", address]) == USAGE
    said = capsys.readouterr().err
    assert f"--base-url, {address!r}, is not the address of a server" in said
    assert "http://localhost:8000/v1" in said
    assert not list(tmp_path.rglob(RUN_FILE))


def test_an_address() -> None:
    """An address of a server is taken, and shown without a slash at its end and without secrets."""
    check_address("openai/m", "http://localhost:8000/v1", "it")
    check_address("openai/m", "https://example.com/a/b/", "it")
    assert redacted("https://example.com/a/b/") == "https://example.com/a/b"
    assert redacted("https://u:p@example.com:1/v1?key=k#f") == "https://example.com:1/v1"


# --- providers that do not ask over a client of OpenAI's kind ------------------------------------


class KeyedAPI(ModelAPI):
    """A provider that has a key, asks nobody, and has it repeated everywhere."""

    async def generate(self, *_: Any, **__: Any) -> tuple[ModelOutput | Exception, ModelCall]:
        """Repeat the key, in an error where the model's name says so."""
        self.api_key = KEY
        call = set_active_model_event_call({"messages": []})
        if self.model_name == "raises":
            call.set_response({"never": ["read", KEY]})
            raise ValueError(f"no {KEY}")
        if self.model_name == "fails":
            call.set_error({"error": {"message": f"no {KEY}"}})
            return RuntimeError(f"no {KEY}"), call
        call.set_response({"text": [f"I wait, {KEY}."]})
        words = [
            ContentReasoning(reasoning=f"The key is {KEY}.", signature=KEY),
            ContentText(text=f"I wait, {KEY}."),
        ]
        message = ChatMessageAssistant(content=words, metadata={"x": {"y": (KEY,)}})
        choice = ChatCompletionChoice(message=message)
        return ModelOutput(model=KEY, choices=[choice], metadata={"id": KEY}, error=KEY), call


@modelapi(name="keyed")
def keyed() -> type[ModelAPI]:
    """Tell Inspect of the provider."""
    return KeyedAPI


@pytest.mark.parametrize("what", ["says", "fails", "raises"])
def test_a_key_that_any_provider_repeats(
    what: str, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever the provider, the key is in no text, no reasoning, no log and no error."""
    monkeypatch.setenv("KEYED_API_KEY", KEY)
    run = replace(a_run(bank, 1), model=f"keyed/{what}")
    outcome = resume(prepare(run, tmp_path / "robot"))
    responses = read_runs(tmp_path).responses
    assert KEY not in f"{responses.write_json()} {outcome}"
    assert files_that_hold(tmp_path, KEY) == []
    if what == "says":
        assert responses["text"].to_list() == [f"I wait, {REDACTED}."]


@pytest.mark.parametrize("name", PROVIDERS)
def test_limits_of_a_provider(
    name: str, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key and the size of replies are watched at every provider that asks over HTTP."""
    if package := PROVIDERS[name]:
        pytest.importorskip(package)
    monkeypatch.setenv(f"{name.upper()}_API_KEY", KEY)
    run = replace(a_run(bank, 8), model=f"{name}/model-of-this-test")
    with serving(SERVERS["endless body"]) as url:
        monkeypatch.setenv(f"{name.upper()}_BASE_URL", url)
        outcome = resume(prepare(run, tmp_path / "robot"))
    assert outcome.stopped is Stop.turned_away
    assert "the server's reply is longer than 1 MB" in outcome.why
