"""What is put to a grader and what is made of its reply: pure functions, no model, no clock.

Judgments are checked as a set: each item of a call once, none extra. What a grader cannot be
brought to say stays unresolved, a third state with its reason, and never becomes a score.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from careeval.core.judgment import GraderItem, Judgment
from careeval.core.scenario import RubricItem

MAX_ATTEMPTS = 3
"""The first call and at most two repairs."""

MAX_OBJECTS = 100
"""Opening braces of a reply that are tried as the start of its JSON: a bound on hostile text."""

KEY = "judgments"
"""Under which a reply has its list."""

ELLIPSIS = "…"
"""What stands for words in the form that the prompt shows; an entry with it is no judgment."""


class ItemJudgment(BaseModel):
    """One entry of a grader's reply, its fields in the order in which they are to be written."""

    model_config = ConfigDict(strict=True, extra="ignore")

    item: Annotated[int, Field(description="number of the item on the list")]
    quote: Annotated[
        str, Field(description="shortest deciding passage, copied exactly; empty if absent")
    ]
    reason: Annotated[str, Field(description="one short sentence")]
    present: Annotated[bool, Field(description="whether the answer contains the item")]


class Judgments(BaseModel):
    """A grader's whole reply to one call."""

    model_config = ConfigDict(strict=True, extra="ignore")

    judgments: list[ItemJudgment]


def reply_schema() -> str:
    """The form of a grader's reply as text: each entry's fields in order, with type and meaning."""
    entry = [
        f"{name}: {getattr(each.annotation, '__name__', '')}: {each.description}"
        for name, each in ItemJudgment.model_fields.items()
    ]
    return "\n".join([*Judgments.model_fields, *entry])


@dataclass(frozen=True, slots=True)
class Reply:
    """What one reply of a grader said.

    Attributes:
        judged: Number on the list → its entry, for every item that was judged exactly once.
        problem: Why the reply cannot be taken as a whole, in words for the grader; empty when it
            can.
    """

    judged: Mapping[int, ItemJudgment] = field(default_factory=dict)
    problem: str = ""


def shown_order(
    items: Sequence[RubricItem], scenario: str, epoch: int, seed: int
) -> list[RubricItem]:
    """The items in the order in which a grader sees them: shuffled, the same when asked again."""
    return random.Random(f"{seed}:{scenario}:{epoch}").sample(list(items), len(items))


def grader_items(items: Sequence[RubricItem]) -> list[GraderItem]:
    """What the grader may know of each item: a number from 1, and its text."""
    return [GraderItem(number, item.text) for number, item in enumerate(items, start=1)]


def read_reply(
    text: str, n_items: int, ended: str = "", *, last_word_counts: bool = False
) -> Reply:
    """Read a grader's reply to a call about items 1 to `n_items`.

    The reply may be JSON alone, or JSON in a fence or in prose. A grader may draft: of several
    lists of judgments the last one counts. But an item that two complete lists judge differently is
    not judged: one of them may be words of the answer that the grader has repeated. A truth value
    must be true or false; a word such as "yes" is not read as one.

    Args:
        text: What the grader wrote.
        n_items: How many items it was shown.
        ended: Why it did not end by itself; this, then, is what is wrong with a reply that cannot
            be taken as a whole.
        last_word_counts: The rule of protocol 1: the last list counts, whatever others say.
    """
    reply = _read(text, n_items, last_word_counts)
    return replace(reply, problem=ended) if ended and reply.problem else reply


def _read(text: str, n_items: int, last_word_counts: bool) -> Reply:
    if not text.strip():
        return Reply(problem="it is empty")
    found = _lists(text)
    if found is None:
        return Reply(problem="it holds no complete JSON object")
    *others, entries = found
    if not isinstance(entries, list):
        return Reply(problem='it has no list "judgments"')
    reply = _judged(entries, n_items)
    if last_word_counts:
        return reply
    lists = [_judged(other, n_items) for other in others if isinstance(other, list)]
    whole = [each.judged for each in (*lists, reply) if not each.problem]
    unsure = {
        item
        for item in range(1, n_items + 1)
        if len({judged[item].present for judged in whole}) > 1
    }
    if not unsure:
        return reply
    sure = {item: judgment for item, judgment in reply.judged.items() if item not in unsure}
    problem = f"its lists differ on {_items(unsure)}"
    return Reply(sure, "; ".join(filter(None, (problem, reply.problem))))


