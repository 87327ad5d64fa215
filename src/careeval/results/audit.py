"""Is this grader any good on what systems really say: its judgments held against people's.

What people say of a sample of judgments becomes: how far they agree with each other, which is the
most that a grader can reach; how far the grader agrees with them; and each system's score,
corrected for the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from careeval import scoring
from careeval.core.label import Label, Reading
from careeval.core.scenario import Rubric
from careeval.core.text import signed
from careeval.errors import ReviewError, StatsError
from careeval.results.audit_draw import draw
from careeval.results.audit_entry import graded, other_than
from careeval.results.audit_sample import Drawn, Graded, Sample, Stratum
from careeval.results.class_agreement import ClassAgreement, PointClass, class_agreement
from careeval.results.corrected import Corrected
from careeval.results.entries import Entry
from careeval.results.measured import Measured
from careeval.results.probes import POINT_CLASSES, Agreement
from careeval.stats import (
    Confusion,
    Estimate,
    Interval,
    Measure,
    measure_interval,
    prediction_powered,
    rate_interval,
)
from careeval.stats.resampled import by_cluster

__all__ = ["AuditResults", "Sample", "audit_results", "draw"]

MIN_AUDITED = 30
"""Responses of a system that people must have read for its score to be corrected: ours."""


@dataclass(frozen=True)
class People:
    """How far raters agree with each other: the most that can be asked of a grader.

    Over every two raters who labelled a judgment present or absent, before anything was settled,
    weighted back by the sampling design as the grader's numbers are. A judgment counts once,
    however many labelled it.

    Attributes:
        n: Judgments that two raters or more labelled so.
        n_left_out: Judgments of the runs that these do not stand for: nobody is known to agree on
            one of their kind.
        same: Share of judgments on which two raters say the same.
        macro_f1: Of one rater held against the other, either way round.
    """

    n: int
    n_left_out: int
    same: Estimate
    macro_f1: Estimate


@dataclass(frozen=True)
class SystemAudit:
    """The grader on one system's responses.

    Attributes:
        severe: On −2 items.
        overall: On all items.
        scores: On each rubric that was graded.
    """

    severe: Measured
    overall: Measured
    scores: Mapping[Rubric, Corrected]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Judgments on which raters differ, or somebody is unsure, and that nobody adjudicated.

    Attributes:
        tied: As many say present as absent: left out until then.
        unsure: Nobody is sure: left out until then.
        one_sure: One is sure and whoever else read it is not: what the one says counts until then.
        outvoted: More say one than the other, and somebody does not: what most say counts.
    """

    tied: int
    unsure: int
    one_sure: int
    outvoted: int

    @property
    def n(self) -> int:
        """All of them."""
        return self.tied + self.unsure + self.one_sure + self.outvoted

    @property
    def left_out(self) -> int:
        """Those that have no truth until then."""
        return self.tied + self.unsure

    def kinds(self) -> str:
        """How many of each kind, in words; empty where nothing waits."""
        told = (
            (self.tied, "tied and left out"),
            (self.unsure, "unsure to all and left out"),
            (self.one_sure, "with one sure rater, others being unsure"),
            (self.outvoted, "decided by most until then"),
        )
        return "; ".join(f"{n:,} {what}" for n, what in told if n)


