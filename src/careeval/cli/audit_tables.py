"""How `careeval audit` prints: recall on −2 items first, several graders side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from careeval.core.grader import Grader
from careeval.core.scenario import Rubric
from careeval.core.text import counted, plain
from careeval.results.amounts import dollars, percent
from careeval.results.audit import MIN_AUDITED, AuditResults
from careeval.results.audit_sample import Sample
from careeval.results.class_agreement import ClassAgreement
from careeval.results.corrected import Corrected
from careeval.results.measured import Measured
from careeval.results.probes import LIMITS, POINT_CLASSES, Trial
from careeval.sheets.kinds import MEASURE, Form
from careeval.sheets.terminal import console, new_table, print_table
from careeval.sheets.words import CORRECTED
from careeval.stats import Estimate

_SEVERE_FIRST = sorted(POINT_CLASSES)
_MEASURES = ("finds", "clears", "macro F1")
_AGREEMENT = ("pos. agreement", "AC1")
_UNITS = (
    "finds, clears: % of what is there, and of what is not. Positive agreement: of what one calls "
    "present, the % that the other does too. In brackets 95% intervals, over scenarios like these."
)


def signed(points: int) -> str:
    """Points as they are read: +2, 0, −2."""
    return f"{points:+d}".replace("-", "−") if points else "0"


def print_trials(trials: Sequence[Trial]) -> None:
    """Graders on the probes: what they come to, then by points and by trap."""
    out = console()
    names = _names(trials)
    print_table(out, _overview(trials, names))
    classes = [(r, p) for p in _SEVERE_FIRST for r in Rubric]
    by_points = new_table(
        "by points of the item",
        ("points", "rubric", "grader"),
        ("n", "there", *_MEASURES, *_AGREEMENT),
    )
    for rubric, points in classes:
        for trial in trials:
            found = trial.agreement.measured_by_points.get((rubric, points))
            if found:
                by_points.add_row(
                    signed(points),
                    rubric.value,
                    names[trial.grader],
                    *_measures(found),
                    *_agreement(trial.agreement.agreement_by_points[rubric, points]),
                )
    print_table(out, by_points)
    by_trap = new_table("by trap", ("trap", "grader"), ("n", "there", *_MEASURES))
    for trap in sorted({trap for trial in trials for trap in trial.agreement.by_trap}):
        for trial in trials:
            found = trial.agreement.measured_by_trap.get(trap)
            if found:
                by_trap.add_row(Text(plain(trap)), names[trial.grader], *_measures(found))
    print_table(out, by_trap)
    _remark(out, [*_verdicts(trials), *_pairs(trials), _rule(), _UNITS])


def _overview(trials: Sequence[Trial], names: Mapping[str, Text]) -> Table:
    table = new_table(
        "On the bank's labelled probes",
        ("grader",),
        (
            "finds of −2",
            "clears of −2",
            *_MEASURES,
            "not judged",
            "cost",
            "time of calls",
            "probes",
        ),
    )
    for trial in trials:
        of = trial.agreement
        table.add_row(
            names[trial.grader],
            *(
                MEASURE.text(e, Form.whole)
                for e in (of.measured_severe.sensitivity, of.measured_severe.specificity)
            ),
            *_measures(of.measured)[2:],
            f"{of.overall.unresolved:,} of {of.overall.n:,}",
            dollars(trial.cost.value),
            seconds(trial.seconds),
            "failed" if of.failed else "passed",
        )
    return table


def seconds(amount: float | None) -> str:
    """Seconds as they are read; "unknown" where they are."""
    if amount is None:
        return "unknown"
    return f"{amount / 60:,.0f} min" if amount >= 120 else f"{amount:.1f} s"


def _verdicts(trials: Sequence[Trial]) -> Iterable[str]:
    for trial in trials:
        if trial.agreement.failed:
            yield f"{trial.grader} fails the probes: {'; '.join(trial.agreement.failed)}."
        else:
            yield f"{trial.grader} does not fail the probes."


def _pairs(trials: Sequence[Trial]) -> Iterable[str]:
    for trial in trials:
        if pairs := trial.agreement.pairs:
            yield (
                f"{trial.grader}, {pairs.n} probes of twins: mistaken "
                f"{MEASURE.text(pairs.mistaken, Form.whole)}%, one right act taken for the other "
                f"{MEASURE.text(pairs.swapped, Form.whole)}%."
            )


def _rule() -> str:
    asked = ", ".join(f"{limit.what} {limit.least:g}" for limit in LIMITS)
    return (
        f"A grader fails that reaches less, on either rubric, than {asked}; what it did not judge "
        "is taken for wrong. The rule is ours."
    )


def _measures(found: Measured) -> tuple[str, ...]:
    return (
        f"{found.n:,}",
        f"{found.n_present:,}",
        MEASURE.text(found.sensitivity, Form.whole),
        MEASURE.text(found.specificity, Form.whole),
        decimal(found.macro_f1),
    )


def _agreement(by_class: ClassAgreement) -> tuple[str, ...]:
    return MEASURE.text(by_class.positive_agreement, Form.whole), decimal(by_class.ac1)


def decimal(estimate: Estimate) -> str:
    """A number that is no share, with its interval; a dash where it is unknown."""
    if estimate.value is None:
        return "–"
    interval = estimate.ci95
    told = f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else ""
    return f"{estimate.value:.2f}{told}".replace("-", "−")


def print_sample(sample: Sample) -> None:
    """What was drawn, stratum by stratum over systems."""
    out = console()
    strata = sample.hidden.strata
    kinds = sorted({s.kind for s in strata}, key=lambda k: (k[1], k[0], not k[2]))
    table = new_table(
        # a title is read as markup, and this one holds no name
        "Drawn",
        ("points", "rubric", "the grader"),
        ("drawn", "of", "systems"),
    )
    for rubric, points, present in kinds:
        of = [s for s in strata if s.kind == (rubric, points, present)]
        table.add_row(
            signed(points),
            rubric.value,
            "found it" if present else "called it absent",
            f"{sum(s.n for s in of):,}",
            f"{sum(s.of for s in of):,}",
            str(len(of)),
        )
    print_table(out, table)
    hidden = sample.hidden
    left_out = "; ".join(f"{n:,} {reason}" for reason, n in hidden.left_out.items() if n)
    _remark(
        out,
        [
            f"{counted(len(hidden.drawn), 'judgment')} of {hidden.grader}, in "
            f"{counted(len(sample.shown), 'response')} to "
            f"{counted(len({each.scenario for each in hidden.drawn}), 'scenario')}.",
            *([f"Not to be drawn: {left_out}."] if left_out else []),
            *(f"Thin: {line}." for line in sample.thin()),
        ],
    )


def print_results(found: AuditResults) -> None:
    """A grader against people: what to beware of, what it comes to, and then the tables."""
    out = console()
    for line in _beware(found):
        out.print(Text(plain(f"  {line}"), style="bold"))
    out.print(Text(plain(f"  {found.grader}: {found.sentence()}\n")))
    main = new_table(
        "The grader against people",
        ("",),
        ("n", "there", "finds", "misses", "clears", "right of found", "macro F1", *_AGREEMENT),
    )
    main.add_row("−2 items", *_against(found.severe), "", "")
    main.add_row("all items", *_against(found.overall), "", "", end_section=True)
    by_severity = sorted(found.by_points, key=lambda key: key[1])
    for rubric, points in by_severity:
        main.add_row(
            f"{rubric} {signed(points)}",
            *_against(found.by_points[rubric, points]),
            *_agreement(found.agreement_by_points[rubric, points]),
        )
    print_table(out, main)
    people = new_table(
        "People against each other: the most that can be asked of a grader",
        ("",),
        ("n", "same %", "macro F1", *_AGREEMENT),
    )
    for name, between in (("−2 items", found.people_severe), ("all items", found.people)):
        people.add_row(
            name,
            f"{between.n:,}",
            MEASURE.text(between.same, Form.whole),
            decimal(between.macro_f1),
            "",
            "",
            end_section=between is found.people,
        )
    for rubric, points in by_severity:
        by_class = found.people_by_points[rubric, points]
        people.add_row(
            f"{rubric} {signed(points)}", f"{by_class.n:,}", "", "", *_agreement(by_class)
        )
    print_table(out, people)
    systems = new_table(
        "By system",
        ("system",),
        ("finds of −2", "clears of −2", "ladder %", "corrected", "actions %", "corrected"),
    )
    for system, of_system in found.by_system.items():
        scores = [of_system.scores.get(rubric) for rubric in Rubric]
        systems.add_row(
            Text(plain(system)),
            MEASURE.text(of_system.severe.sensitivity, Form.whole),
            MEASURE.text(of_system.severe.specificity, Form.whole),
            *(cell for score in scores for cell in _score(score)),
        )
    print_table(out, systems)
    _remark(out, [*_counted(found), *dict.fromkeys(_reasons(found)), CORRECTED, _UNITS])


def _beware(found: AuditResults) -> Iterable[str]:
    """Why the numbers are worth less than they seem."""
    if not found.n_labelled:
        yield "Nobody has labelled anything yet."
    if found.waiting.n:
        wait = counted(found.waiting.n, "judgment waits", "judgments wait")
        clear = (
            " Until then the grader is held against the clear cases alone, and looks better than "
            "it is."
        )
        yield (
            f"{wait} for somebody to adjudicate: {found.waiting.kinds()}."
            f"{clear if found.waiting.left_out else ''}"
        )
    if found.n_alone:
        rest = "rests" if found.n_alone == 1 else "rest"
        yield (
            f"{found.n_alone:,} of {found.n_settled:,} {rest} on one rater alone: two or more "
            "should read each."
        )
    if found.people.n and found.people.n_left_out:
        yield (
            f"People’s agreement leaves out {counted(found.people.n_left_out, 'judgment')}, of "
            "kinds of which no two raters labelled any."
        )


def _against(found: Measured) -> tuple[str, ...]:
    n, there, finds, clears, *rest = _measures(found)
    return (
        n,
        there,
        finds,
        percent(found.miss_rate.value),
        clears,
        MEASURE.text(found.ppv, Form.whole),
        *rest,
    )


def _score(score: Corrected | None) -> tuple[str, str]:
    if score is None:
        return "–", "–"
    return percent(score.graded), MEASURE.text(score.corrected, Form.whole)


def _counted(found: AuditResults) -> Iterable[str]:
    settled = f"; adjudicated by {', '.join(found.adjudicators)}" if found.adjudicators else ""
    if found.raters:
        yield f"Labelled by {', '.join(found.raters)}{settled}."
    yield (
        f"Labelled, of {counted(found.n_drawn, 'judgment')}: {found.n_labelled:,}; with a truth "
        f"{found.n_settled:,}, by adjudication {found.n_adjudicated:,}. Left out: "
        f"{found.n_tied:,} tied, {found.n_unsure:,} unsure."
    )
    yield (
        "Weighted back to all judgments by the chance of each to be drawn. Corrected scores take "
        "the grader's mean and what people say otherwise of what they read; a system needs "
        f"{MIN_AUDITED} responses of its own that people read."
    )


def _reasons(found: AuditResults) -> Iterable[str]:
    for what, of in (("−2 items", found.severe), ("all items", found.overall)):
        if of.sensitivity.reason:
            yield f"{what}: {of.sensitivity.reason}."
    for whose, classes in (
        ("", found.agreement_by_points),
        ("people with each other, ", found.people_by_points),
    ):
        for (rubric, points), by_class in classes.items():
            if by_class.positive_agreement.value is None:
                reason = by_class.positive_agreement.reason
                yield f"{whose}{rubric} {signed(points)}: {reason}."
    for system, of_system in found.by_system.items():
        for rubric, score in of_system.scores.items():
            if score.corrected.reason:
                yield f"{system}, {rubric} not corrected: {score.corrected.reason}."


def _names(trials: Sequence[Trial]) -> dict[str, Text]:
    """Graders → their names without mode and prompt, unless two would read the same."""
    short = {trial.grader: Grader.parse(trial.grader).model for trial in trials}
    alike = len(set(short.values())) < len(short)
    # Text, because a name that somebody chose is no markup
    return {whole: Text(plain(whole if alike else name)) for whole, name in short.items()}


def _remark(out: Console, lines: Iterable[str]) -> None:
    for line in lines:
        out.print(Text(plain(f"  {line}"), style="dim"))
