"""Tests of the document of a study, in every format, and of its kinds of values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from careeval.core.rating import Rater, Rating, Role, Scale, Subject
from careeval.people.study import documents as raters
from careeval.people.study import sheets as scenario_results
from careeval.people.study.decisions import RoleRatings
from careeval.people.study.documents import study_document
from careeval.people.study.results import StudyResults, study_results
from careeval.people.study.rounds import RoundAnswers, RoundRater
from careeval.people.study.sheets import AGREEMENT, OF_ROLE, SHARE_OF_RATERS
from careeval.sheets.data_files import csv_text
from careeval.sheets.kinds import FLAG, SIGNED, Form
from careeval.sheets.latex import latex
from careeval.sheets.markup import markdown
from careeval.sheets.sheet import Sheet
from careeval.stats.estimate import Estimate
from careeval.stats.validity import Endorsement

PANEL = [Rater(f"r0{n}", Role.occupational_therapist) for n in range(1, 6)]
REALISM = {"kept": [5] * 5, "dropped": [1, 1, 1, 4, 5], "revised": [4, 4, 4, 3, 3], "unrated": []}


def made_up() -> StudyResults:
    """A round of five therapists on four scenarios."""
    ratings = tuple(
        Rating(rater, Subject(name, 1, 1), scale, value)
        for name, values in REALISM.items()
        for scale in (Scale.realism, Scale.validity)
        for rater, value in zip(PANEL, values, strict=False)
    )
    seats = tuple(RoundRater(rater, tuple(REALISM), years=n) for n, rater in enumerate(PANEL))
    said = RoundAnswers(1, dict.fromkeys(REALISM, 1), seats, ratings, (), ())
    return study_results("[Pilot] \x1b[31m", "aaaa", "made-up", "1-A", [said])


def column(sheet: Sheet, key: str) -> list[object]:
    """Return the values of a field."""
    return [row.get(key) for row in sheet.rows]


def test_what_asks_for_work_stands_first() -> None:
    """Dropped scenarios come first, then revised, undecided and kept; counts have both cuts."""
    first = next(study_document(made_up()).views)
    cells = [first.cells(row) for row in first.sheet.rows]
    assert [(row[0], row[2]) for row in cells] == [
        ("dropped", "Drop"), ("revised", "Revise"), ("unrated", "Undecided"), ("kept", "Keep"),
    ]  # fmt: skip
    assert [row[4] for row in cells] == ["2/5 (2/5) 0.35", "3/5* (5/5) 0.65", "–", "5/5 (5/5) 1.00"]
    assert cells[1][3].startswith("realism: 3 of 5 gave 4 or 5, where 4 were needed; validity: 3")


def test_every_format_has_the_same_numbers() -> None:
    """Markdown and LaTeX have every table, and files of data the row of each scale."""
    found = made_up()
    document = study_document(found)
    captions = [view.title for view in document.views]
    assert len(captions) == 4
    for text in (markdown(document), latex(document)):
        for caption in captions:
            assert caption in text
        assert "3/5" in text
        assert "0.65" in text
    assert "\x1b" not in markdown(document)
    rows = document.data.data.frame.to_dicts()
    assert [(r["scenario"], r["scale"], r["k"], r["n"]) for r in rows[:2]] == [
        ("dropped", "realism", 2, 5), ("dropped", "validity", 2, 5),
    ]  # fmt: skip
    assert csv_text(document.data.data.frame).count("\n") == 1 + 2 * len(REALISM)


def test_what_is_unknown_is_null_with_its_reason() -> None:
    """A scenario that nobody rated has no count, share or decision in files, and says why."""
    found = made_up()
    (unrated, _) = [r for r in scenario_results.validity_sheet(found.latest).data.frame.to_dicts()
                    if r["scenario"] == "unrated"]  # fmt: skip
    known = {"round", "scenario", "version", "scale", "n_asked", "n", "reason"}
    known |= {f"n_{level}" for level in range(1, 6)}
    assert {name for name, value in unrated.items() if value is not None} == known
    assert unrated["reason"] == "nobody has rated it"
    decisions = scenario_results.decisions_sheet(found, found.latest).data.frame
    assert decisions["decision"].to_list() == ["drop", "keep", "revise", None]


def test_a_sentence_has_room_on_paper() -> None:
    """The column of reasons is as wide as a share of the line in LaTeX, and numbers are not."""
    assert r"\begin{tabular}{llp{.35\linewidth}rr}" in latex(study_document(made_up()))


def test_coefficients_in_a_row_each_are_those_of_the_table() -> None:
    """Every coefficient of the table has its own row, with its value, interval and reason."""
    found = made_up()
    wide, long = raters.agreement_sheet(found), raters.coefficients_sheet(found)
    assert column(long, "coefficient")[:5] == ["identical", "ac1", "ac2", "alpha", "icc"]
    assert column(long, "value")[:5] == [
        wide.rows[0][name].value for name in column(long, "coefficient")[:5]
    ]
    assert column(long, "reason")[4] == (
        "only 3 scenarios have anything that every rater rated; at least 5 are needed"
    )


def test_years_of_few_are_not_in_the_panel() -> None:
    """Five raters have the mean and the range of their years; two have a reason instead."""
    found = made_up()
    (row,) = raters.panel_roles_sheet(found).rows
    assert (row["years_mean"], row["years_fewest"], row["years_most"]) == (2, 0, 4)
    assert row["reason"] is None
    two = replace(found.panel[0], years=None)
    (row,) = raters.panel_roles_sheet(replace(found, panel=(two,))).rows
    assert "years_mean" not in row
    assert row["reason"] == "fewer than three of this role rated and said"


@pytest.mark.parametrize(
    ("low", "printed"), [(-1.0, "≤ −1"), (-1.25, "≤ −1"), (-0.5, "−0.50"), (0.25, "0.25")]
)
def test_an_end_that_is_cut_is_no_number(low: float, printed: str) -> None:
    """The end of an interval at −1 or below is printed as "≤ −1", and no other is."""
    estimate = Estimate(0.5, 0.5, 0.5, (low, 0.75))
    assert AGREEMENT.text(estimate) == f"0.50 [{printed}, 0.75]"
    assert AGREEMENT.lines(estimate) == (f"{printed} to 0.75",)
    assert AGREEMENT.text(estimate, Form.bare) == "0.50"


def test_a_count_of_raters_is_a_share_too() -> None:
    """Four of five is 4/5, or 0.80 with its exact interval."""
    share = Endorsement(4, 5)
    assert SHARE_OF_RATERS.text(share, Form.of_many) == "4/5"
    assert SHARE_OF_RATERS.text(share) == "0.80 [0.28, 0.99]"
    assert SHARE_OF_RATERS.store(share) == (0.8, *share.interval)


def test_of_few_of_a_role_the_ratings_stand_as_they_are() -> None:
    """Two caregivers have their ratings, three therapists an interval and what the rule says."""
    two = RoleRatings(Role.family_caregiver, (2, 5), Endorsement(1, 2), None)
    assert (OF_ROLE.text(two), OF_ROLE.lines(two)) == ("1/2", ("gave 2, 5", "lowest 2"))
    three = RoleRatings(Role.occupational_therapist, (4, 4, 5), Endorsement(3, 3), True)
    assert OF_ROLE.lines(three) == ("0.29 to 1.00", "passes alone")
    assert OF_ROLE.page_text(None) == "not rated"


def test_points_have_a_sign_and_flags_are_words() -> None:
    """Points are written with a minus that is one, and what is unknown with a dash."""
    assert [SIGNED.text(n) for n in (-2, 0, 2, None)] == ["−2", "0", "+2", "–"]
    assert [FLAG.text(flag) for flag in (True, False, None)] == ["yes", "no", "–"]
