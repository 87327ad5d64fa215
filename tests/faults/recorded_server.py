"""The server of runs that are struck: what it replies, how it fails, and a record of both."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from types import SimpleNamespace
from typing import Any

from careeval.protocol.call_journal import call_key as careeval_key
from support import fake_server as fake

Fails = Callable[[fake.Request], fake.Fault | None]


def share_of(*seen: object) -> float:
    """Return a number from 0 to 1 that is the same for the same things."""
    digest = blake2b(repr(seen).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def with_oddities(request: fake.Request) -> fake.Completion:
    """Return a reply that depends on the content alone; some are filtered, cut off or no JSON."""
    drawn = share_of(request.key)
    reply = fake.well(request)
    if request.kind == "ask":
        if drawn < 0.05:
            return fake.FILTERED
        return fake.Completion(reply.text, finish="length") if drawn < 0.1 else reply
    response, items = fake.asked_of_grader(request.user)
    partly = fake.judgments(fake.by_keyword(request.user)[: len(items) - 1])
    # with the key in the reply no two repairs send the same
    if share_of(response, items) < 0.06:
        # and so again at each repair: one item stays unresolved
        return fake.Completion(f"{partly} {request.key}")
    if drawn < 0.08:
        return fake.Completion(f"{partly} {request.key}")
    return fake.Completion(f"I would rather not, {request.key}.") if drawn < 0.14 else reply


def failing(seed: int) -> Fails:
    """Return how requests fail at their first two comings: the same ones each time."""
    kinds: list[tuple[float, fake.Fault]] = [
        (0.07, fake.error(500, "An error", None, Retry_After="0")),
        (0.07, fake.too_many("0")),
        (0.02, fake.too_many("1")),
        (0.01, fake.SERVER_ERROR),
        (0.01, fake.too_many()),
        (0.01, fake.Drop(0.0)),
        (0.01, fake.Drop(0.5)),
    ]
    echoing = 0.03

    def fails(request: fake.Request) -> fake.Fault | None:
        if request.came > 2:
            return None
        drawn = share_of(seed, request.key, request.came)
        for share, fault in kinds:
            if drawn < share:
                return fault
            drawn -= share
        if drawn < echoing:
            words = f"{request.authorization} {json.dumps(request.body)}"
            return fake.error(500, f"cannot deal with {words}", None, Retry_After="0")
        return None

    return fails


@dataclass(frozen=True)
class Ident:
    """A call as both sides know it."""

    part: str  # the run, or the grading, that it belongs to
    role: str  # `ask` or `grade`
    digest: str  # of what is sent, as in calls.jsonl
    seed: int | None  # of a question


@dataclass
class Record:
    """The replies of a server, with their times."""

    fails: Fails = lambda _: None  # how requests fail
    # Time and call of each reply that was no fault
    replies: list[tuple[float, Ident]] = field(default_factory=list)
    # The call of each request, by the server's name for it
    idents: dict[str, Ident] = field(default_factory=dict)
    _part_of_text: dict[str, str] = field(default_factory=dict)

    def script(self, request: fake.Request) -> fake.Completion | fake.Fault:
        """Return what is replied, and write it down."""
        if fault := self.fails(request):
            return fault
        reply = with_oddities(request)
        model = request.model.rpartition("/")[2]
        if request.kind == "ask":
            part = model
            self._part_of_text[reply.text or ""] = part
        else:
            part = self._part_of_text[fake.asked_of_grader(request.user)[0]]
            part += "/h" if model == "h" else ""
        ident = Ident(part, request.kind, _digest(request, model), request.body.get("seed"))
        self.idents[f"{request.kind}:{request.key}"] = ident
        self.replies.append((time.monotonic(), ident))
        return reply


def _digest(request: fake.Request, model: str) -> str:
    """Return a request's digest in calls.jsonl."""
    messages: Any = [
        SimpleNamespace(role=message["role"], text=words, content=words)
        for message in request.body["messages"]
        for words in [_words(message["content"])]
    ]
    name: Any = f"openai-api/fake/{model}"
    return careeval_key(request.kind, "", name, messages).rpartition(" ")[2]


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())
