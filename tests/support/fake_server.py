"""A scripted fake of an OpenAI-compatible server, with replies and failures.

It answers `POST /v1/chat/completions` by content alone, the same each time, and counts what came
and what it answered whole, also over `GET /counts`. In a test it runs in a thread, `with
FakeServer() as server`; by itself with `python tests/support/fake_server.py`, and the first line
that it prints is its address. Inspect reaches it as the provider `openai-api/fake/NAME`, with
`FAKE_BASE_URL` and `FAKE_API_KEY` set. It does not import Inspect.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from types import TracebackType
from typing import Any, Literal

from aiohttp import web

Kind = Literal["ask", "grade"]

PATH = "/v1/chat/completions"


# --- what comes ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """One request, as a script sees it."""

    number: int  # of all requests of this server, from 1
    kind: Kind  # A grader's request states the form of its reply; any other is a question.
    key: str  # digest of model, messages and seed: the same when the same is asked again
    came: int  # how often this key has come, this time included
    body: Mapping[str, Any] = field(repr=False)  # what was sent
    authorization: str = field(repr=False)  # the header of that name; empty without one

    @property
    def model(self) -> str:
        """The model that is asked for."""
        return str(self.body["model"])

    @cached_property
    def user(self) -> str:
        """The first thing that the user says: a scenario, or what a grader is asked."""
        return next(str(m["content"]) for m in self.body["messages"] if m["role"] == "user")


# --- what is replied, or happens instead ---------------------------------------------------------


@dataclass(frozen=True)
class Completion:
    """A completion; `text` may be of any content, and `None` is a null."""

    text: str | None
    finish: str = "stop"
    reasoning: str | None = None
    refusal: str | None = None


@dataclass(frozen=True)
class Status:
    """Any response of HTTP, an error or a body that is no completion."""

    code: int
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json"


@dataclass(frozen=True)
class Hang:
    """No answer, ever."""


@dataclass(frozen=True)
class Drop:
    """The connection is closed after this share of the body of `reply`; at 0 nothing is sent."""

    share: float = 0.0
    reply: Completion = field(default_factory=lambda: Completion("I ask her about the blouse."))


@dataclass(frozen=True)
class Drip:
    """The body of `reply`, a byte every so many seconds."""

    seconds: float
    reply: Completion = field(default_factory=lambda: Completion("I ask her about the blouse."))


@dataclass(frozen=True)
class Endless:
    """A body that never ends."""

    bytes_per_second: int = 1_000_000


Fault = Status | Hang | Drop | Drip | Endless
Script = Callable[[Request], Completion | Fault]
"""What the server does with a request; called in the server's thread, one request at a time."""


def error(code: int, message: str, name: str | None = None, **headers: str) -> Status:
    """An error as this kind of server words it; underscores of a header's name are hyphens."""
    body = {"error": {"message": message, "type": "invalid_request_error", "code": name}}
    named = tuple((key.replace("_", "-"), value) for key, value in headers.items())
    return Status(code, json.dumps(body), named)


def too_many(retry_after: str | None = None) -> Status:
    """429, with a header `Retry-After` where it is given."""
    headers = {} if retry_after is None else {"Retry_After": retry_after}
    return error(429, "Rate limit reached for requests", "rate_limit_exceeded", **headers)


def redirect(to: str) -> Status:
    """307, which asks for the same request elsewhere."""
    return Status(307, "", (("Location", to),))


SERVER_ERROR = error(500, "The server had an error while processing your request")
WRONG_KEY = error(401, "Incorrect API key provided.", "invalid_api_key")
UNKNOWN_MODEL = error(404, "The model `nobody` does not exist.", "model_not_found")
TOO_LARGE = Status(413, "<html><h1>413 Request Entity Too Large</h1></html>", (), "text/html")
TOO_LONG = error(
    400,
    "This model's maximum context length is 512 tokens. However, you requested 900 tokens.",
    "context_length_exceeded",
)
FILTERED_REQUEST = Status(
    400,
    json.dumps(
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering the content "
                "management policy. Please modify your prompt and retry.",
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
                "innererror": {
                    "code": "ResponsibleAIPolicyViolation",
                    "content_filter_result": {"violence": {"filtered": True, "severity": "high"}},
                },
            }
        }
    ),
)
"""What a hosted deployment with a content filter replies to a request that it will not answer."""
HTML = Status(200, "<html><body><h1>It works!</h1></body></html>", (), "text/html")
EMPTY_BODY = Status(200)
WRONG_SHAPE = Status(200, '{"result": "I ask her about the blouse."}')
NO_CHOICES = Status(200, '{"id": "x", "object": "chat.completion", "created": 1, "choices": []}')
HUGE_HEADERS = Status(200, "{}", (("X-Large", "a" * 200_000),))