def _judged(entries: Sequence[object], n_items: int) -> Reply:
    """What one list of judgments says."""
    judged: dict[int, ItemJudgment] = {}
    twice: set[int] = set()
    problems: list[str] = []
    for entry in entries:
        try:
            judgment = ItemJudgment.model_validate(entry)
        except ValidationError as error:
            first = error.errors()[0]
            problems.append(
                f"an entry's {'.'.join(map(str, first['loc'])) or 'form'} is not as asked"
            )
            continue
        if judgment.reason.strip() == ELLIPSIS:
            problems.append("an entry repeats the example")
        elif not 1 <= judgment.item <= n_items:
            problems.append(f"item {judgment.item} is not on the list")
        elif judgment.item in judged:
            twice.add(judgment.item)
        else:
            judged[judgment.item] = judgment
    for item in twice:
        del judged[item]
    if twice:
        problems.append(f"it judges {_items(twice)} more than once")
    if absent := set(range(1, n_items + 1)) - set(judged) - twice:
        problems.append(f"it does not judge {_items(absent)}")
    return Reply(judged, "; ".join(dict.fromkeys(problems)))


def merge(replies: Sequence[Reply]) -> dict[int, ItemJudgment]:
    """The judgments of all attempts; for each item the first reply that judged it counts."""
    merged: dict[int, ItemJudgment] = {}
    for reply in replies:
        for item, judgment in reply.judged.items():
            merged.setdefault(item, judgment)
    return merged


@dataclass(frozen=True, slots=True)
class Graded:
    """One rubric of one response, graded.

    Attributes:
        judgments: One for each item, in the rubric's own order.
        n_calls: Calls that the grader answered.
        n_quotes_dropped: Quotes that are not in the response, and so were not kept.
    """

    judgments: tuple[Judgment, ...]
    n_calls: int
    n_quotes_dropped: int


def resolve(
    items: Sequence[RubricItem],
    shown: Sequence[RubricItem],
    replies: Sequence[Reply],
    response: str,
) -> Graded:
    """Judgments for every item of a rubric from a grader's replies to one call and its repairs.

    Args:
        items: The rubric, in its own order.
        shown: The same items in the order shown.
        replies: At least one, the last of them whole or the attempts used up.
        response: The response, in which quotes are looked for.
    """
    merged = merge(replies)
    by_id: dict[str, Judgment] = {}
    dropped = 0
    for number, item in enumerate(shown, start=1):
        if (judged := merged.get(number)) is None:
            why = f"not judged in {len(replies)} attempts: {replies[-1].problem}"
            by_id[item.id] = Judgment(item.id, None, why)
            continue
        quote = judged.quote.strip() or None
        if quote is not None and not quote_found(quote, response):
            quote, dropped = None, dropped + 1
        reason = readable(judged.reason.strip())
        by_id[item.id] = Judgment(item.id, judged.present, reason, quote and readable(quote))
    return Graded(tuple(by_id[item.id] for item in items), len(replies), dropped)


def readable(text: str) -> str:
    """A text that can be written: half of a surrogate pair becomes the sign for the unreadable."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def quote_found(quote: str, response: str) -> bool:
    """Whether the quote's words stand in the response, in their order and next to each other.

    Case, space and punctuation do not matter.
    """
    words = _words(quote)
    return bool(words) and f" {words} " in f" {_words(response)} "


def _words(text: str) -> str:
    # an underscore is punctuation here: Markdown's emphasis
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _items(numbers: set[int]) -> str:
    listed = ", ".join(map(str, sorted(numbers)))
    return f"item {listed}" if len(numbers) == 1 else f"items {listed}"


def _lists(text: str) -> list[object] | None:
    """Whatever JSON objects in a text have under a key `judgments`, in the order of the text.

    The last one is to count, since a grader that thinks aloud repeats the form or drafts before it
    judges; it is `None` where no object has the key. `None` for all where there is no object.
    """
    named: list[object] = []

    def take(pairs: list[tuple[str, object]]) -> dict[str, object]:
        named.extend(value for key, value in pairs if key == KEY)
        return dict(pairs)

    decoder = json.JSONDecoder(object_pairs_hook=take)
    lists: list[object] = []
    is_any = False
    start = text.find("{")
    for _ in range(MAX_OBJECTS):
        if start == -1:
            break
        end = start + 1
        named.clear()
        try:
            found, after = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            pass
        else:
            is_any = True
            if KEY in found:
                lists += named
                end = after
        start = text.find("{", end)
    return (lists or [None]) if is_any else None
