"""The data of the page's reader: every public response, and what was found in it.

One JSON value, in which what is said often stands once: a scenario's text, a rubric item, a reason.
It goes into the page compressed, so that no word of a model or a grader is ever part of its markup;
the page's script unpacks it. A held-out response, and one whose split is not known, is counted and
nothing else.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.scenario import Adl, Domain
from careeval.report import words
from careeval.report.quotes import Quoted
from careeval.results.public import Public
from careeval.results.score.entries import Entry
from careeval.results.tables import RESPONSE_KEY
from careeval.sheets import names
from careeval.sheets.words import brief_grader_names

_MARKS = {True: "1", False: "0", None: "?"}
_STATES = ("answered", "empty", "refused", "missing")


@dataclass(frozen=True)
class Payload:
    """What the reader shows.

    Attributes:
        data: JSON, in which whatever stands elsewhere is named by its place there. `texts`: every
            text once. `systems`: names. `graders`: `[name, short name, rubric]`, a grader on one
            rubric. `scenarios`: `[id, activity, condition, assistance, [situation], actor, text]`.
            `items`: `[points, text, domains]`, the domains a bit each that the item bears on, the
            first domain the lowest. `rubrics`: the items of a scenario, in order.
            `responses`: `[scenario, system, epoch, state, cut, text, note]`.
            `gradings`: `[response, grader, rubric, marks, quotes, reasons]`; the marks are one
            character an item, `1` present, `0` absent, `?` unresolved; the quotes `item, start,
            stop, …` in UTF-16 units of the response, or `item, -1, text, …` for one that is not
            found there; the reasons a text an item.
        n_shown: Responses in it.
        n_public: Those that could be: more than are in it where it is a sample.
        n_severe: Of the public ones, with a severe error.
        n_severe_shown: Of those in it.
        n_held_out: Responses left out because they are held out.
        n_unknown: Responses left out because their split is not known: their scenario never began.
    """

    data: Mapping[str, Any]
    n_shown: int
    n_public: int
    n_severe: int
    n_severe_shown: int
    n_held_out: int
    n_unknown: int

    def packed(self) -> str:
        """The data as JSON, gzip and base64: the same for the same data."""
        return self._packed

    @cached_property
    def _packed(self) -> str:
        raw = json.dumps(self.data, ensure_ascii=False, separators=(",", ":")).encode()
        return base64.b64encode(gzip.compress(raw, compresslevel=4, mtime=0)).decode()


_Item = tuple[Any, ...]
"""Points and text of an item, and its level in each domain."""

_Judged = tuple[_Item, bool | None, str | None, str | None]
"""An item, whether it is present, the quote and the reason."""


class _Key(NamedTuple):
    """Which response."""

    scenario: str
    system: str
    epoch: int


@dataclass(frozen=True)
class _Interned:
    """Values in the order in which they were first named, each once."""

    places: dict[Any, int] = field(default_factory=dict)

    def place(self, value: Any) -> int:
        """Where a value stands; it is added where it is new."""
        return self.places.setdefault(value, len(self.places))

    def __iter__(self) -> Any:
        return iter(self.places)


@dataclass(frozen=True)
class _Packing:
    """Responses and gradings, packed: what is said often is kept once and named by its place.

    Attributes:
        responses: Whether the words of responses, quotes and reasons are kept.
        texts: The empty text first.
        places: Place of each item, which stands in every response to its scenario.
        quoted: Response → where quotes of it are looked for.
    """

    responses: bool
    texts: _Interned = field(default_factory=lambda: _Interned({"": 0}))
    scenarios: _Interned = field(default_factory=_Interned)
    items: _Interned = field(default_factory=_Interned)
    rubrics: _Interned = field(default_factory=_Interned)
    places: dict[_Item, int] = field(default_factory=dict)
    quoted: dict[str, Quoted] = field(default_factory=dict)

    def words(self, text: str | None) -> str:
        """Return a text as it is shown; empty where words are not kept."""
        return words.visible(text or "") if self.responses else ""

    def response(self, row: Mapping[str, Any], systems: Sequence[str], text: str) -> list[int]:
        """Return a response as `Payload.data` has it; `text` is its words."""
        about = (
            row["scenario"], row["adl"], names.condition(row["condition"]),
            names.assistance(row["assistance"]), tuple(map(names.plain, row["situation"] or ())),
            row["actor"], self.texts.place(self.words(row["scenario_text"])),
        )  # fmt: skip
        return [
            self.scenarios.place(about), systems.index(row["system"]), row["epoch"],
            _STATES.index(row["state"]), int(bool(row["cut"])), self.texts.place(text),
            self.texts.place(self.words(row["note"])),
        ]  # fmt: skip

    def grading(self, judged: Iterable[_Judged], text: str) -> list[Any]:
        """Return the rubric, marks, quotes and reasons of a response whose words are `text`."""
        shown, marks, reasons = [], [], []
        quotes: list[int] = []
        for number, (item, present, quote, reason) in enumerate(judged):
            shown.append(self._item(item))
            marks.append(_MARKS[present])
            reasons.append(self.texts.place(self.words(reason)))
            if quote and self.responses:
                quotes += [number, *self._quote(quote, text)]
        return [self.rubrics.place(tuple(shown)), "".join(marks), quotes, reasons]

    def _item(self, item: _Item) -> int:
        if item not in self.places:
            points, text, *levels = item
            packed = (points, words.visible(text or ""), _domains(points, levels))
            self.places[item] = self.items.place(packed)
        return self.places[item]

    def _quote(self, quote: str, text: str) -> tuple[int, int]:
        """Return where a quote begins and ends in a text; -1 and the quote where it is not in."""
        if text not in self.quoted:
            self.quoted[text] = Quoted(text)
        if (place := self.quoted[text].place(quote)) is None:
            return -1, self.texts.place(words.visible(quote))
        start, stop = place
        if text.isascii():
            return start, stop
        return _units(text, start), _units(text, stop)


FIRST = 2_000
"""Responses that are packed to see how much room one takes."""


def payload(
    public: Public, entries: Sequence[Entry], *, responses: bool = True, most: int | None = None
) -> Payload:
    """The public responses beside what their graders found, by activity in the paper's order.

    Where they do not fit it is a sample: those with a severe error as far as they fit, then others,
    each drawn evenly over systems and scenarios, and always the same ones.

    Args:
        public: What may be shown.
        entries: Who judged them; the judgments that count for each.
        responses: Whether the words of responses, quotes and reasons are in it.
        most: Characters of the packed data; any number where not given.
    """
    drawn = _drawn(public.responses, entries)
    n = drawn.height if most is None else min(drawn.height, FIRST)
    was_too_much = False
    while True:
        made = _payload(public, entries, drawn, n, responses=responses)
        if most is None or not n:
            return made
        size = len(made.packed())
        # a little less than would fill it, since responses are not of one length
        fitting = n * most * 9 // (size * 10)
        if size > most:
            was_too_much, n = True, min(n - 1, fitting)
        elif was_too_much or n == drawn.height or fitting <= n:
            return made
        else:
            n = min(drawn.height, fitting)


def _drawn(public: pl.DataFrame, entries: Sequence[Entry]) -> pl.DataFrame:
    """The public responses in the order in which they are drawn, with whether each is severe."""
    severe = [
        entry.first_of("scenario", "epoch", "points", "present")
        .filter(pl.col("present"), pl.col("points") == scoring.SEVERE)
        .select(pl.lit(entry.system).alias("system"), "scenario", "epoch", severe=True)
        for entry in entries
    ]
    drawn = public.select(RESPONSE_KEY).sort(RESPONSE_KEY)
    if severe:
        drawn = drawn.join(pl.concat(severe).unique(), on=RESPONSE_KEY, how="left")
    else:
        drawn = drawn.with_columns(severe=pl.lit(None, pl.Boolean))
    chance = pl.Series("chance", np.random.default_rng(SEED).permutation(drawn.height))
    drawn = drawn.sort(RESPONSE_KEY).with_columns(chance, pl.col("severe").fill_null(value=False))
    # of each system and scenario one, then of each another
    turn = pl.col("chance").rank("ordinal").over("system", "scenario", "severe").alias("turn")
    order = ["severe", "turn", "chance"]
    return drawn.with_columns(turn).sort(order, descending=[True, False, False])


SEED = 14
"""Of which responses are drawn: the same page for the same runs."""


def _payload(
    public: Public,
    entries: Sequence[Entry],
    drawn: pl.DataFrame,
    n: int,
    *,
    responses: bool,
) -> Payload:
    """Return the payload of the first `n` of the drawn responses."""
    sample = drawn[:n]
    drawn_rows = public.responses.join(sample, on=RESPONSE_KEY, how="semi", maintain_order="left")
    packing = _Packing(responses)
    systems = sorted(drawn_rows["system"].unique())
    rows: list[list[int]] = []
    places: dict[_Key, int] = {}
    answers: list[str] = []
    for row in _in_order(drawn_rows):
        places[_Key(row["scenario"], row["system"], row["epoch"])] = len(rows)
        answers.append(packing.words(row["text"]))
        rows.append(packing.response(row, systems, answers[-1]))
    graders = _graders(entries)
    judged_by = list(graders)
    gradings: list[list[Any]] = []
    for entry in entries:
        grader = judged_by.index(_grader(entry))
        for key, judged in _by_response(entry, sample):
            at = places[key]
            gradings.append([at, grader, *packing.grading(judged, answers[at])])
    gradings.sort(key=lambda grading: grading[:2])
    return Payload(
        data={
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


def _grader(entry: Entry) -> tuple[str, str, str | None]:
    return entry.grader, entry.rubric.value, entry.grading_protocol


def _graders(
    entries: Sequence[Entry],
) -> dict[tuple[str, str, str | None], tuple[str, str, str]]:
    """What judged → its name, its name as short as it can be, and the rubric."""
    keys = list(dict.fromkeys(map(_grader, entries)))
    short = brief_grader_names(grader for grader, _, _ in keys)
    named = {}
    for grader, rubric, protocol in keys:
        alike = [key for key in keys if key[:2] == (grader, rubric)]
        version = f", protocol {protocol}" if len(alike) > 1 else ""
        said = f"{rubric}, {short[grader]}" if len(short) > 1 else rubric
        named[grader, rubric, protocol] = (
            f"{rubric} by {grader}{version}", f"{said}{version}", rubric,
        )  # fmt: skip
    return named


def _domains(points: int, levels: Sequence[int | None]) -> int:
    """The domains that an item bears on, a bit each: that it serves, or that it treats badly."""
    return sum(
        (level > 0 if points > 0 else level < 2 if points < 0 else True) << place
        for place, level in enumerate(levels)
        if level is not None
    )


def _in_order(public: pl.DataFrame) -> Iterable[dict[str, Any]]:
    """Rows by activity, scenario, system and epoch."""
    columns = (
        "scenario", "system", "epoch", "state", "cut", "text", "note", "adl", "condition",
        "assistance", "situation", "actor", "scenario_text",
    )  # fmt: skip
    order = {adl.value: place for place, adl in enumerate(Adl)}
    return sorted(
        public.select(columns).iter_rows(named=True),
        key=lambda row: (
            order.get(row["adl"], len(order)), row["adl"] or "", row["scenario"],
            row["system"], row["epoch"],
        ),
    )  # fmt: skip


def _by_response(entry: Entry, shown: pl.DataFrame) -> Iterable[tuple[_Key, list[_Judged]]]:
    """The judgments of each response that is shown together, in the order of the items."""
    judged: dict[tuple[str, int], list[_Judged]] = {}
    columns = (
        "scenario", "epoch", "present", "quote", "reason", "points", "item_text",
        *(domain.value for domain in Domain),
    )  # fmt: skip
    of_system = shown.filter(pl.col("system") == entry.system)
    judgments = entry.first_of(*columns, "position")
    kept = judgments.join(of_system, on=["scenario", "epoch"], how="semi")
    ordered = kept.sort("scenario", "epoch", "position")
    for scenario, epoch, present, quote, reason, *item in ordered.select(columns).rows():
        judged.setdefault((scenario, epoch), []).append((tuple(item), present, quote, reason))
    for (scenario, epoch), rows in judged.items():
        yield _Key(scenario, entry.system, epoch), rows


def _units(text: str, place: int) -> int:
    """A place in a text as browsers count, in UTF-16 units: a few characters are two."""
    return len(text[:place].encode("utf-16-le")) // 2