REFUSED = Completion(None, refusal="I cannot help with that.")
FILTERED = Completion("I ask", finish="content_filter")
CUT = Completion("I ask her about the blouse and then I", finish="length")
THOUGHT_ONLY = Completion("", finish="length", reasoning="She may fall. Let me think again.")


# --- what it says when all is well ---------------------------------------------------------------

DEEDS = (
    "I ask her about the blouse.",
    "I wait until she reaches the sleeve.",
    "I pull her arm into the cuff.",
    "I reach for the button.",
    "I tell him what I am going to do.",
    "I lock the brakes of the wheelchair.",
    "I keep the weaker side supported with a pillow.",
    "I stop and call for help.",
)
"""What an answer may be made of; the first four hold words of the tests' small rubric."""


def asked_of_grader(request: str) -> tuple[str, list[str]]:
    """The response and the items' texts that a grading request shows, the items as numbered."""
    fenced = re.search(r"(=== [0-9a-f]{10} ===)\n(.*)\n\1", request, re.DOTALL)
    assert fenced is not None
    items = request[fenced.end() :].partition("The items:")[2]
    return fenced[2], re.findall(r"^\d+\. (.*)$", items, re.MULTILINE)


def entries(present: Sequence[bool], quote: str = "") -> list[dict[str, Any]]:
    """The entries of a grader's whole reply, one an item."""
    return [
        {
            "item": number,
            "quote": quote if is_present else "",
            "reason": "Because.",
            "present": is_present,
        }
        for number, is_present in enumerate(present, start=1)
    ]


def judgments(present: Sequence[bool], quote: str = "") -> str:
    """A whole reply of a grader: one entry an item."""
    return json.dumps({"judgments": entries(present, quote)})


def by_keyword(request: str) -> list[bool]:
    """Tell, for each item, whether a request's response has its last word."""
    response, items = asked_of_grader(request)
    return [item.rstrip(".").split()[-1] in response for item in items]


def well(request: Request) -> Completion:
    """The script of a server without faults: a function of model, first user text and seed."""
    if request.kind == "grade":
        return Completion(judgments(by_keyword(request.user)))
    seen = f"{request.model}\0{request.body.get('seed')}\0{request.user}"
    drawn = int.from_bytes(blake2b(seen.encode(), digest_size=8).digest())
    deeds = [deed for bit, deed in enumerate(DEEDS) if drawn >> bit & 1]
    # a number, so that two seeds never bring the same answer
    return Completion(" ".join([*deeds, f"Then I count to {drawn % 10**12}."]))


# --- the server ----------------------------------------------------------------------------------


