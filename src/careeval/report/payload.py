"""The data of the page's response reader: every public response with its judgments.

The data are one JSON value, in which repeated texts are stored once. The page holds it compressed,
so that no word of a system or a grader is part of the markup; the page's script unpacks it. A
response that is held out, or whose split is unknown, is only counted.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.response import ResponseState
from careeval.core.scenario import WHEN, Adl, Domain, Rubric
from careeval.report.texts import (
    ANSWER_KEYS,
    PlanJudgment,
    QuoteFinder,
    plan_table,
    strip_controls,
)
from careeval.results.entry import Entry
from careeval.results.findings import PublicView
from careeval.sheets import words
from careeval.sheets.words import ANSWERS, brief_grader_names

_MARKS = {True: "1", False: "0", None: "?"}
_STATES = ("answered", "empty", "refused", "missing", "malformed", "not_executable")
_ANSWERS = [(ANSWERS[key], WHEN[key]) for key in ANSWER_KEYS]


@dataclass(frozen=True)
class Payload:
    """The data of the response reader, with counts of what it holds."""

    data: Mapping[str, Any]
    """A JSON value whose parts refer to each other by index. `texts`: every text once. `systems`:
    names. `graders`: `[name, short name, rubric]`, a grader on one rubric. `scenarios`: `[id,
    activity, condition, assistance, [situation], actor, text, rules not told, picture, what it
    shows]`. `items`: `[points,
    text, domains]`; domains is a bit mask of the domains that the item is about, the first domain
    the lowest bit.
    `rubrics`: the items of a scenario, in order. `responses`: `[scenario, system, epoch, state,
    cut, text, note]`. `gradings`: `[response, grader, rubric, marks, quotes, reasons]`; marks have
    one character for each item: `1` present, `0` absent, `?` unresolved. Quotes are `item, start,
    stop, …` in UTF-16 units of the response, or `item, -1, text, …` if the quote is not in it.
    Reasons are one text for each item. For a plan that was carried out, `[rows, marks, breaks]`
    follow: `careeval.report.texts.PlanTable`. `answers` of the data, if there is a plan: each
    answer's head of a column, and what it means."""
    n_shown: int  # Responses in the data
    n_public: int  # Public responses; more than `n_shown` if the data are a sample
    n_severe: int  # Public responses with a severe error
    n_severe_shown: int  # Responses in the data with a severe error
    n_held_out: int  # Responses left out because they are held out
    n_unknown: int
    """Responses left out because their split is unknown, as their scenario never began."""

    def packed(self) -> str:
        """Return the data as JSON, gzipped, in base64. The same data give the same text."""
        return self._packed

    @cached_property
    def _packed(self) -> str:
        raw = json.dumps(self.data, ensure_ascii=False, separators=(",", ":")).encode()
        return base64.b64encode(gzip.compress(raw, compresslevel=4, mtime=0)).decode()


_Item = tuple[Any, ...]
"""Points, text and level in each domain of an item."""

_ItemJudgment = tuple[_Item, PlanJudgment]
"""An item with its judgment."""


class _ResponseKey(NamedTuple):
    """Key of a response: what tells it from all others."""

    scenario: str
    name: str  # Name of the system, as `Entry.name`
    epoch: int


@dataclass(frozen=True)
class _Interned:
    """A list of distinct values in order of first use, each found by its index."""

    indices: dict[Any, int] = field(default_factory=dict)

    def index(self, value: Any) -> int:
        """Return the index of a value; a new value is added."""
        return self.indices.setdefault(value, len(self.indices))

    def __iter__(self) -> Any:
        return iter(self.indices)


