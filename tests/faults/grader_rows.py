"""Faults of the grader, and of the server that it is asked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from faults.rows import ESCAPES, MARKUP, Judged, Reply, Row, Who
from support.fake_server import (
    FILTERED_REQUEST,
    REFUSED,
    SERVER_ERROR,
    THOUGHT_ONLY,
    TOO_LONG,
    WRONG_SHAPE,
    Completion,
    Hang,
    Request,
    by_keyword,
    entries,
    judgments,
)

NOT_JUDGED = "not judged in 3 attempts: "
UNRESOLVED = "It is asked twice more, then its items stay unresolved, with the reason."


def _until_told(reply: Completion) -> Reply:
    """Return the reply at first, and not when the grader is told what is wrong with it."""
    return lambda request: reply if len(request.body["messages"]) == 2 else None


def _judges(change: Callable[[list[dict[str, Any]]], Sequence[Any]]) -> Reply:
    """Return the entries of a sound reply, changed."""

    def replied(request: Request) -> Completion:
        changed = change(entries(by_keyword(request.user)))
        return Completion(json.dumps({"judgments": changed}))

    return replied


def _says(change: Callable[[str], str]) -> Reply:
    """Return the text of a sound reply, changed."""
    return lambda request: Completion(change(judgments(by_keyword(request.user))))


def _with_second(**fields: Any) -> Reply:
    """Return a sound reply but for fields of its second entry."""
    return _judges(lambda sound: [sound[0], {**sound[1], **fields}, *sound[2:]])


GRADER = (
    Row(
        "not-json",
        Who.grader,
        "Replies with broken JSON.",
        UNRESOLVED,
        Judged(
            Completion('{"judgments": [{"item": 1, '),
            f"{NOT_JUDGED}it holds no complete JSON object",
            n_calls=3,
        ),
    ),
    Row(
        "not-json-once",
        Who.grader,
        "Replies with broken JSON, and soundly when it is told so.",
        "The second reply counts.",
        Judged(_until_told(Completion("{")), None, n_calls=2),
    ),
    Row(
        "json-null",
        Who.grader,
        "Replies null.",
        UNRESOLVED,
        Judged(Completion("null"), f"{NOT_JUDGED}it holds no complete JSON object", n_calls=3),
    ),
    Row(
        "silent-grader",
        Who.grader,
        "Replies nothing.",
        UNRESOLVED,
        Judged(Completion(None), f"{NOT_JUDGED}it is empty", n_calls=3),
    ),
    Row(
        "fenced-json",
        Who.grader,
        "Puts its JSON into a fence.",
        "It is read all the same.",
        Judged(_says(lambda text: f"```json\n{text}\n```"), None),
    ),
    Row(
        "json-in-prose",
        Who.grader,
        "Puts its JSON into prose.",
        "It is read all the same.",
        Judged(_says(lambda text: f"Here {{you}} are:\n{text}\nI hope that helps."), None),
    ),
    Row(
        "partial-judgments",
        Who.grader,
        "Leaves an item out, each time.",
        "What it judged counts; the item stays unresolved.",
        Judged(
            _judges(lambda sound: [sound[0], *sound[2:]]),
            f"{NOT_JUDGED}it does not judge item 2",
            n_unresolved=1,
            n_calls=3,
        ),
    ),
    Row(
        "item-twice",
        Who.grader,
        "Judges an item twice, each time.",
        "Neither judgment counts: the item stays unresolved.",
        Judged(
            _judges(lambda sound: [*sound, sound[1]]),
            f"{NOT_JUDGED}it judges item 2 more than once",
            n_unresolved=1,
            n_calls=3,
        ),
    ),
    Row(
        "item-too-many",
        Who.grader,
        "Judges an item that is not on the list, each time.",
        "The extra judgment is dropped; the others count.",
        Judged(_judges(lambda sound: [*sound, {**sound[0], "item": 4}]), None, n_calls=3),
    ),
    Row(
        "item-out-of-range",
        Who.grader,
        "Numbers an item 0, each time.",
        "The item that is lacking stays unresolved.",
        Judged(
            _with_second(item=0),
            f"{NOT_JUDGED}item 0 is not on the list; it does not judge item 2",
            n_unresolved=1,
            n_calls=3,
        ),
    ),
    Row(
        "not-a-truth-value",
        Who.grader,
        'Says "yes" where true or false is asked for, each time.',
        "It is not read as either: the item stays unresolved.",
        Judged(
            _with_second(present="yes"),
            f"{NOT_JUDGED}an entry's present is not as asked",
            n_unresolved=1,
            n_calls=3,
        ),
    ),
    Row(
        "contradicts-itself",
        Who.grader,
        "Gives a reason that speaks against its judgment.",
        "The judgment counts as it stands, with its reason: reasons are for people to read.",
        Judged(
            _judges(lambda sound: [{**e, "reason": f"It is {not e['present']}."} for e in sound]),
            None,
        ),
    ),
    Row(
        "obeys-the-answer",
        Who.grader,
        "Repeats the example of its instructions instead of judging.",
        "The example is no judgment of anything.",
        "tests/modes/test_grading.py::test_an_echo_of_the_example_judges_nothing",
    ),
    Row(
        "made-up-quote",
        Who.grader,
        "Quotes words that the response does not hold.",
        "The quote is dropped and counted; the judgment stands.",
        "tests/modes/test_grading.py::test_resolve_worked_example",
    ),
    Row(
        "hostile-json",
        Who.grader,
        "Replies with a megabyte that is made to exhaust a parser.",
        "It is read in bounded time, and judges nothing.",
        "tests/modes/test_grading.py::test_hostile_text_takes_bounded_time",
    ),
    Row(
        "grader-cut-off",
        Who.grader,
        "Is cut off at the token limit.",
        UNRESOLVED,
        Judged(
            Completion('{"judgments": [{"item": 1, "quote": "", "rea', finish="length"),
            f"{NOT_JUDGED}it was cut off",
            n_calls=3,
        ),
    ),
    Row(
        "grader-thinks-only",
        Who.grader,
        "Thinks until the token limit and judges nothing.",
        UNRESOLVED,
        Judged(THOUGHT_ONLY, f"{NOT_JUDGED}there is none: cut off before any text", n_calls=3),
    ),
    Row(
        "grader-refuses",
        Who.grader,
        "Refuses, in the field that its API has for that.",
        UNRESOLVED,
        Judged(REFUSED, f"{NOT_JUDGED}it is a refusal: I cannot help", n_calls=3),
    ),
    Row(
        "filtered-grading",
        Who.grader,
        "Its content filter refuses the grading request with a 400.",
        UNRESOLVED,
        Judged(FILTERED_REQUEST, f"{NOT_JUDGED}it is a refusal: The response was", n_calls=3),
    ),
    Row(
        "grading-too-long",
        Who.grader,
        "Answers 400: the grading request does not fit its context.",
        UNRESOLVED,
        Judged(TOO_LONG, f"{NOT_JUDGED}there is none: This model's maximum context", n_calls=3),
    ),
    Row(
        "grader-wrong-shape",
        Who.grader,
        "Answers with JSON that is no completion.",
        "The response is kept, its items are unresolved; resuming grades it, and asks the system "
        "nothing.",
        Judged(WRONG_SHAPE, "error: the server's reply is not a completion", n_calls=0, again=True),
    ),
    Row(
        "grader-down",
        Who.grader,
        "Answers 500 each time.",
        "As with a reply of the wrong shape.",
        Judged(
            SERVER_ERROR,
            "error: the server answered 500 (Internal Server Error)",
            n_calls=0,
            again=True,
        ),
    ),
    Row(
        "grader-hangs",
        Who.grader,
        "Takes the request and never answers.",
        "As with a reply of the wrong shape.",
        Judged(Hang(), "error: no complete answer within 1 s", n_calls=0, again=True, slow=True),
    ),
    Row(
        "half-a-character-in-a-reason",
        Who.grader,
        "Its reason holds half of a surrogate pair, which no file can hold.",
        "The half is replaced by the sign for what cannot be read; the judgments count.",
        Judged(_judges(lambda sound: [{**e, "reason": "\ud83d"} for e in sound]), None),
    ),
    Row(
        "markup-in-a-reason",
        Who.grader,
        "Its reasons hold HTML, a script and codes that a terminal obeys.",
        "They are stored as they are, and shown as text.",
        Judged(_judges(lambda sound: [{**e, "reason": MARKUP + ESCAPES} for e in sound]), None),
    ),
)
