"""The scenario explorer: every public scenario, how systems score on it, and what they answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import mean
from typing import Any

import polars as pl

from careeval.core.scenario import Domain, Rubric
from careeval.report.quotes import Quoted
from careeval.report.site.contents import Contents, Listed, public_rows
from careeval.report.site.sheets import (
    Cell,
    Column,
    Dots,
    Scale,
    Sheet,
    amounts,
    decimal,
    number,
    score,
    share,
    words,
)
from careeval.report.words import DOMAINS, assistance, condition, plain, signed
from careeval.results.details import ScenarioScore

SCALE = Scale(-1.0, 1.0)
"""Of a scenario's score: from the ladder's −3 points to all of its 3."""


LEVELS_OF_A_RUNG = {2: "2 of 2", 1: "1 of 2", 0: "0 of 2"}
LEVELS_OF_AN_ACT = {2: "serves it fully", 1: "serves it in part", 0: "does not serve it"}
LEVELS_OF_AN_ERROR = {2: "does it no harm", 1: "treats it badly", 0: "treats it worst"}
"""What an item's level in a domain says."""

LONGEST = 8_000
"""Characters of a response that a page shows; the rest is in the logs."""


@dataclass(frozen=True)
class Piece:
    """A piece of a response, with the labels of the items that it is quoted for."""

    text: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One rubric item found in a response, or unresolved.

    Attributes:
        rubric: That it is of.
        kind: `harm`, `mild`, `good` or `open`: how it is marked.
        said: The same in words.
    """

    rubric: Rubric
    label: str
    points: str
    kind: str
    said: str
    text: str
    reason: str


@dataclass(frozen=True)
class Answer:
    """One system's worst response to a scenario.

    Attributes:
        state: Why there are no words; empty where there are.
        score: With the name of its rubric: the ladder, where that was judged.
        severe: Rubrics with a severe error in it; empty for none.
        shortened: Whether there is more of it than the page shows.
        n_absent: Items that were not found in it.
    """

    system: str
    page: str
    epoch: int
    n_epochs: int
    score: str
    severe: str
    state: str
    pieces: tuple[Piece, ...]
    shortened: bool
    lines: tuple[Line, ...]
    n_absent: int


@dataclass(frozen=True, eq=False)
class Scene:
    """One public scenario.

    Attributes:
        edition: Of the bank that it is of.
        mean: Over the systems of the first board of that edition.
        severe: On each rubric that was judged, the responses of these systems with a severe error
            and all that were judged.
    """

    edition: str
    id: str
    page: str
    about: Mapping[str, Any]
    mean: float | None
    dots: Dots
    severe: Mapping[Rubric, tuple[int, int]]

    @property
    def said(self) -> str:
        """The mean as it reads."""
        return score(self.mean).text

    @property
    def severe_share(self) -> float:
        """Of the responses, on the ladder; 0 where none was judged, to be put in order by."""
        n, of = self.severe.get(Rubric.ladder, (0, 0))
        return n / of if of else 0.0

    @property
    def text(self) -> str:
        """What was asked."""
        return str(self.about["scenario_text"] or "")

    @property
    def adl(self) -> str:
        """Its activity, in words."""
        return plain(self.about["adl"])

    @property
    def condition(self) -> str:
        """What the person lives with, in words."""
        return condition(self.about["condition"])

    @property
    def situation(self) -> str:
        """What makes the moment hard, in words."""
        return ", ".join(map(plain, self.about["situation"] or [])) or "not stated"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What it is about, in words."""
        about = self.about
        return [
            ("Activity", self.adl),
            ("Condition", self.condition),
            ("Usual help", assistance(about["assistance"])),
            ("Situation", self.situation),
            ("Who helps", plain(about["actor"])),
        ]

    @property
    def filters(self) -> dict[str, str]:
        """What the explorer filters by: name → ids, with spaces between."""
        return {
            "adl": self.about["adl"] or "",
            "condition": self.about["condition"] or "",
            "situation": " ".join(self.about["situation"] or []),
            "actor": self.about["actor"] or "",
        }