@dataclass(frozen=True)
class _Packing:
    """Packs responses and gradings; repeated values are stored once and referred to by index."""

    pictures: PublicView  # Has the pictures that systems were shown
    responses: bool  # True if the words of responses, quotes and reasons are kept
    texts: _Interned = field(default_factory=lambda: _Interned({"": 0}))
    """All texts, the empty one first."""
    scenarios: _Interned = field(default_factory=_Interned)
    items: _Interned = field(default_factory=_Interned)
    rubrics: _Interned = field(default_factory=_Interned)
    item_indices: dict[_Item, int] = field(default_factory=dict)
    """Index of each rubric item, which all responses to a scenario share."""
    finders: dict[str, QuoteFinder] = field(default_factory=dict)
    """Text of a response → the finder of its quotes."""

    def words(self, text: str | None) -> str:
        """Return the text of a response, quote or reason as shown; empty if words are not kept."""
        return strip_controls(text or "") if self.responses else ""

    def response(self, row: Mapping[str, Any], systems: Sequence[str], text: str) -> list[int]:
        """Return a response as `Payload.data` has it; `text` is its text as shown."""
        about = (
            row["scenario"], row["adl"], words.condition(row["condition"]),
            words.assistance(row["assistance"]), tuple(map(words.plain, row["situation"] or ())),
            row["actor"], self.texts.index(self.words(row["scenario_text"])),
            self.texts.index(self.words(row["untold"])),
            self.texts.index(self.pictures.picture(row) if self.responses else ""),
            self.texts.index(self.words(row["picture_alt"])),
        )  # fmt: skip
        return [
            self.scenarios.index(about), systems.index(row["name"]), row["epoch"],
            _STATES.index(row["state"]), int(bool(row["cut"])), self.texts.index(text),
            self.texts.index(self.words(row["note"])),
        ]  # fmt: skip

    def grading(self, judgments: Iterable[_ItemJudgment], text: str) -> list[Any]:
        """Return a grading as `Payload.data` has it; `text` is the text of the response."""
        items, marks, reasons = [], [], []
        quotes: list[int] = []
        for number, (item, judgment) in enumerate(judgments):
            items.append(self._item(item))
            marks.append(_MARKS[judgment.present])
            reasons.append(self.texts.index(self.words(judgment.reason)))
            if judgment.quote and self.responses:
                quotes += [number, *self._quote(judgment.quote, text)]
        return [self.rubrics.index(tuple(items)), "".join(marks), quotes, reasons]

    def plan(self, judgments: Sequence[_ItemJudgment], row: Mapping[str, Any]) -> list[Any]:
        """Return a plan that was carried out as `Payload.data` has it, in a list; else nothing."""
        if not self.responses or not ResponseState(row["state"]).is_graded:
            return []
        table = plan_table(row["text"] or "", [judgment for _, judgment in judgments])
        if table is None:
            return []
        rows = [astuple(each) for each in table.rows]
        return [[rows, table.marks, table.breaks]]

    def _item(self, item: _Item) -> int:
        if item not in self.item_indices:
            points, text, *levels = item
            packed = (points, strip_controls(text or ""), _domains(points, levels))
            self.item_indices[item] = self.items.index(packed)
        return self.item_indices[item]

    def _quote(self, quote: str, text: str) -> tuple[int, int]:
        """Return start and stop of a quote in a text; if not found, -1 and its index in `texts`."""
        if text not in self.finders:
            self.finders[text] = QuoteFinder(text)
        if (span := self.finders[text].find(quote)) is None:
            return -1, self.texts.index(strip_controls(quote))
        start, stop = span
        if text.isascii():
            return start, stop
        return _units(text, start), _units(text, stop)


MAX_RESPONSES = 20_000
"""Responses that are packed with their words at most; their data take some 24 million characters.
"""


def payload(
    public: PublicView,
    entries: Sequence[Entry],
    *,
    responses: bool = True,
    max_responses: int | None = None,
) -> Payload:
    """Return the public responses with their judgments, by activity in the order of `Adl`.

    If not all responses fit, the data are a sample: first those with a severe error, then others,
    both drawn evenly over systems and scenarios. The same responses give the same sample.

    Args:
        public: The responses that may be shown.
        entries: The entries, with the judgments that count for each.
        responses: Whether to include the words of responses, quotes and reasons.
        max_responses: Largest number of responses; by default `MAX_RESPONSES`, or all if without
            words.
    """
    drawn = _draw_order(public.responses, entries)
    if max_responses is None:
        max_responses = MAX_RESPONSES if responses else drawn.height
    sample = drawn[:max_responses]
    drawn_rows = public.responses.join(sample, on=_KEY, how="semi", maintain_order="left")
    packing = _Packing(public, responses)
    systems = sorted(drawn_rows["name"].unique())
    rows: list[list[int]] = []
    indices: dict[_ResponseKey, int] = {}
    texts: list[str] = []
    sources: list[Mapping[str, Any]] = []
    for row in _in_order(drawn_rows):
        indices[_ResponseKey(row["scenario"], row["name"], row["epoch"])] = len(rows)
        sources.append(row)
        texts.append(packing.words(row["text"]))
        rows.append(packing.response(row, systems, texts[-1]))
    graders = _graders(entries)
    grader_keys = list(graders)
    gradings: list[list[Any]] = []
    for entry in entries:
        grader = grader_keys.index(_grader(entry))
        for key, judgments in _by_response(entry, sample):
            at = indices[key]
            packed = packing.grading(judgments, texts[at])
            if entry.rubric is Rubric.plan:
                packed += packing.plan(judgments, sources[at])
            gradings.append([at, grader, *packed])
    gradings.sort(key=lambda grading: grading[:2])
    has_plan = any(entry.rubric is Rubric.plan for entry in entries)
    return Payload(
        data={
            **({"answers": _ANSWERS} if has_plan else {}),
            "texts": list(packing.texts),
            "systems": systems,
            "graders": list(graders.values()),
            "scenarios": list(packing.scenarios),
            "items": list(packing.items),
            "rubrics": list(packing.rubrics),
            "responses": rows,
            "gradings": gradings,
        },
        n_shown=drawn_rows.height,
        n_public=drawn.height,
        n_severe=int(drawn["severe"].sum()),
        n_severe_shown=int(sample["severe"].sum()),
        n_held_out=public.n_held_out,
        n_unknown=public.n_unknown,
    )


