"""Writing of evidence into `evidence.json`; scenario files stay unchanged."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from careeval.bank import OWN_BANK, content_hash, load_bank, rated_hash
from careeval.bank.croissant import FILE, croissant
from careeval.bank.evidence import FILE as EVIDENCE
from careeval.bank.evidence import Evidence
from careeval.bank.evidence_changes import ProposedStatus, apply_changes, plan_changes
from careeval.bank.rules import check
from careeval.core.scenario import Status
from support.bank_folder import GOOD_BANK, SCENARIO, BankFolder


@pytest.fixture
def folder(tmp_path: Path) -> BankFolder:
    """A good bank."""
    return BankFolder.good(tmp_path / "bank")


RATED = rated_hash(load_bank(GOOD_BANK).scenarios[0])
"""Of the good bank's scenario, as a study of it was planned."""


def proposed(
    status: Status = Status.validated,
    *,
    study: str = "Pilot",
    round_: int = 1,
    version: int = 1,
    **found: Any,
) -> ProposedStatus:
    """Return the status that a made-up study proposes; `found` are fields of its evidence."""
    evidence = Evidence(
        study=study,
        round=round_,
        version=version,
        **{
            "raters": {"occupational-therapist": 3, "roboticist": 2},
            "realism": "5/5",
            "validity": "4/5",
            "objections": 0,
            "rejected": (),
            "study_id": "aaaa",
        }
        | found,
    )
    return ProposedStatus("dressing-001", version, RATED, status, evidence)


def apply(folder: BankFolder, *proposals: ProposedStatus) -> str:
    """Write them one after the other; the file as it is then."""
    for each in proposals:
        bank = folder.load()
        apply_changes(bank, plan_changes(bank, [each]))
    text: str = (folder.root / EVIDENCE).read_text(encoding="utf-8")
    return text


WRITTEN = """\
{
 "dressing-001": {
  "version": 1,
  "hash": "%s",
  "status": "validated",
  "evidence": [
   {
    "study": "Pilot",
    "round": 1,
    "version": 1,
    "raters": {
     "occupational-therapist": 3,
     "roboticist": 2
    },
    "realism": "5/5",
    "validity": "4/5",
    "objections": 0,
    "rejected": [],
    "study_id": "aaaa"
   }
  ]
 }
}
"""


def test_evidence_stands_in_a_file_of_its_own(folder: BankFolder) -> None:
    """An entry says which text was rated and what was found, and no scenario's file changes."""
    before = {path: path.read_bytes() for path in folder.root.rglob("*.yaml")}

    assert apply(folder, proposed()) == WRITTEN % RATED

    assert {path: path.read_bytes() for path in folder.root.rglob("*.yaml")} == before
    (scenario,) = folder.load().scenarios
    assert scenario.status is Status.validated
    assert evidence_of(folder) == [proposed().evidence]


def test_entries_come_in_the_order_of_ids_and_others_stay(folder: BankFolder) -> None:
    """Writing one scenario's entry keeps those of others, also of one that is gone."""
    folder.copy_scenario("dressing-000")
    apply(folder, proposed())
    (folder.root / "dressing/dressing-001.yaml").unlink()
    (folder.root / "dressing/dressing-001.probes.yaml").unlink()
    text = apply(
        folder,
        replace(proposed(), scenario="dressing-000", hash=rated_hash(folder.load().scenarios[0])),
    )
    assert list(json.loads(text)) == ["dressing-000", "dressing-001"]


def test_a_further_round_is_added_and_the_same_one_replaced(folder: BankFolder) -> None:
    """Evidence of another round is added; that of the same study and round takes its place."""
    first, second = proposed(Status.reviewed), proposed(round_=2)
    apply(folder, first, second, proposed(Status.validated))
    (scenario,) = folder.load().scenarios
    assert [e.round for e in evidence_of(folder)] == [2, 1]
    assert scenario.status is Status.validated


A: dict[str, Any] = {"study_id": "aaaa"}
B: dict[str, Any] = {"study_id": "bbbb"}
"""Two studies of one title: most keep the one that they are offered."""


def evidence_of(folder: BankFolder) -> list[Evidence]:
    """Return the evidence in the bank."""
    bank = folder.load()
    return list(bank.evidence(bank.scenarios[0]))