@dataclass(frozen=True)
class AuditResults:
    """A grader held against people who read what it judged.

    The truth of a judgment is what was adjudicated; else what most raters said, present or absent.
    One that is tied, or that nobody is sure of, has none: it is left out, and counted.

    Attributes:
        sample: What they read, and where it was drawn from.
        raters: Pseudonyms of those who labelled, in order.
        adjudicators: Of those who settled what was said, in order; they may be raters too.
        n_drawn: Judgments of the sample.
        n_labelled: Those that somebody labelled.
        n_settled: Those that have a truth.
        n_adjudicated: Those whose truth was adjudicated.
        n_single: Those whose truth is one rater's: nobody else read it, or nobody else was sure.
        n_tied: Left without a truth: as many say present as absent.
        n_unsure: Left without a truth: nobody is sure, or whoever adjudicated is not.
        waiting: Those that wait for somebody to adjudicate.
        counts: Judgments with a truth, as they were drawn: they are not weighted, and shares of
            them mislead.
        people: Raters against each other; `people_severe` on −2 items.
        severe: The grader on −2 items of both rubrics.
        overall: The grader on all items.
        by_points: The grader by rubric and points of the item.
        agreement_by_points: How far grader and people agree, likewise.
        people_by_points: How far raters agree with each other, likewise.
        by_system: The grader by system.
    """

    sample: Sample
    raters: tuple[str, ...]
    adjudicators: tuple[str, ...]
    n_drawn: int
    n_labelled: int
    n_settled: int
    n_adjudicated: int
    n_single: int
    n_tied: int
    n_unsure: int
    waiting: Waiting
    counts: Agreement
    people: People
    people_severe: People
    severe: Measured
    overall: Measured
    by_points: Mapping[PointClass, Measured]
    agreement_by_points: Mapping[PointClass, ClassAgreement]
    people_by_points: Mapping[PointClass, ClassAgreement]
    by_system: Mapping[str, SystemAudit]

    @property
    def grader(self) -> str:
        """Its name, with its mode and the hash of its prompt."""
        return self.sample.grader

    @property
    def n_alone(self) -> int:
        """Judgments with a truth that one rater alone read."""
        return self.n_single - self.waiting.one_sure

    def sentence(self) -> str:
        """What a reader must know of the grader, beside its grades."""
        people = f"{len(self.raters)} {'person' if len(self.raters) == 1 else 'people'}"
        about = [f"Audited by {people} on {self.n_settled:,} judgments"]
        if self.n_alone:
            rest = "rests" if self.n_alone == 1 else "rest"
            about.append(f"{self.n_alone:,} {rest} on one person alone")
        if self.n_adjudicated:
            about.append(f"{self.n_adjudicated:,} settled by adjudication")
        said = [
            f"{', '.join(about)}: it finds {_share(self.severe.sensitivity)} of the −2 items that "
            f"are there, {_share(self.overall.sensitivity)} of all that is there, and clears "
            f"{_share(self.overall.specificity)} of what is not"
        ]
        for (rubric, points), agreement in self.agreement_by_points.items():
            with_people = agreement.positive_agreement
            among_people = self.people_by_points[rubric, points].positive_agreement
            if points == scoring.SEVERE and None not in (with_people.value, among_people.value):
                said.append(
                    f"positive agreement with people on −2 items of the {rubric} "
                    f"{_share(with_people)}, of people with each other {_share(among_people)}"
                )
        if self.waiting.n:
            are = "is" if self.waiting.n == 1 else "are"
            line = f"{self.waiting.n:,} on which they disagree or are unsure {are} not settled yet"
            better = ", so that it looks better than it is" if self.waiting.left_out else ""
            said.append(f"{line} ({self.waiting.kinds()}){better}")
        return f"{'; '.join(said)}. In brackets: 95% intervals."

    def score_of(self, entry: Entry) -> Corrected | None:
        """Return an entry's score as people correct it; `None` where it was not audited.

        Where people read other answers of that system, the score is not corrected, and says why.
        """
        audit = self.by_system.get(entry.system)
        corrected = audit.scores.get(entry.rubric) if audit else None
        if corrected and (why := other_than(self.sample, entry)):
            return Corrected(_alone(list(graded(entry))), Estimate.unknown(why), 0, 0)
        return corrected


def _alone(rows: Sequence[Graded]) -> float | None:
    """The score by the grader alone, as a share of the maximum; `None` without any."""
    most = sum(row.maximum * row.n_responses for row in rows)
    return sum(row.points for row in rows) / most if most else None


def _share(estimate: Estimate) -> str:
    if estimate.value is None:
        return "an unknown share"
    return f"{estimate.value:.0%} ({_interval(estimate)})"


def _interval(estimate: Estimate) -> str:
    if estimate.ci95 is None:
        return "no interval"
    return " to ".join(f"{100 * end:.0f}" for end in estimate.ci95)


