"""The items that a grader sees, and the judgments in its replies: pure functions.

A reply must judge each item of the call once, and no other. An item without a judgment after all
attempts stays unresolved, with the reason, and never becomes a score.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from careeval.core.response import GraderItem, Judgment
from careeval.core.scenario import RubricItem

MAX_ATTEMPTS = 3
"""The most calls about the same items: the first call and at most two repairs."""

MAX_OBJECTS = 100
"""The most opening braces tried as the start of JSON, since a reply may be hostile."""

KEY = "judgments"
"""The JSON key under which a reply lists its judgments."""

ELLIPSIS = "…"
"""The placeholder in the prompt's example; an entry with this as its reason is not a judgment."""


class ItemJudgment(BaseModel):
    """One entry of a grader's reply, its fields in the order in which the grader writes them."""

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
    """Return the form of a grader's reply as text: an entry's fields with type and meaning."""
    entry = [
        f"{name}: {getattr(field.annotation, '__name__', '')}: {field.description}"
        for name, field in ItemJudgment.model_fields.items()
    ]
    return "\n".join([*Judgments.model_fields, *entry])


@dataclass(frozen=True, slots=True)
class Reply:
    """The judgments in one reply of a grader."""

    judgments: Mapping[int, ItemJudgment] = field(default_factory=dict)
    """Item number → entry, for every item that was judged exactly once."""
    problem: str = ""  # What is missing or wrong, in words for the grader; empty if complete


def shown_order(
    items: Sequence[RubricItem], scenario: str, epoch: int, seed: int
) -> list[RubricItem]:
    """Return the items as a grader sees them, shuffled by seed, scenario and epoch."""
    return random.Random(f"{seed}:{scenario}:{epoch}").sample(list(items), len(items))


def grader_items(items: Sequence[RubricItem]) -> list[GraderItem]:
    """Return the part of each item that a grader sees: a number from 1, and its text."""
    return [GraderItem(number, item.text) for number, item in enumerate(items, start=1)]


def read_reply(text: str, n_items: int, stop_problem: str = "") -> Reply:
    """Read a grader's reply to a call about items 1 to `n_items`.

    The reply may be JSON alone, or JSON in a fence or in prose. A grader may draft: of several
    lists of judgments the last one counts. But an item on which complete lists differ counts as not
    judged, since the grader may have quoted one of the lists from the response. `present` must be
    true or false; a word such as "yes" is not accepted. `stop_problem` says why the reply was
    refused or cut off; it replaces the problem of a reply that is not complete.
    """
    reply = _read(text, n_items)
    return replace(reply, problem=stop_problem) if stop_problem and reply.problem else reply


def _read(text: str, n_items: int) -> Reply:
    if not text.strip():
        return Reply(problem="it is empty")
    lists = _lists(text)
    if lists is None:
        return Reply(problem="it holds no complete JSON object")
    *earlier, entries = lists
    if not isinstance(entries, list):
        return Reply(problem='it has no list "judgments"')
    reply = _read_list(entries, n_items)
    drafts = [_read_list(entries, n_items) for entries in earlier if isinstance(entries, list)]
    complete = [each.judgments for each in (*drafts, reply) if not each.problem]
    disputed = {
        item
        for item in range(1, n_items + 1)
        if len({judgments[item].present for judgments in complete}) > 1
    }
    if not disputed:
        return reply
    agreed = {item: judgment for item, judgment in reply.judgments.items() if item not in disputed}
    problem = f"its lists differ on {_items(disputed)}"
    return Reply(agreed, "; ".join(filter(None, (problem, reply.problem))))


def _read_list(entries: Sequence[object], n_items: int) -> Reply:
    by_number: dict[int, ItemJudgment] = {}
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
        elif judgment.item in by_number:
            twice.add(judgment.item)
        else:
            by_number[judgment.item] = judgment
    for item in twice:
        del by_number[item]
    if twice:
        problems.append(f"it judges {_items(twice)} more than once")
    if absent := set(range(1, n_items + 1)) - set(by_number) - twice:
        problems.append(f"it does not judge {_items(absent)}")
    return Reply(by_number, "; ".join(dict.fromkeys(problems)))


def merge(replies: Sequence[Reply]) -> dict[int, ItemJudgment]:
    """Return the judgments of all attempts; for each item the first reply that judged it counts."""
    merged: dict[int, ItemJudgment] = {}
    for reply in replies:
        for item, judgment in reply.judgments.items():
            merged.setdefault(item, judgment)
    return merged


@dataclass(frozen=True, slots=True)
class RubricJudgments:
    """The judgments on one rubric of one response."""

    judgments: tuple[Judgment, ...]  # One for each item, in the rubric's own order
    n_calls: int  # Calls that the grader answered
    n_quotes_dropped: int  # Quotes that are not in the response


def resolve(
    items: Sequence[RubricItem],
    shown: Sequence[RubricItem],
    replies: Sequence[Reply],
    response: str,
) -> RubricJudgments:
    """Return the judgment of every item from a grader's replies to one call and its repairs.

    Args:
        items: Items of the rubric, in its own order.
        shown: The same items in the order in which the grader saw them.
        replies: At least one; the last is complete, or there are no more attempts.
        response: Text of the response, which must contain the quotes.
    """
    merged = merge(replies)
    by_id: dict[str, Judgment] = {}
    dropped = 0
    for number, item in enumerate(shown, start=1):
        if (entry := merged.get(number)) is None:
            reason = f"not judged in {len(replies)} attempts: {replies[-1].problem}"
            by_id[item.id] = Judgment(item.id, None, reason)
            continue
        quote = entry.quote.strip() or None
        if quote is not None and not is_quoted(quote, response):
            quote, dropped = None, dropped + 1
        reason = readable(entry.reason.strip())
        by_id[item.id] = Judgment(item.id, entry.present, reason, quote and readable(quote))
    return RubricJudgments(tuple(by_id[item.id] for item in items), len(replies), dropped)


def readable(text: str) -> str:
    """Return a text that UTF-8 can encode: each half of a surrogate pair becomes U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def is_quoted(quote: str, response: str) -> bool:
    """Tell whether the quote's words are in the response, in their order and next to each other.

    Case, space and punctuation do not matter.
    """
    words = _words(quote)
    return bool(words) and f" {words} " in f" {_words(response)} "


def _words(text: str) -> str:
    # an underscore is punctuation: Markdown's emphasis
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _items(numbers: set[int]) -> str:
    listed = ", ".join(map(str, sorted(numbers)))
    return f"item {listed}" if len(numbers) == 1 else f"items {listed}"


def _lists(text: str) -> list[object] | None:
    """Return the values of the key `judgments` in a text's JSON objects, in the order of the text.

    There may be several, since a grader may repeat the example or draft before it judges. Return
    `[None]` if no object has the key, and `None` if there is no object.
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
            value, value_end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            pass
        else:
            is_any = True
            if KEY in value:
                lists += named
                end = value_end
        start = text.find("{", end)
    return (lists or [None]) if is_any else None