class Explorer:
    """What the pages about scenarios are made of, looked up once."""

    def __init__(self, site: Contents) -> None:
        self._site = site

    @cached_property
    def scenes(self) -> list[Scene]:
        """Every public scenario, in the order of ids."""
        columns = ("adl", "condition", "assistance", "situation", "actor", "scenario_text")
        asked = (
            public_rows(self._site.found.runs.responses)
            .group_by("edition", "scenario")
            .agg(pl.col(name).drop_nulls().first() for name in columns)
        )
        about = {(row["edition"], row["scenario"]): row for row in asked.iter_rows(named=True)}
        return [self._scene(*key, about[key]) for key in self._site.scenarios]

    def options(self) -> dict[str, list[tuple[str, str]]]:
        """Filter → what there is to choose: ids, and how they read."""
        said = {"adl": plain, "condition": condition, "situation": plain, "actor": plain}
        found = {
            name: sorted({one for scene in self.scenes for one in scene.filters[name].split()})
            for name in said
        }
        return {name: [(one, said[name](one)) for one in ids] for name, ids in found.items()}

    def systems(self, scene: Scene) -> Sheet:
        """How each system scores on a scenario."""
        rows = []
        for listed in self._of(scene.edition):
            rungs = self._scores[id(listed), Rubric.ladder].get(scene.id)
            acts = self._scores[id(listed), Rubric.actions].get(scene.id)
            if rungs is None and acts is None:
                continue
            rows.append(
                (
                    words(listed.name, href=listed.page),
                    self._site.judge(listed.summary.grader),
                    *_scored(rungs),
                    _severe(acts),
                    score(acts.score if acts else None),
                )
            )
        return Sheet(
            "scenario-scores",
            "How each system scores",
            (
                Column("system", "System"),
                Column("grader", "Grader", hidden=len(self._site.boards) == 1),
                amounts("score", "Score", "ladder, mean of responses"),
                amounts("worst", "Worst", "ladder, of its responses"),
                amounts("severe", "Severe errors, ladder", "responses with any"),
                amounts("action_severe", "Severe errors, actions", "responses with any"),
                amounts("action_score", "Score", "actions, mean of responses"),
            ),
            tuple(
                sorted(rows, key=lambda row: -1e9 if row[2].sort is None else -float(row[2].sort))
            ),
            part="of all scenarios",
            classes="quiet",
            ordered="score",
            order="descending",
        )

    def rubric(self, scene: Scene, rubric: Rubric) -> Sheet | None:
        """One rubric with how often each item was found in each system's responses.

        Of each system by the grader that stands for it; `None` where nothing was judged on it.
        """
        items = self._items.get((scene.edition, scene.id, rubric.value))
        if not items:
            return None
        systems = [
            listed
            for listed in self._first_of(scene.edition)
            if any(
                (scene.id, rubric.value, item["item"]) in self._presence[id(listed)]
                for item in items
            )
        ]
        return Sheet(
            "items",
            "The ladder: graded whole answers"
            if rubric is Rubric.ladder
            else "The actions: single acts",
            (
                Column("item", "Item"),
                amounts("points", "Points"),
                *(Column(f"s{n}", each.name, upright=True) for n, each in enumerate(systems)),
            ),
            tuple(
                (
                    words(item["item_text"], asides=(_domains(item),)),
                    decimal(item["points"], f"{_label(item)} {signed(item['points'])}"),
                    *(
                        share(
                            self._presence[id(each)].get((scene.id, rubric.value, item["item"])),
                            tone="harm" if item["points"] < 0 else "good" if item["points"] else "",
                            heat=True,
                        )
                        for each in systems
                    ),
                )
                for item in items
            ),
            part="of all scenarios",
            sortable=False,
            classes="presence",
        )

    def answers(self, scene: Scene) -> list[Answer]:
        """The worst response of each system, the worst first."""
        found = [
            (rank, answer)
            for listed in self._first_of(scene.edition)
            if (worst := self._worst(listed, scene)) is not None
            for rank, answer in [worst]
        ]
        return [answer for _, answer in sorted(found, key=lambda each: (each[0], each[1].system))]

    def scores_sheet(self) -> Sheet:
        """Every score of every entry on every public scenario; only a file."""
        rows = []
        origins = []
        for listed in self._site.listed:
            acts = self._scores[id(listed), Rubric.actions]
            rungs = self._scores[id(listed), Rubric.ladder]
            for of, name in self._site.scenarios:
                if of == listed.edition and (name in rungs or name in acts):
                    origins.append(listed.provenance)
                    rows.append(
                        (
                            words(of),
                            words(name),
                            words(listed.name),
                            words(listed.summary.grader),
                            *_scored(rungs.get(name)),
                            _severe(acts.get(name)),
                            score(acts[name].score if name in acts else None),
                        )
                    )
        heads = {
            "bank": "Bank",
            "scenario": "Scenario",
            "system": "System",
            "grader": "Grader",
            "score": "Score, ladder",
            "worst": "Worst, ladder",
            "severe": "Responses with a severe error, ladder",
            "action_severe": "Responses with a severe error, actions",
            "action_score": "Score, actions",
        }
        return Sheet(
            "scenario-scores",
            "Scores by scenario",
            tuple(Column(key, head) for key, head in heads.items()),
            tuple(rows),
            origins=tuple(origins),
        )

    def scenes_sheet(self) -> Sheet:
        """The explorer as data."""
        return Sheet(
            "scenarios",
            "Public scenarios",
            (
                *(
                    Column(key, key.capitalize())
                    for key in (
                        "bank",
                        "scenario",
                        "adl",
                        "condition",
                        "assistance",
                        "situation",
                        "actor",
                        "text",
                    )
                ),
                amounts("mean_score", "Mean score of systems, ladder"),
                amounts("severe", "Responses with a severe error, ladder"),
                amounts("responses", "Responses judged, ladder"),
                amounts("action_severe", "Responses with a severe error, actions"),
                amounts("action_responses", "Responses judged, actions"),
            ),
            tuple(
                (
                    words(s.edition),
                    words(s.id),
                    *(words(s.about[key]) for key in ("adl", "condition", "assistance")),
                    words(" ".join(s.about["situation"] or [])),
                    words(s.about["actor"]),
                    words(s.text),
                    score(s.mean),
                    *(number(n) for rubric in Rubric for n in s.severe.get(rubric, (None, None))),
                )
                for s in self.scenes
            ),
        )

    def items_sheet(self) -> Sheet:
        """Every item of every public scenario, with its presence in each entry; only a file."""
        rows = []
        origins = []
        for (of, scenario, rubric), items in self._items.items():
            for item in items:
                for listed in self._of(of):
                    found = self._presence[id(listed)].get((scenario, rubric, item["item"]))
                    if found is not None:
                        origins.append(listed.provenance)
                        rows.append(
                            (
                                words(of),
                                words(scenario),
                                words(rubric),
                                words(item["item"]),
                                number(item["points"]),
                                words(listed.name),
                                words(listed.summary.grader),
                                share(found),
                            )
                        )
        heads = ("bank", "scenario", "rubric", "item", "points", "system", "grader", "presence")
        return Sheet(
            "items",
            "Share of responses in which an item was found",
            tuple(Column(key, key.capitalize()) for key in heads),
            tuple(rows),
            origins=tuple(origins),
        )

    def _of(self, edition: str) -> list[Listed]:
        """Entries over one edition of a bank."""
        return [listed for listed in self._site.listed if listed.edition == edition]

    def _first_of(self, edition: str) -> list[Listed]:
        """One entry for each system over it."""
        return [each for each in self._site.first_of.values() if each.edition == edition]

    def _scene(self, edition: str, name: str, about: Mapping[str, Any]) -> Scene:
        of_rubric = {
            rubric: [
                s
                for each in self._first_board(edition)
                if (s := self._scores[id(each), rubric].get(name)) is not None
            ]
            for rubric in Rubric
        }
        known = [s.score for s in of_rubric[Rubric.ladder] if s.score is not None]
        return Scene(
            edition=edition,
            id=name,
            page=self._site.scenario_page(edition, name),
            about=about,
            mean=mean(known) if known else None,
            dots=Dots.of(known, _wide(known)),
            severe={
                rubric: (
                    sum(s.n_severe for s in found),
                    sum(e is not None for s in found for e in s.epochs),
                )
                for rubric, found in of_rubric.items()
                if found
            },
        )

    def _first_board(self, edition: str) -> tuple[Listed, ...]:
        """Entries of the first board over it, ranked or not."""
        boards = (b.listed for b in self._site.boards if b.listed)
        return next((listed for listed in boards if listed[0].edition == edition), ())

    def _worst(self, listed: Listed, scene: Scene) -> tuple[float, Answer] | None:
        """The response that scored least, its score first; the earliest of several."""
        scored = next(
            (
                (rubric, s)
                for rubric in (Rubric.ladder, Rubric.actions)
                if (s := self._scores[id(listed), rubric].get(scene.id)) is not None
                and any(e is not None for e in s.epochs)
            ),
            None,
        )
        if scored is None:
            return None
        least, epoch = min((e, k) for k, e in enumerate(scored[1].epochs, start=1) if e is not None)
        response = self._responses[id(listed)][scene.id, epoch]
        judged = self._judged[id(listed)].get((scene.id, epoch), [])
        lines = [line for row in judged if (line := _line(row)) is not None]
        answered, text = response["state"] == "answered", response["text"] or ""
        return least, Answer(
            system=listed.name,
            page=listed.page,
            epoch=epoch,
            n_epochs=listed.summary.n_epochs,
            score=f"{scored[0].value} {score(least).text}",
            severe=" and ".join(
                rubric.value
                for rubric in Rubric
                if any(line.kind == "harm" and line.rubric is rubric for line in lines)
            ),
            state="" if answered else _STATES.get(response["state"], ""),
            pieces=tuple(_pieces(text[:LONGEST], judged)) if answered else (),
            shortened=answered and len(text) > LONGEST,
            lines=tuple(sorted(lines, key=lambda line: _ORDER.index(line.kind))),
            n_absent=len(judged) - len(lines),
        )

    @cached_property
    def _scores(self) -> dict[tuple[int, Rubric], dict[str, ScenarioScore]]:
        return {
            (id(listed), rubric): {
                s.scenario: s
                for s in listed.detail.scenarios[rubric]
                if self._site.page_of(listed, s.scenario)
            }
            for listed in self._site.listed
            for rubric in Rubric
        }

    @cached_property
    def _items(self) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
        """Edition, scenario and rubric → its items in order, as they were judged first."""
        runs = self._site.found.runs
        of_response = ["system", "scenario", "epoch"]
        public = public_rows(runs.responses).select(*of_response, "edition")
        keys = ["edition", "scenario", "rubric", "position"]
        judged = runs.judgments.join(public, on=of_response, maintain_order="left")
        judged = judged.unique(keys, keep="first", maintain_order=True).sort(keys)
        items: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
        for row in judged.iter_rows(named=True):
            if (row["edition"], row["scenario"]) in self._site.scenarios:
                items[row["edition"], row["scenario"], row["rubric"]].append(row)
        return items

    @cached_property
    def _presence(self) -> dict[int, dict[tuple[str, str, str], float]]:
        """Entry → (scenario, rubric, item) → share of its responses in which it was found."""
        keys = ("scenario", "rubric", "item")
        return {
            id(listed): {
                (scenario, rubric, item): found
                for scenario, rubric, item, found in listed.entry.first.group_by(keys)
                .agg(pl.col("present").mean())
                .iter_rows()
                if found is not None and self._site.page_of(listed, scenario)
            }
            for listed in self._site.listed
        }

    @cached_property
    def _responses(self) -> dict[int, dict[tuple[str, int], dict[str, Any]]]:
        columns = ("scenario", "epoch", "state", "text")
        return {
            id(listed): {
                (row["scenario"], row["epoch"]): row
                for row in _public(listed.entry.responses, listed, self._site)
                .select(columns)
                .iter_rows(named=True)
            }
            for listed in self._site.first_of.values()
        }

    @cached_property
    def _judged(self) -> dict[int, dict[tuple[str, int], list[dict[str, Any]]]]:
        columns = (
            "scenario",
            "epoch",
            "rubric",
            "position",
            "points",
            "present",
            "quote",
            "reason",
            "item_text",
        )
        found: dict[int, dict[tuple[str, int], list[dict[str, Any]]]] = {}
        for listed in self._site.first_of.values():
            of: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
            # the ladder first, as it is everywhere
            rows = _public(listed.entry.first, listed, self._site).select(columns)
            for row in rows.sort("rubric", "position", descending=[True, False]).iter_rows(
                named=True
            ):
                of[row["scenario"], row["epoch"]].append(row)
            found[id(listed)] = of
        return found