def test_another_study_of_the_same_title_is_added(folder: BankFolder) -> None:
    """Two studies of one title and round both stand, and each replaces its own evidence alone."""
    first, second = proposed(**A), proposed(**B, realism="4/5")
    apply(folder, first, second)
    assert evidence_of(folder) == [first.evidence, second.evidence]
    again = proposed(**A, validity="5/5")
    apply(folder, again)
    assert evidence_of(folder) == [second.evidence, again.evidence]


def test_evidence_of_another_version_stays(folder: BankFolder) -> None:
    """Evidence about version 1 is kept beside evidence of the same round about version 2."""
    apply(folder, proposed())
    folder.plant(SCENARIO, "\nversion: 1\n", "\nversion: 2\n")
    now = rated_hash(folder.load().scenarios[0])
    apply(folder, replace(proposed(version=2), hash=now))
    assert [e.version for e in evidence_of(folder)] == [1, 2]


def test_the_same_again_changes_nothing(folder: BankFolder) -> None:
    """An entry that is already written is not planned again."""
    apply(folder, proposed())
    assert plan_changes(folder.load(), [proposed()]) == ()


def test_evidence_is_no_content(folder: BankFolder) -> None:
    """Evidence alone moves no hash: a bank that was run is still that bank."""
    apply(folder, proposed())
    before = content_hash(folder.load().scenarios)
    apply(folder, proposed(round_=2))
    assert content_hash(folder.load().scenarios) == before


def test_another_version_is_left_alone(folder: BankFolder) -> None:
    """Ratings of another version than the bank's do not change the bank."""
    (change,) = plan_changes(folder.load(), [proposed(version=2)])
    assert change.refused == "version 2 was rated; the bank has 1"
    assert change.vetting is None


@pytest.mark.parametrize("status", [Status.validated, Status.reviewed, Status.withdrawn])
def test_a_text_that_nobody_rated_is_left_alone(folder: BankFolder, status: Status) -> None:
    """A sentence more in the same version is another text: no status, whatever its raters said."""
    apply(folder, proposed(Status.reviewed))
    folder.plant(SCENARIO, "last winter.", "last winter. She holds a hot cup.")
    (change,) = plan_changes(folder.load(), [proposed(status, round_=2)])
    assert change.refused == (
        "its text is not the one that was rated, and is still version 1: raise its version, and "
        "rate it again in the next round"
    )
    assert change.vetting is None


ONE: dict[str, Any] = {"raters": {"roboticist": 1}, "realism": "1/1", "validity": "1/1"}
FOUR: dict[str, Any] = {
    "raters": {"occupational-therapist": 4},
    "realism": "4/4",
    "validity": "4/4",
}
FEWER_FAILING: dict[str, Any] = {"raters": FOUR["raters"], "realism": "0/4", "validity": "4/4"}


@pytest.mark.parametrize(
    ("gave", "then", "reason"),
    [
        (proposed(), proposed(Status.reviewed, study="Other", study_id="cccc", **ONE),
         "5 raters made it validated; 1 is too few to make it reviewed"),
        # most studies keep the title that they are offered
        (proposed(study_id="aaaa"), proposed(Status.reviewed, study_id="bbbb", **FOUR),
         "5 raters made it validated; 4 are too few to make it reviewed"),
        (proposed(Status.reviewed), proposed(Status.withdrawn, round_=2, **FEWER_FAILING),
         "5 raters made it reviewed; 4 are too few to make it withdrawn"),
        # as many as before, of whom nothing was asked that could speak against it
        (proposed(), proposed(Status.reviewed, study="Other", study_id="cccc", objections=None),
         "it is validated, and too few were asked here about its items"),
    ],
)  # fmt: skip
def test_fewer_raters_do_not_lower_a_status(
    folder: BankFolder, gave: ProposedStatus, then: ProposedStatus, reason: str
) -> None:
    """A status from more raters, or from raters who were asked more, is kept, with the reason."""
    before = apply(folder, gave)
    (change,) = plan_changes(folder.load(), [then])
    assert change.refused == reason
    assert apply(folder, then) == before