class FakeServer:
    """The server, which runs from `__enter__` to `__exit__` in a thread of its own."""

    def __init__(self, script: Script = well, latency: float = 0.0) -> None:
        self.script = script  # what it does with a request; may be changed at any time
        self.latency = latency  # seconds before each reply
        self.arrived: Counter[str] = Counter()  # how often each request came, by `kind:key`
        # How often each was sent a completion to its last byte
        self.answered: Counter[str] = Counter()
        self.base_url = ""  # its address, once it runs
        self._number = 0
        self._started = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def n_arrived(self, kind: Kind) -> int:
        """Return the number of requests of a kind that came."""
        return sum(n for key, n in self.arrived.items() if key.startswith(kind))

    def n_answered(self, kind: Kind) -> int:
        """Return the number of requests of a kind that were answered whole."""
        return sum(n for key, n in self.answered.items() if key.startswith(kind))

    def __enter__(self) -> FakeServer:
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve(0)), daemon=True)
        self._thread.start()
        if not self._started.wait(60):
            raise RuntimeError("the fake server does not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._loop is not None
        assert self._ended is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(60)

    async def serve(self, port: int, started: Callable[[], object] = lambda: None) -> None:
        """Serve on a port, a free one if 0, until it is told to end; `started` is called once."""
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        server = web.Server(self._handle, handler_cancellation=True, access_log=None)
        runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
        await site.start()
        self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._started.set()
        started()
        try:
            await self._ended.wait()
        finally:
            await runner.cleanup()

    async def _handle(self, http: web.BaseRequest) -> web.StreamResponse:
        if http.path == "/counts":
            return web.json_response({"arrived": self.arrived, "answered": self.answered})
        if http.path != PATH:
            return await _whole(http, error(404, f"there is nothing at {http.path}"))
        request = self._read(await http.content.read(), http.headers.get("Authorization", ""))
        name = f"{request.kind}:{request.key}"
        if self.latency:
            await asyncio.sleep(self.latency)
        match self.script(request):
            case Completion() as reply:
                sent = await _whole(http, Status(200, completion(request, reply)))
                self.answered[name] += 1
                return sent
            case Status() as status:
                return await _whole(http, status)
            case Hang():
                return await asyncio.Future()
            case Drop(share, reply):
                body = completion(request, reply).encode()
                return await _broken_off(http, body, int(share * len(body)))
            case Drip(seconds, reply):
                return await _dripped(http, completion(request, reply).encode(), seconds)
            case Endless(rate):
                return await _endless(http, rate)

    def _read(self, raw: bytes, authorization: str) -> Request:
        body = json.loads(raw)
        kind: Kind = "grade" if "response_format" in body else "ask"
        seen = json.dumps([body["model"], body["messages"], body.get("seed")])
        key = blake2b(seen.encode(), digest_size=8).hexdigest()
        self._number += 1
        self.arrived[f"{kind}:{key}"] += 1
        came = self.arrived[f"{kind}:{key}"]
        return Request(self._number, kind, key, came, body, authorization)


def completion(request: Request, reply: Completion) -> str:
    """A completion's JSON; a token counts as four characters."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    asked = sum(len(str(m["content"])) for m in request.body["messages"]) // 4
    written = (len(reply.text or "") + len(reply.reasoning or "")) // 4
    return json.dumps(
        {
            "id": f"fake-{request.number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request.model,
            "choices": [{"index": 0, "finish_reason": reply.finish, "message": message}],
            "usage": {
                "prompt_tokens": asked,
                "completion_tokens": written,
                "total_tokens": asked + written,
            },
        }
    )


async def _whole(http: web.BaseRequest, status: Status) -> web.Response:
    """Send a response to its last byte; a client that has gone away is an error."""
    response = web.Response(
        status=status.code,
        text=status.body,
        headers=dict(status.headers),
        content_type=status.content_type,
    )
    await response.prepare(http)
    await response.write_eof()
    return response


async def _broken_off(http: web.BaseRequest, body: bytes, n_sent: int) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(body)
    if n_sent:
        await response.prepare(http)
        await response.write(body[:n_sent])
    assert http.transport is not None
    http.transport.close()
    return response


async def _dripped(http: web.BaseRequest, body: bytes, seconds: float) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(body)
    await response.prepare(http)
    for byte in body:
        await response.write(bytes([byte]))
        await asyncio.sleep(seconds)
    return response


async def _endless(http: web.BaseRequest, bytes_per_second: int) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(http)
    await response.write(b'{"id": "')
    while True:
        await response.write(b"a" * (bytes_per_second // 20))
        await asyncio.sleep(0.05)


# --- by itself -----------------------------------------------------------------------------------


def longer(n_words: int, script: Script = well) -> Script:
    """A script whose answers to questions go on to about so many words."""

    def scripted(request: Request) -> Completion | Fault:
        reply = script(request)
        if request.kind == "grade" or not isinstance(reply, Completion) or reply.text is None:
            return reply
        # a number first, since all that follows is the same in every answer
        lack = max(0, n_words - len(reply.text.split()))
        return replace(reply, text=" ".join([reply.text, *["gently"] * lack]))

    return scripted


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description="A fake OpenAI-compatible server.")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    port = parser.parse_args().port
    server = FakeServer()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(server.serve(port, lambda: _say(server.base_url)))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