_ORDER = ("harm", "mild", "open", "good")

_STATES = {
    "empty": "The response has no words: 0 points.",
    "refused": "The provider refused to answer: 0 points.",
}


def _public(table: pl.DataFrame, listed: Listed, site: Contents) -> pl.DataFrame:
    public = [name for of, name in site.scenarios if site.page_of(listed, name)]
    return table.filter(pl.col("scenario").is_in(public))


def _wide(values: Iterable[float]) -> Scale:
    return Scale(min([SCALE.low, *values]), max([SCALE.high, *values]))


def _scored(found: ScenarioScore | None) -> tuple[Cell, Cell, Cell]:
    """Mean with a dot for each response, worst, and responses with a severe error."""
    if found is None:
        return score(None), score(None), number(None)
    cell = score(found.score)
    known = [e for e in found.epochs if e is not None]
    return (
        Cell(cell.text, cell.data, cell.sort, dots=Dots.of(known, _wide(known))),
        score(found.worst),
        _severe(found),
    )


def _severe(found: ScenarioScore | None) -> Cell:
    """Responses with a severe error."""
    n = found.n_severe if found else None
    return number(n, tone="harm" if n else "")


def _domains(item: Mapping[str, Any]) -> str:
    """The domains that an item is about, and how well it treats each.

    A level means another thing for a rung, which is a whole answer, for an act, and for an error.
    """
    said = (
        LEVELS_OF_A_RUNG
        if item["rubric"] == Rubric.ladder.value
        else LEVELS_OF_AN_ERROR
        if item["points"] < 0
        else LEVELS_OF_AN_ACT
    )
    rated = [
        f"{DOMAINS[d].lower()}: {said.get(item[d.value], item[d.value])}"
        for d in Domain
        if item[d.value] is not None
    ]
    return " · ".join(rated)