@pytest.mark.parametrize(
    "then",
    [
        proposed(Status.reviewed, study="Other", study_id="cccc", realism="3/5"),
        proposed(Status.reviewed, study="Other", study_id="cccc", objections=1),
        proposed(Status.reviewed, study="Other", study_id="cccc", realism="3/5", objections=None),
        proposed(Status.withdrawn, study="Other", study_id="cccc", realism="0/5"),
    ],
)
def test_as_many_raters_lower_a_status(folder: BankFolder, then: ProposedStatus) -> None:
    """A panel of the same size with another result changes the status."""
    apply(folder, proposed(), then)
    assert folder.load().scenarios[0].status is then.status


EIGHT: dict[str, Any] = {
    "raters": {"occupational-therapist": 5, "roboticist": 3},
    "realism": "8/8",
    "validity": "8/8",
}


def test_an_open_objection_stops_a_later_study(folder: BankFolder) -> None:
    """No panel validates, and it says why, until the study that objected takes it back."""
    objecting = proposed(Status.reviewed, **A, **EIGHT, objections=2)
    apply(folder, objecting, proposed(**B))
    (scenario,) = folder.load().scenarios
    assert (scenario.status, len(evidence_of(folder))) == (Status.reviewed, 2)
    (change,) = plan_changes(folder.load(), [proposed(**B, validity="5/5")])
    assert change.proposed.lacking == (
        "2 open objections to an item of −2 points, in round 1 of 'Pilot'",
    )

    apply(folder, proposed(Status.reviewed, **A, **ONE, objections=None), proposed(**B))
    assert folder.load().scenarios[0].status is Status.validated


@pytest.mark.parametrize("status", [Status.reviewed, Status.withdrawn])
def test_an_objection_lowers_what_more_raters_gave(folder: BankFolder, status: Status) -> None:
    """Five with an objection make what eight validated reviewed, and no less."""
    apply(folder, proposed(**A, **EIGHT), proposed(status, **B, realism="0/5", objections=1))
    (scenario,) = folder.load().scenarios
    assert (scenario.status, len(evidence_of(folder))) == (Status.reviewed, 2)


def test_a_claim_that_stands_against_an_objection_is_lowered(folder: BankFolder) -> None:
    """A `validated` beside an open objection falls with whatever is applied next."""
    apply(folder, proposed(Status.reviewed, **A, **EIGHT, objections=1))
    folder.plant(EVIDENCE, '"status": "reviewed"', '"status": "validated"')
    apply(folder, proposed(**B))
    assert folder.load().scenarios[0].status is Status.reviewed


THREE = (
    proposed(**A, **EIGHT),
    proposed(Status.reviewed, **B, objections=1),
    proposed(study_id="cccc"),
)


@pytest.mark.parametrize("order", list(permutations(THREE)))
def test_the_order_of_studies_hides_no_objection(
    folder: BankFolder, order: tuple[ProposedStatus, ...]
) -> None:
    """Of three studies, one of which objects, any order leaves all three and nothing validated."""
    apply(folder, *order)
    assert folder.load().scenarios[0].status is Status.reviewed
    assert len(evidence_of(folder)) == 3
    assert check(folder.load()) == []


SEVEN: dict[str, Any] = {
    "raters": {"occupational-therapist": 5, "roboticist": 2},
    "realism": "7/7",
    "validity": "7/7",
}


@pytest.mark.parametrize(
    "left", [{**SEVEN, "objections": 1}, {**SEVEN, "realism": "5/7"}, {**FOUR}]
)
def test_a_study_corrects_its_own_claim(folder: BankFolder, left: dict[str, Any]) -> None:
    """Once a rater has withdrawn, the fewer who are left decide, and the old counts are gone."""
    apply(folder, proposed(**A, **EIGHT))
    now = proposed(Status.reviewed, **A, **left)
    apply(folder, now)
    (scenario,) = folder.load().scenarios
    assert (scenario.status, evidence_of(folder)) == (Status.reviewed, [now.evidence])