_KEY = ("name", "scenario", "epoch")

SEED = 14
"""Seed of the sample, so that the same runs give the same page."""


def _draw_order(public: pl.DataFrame, entries: Sequence[Entry]) -> pl.DataFrame:
    """Return the public responses in sampling order: keys, and whether each erred severely."""
    severe = [
        entry.first_of("scenario", "epoch", "points", "present")
        .filter(pl.col("present"), pl.col("points") == scoring.SEVERE)
        .select(pl.lit(entry.name).alias("name"), "scenario", "epoch", severe=True)
        for entry in entries
    ]
    drawn = public.select(_KEY).sort(_KEY)
    if severe:
        drawn = drawn.join(pl.concat(severe).unique(), on=_KEY, how="left")
    else:
        drawn = drawn.with_columns(severe=pl.lit(None, pl.Boolean))
    chance = pl.Series("chance", np.random.default_rng(SEED).permutation(drawn.height))
    drawn = drawn.sort(_KEY).with_columns(chance, pl.col("severe").fill_null(value=False))
    # first one of each system and scenario, then another of each
    turn = pl.col("chance").rank("ordinal").over("name", "scenario", "severe").alias("turn")
    order = ["severe", "turn", "chance"]
    return drawn.with_columns(turn).sort(order, descending=[True, False, False])


def _grader(entry: Entry) -> tuple[str, str, str | None]:
    return entry.grader, entry.rubric.value, entry.grading_protocol


def _graders(
    entries: Sequence[Entry],
) -> dict[tuple[str, str, str | None], tuple[str, str, str]]:
    """Return grader, rubric and protocol → name, short name and rubric."""
    keys = list(dict.fromkeys(map(_grader, entries)))
    short = brief_grader_names(grader for grader, _, _ in keys)
    named = {}
    for grader, rubric, protocol in keys:
        alike = [key for key in keys if key[:2] == (grader, rubric)]
        version = f", protocol {protocol}" if len(alike) > 1 else ""
        short_name = f"{rubric}, {short[grader]}" if len(short) > 1 else rubric
        named[grader, rubric, protocol] = (
            f"{rubric} by {grader}{version}", f"{short_name}{version}", rubric,
        )  # fmt: skip
    return named


def _domains(points: int, levels: Sequence[int | None]) -> int:
    """Return a bit mask of the domains that an item serves or, if it is an error, treats badly.

    An item of 0 points has all domains in which it is rated.
    """
    return sum(
        (level > 0 if points > 0 else level < 2 if points < 0 else True) << place
        for place, level in enumerate(levels)
        if level is not None
    )


def _in_order(public: pl.DataFrame) -> Iterable[dict[str, Any]]:
    """Return the rows sorted by activity, scenario, system and epoch."""
    columns = (
        "scenario", "name", "epoch", "state", "cut", "text", "note", "adl", "condition",
        "assistance", "situation", "actor", "scenario_text", "untold", "picture",
        "picture_alt",
    )  # fmt: skip
    order = {adl.value: place for place, adl in enumerate(Adl)}
    return sorted(
        public.select(columns).iter_rows(named=True),
        key=lambda row: (
            order.get(row["adl"], len(order)), row["adl"] or "", row["scenario"],
            row["name"], row["epoch"],
        ),
    )  # fmt: skip


def _by_response(
    entry: Entry, shown: pl.DataFrame
) -> Iterable[tuple[_ResponseKey, list[_ItemJudgment]]]:
    """Yield, for each response that is shown, its judgments in the order of the items."""
    by_response: dict[tuple[str, int], list[_ItemJudgment]] = {}
    columns = (
        "scenario", "epoch", "present", "quote", "reason", "points", "item_text",
        *(domain.value for domain in Domain),
    )  # fmt: skip
    of_system = shown.filter(pl.col("name") == entry.name)
    judgments = entry.first_of(*columns, "position")
    kept = judgments.join(of_system, on=["scenario", "epoch"], how="semi")
    ordered = kept.sort("scenario", "epoch", "position")
    for scenario, epoch, present, quote, reason, *item in ordered.select(columns).rows():
        judgment = PlanJudgment(present, quote, reason)
        by_response.setdefault((scenario, epoch), []).append((tuple(item), judgment))
    for (scenario, epoch), rows in by_response.items():
        yield _ResponseKey(scenario, entry.name, epoch), rows


def _units(text: str, place: int) -> int:
    """Convert an index in a text to UTF-16 units, as browsers count: some characters are two."""
    return len(text[:place].encode("utf-16-le")) // 2