def _label(row: Mapping[str, Any]) -> str:
    position = int(row["position"])
    return (
        str(position + 1)
        if row["rubric"] == Rubric.actions.value
        else chr(ord("A") + position % 26)
    )


def _line(row: Mapping[str, Any]) -> Line | None:
    """A judgment as a line; `None` for an item that was not found."""
    if row["present"] is False:
        return None
    points = row["points"]
    if row["present"] is None:
        kind, said = "open", "Unresolved"
    elif points < 0:
        kind, said = ("harm", "Severe error") if points == -2 else ("mild", "Mild error")
    else:
        kind, said = "good", "Found"
    text, reason = row["item_text"] or "", row["reason"] or ""
    return Line(Rubric(row["rubric"]), _label(row), signed(points), kind, said, text, reason)


def _pieces(text: str, judged: Sequence[Mapping[str, Any]]) -> Iterable[Piece]:
    """A response cut wherever a quote begins or ends."""
    quoted = Quoted(text)
    places = {
        _label(row): place
        for row in judged
        if row["present"] and (place := quoted.place(row["quote"])) is not None
    }
    cuts = sorted({0, len(text), *(at for place in places.values() for at in place)})
    for start, stop in pairwise(cuts):
        items = (label for label, p in places.items() if p.start <= start and stop <= p.stop)
        yield Piece(text[start:stop], tuple(items))