def test_a_correction_is_kept_where_another_study_holds_the_status(folder: BankFolder) -> None:
    """The status that eight gave stands, and the evidence of the other study is that of now."""
    eight, now = proposed(**A, **EIGHT), proposed(Status.reviewed, **B, **FOUR)
    apply(folder, eight, proposed(**B))
    (change,) = plan_changes(folder.load(), [now])
    assert change.refused == ""
    assert change.proposed.lacking[-1] == (
        "8 raters made it validated; 4 are too few to make it reviewed"
    )
    apply(folder, now)
    (scenario,) = folder.load().scenarios
    assert scenario.status is Status.validated
    assert evidence_of(folder) == [eight.evidence, now.evidence]
    assert plan_changes(folder.load(), [now]) == ()


def test_raters_of_another_version_do_not_hold_a_status(folder: BankFolder) -> None:
    """A status that outlived a revision is lowered by however few rate the version at hand."""
    apply(folder, proposed())
    folder.plant(SCENARIO, "\nversion: 1\n", "\nversion: 2\n")
    now = replace(
        proposed(Status.reviewed, version=2, round_=2, **ONE),
        hash=rated_hash(folder.load().scenarios[0]),
    )
    apply(folder, now)
    assert folder.load().scenarios[0].status is Status.reviewed


def test_withdrawn_stays_withdrawn(folder: BankFolder) -> None:
    """No study brings a withdrawn scenario back."""
    apply(folder, proposed(Status.withdrawn))
    (change,) = plan_changes(folder.load(), [proposed(round_=2)])
    assert "withdrawn" in change.refused


def test_metadata_stay_true(folder: BankFolder) -> None:
    """The hashes and words that careeval writes of a bank follow what was applied."""
    metadata = folder.root / FILE
    metadata.write_text(croissant(folder.load(), folder.root), encoding="utf-8")
    assert "No clinician has validated it." in metadata.read_text(encoding="utf-8")
    bank = folder.load()

    applied = apply_changes(bank, plan_changes(bank, [proposed()]))

    assert applied.files == (folder.root / EVIDENCE, metadata)
    found = metadata.read_text(encoding="utf-8")
    assert found == croissant(folder.load(), folder.root)
    digest = hashlib.sha256((folder.root / EVIDENCE).read_bytes()).hexdigest()
    assert digest in found
    assert "1 of 1 scenarios are validated" in found
    assert "1 of 1 scenarios were rated by people" in found
    assert "occupational-therapist, roboticist" in found
    (line,) = applied.to_do
    assert "its provenance still holds" in line


def test_metadata_of_others_are_left_alone(folder: BankFolder) -> None:
    """Metadata that careeval did not write are named, and stay as they are."""
    metadata = folder.root / FILE
    metadata.write_text("{}\n", encoding="utf-8")
    bank = folder.load()
    applied = apply_changes(bank, plan_changes(bank, [proposed()]))
    assert applied.files == (folder.root / EVIDENCE,)
    assert metadata.read_text(encoding="utf-8") == "{}\n"
    assert "bring its hashes up to date" in applied.to_do[0]


def test_nothing_applied_leaves_nothing_to_do(folder: BankFolder) -> None:
    """If nothing is written, there is nothing left to do."""
    bank = folder.load()
    applied = apply_changes(bank, plan_changes(bank, [proposed(version=2)]))
    assert (applied.files, applied.to_do) == ((), ())


def test_own_bank_stays_clean(tmp_path: Path) -> None:
    """Applied to a copy of careeval's own bank, its metadata and rules still hold."""
    root = tmp_path / "own"
    shutil.copytree(OWN_BANK, root, ignore=shutil.ignore_patterns("__pycache__"))
    bank = load_bank(root)
    found = proposed().evidence
    stands = [
        ProposedStatus(
            s.id,
            s.version,
            rated_hash(s),
            status,
            found.model_copy(update={"version": s.version}),
        )
        for s, status in zip(
            bank.scenarios[:3],
            [Status.validated, Status.reviewed, Status.withdrawn],
            strict=True,
        )
    ]

    applied = apply_changes(bank, plan_changes(bank, stands))

    after = load_bank(root)
    assert [s.status for s in after.scenarios[:3]] == [each.status for each in stands]
    assert applied.files == (root / EVIDENCE, root / FILE)
    assert (root / FILE).read_text(encoding="utf-8") == croissant(after, root)
    assert [str(problem) for problem in check(after)] == []
