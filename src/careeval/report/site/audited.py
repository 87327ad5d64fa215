"""What people who read the same answers say of a grader, and of the scores that it gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from careeval.core.scenario import Rubric
from careeval.report.site.contents import Contents, Listed, short
from careeval.report.site.sheets import (
    Cell,
    Column,
    Sheet,
    amounts,
    estimate,
    estimates,
    kappa,
    number,
    score,
    words,
)
from careeval.results.corrected import Corrected, as_graded
from careeval.results.grader_card import GraderCard

_NAME, _CAPTION = "corrected-scores", "Scores, corrected by people"

_COLUMNS = (
    Column("rubric", "Rubric"),
    amounts("graded", "As graded"),
    estimates("corrected", "Corrected", "by people, 95% interval"),
    amounts("n_responses", "Responses", "read by people"),
    amounts("n_judgments", "Judgments", "read by people"),
    Column("meaning", "What it means"),
)

_KAPPA = amounts("kappa", "Cohen’s kappa", parts=("", "low", "high", "unknown"))


def corrected(site: Contents) -> Sheet:
    """Every score as people correct it; only a file."""
    found = [
        (listed, rubric, of)
        for listed in site.listed
        for rubric, of in site.corrected(listed).items()
    ]
    return Sheet(
        _NAME,
        _CAPTION,
        (Column("system", "System"), Column("grader", "Grader"), *_COLUMNS),
        tuple(
            (words(listed.name), words(listed.summary.grader), *_cells(rubric, of))
            for listed, rubric, of in found
        ),
        origins=tuple(listed.provenance for listed, _, _ in found),
    )


def corrected_of(listed: Listed, site: Contents) -> Sheet:
    """An entry's scores as people correct them; no row without an audit of its grader."""
    return Sheet(
        _NAME,
        _CAPTION,
        _COLUMNS,
        tuple(_cells(rubric, of) for rubric, of in site.corrected(listed).items()),
        note=_note([listed], site),
        part="of all systems",
        sortable=False,
        classes="telling",
    )


def corrected_by(card: GraderCard, site: Contents) -> Iterator[Sheet]:
    """All scores that one grader gave, as people correct them; none without an audit."""
    entries = [listed for listed in site.listed if listed.summary.grader == card.grader]
    rows = tuple(
        (words(listed.name, href=listed.page), *_cells(rubric, of))
        for listed in entries
        for rubric, of in site.corrected(listed).items()
    )
    if rows:
        yield Sheet(
            _NAME,
            f"Scores by {short(card.grader)}, corrected by people",
            (Column("system", "System"), *_COLUMNS),
            rows,
            note=_note(entries, site),
            part="of all graders",
            classes="telling",
        )


def _note(entries: Sequence[Listed], site: Contents) -> str:
    return as_graded((listed.summary, site.corrected(listed)) for listed in entries)


def against_people(card: GraderCard) -> Iterator[Sheet]:
    """A grader against people, and people against each other; none without an audit."""
    human = card.human
    if human is None:
        return
    yield Sheet(
        "",
        f"{short(card.grader)} against people",
        (
            Column("over", "Over"),
            amounts("n", "Judgments"),
            amounts("present", "There"),
            estimates("sensitivity", "Finds", "of what is there"),
            estimates("specificity", "Clears", "of what is not"),
            estimates("ppv", "Right", "of what it finds"),
            _KAPPA,
        ),
        tuple(
            (
                words(name),
                number(of.n),
                number(of.n_present),
                *(estimate(e) for e in (of.sensitivity, of.specificity, of.ppv)),
                kappa(of.kappa),
            )
            for name, of in (("−2 items", human.severe), ("all items", human.overall))
        ),
        sortable=False,
    )
    yield Sheet(
        "",
        "People against each other: the most that can be asked of a grader",
        (
            Column("over", "Over"),
            amounts("n", "Judgments", "labelled by two or more"),
            estimates("same", "The same"),
            _KAPPA,
        ),
        tuple(
            (words(name), number(of.n), estimate(of.same), kappa(of.kappa))
            for name, of in (("−2 items", human.people_severe), ("all items", human.people))
        ),
        sortable=False,
    )


def _cells(rubric: Rubric, of: Corrected) -> tuple[Cell, ...]:
    return (
        words(rubric.value),
        score(of.graded),
        estimate(of.corrected),
        number(of.n_responses),
        number(of.n_judgments),
        words(of.sentence()),
    )
