"""Columns of agreement on one point class: two graders, a grader and people, people themselves."""

from __future__ import annotations

from careeval.report.site.sheets import (
    Cell,
    Column,
    amounts,
    coefficient,
    decimal,
    estimate,
    estimates,
    number,
    words,
)
from careeval.report.words import signed
from careeval.results.class_agreement import ClassAgreement, PointClass

POINT_CLASS = (Column("rubric", "Rubric"), amounts("points", "Points"))

AGREEMENT = (
    amounts("n", "Judgments", "that both made"),
    amounts("n_both", "Both", "call it present"),
    amounts("n_either", "Either", "calls it present"),
    estimates("positive_agreement", "Positive agreement", "95% interval"),
    estimates("ac1", "AC1", "95% interval"),
)

AGREEMENT_NOTE = (
    "Positive agreement: of what one calls present, the share that the other does too. AC1 counts "
    "agreement on what is absent as well, and takes chance away."
)


def point_class(key: PointClass) -> tuple[Cell, ...]:
    """The cells of `POINT_CLASS`."""
    rubric, points = key
    return words(rubric.value), decimal(points, signed(points))


def agreement(by_class: ClassAgreement) -> tuple[Cell, ...]:
    """The cells of `AGREEMENT`."""
    return (
        number(by_class.n),
        number(by_class.n_both),
        number(by_class.n_either),
        estimate(by_class.positive_agreement),
        coefficient(by_class.ac1),
    )