def audit_results(sample: Sample, labels: Iterable[Label]) -> AuditResults:
    """What people's labels say of the grader.

    Where labels are lacking, those of the stratum that have a truth stand for it; where a whole
    stratum has none, for numbers over all systems, the strata of other systems do. A number that
    some kind of judgment has no truth for is unknown.

    Args:
        sample: What was drawn.
        labels: In any order, a rater's and a judgment's at most one that is not adjudicated.

    Raises:
        ReviewError: A label is of no judgment of this sample, or there are two where there is to be
            one.
    """
    given = _by_judgment(sample, labels)
    audit = _Audit(sample, given, {name: _settled(of) for name, of in given.items()})
    ends = Counter(truth.how for truth in audit.truths.values())
    strata = sample.hidden.strata
    drawn_from = {(s.rubric, s.points) for s in strata}
    classes = [(r, p) for r in Rubric for p in POINT_CLASSES if (r, p) in drawn_from]
    return AuditResults(
        sample=sample,
        raters=_who(given, adjudicated=False),
        adjudicators=_who(given, adjudicated=True),
        n_drawn=len(sample.hidden.drawn),
        n_labelled=len(given),
        n_settled=len(audit.settled),
        n_adjudicated=sum(t.how == "adjudicated" for t in audit.truths.values()),
        n_single=ends["single"],
        n_tied=ends["tied"],
        n_unsure=ends["unsure"],
        waiting=_waiting(given, audit.truths),
        counts=audit.counts(),
        people=audit.people(lambda _: True),
        people_severe=audit.people(_is_severe),
        severe=audit.measured(_is_severe),
        overall=audit.measured(lambda _: True),
        by_points={
            (rubric, points): audit.measured(
                lambda s, of=(rubric, points): (s.rubric, s.points) == of  # type: ignore[misc]
            )
            for rubric, points in classes
        },
        agreement_by_points=audit.agreement_by_points(classes),
        people_by_points=audit.people_by_points(classes),
        by_system={
            system: SystemAudit(
                severe=audit.measured(
                    lambda s, of=system: s.system == of and _is_severe(s),  # type: ignore[misc]
                    one_system=True,
                ),
                overall=audit.measured(
                    lambda s, of=system: s.system == of,  # type: ignore[misc]
                    one_system=True,
                ),
                scores=dict(audit.scores(system)),
            )
            for system in sorted({s.system for s in strata})
        },
    )


def _who(given: Mapping[str, Sequence[Label]], *, adjudicated: bool) -> tuple[str, ...]:
    labels = (each for of in given.values() for each in of)
    return tuple(sorted({each.rater for each in labels if each.adjudicated is adjudicated}))


def corrected_by(
    audits: Mapping[str, AuditResults], entries: Iterable[Entry]
) -> list[Corrected | None]:
    """Return each entry's score as people correct it; `None` where nobody audited it.

    Args:
        audits: Grader → what people say of it.
        entries: What the graders judged.
    """
    return [audits[e.grader].score_of(e) if e.grader in audits else None for e in entries]


def _is_severe(stratum: Stratum) -> bool:
    return stratum.points == scoring.SEVERE


@dataclass(frozen=True, slots=True)
class _Truth:
    """Whether an item is there, as people settled it, or `None`; and how that came about."""

    present: bool | None
    how: str


def _waiting(given: Mapping[str, Sequence[Label]], truths: Mapping[str, _Truth]) -> Waiting:
    open_ = [
        truths[name].how
        for name, labels in given.items()
        if not any(label.adjudicated for label in labels)
        and (len(says := {label.says for label in labels}) > 1 or Reading.unsure in says)
    ]
    return Waiting(*(open_.count(how) for how in ("tied", "unsure", "single", "majority")))


def _by_judgment(sample: Sample, labels: Iterable[Label]) -> dict[str, list[Label]]:
    known = {each.judgment for each in sample.hidden.drawn}
    found: dict[str, list[Label]] = {}
    seen: set[tuple[str, str]] = set()
    for label in labels:
        if label.judgment not in known:
            raise ReviewError(
                f"{label.rater} labels {label.judgment!r}, which is not in this sample",
                hint="labels belong to the sample that they were given for",
            )
        who = "" if label.adjudicated else label.rater
        if (who, label.judgment) in seen:
            raise ReviewError(
                f"{label.judgment} was adjudicated twice"
                if label.adjudicated
                else f"{label.rater} labels {label.judgment} twice"
            )
        seen.add((who, label.judgment))
        found.setdefault(label.judgment, []).append(label)
    return found


