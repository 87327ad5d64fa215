"""What people who read the same answers say of a grader, and of the scores that it gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from careeval.core.grader import Grader
from careeval.report.site.agreements import (
    AGREEMENT,
    AGREEMENT_NOTE,
    POINT_CLASS,
    agreement,
    point_class,
)
from careeval.report.site.contents import Contents, Listed
from careeval.report.site.sheets import (
    Cell,
    Column,
    Sheet,
    amounts,
    estimate,
    estimates,
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


def corrected(site: Contents) -> Sheet:
    """Every score as people correct it; only a file."""
    known = [(e, score) for e in site.listed if (score := site.corrected(e)) is not None]
    return Sheet(
        _NAME,
        _CAPTION,
        (Column("system", "System"), Column("grader", "Grader"), *_COLUMNS),
        tuple((words(e.name), words(e.summary.grader), *_cells(e, score)) for e, score in known),
        origins=tuple(e.provenance for e, _ in known),
    )


def corrected_of(listed: Listed, site: Contents) -> Sheet:
    """An entry's score as people correct it; no row without an audit of its grader."""
    score = site.corrected(listed)
    return Sheet(
        _NAME,
        f"{_CAPTION}, {listed.rubric.value}",
        _COLUMNS,
        () if score is None else (_cells(listed, score),),
        note=_note([listed], site),
        part="of all systems",
        sortable=False,
        classes="telling",
    )


def corrected_by(card: GraderCard, site: Contents) -> Iterator[Sheet]:
    """All scores that one grader gave, as people correct them; none without an audit."""
    entries = [listed for listed in site.listed if listed.summary.grader == card.grader]
    rows = tuple(
        (words(e.name, href=e.page), *_cells(e, score))
        for e in entries
        if (score := site.corrected(e)) is not None
    )
    if rows:
        yield Sheet(
            _NAME,
            f"Scores by {Grader.parse(card.grader).model}, corrected by people",
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
        f"{Grader.parse(card.grader).model} against people",
        (
            Column("over", "Over"),
            amounts("n", "Judgments"),
            amounts("present", "There"),
            estimates("sensitivity", "Finds", "of what is there"),
            estimates("specificity", "Clears", "of what is not"),
            estimates("ppv", "Right", "of what it finds"),
        ),
        tuple(
            (
                words(name),
                number(of.n),
                number(of.n_present),
                *(estimate(e) for e in (of.sensitivity, of.specificity, of.ppv)),
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
        ),
        tuple(
            (words(name), number(of.n), estimate(of.same))
            for name, of in (("−2 items", human.people_severe), ("all items", human.people))
        ),
        sortable=False,
    )
    for whose, classes in (
        (f"{Grader.parse(card.grader).model} and people", human.agreement_by_points),
        ("People and people", human.people_by_points),
    ):
        yield Sheet(
            "",
            f"{whose}, by points of the item",
            (*POINT_CLASS, *AGREEMENT),
            tuple((*point_class(key), *agreement(by_class)) for key, by_class in classes.items()),
            note=AGREEMENT_NOTE,
            sortable=False,
        )


def _cells(listed: Listed, of: Corrected) -> tuple[Cell, ...]:
    return (
        words(listed.rubric.value),
        score(of.graded),
        estimate(of.corrected),
        number(of.n_responses),
        number(of.n_judgments),
        words(of.sentence()),
    )
