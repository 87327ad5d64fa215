"""Fields on how far graders and raters agree, and on scores corrected by people."""

from __future__ import annotations

from careeval.results.grader_accuracy import PointClass
from careeval.sheets.kinds import AGREEMENT_COEFFICIENT, AGREEMENT_SHARE, COUNT, SHARE, SIGNED
from careeval.sheets.sheet import Field, Row

POINTS = Field("points", "-2 to 2: points of the items", SIGNED)

LABEL_COUNTS = (
    Field("n", "labelled judgments, unresolved ones included", COUNT),
    Field("found", "labelled present, judged present", COUNT),
    Field("missed", "labelled present, judged absent", COUNT),
    Field("invented", "labelled absent, judged present", COUNT),
    Field("cleared", "labelled absent, judged absent", COUNT),
    Field("unresolved", "labelled, not judged", COUNT),
)
"""The counts of `careeval.results.probe_check.LabelCounts`."""

FINDS = Field(
    "sensitivity",
    "share of the present items that are judged present",
    AGREEMENT_SHARE,
    "Finds, of the present",
    "finds",
)
CLEARS = Field(
    "specificity",
    "share of the absent items that are judged absent",
    AGREEMENT_SHARE,
    "Clears, of the absent",
    "clears",
)
MACRO_F1 = Field(
    "macro_f1",
    "mean of the F1 of present items and the F1 of absent items",
    AGREEMENT_COEFFICIENT,
    "Macro F1",
    "macro F1",
)
ACCURACY = (
    Field("n", "judgments with a true label", COUNT, "Judgments", "n"),
    Field("n_present", "of n, judgments of items that are present", COUNT, "Present"),
    Field("n_unresolved", "of n, judgments that the grader failed to make", COUNT, "Not judged"),
    FINDS,
    Field(
        "miss_rate",
        "share of the present items that are not judged present",
        AGREEMENT_SHARE,
        "Misses, of the present",
        "misses",
    ),
    CLEARS,
    Field(
        "ppv",
        "share of the items judged present that are present",
        AGREEMENT_SHARE,
        "Right, of those it finds",
        "right of found",
    ),
    MACRO_F1,
)
"""The numbers of a grader against true labels, as in `careeval.results.grader_accuracy`."""

AGREEMENT = (
    Field("n", "judgments that both made", COUNT, "Judgments", "n"),
    Field("n_unresolved", "judgments that either failed to make", COUNT),
    Field("n_both", "of n, judgments whose item both call present", COUNT, "Both"),
    Field("n_either", "of n, judgments whose item either calls present", COUNT, "Either"),
    Field(
        "positive_agreement",
        "share of the items called present by one that the other calls present too",
        AGREEMENT_SHARE,
    ),
    Field(
        "ac1",
        "Gwet's AC1: agreement on present and absent, beyond chance",
        AGREEMENT_COEFFICIENT,
        "AC1",
        "AC1",
    ),
)
"""The numbers of `careeval.results.grader_accuracy.ClassAgreement`."""

AGREEMENT_NOTE = (
    "Positive agreement: of the items that one calls present, the share that the other calls "
    "present too. AC1 also counts agreement on absent items, and subtracts agreement by chance."
)

PEOPLE = (
    AGREEMENT[0],
    Field("n_left_out", "judgments of kinds of which no two people labelled any", COUNT),
    Field(
        "same",
        "share of judgments that two people label alike",
        AGREEMENT_SHARE,
        "Labelled alike",
        "the same",
    ),
    MACRO_F1,
)
"""The numbers of people against each other, as in `careeval.results.people_audit`."""

PAIR_SLIPS = (
    Field("n", "probes of twins that have one of the two right acts", COUNT),
    Field(
        "mistaken",
        "share in which a right act is judged otherwise than labelled",
        AGREEMENT_SHARE,
    ),
    Field("swapped", "share judged to have the other right act instead", AGREEMENT_SHARE),
)
"""The numbers of `careeval.results.probe_check.TwinPairErrors`."""

CORRECTED_SCORE = Field(
    "corrected",
    "score by the grader, corrected by the labels of people",
    AGREEMENT_SHARE,
    "Corrected by people",
)
CORRECTED = (
    Field(
        "graded",
        "score by the grader, over the public responses that it judged completely",
        SHARE,
        "As graded",
        "as graded %",
    ),
    CORRECTED_SCORE,
    Field("n_responses", "responses with a judgment that people settled", COUNT, "Responses read"),
    Field("n_judgments", "judgments that people settled", COUNT, "Judgments read"),
)
"""The numbers of `careeval.results.people_audit.CorrectedScore`."""


def point_class(key: PointClass) -> Row:
    """Return a point class (rubric and points of items) as a row with `rubric` and `points`."""
    rubric, points = key
    return {"rubric": rubric.value, "points": points}


def class_name(key: PointClass) -> str:
    """Return the name of a point class as text, such as "actions −2"."""
    rubric, points = key
    return f"{rubric} {SIGNED.text(points)}"