def _settled(labels: Sequence[Label]) -> _Truth:
    for label in labels:
        if label.adjudicated:
            sure = label.says is not Reading.unsure
            present = label.says is Reading.present if sure else None
            return _Truth(present, "adjudicated" if sure else "unsure")
    there, absent = (
        sum(label.says is reading for label in labels)
        for reading in (Reading.present, Reading.absent)
    )
    if there == absent:
        return _Truth(None, "tied" if there else "unsure")
    return _Truth(there > absent, "single" if there + absent == 1 else "majority")


@dataclass(frozen=True)
class _Audit:
    """A sample with what people said of it."""

    sample: Sample
    given: Mapping[str, Sequence[Label]]
    truths: Mapping[str, _Truth]

    @cached_property
    def settled(self) -> list[tuple[Drawn, bool]]:
        """The judgments that have a truth, with it."""
        return [
            (each, present)
            for each in self.sample.hidden.drawn
            if each.judgment in self.truths
            and (present := self.truths[each.judgment].present) is not None
        ]

    @cached_property
    def read(self) -> Counter[int]:
        """Stratum → how many of its judgments have a truth."""
        return Counter(each.stratum for each, _ in self.settled)

    def counts(self) -> Agreement:
        """As drawn."""
        strata = self.sample.hidden.strata
        pairs = Counter((truth, strata[each.stratum].present) for each, truth in self.settled)
        return Agreement(
            found=pairs[True, True],
            missed=pairs[True, False],
            invented=pairs[False, True],
            cleared=pairs[False, False],
            unresolved=0,
        )

    def measured(self, of: Callable[[Stratum], bool], *, one_system: bool = False) -> Measured:
        """The grader against people, over the strata that are asked for."""
        strata = self.sample.hidden.strata
        chosen = [k for k, stratum in enumerate(strata) if of(stratum)]
        rows = [(each, truth) for each, truth in self.settled if of(strata[each.stratum])]
        weights = self._weights(chosen, one_system=one_system)
        if isinstance(weights, str):
            return Measured.unknown(len(rows), sum(truth for _, truth in rows), weights)
        ways = [(True, True), (True, False), (False, True), (False, False)]
        read = np.eye(4)[
            [ways.index((truth, strata[each.stratum].present)) for each, truth in rows]
        ]
        heavy = read * np.array([weights[each.stratum] for each, _ in rows])[:, np.newaxis]
        names = [each.scenario for each, _ in rows]
        return Measured.weighted(by_cluster(heavy, names), by_cluster(read, names))

    def _weights(self, chosen: Sequence[int], *, one_system: bool) -> dict[int, float] | str:
        """Stratum → what each judgment of it with a truth stands for; or why nothing can."""
        weights, lacking = self._stand_for(chosen, self.read, one_system=one_system)
        if lacking:
            return self._lacks(lacking, "people settled none", one_system=one_system)
        return weights if weights else "there is no such judgment in the sample"

    def _lacks(
        self, lacking: Sequence[Sequence[int]], none_read: str, *, one_system: bool = False
    ) -> str:
        """Why numbers are unknown: the first kind of judgment of which none was read."""
        strata = self.sample.hidden.strata
        one, all_of = strata[lacking[0][0]], sum(strata[k].of for k in lacking[0])
        verdict = "found" if one.present else "called absent"
        whose = f" of {one.system}" if one_system else ""
        return (
            f"of {all_of:,} {one.rubric} judgments{whose} on {signed(one.points)} items that the "
            f"grader {verdict}, {none_read}"
        )

    def _stand_for(
        self, chosen: Sequence[int], read: Mapping[int, int], *, one_system: bool
    ) -> tuple[dict[int, float], list[list[int]]]:
        """What each judgment read stands for, by stratum; and the strata that none stands for.

        Args:
            chosen: Strata to stand for.
            read: Stratum → how many of its judgments were read.
            one_system: Whether a stratum of which none was read has no other to stand for it; else
                those of its kind do.

        Returns:
            Stratum → weight, of those that were read; and the others, by kind.
        """
        strata = self.sample.hidden.strata
        by_kind: dict[object, list[int]] = {}
        for k in chosen:
            by_kind.setdefault(k if one_system else strata[k].kind, []).append(k)
        weights: dict[int, float] = {}
        lacking: list[list[int]] = []
        for places in by_kind.values():
            known = [k for k in places if read.get(k)]
            if not known:
                lacking.append(places)
                continue
            # a stratum of which nothing was read is taken to be as the others of its kind
            stretch = sum(strata[k].of for k in places) / sum(strata[k].of for k in known)
            weights |= {k: stretch * strata[k].of / read[k] for k in known}
        return weights, lacking

    @cached_property
    def read_twice(self) -> list[tuple[Drawn, list[bool]]]:
        """The judgments that two raters or more are sure of, with what each says, by name."""
        twice = []
        for each in self.sample.hidden.drawn:
            sure = sorted(
                (label.rater, label.says is Reading.present)
                for label in self.given.get(each.judgment, ())
                if not label.adjudicated and label.says is not Reading.unsure
            )
            if len(sure) >= 2:
                twice.append((each, [present for _, present in sure]))
        return twice

    def agreement_by_points(
        self, classes: Sequence[PointClass]
    ) -> dict[PointClass, ClassAgreement]:
        """How far the grader agrees with people on each point class."""
        strata = self.sample.hidden.strata
        rows = [(each, [truth, strata[each.stratum].present]) for each, truth in self.settled]
        return self._agreement(classes, rows, "people settled none")

    def people_by_points(self, classes: Sequence[PointClass]) -> dict[PointClass, ClassAgreement]:
        """How far raters agree with each other on each point class."""
        return self._agreement(classes, self.read_twice, "no two raters labelled any")

    def _agreement(
        self,
        classes: Sequence[PointClass],
        rows: Sequence[tuple[Drawn, Sequence[bool]]],
        none_read: str,
    ) -> dict[PointClass, ClassAgreement]:
        """The agreement of two readings or more of each judgment, on each point class.

        Args:
            classes: Of the sample.
            rows: Judgments with what each reading says.
            none_read: Why a class is unknown where none of a kind of its judgments is among them.
        """
        strata = self.sample.hidden.strata
        read = Counter(each.stratum for each, _ in rows)
        weights: dict[int, float] = {}
        unknown: dict[PointClass, str] = {}
        for key in classes:
            chosen = [k for k, s in enumerate(strata) if (s.rubric, s.points) == key]
            known, lacking = self._stand_for(chosen, read, one_system=False)
            weights |= known
            if lacking:
                unknown[key] = self._lacks(lacking, none_read)
        width = max((len(readings) for _, readings in rows), default=2)
        verdicts = np.full((len(rows), width), np.nan)
        for row, (_, readings) in enumerate(rows):
            verdicts[row, : len(readings)] = readings
        return class_agreement(
            [(strata[each.stratum].rubric, strata[each.stratum].points) for each, _ in rows],
            verdicts,
            [each.scenario for each, _ in rows],
            weights=np.array([weights.get(each.stratum, 1) for each, _ in rows]),
            unknown=unknown,
        )

    def people(self, of: Callable[[Stratum], bool]) -> People:
        """Raters against each other, over the strata that are asked for."""
        strata = self.sample.hidden.strata
        ways = [(True, True), (True, False), (False, True), (False, False)]
        rows, drawn = [], []
        for each, readings in self.read_twice:
            if of(strata[each.stratum]):
                pairs = list(combinations(readings, 2))
                rows.append([pairs.count(way) / len(pairs) for way in ways])
                drawn.append(each)
        chosen = [k for k, stratum in enumerate(strata) if of(stratum)]
        read = Counter(each.stratum for each in drawn)
        weights, lacking = self._stand_for(chosen, read, one_system=False)
        n_left_out = sum(strata[k].of for places in lacking for k in places)
        if not rows:
            unknown = Estimate.unknown("no judgment was labelled by two raters")
            return People(0, n_left_out, unknown, unknown)
        heavy = np.array(rows) * np.array([weights[each.stratum] for each in drawn])[:, np.newaxis]
        cells = by_cluster(heavy, [each.scenario for each in drawn])
        either_way = cells.copy()
        either_way[:, 1] = either_way[:, 2] = cells[:, 1:3].sum(axis=1) / 2
        scale = len(rows) / cells.sum()  # weights that come of so many judgments and no more
        return People(
            n=len(rows),
            n_left_out=n_left_out,
            same=_estimated(
                lambda: Confusion(*cells.sum(axis=0).tolist()).accuracy,
                lambda: rate_interval(
                    cells[:, [0, 3]].sum(axis=1) * scale,
                    cells.sum(axis=1) * scale,
                    most_a_family=np.inf,
                ),
            ),
            macro_f1=_estimated(
                lambda: Confusion(*either_way.sum(axis=0).tolist()).macro_f1,
                lambda: measure_interval(either_way, Measure.macro_f1),
            ),
        )

    def scores(self, system: str) -> Iterator[tuple[Rubric, Corrected]]:
        """A system's score on each rubric, as the grader has it and as people correct it."""
        for rubric in Rubric:
            rows = [
                row
                for row in self.sample.hidden.graded
                if (row.system, row.rubric) == (system, rubric)
            ]
            if rows:
                yield rubric, self._score(system, rubric, rows)

    def _score(self, system: str, rubric: Rubric, rows: Sequence[Graded]) -> Corrected:
        strata = self.sample.hidden.strata
        chosen = [k for k, s in enumerate(strata) if (s.system, s.rubric) == (system, rubric)]
        read = [
            (each, truth) for each, truth in self.settled if each.whole and each.stratum in chosen
        ]
        n_responses = len({each.response for each, _ in read})
        alone = _alone(rows)
        weights = self._weights(chosen, one_system=True)
        reason = ""
        if isinstance(weights, str):
            reason = weights
        elif n_responses < MIN_AUDITED:
            reason = f"people read {n_responses} of its responses, fewer than {MIN_AUDITED}"
        if reason or isinstance(weights, str):
            return Corrected(alone, Estimate.unknown(reason), n_responses, len(read))
        try:
            score = _corrected(rows, [(each, t, strata[each.stratum]) for each, t in read], weights)
        except StatsError as error:
            score = Estimate.unknown(str(error))
        return Corrected(alone, score, n_responses, len(read))


