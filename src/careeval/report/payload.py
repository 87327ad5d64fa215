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
from typing import Any, NamedTuple

import polars as pl

from careeval.core.scenario import Adl, Domain, Rubric, Split
from careeval.report import words
from careeval.report.quotes import Quoted
from careeval.results.entries import Entry
from careeval.results.tables import Runs

_MARKS = {True: "1", False: "0", None: "?"}
_RUBRICS = [rubric.value for rubric in Rubric]
_STATES = ("answered", "empty", "refused", "missing")


@dataclass(frozen=True)
class Payload:
    """What the reader shows.

    Attributes:
        data: JSON, in which whatever stands elsewhere is named by its place there. `texts`: every
            text once. `systems`: names. `graders`: `[name, short name]`. `scenarios`: `[id,
            activity, condition, assistance, [situation], actor, text]`. `items`: `[rubric, points,
            text, domains]`, the rubric 0 for the ladder and 1 for actions, the domains a bit each
            that the item bears on, the first domain the lowest. `rubrics`: the items of a
            scenario, in order. `responses`: `[scenario, system, epoch, state, cut, text, note]`.
            `gradings`: `[response, grader, rubric, marks, quotes, reasons]`; the marks are one
            character an item, `1` present, `0` absent, `?` unresolved; the quotes `item, start,
            stop, …` in UTF-16 units of the response, or `item, -1, text, …` for one that is not
            found there; the reasons a text an item.
        n_shown: Responses in it.
        n_held_out: Responses left out because they are held out.
        n_unknown: Responses left out because their split is not known: their scenario never began.
    """

    data: Mapping[str, Any]
    n_shown: int
    n_held_out: int
    n_unknown: int

    def packed(self) -> str:
        """The data as JSON, gzip and base64: the same for the same data."""
        raw = json.dumps(self.data, ensure_ascii=False, separators=(",", ":")).encode()
        return base64.b64encode(gzip.compress(raw, compresslevel=4, mtime=0)).decode()


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


def payload(runs: Runs, entries: Sequence[Entry], *, responses: bool = True) -> Payload:
    """The public responses beside what their graders found, by activity in the paper's order.

    Args:
        runs: The tables.
        entries: Who judged them; the judgments that count for each.
        responses: Whether the words of responses, quotes and reasons are in it.
    """
    everything = runs.responses
    public = everything.filter(pl.col("split") == Split.public.value)
    texts, items, rubrics, scenarios = _Interned(), _Interned(), _Interned(), _Interned()
    texts.place("")
    systems = sorted(public["system"].unique())
    rows: list[list[int]] = []
    places: dict[_Key, int] = {}
    spoken: list[str] = []
    for row in _in_order(public):
        about = (
            row["scenario"], row["adl"], words.condition(row["condition"]),
            words.assistance(row["assistance"]), tuple(map(words.plain, row["situation"] or ())),
            row["actor"], texts.place(_words(row["scenario_text"], responses)),
        )  # fmt: skip
        text = _words(row["text"], responses)
        places[_Key(row["scenario"], row["system"], row["epoch"])] = len(rows)
        spoken.append(text)
        rows.append([
            scenarios.place(about), systems.index(row["system"]), row["epoch"],
            _STATES.index(row["state"]), int(bool(row["cut"])), texts.place(text),
            texts.place(_words(row["note"], responses)),
        ])  # fmt: skip
    graders = list(dict.fromkeys(entry.grader for entry in entries))
    gradings: list[list[Any]] = []
    known: dict[Any, int] = {}  # an item stands in every response to its scenario
    looked_in: dict[str, Quoted] = {}
    for entry in entries:
        for key, judged in _by_response(entry.first, entry.model):
            if (at := places.get(key)) is None:
                continue
            text = spoken[at]
            quoted = looked_in.setdefault(text, Quoted(text))
            wide = not text.isascii() and max(text, default="") > "\uffff"
            quotes: list[int] = []
            marks, reasons, shown = [], [], []
            for number, of_item in enumerate(judged):
                item, present, quote, reason = of_item
                if item not in known:
                    rubric, points, said, *levels = item
                    known[item] = items.place(
                        (
                            _RUBRICS.index(rubric),
                            points,
                            words.visible(said or ""),
                            _domains(points, levels),
                        )
                    )
                shown.append(known[item])
                marks.append(_MARKS[present])
                reasons.append(texts.place(_words(reason, responses)))
                if not quote or not responses:
                    continue
                if (place := quoted.place(quote)) is None:
                    quotes += [number, -1, texts.place(words.visible(quote))]
                else:
                    quotes += [number, *(_units(text, n) if wide else n for n in place)]
            of = rubrics.place(tuple(shown))
            gradings.append([at, graders.index(entry.grader), of, "".join(marks), quotes, reasons])
    gradings.sort(key=lambda grading: grading[:2])
    return Payload(
        data={
            "texts": list(texts),
            "systems": systems,
            "graders": [[name, short] for name, short in words.grader_names(graders).items()],
            "scenarios": list(scenarios),
            "items": list(items),
            "rubrics": list(rubrics),
            "responses": rows,
            "gradings": gradings,
        },
        n_shown=public.height,
        n_held_out=everything.filter(pl.col("split") == Split.held_out.value).height,
        n_unknown=everything["split"].null_count(),
    )


def _words(text: str | None, kept: bool) -> str:
    return words.visible(text or "") if kept else ""


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


def _by_response(
    judgments: pl.DataFrame, system: str
) -> Iterable[tuple[_Key, list[tuple[Any, ...]]]]:
    """A response's judgments together, in the order of the rubrics and their items."""
    found: dict[tuple[str, int], list[tuple[Any, ...]]] = {}
    columns = (
        "scenario", "epoch", "present", "quote", "reason", "rubric", "points", "item_text",
        *(domain.value for domain in Domain),
    )  # fmt: skip
    ordered = judgments.sort("scenario", "epoch", pl.col("rubric") != "ladder", "position")
    for scenario, epoch, present, quote, reason, *item in ordered.select(columns).rows():
        found.setdefault((scenario, epoch), []).append((tuple(item), present, quote, reason))
    for (scenario, epoch), rows in found.items():
        yield _Key(scenario, system, epoch), rows


def _units(text: str, place: int) -> int:
    """A place in a text as browsers count, in UTF-16 units: a few characters are two."""
    return len(text[:place].encode("utf-16-le")) // 2
