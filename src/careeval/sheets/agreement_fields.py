"""Fields of how far readings agree: a grader with the truth, and readers with each other."""

from __future__ import annotations

from careeval.results.trust.class_agreement import PointClass
from careeval.sheets.estimate_kinds import AGREEMENT_COEFFICIENT, AGREEMENT_SHARE
from careeval.sheets.kinds import COUNT, SHARE, SIGNED
from careeval.sheets.sheet import Field, Row

POINTS = Field("points", "-2 to 2: points of the items", SIGNED)

LABEL_COUNTS = (
    Field("n", "labelled judgments, unresolved ones included", COUNT),
    Field("found", "labelled present, judged present", COUNT),
    Field("missed", "labelled present, judged absent", COUNT),
    Field("invented", "labelled absent, judged present", COUNT),
    Field("cleared", "labelled absent, judged absent", COUNT),
    Field("unresolved", "not judged", COUNT),
)
"""Of `careeval.results.trust.probe_check.Agreement`."""

FINDS = Field(
    "sensitivity",
    "share found of what is there",
    AGREEMENT_SHARE,
    "Finds, of what is there",
    "finds",
)
CLEARS = Field(
    "specificity",
    "share cleared of what is not",
    AGREEMENT_SHARE,
    "Clears, of what is not",
    "clears",
)
MACRO_F1 = Field(
    "macro_f1",
    "mean of the F1 of present and that of absent",
    AGREEMENT_COEFFICIENT,
    "Macro F1",
    "macro F1",
)
ACCURACY = (
    Field("n", "judgments with a truth", COUNT, "Judgments", "n"),
    Field("n_present", "of n, those whose item is there", COUNT, "There"),
    Field("n_unresolved", "of n, those that it could not be brought to make", COUNT, "Not judged"),
    FINDS,
    Field("miss_rate", "share missed of what is there", AGREEMENT_SHARE, "Misses, of it", "misses"),
    CLEARS,
    Field(
        "ppv",
        "share that is there of what it finds",
        AGREEMENT_SHARE,
        "Right, of what it finds",
        "right of found",
    ),
    MACRO_F1,
)
"""Of `careeval.results.trust.grader_accuracy.Measured`: a grader against the truth."""

AGREEMENT = (
    Field("n", "judgments that both made", COUNT, "Judgments", "n"),
    Field("n_unresolved", "judgments that either could not be brought to make", COUNT),
    Field("n_both", "of n, those whose item both call present", COUNT, "Both"),
    Field("n_either", "of n, those whose item either calls present", COUNT, "Either"),
    Field(
        "positive_agreement", "of what one calls present, the share that both do", AGREEMENT_SHARE
    ),
    Field(
        "ac1",
        "Gwet's AC1: agreement on present and absent, beyond chance",
        AGREEMENT_COEFFICIENT,
        "AC1",
        "AC1",
    ),
)
"""Of `careeval.results.trust.class_agreement.ClassAgreement`."""

AGREEMENT_NOTE = (
    "Positive agreement: of what one calls present, the share that the other does too. AC1 counts "
    "agreement on what is absent as well, and takes chance away."
)

PEOPLE = (
    AGREEMENT[0],
    Field("n_left_out", "judgments of a kind of which no two people labelled any", COUNT),
    Field(
        "same", "share of judgments on which two people say the same", AGREEMENT_SHARE, "The same"
    ),
    MACRO_F1,
)
"""Of `careeval.results.trust.audit.sample_estimates.People`: people held against each other."""

PAIR_SLIPS = (
    Field("n", "probes of twins that hold one right act", COUNT),
    Field(
        "mistaken", "share of which a right act is judged otherwise than labelled", AGREEMENT_SHARE
    ),
    Field("swapped", "share judged to hold the other right act instead", AGREEMENT_SHARE),
)
"""Of `careeval.results.trust.probe_check.PairSlips`."""

CORRECTED_SCORE = Field(
    "corrected",
    "by the grader, and by people where they differ from it",
    AGREEMENT_SHARE,
    "Corrected by people",
)
CORRECTED = (
    Field(
        "graded",
        "by the grader, over public responses that it judged whole",
        SHARE,
        "As graded",
        "as graded %",
    ),
    CORRECTED_SCORE,
    Field("n_responses", "responses of which people settled anything", COUNT, "Responses read"),
    Field("n_judgments", "judgments in them that people settled", COUNT, "Judgments read"),
)
"""Of `careeval.results.trust.audit.corrected_score.Corrected`: a score as people correct it."""


def point_class(key: PointClass) -> Row:
    """Return which point class a row is of."""
    rubric, points = key
    return {"rubric": rubric.value, "points": points}


def class_name(key: PointClass) -> str:
    """Return what a point class is called: "actions −2"."""
    rubric, points = key
    return f"{rubric} {SIGNED.text(points)}"