def _corrected(
    rows: Sequence[Graded],
    read: Sequence[tuple[Drawn, bool, Stratum]],
    weights: Mapping[int, float],
) -> Estimate:
    """A pooled score: a judgment gives its item's points, and its share of the maximum.

    So a response need not be read whole. Judgments of responses without words count as read: there
    is nothing in them to find.
    """
    row_of = {row.scenario: k for k, row in enumerate(rows)}
    width = max(row.n_responses * row.n_items for row in rows)
    by_grader, by_people, chances = (np.full((len(rows), width), np.nan) for _ in range(3))
    used = [0] * len(rows)
    for each, truth, stratum in read:
        k = row_of[each.scenario]
        at = (k, used[k])
        by_grader[at], by_people[at] = stratum.points * stratum.present, stratum.points * truth
        chances[at] = 1 / weights[each.stratum]
        used[k] += 1
    for k, row in enumerate(rows):
        silent = slice(used[k], used[k] + row.n_wordless * row.n_items)
        by_grader[k, silent] = by_people[k, silent] = 0
        chances[k, silent] = 1
        # what nobody read matters by its sum alone
        rest = slice(silent.stop, row.n_responses * row.n_items)
        left = row.points - np.nansum(by_grader[k, : silent.stop])
        if rest.stop > rest.start:
            by_grader[k, rest] = left / (rest.stop - rest.start)
    share = np.array([row.maximum / row.n_items for row in rows])
    found = prediction_powered(by_grader, by_people, inclusion=chances, maxima=share)
    found = found._replace(n_audited=len({each.scenario for each, _, _ in read}))
    return _estimated(lambda: found.value, lambda: found.interval)


def _estimated(value: Callable[[], float], interval: Callable[[], Interval]) -> Estimate:
    try:
        known = value()
    except StatsError as error:
        return Estimate.unknown(str(error))
    try:
        low, high = interval()
    except StatsError as error:
        return Estimate(known, known, known, None, str(error))
    return Estimate(known, known, known, (low, high))
