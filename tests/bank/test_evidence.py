"""Reading of `evidence.json`: the text that an entry is about, and scenarios without an entry."""

from __future__ import annotations

import json
from pathlib import Path

import pyrage
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.bank import bank_folder, content_hash, load_bank, rated_hash
from careeval.bank.evidence import FILE, Vetting, evidence_text
from careeval.bank.evidence_changes import ProposedStatus, apply_changes, plan_changes
from careeval.bank.rules.check import check
from careeval.bank.sealed import pack, seal, unseal, write_open
from careeval.bank.yaml_nodes import parse_yaml
from careeval.core.scenario import Evidence, Scenario, Status
from support.bank_folder import SCENARIO, BankFolder, write_held_out

PASSED = Evidence(
    study="Pilot",
    round=1,
    version=1,
    raters={"occupational-therapist": 3, "roboticist": 2},
    realism="5/5",
    validity="4/5",
    objections=0,
    rejected=(),
    study_id="aaaa",
)

BEFORE_ITEMS = PASSED.model_copy(update={"rejected": None})
"""As an earlier version wrote it, which asked for no ratings of items."""

OBJECTED = PASSED.model_copy(update={"study_id": "bbbb", "objections": 1})

OLD_LINES = """\
status: validated  # by hand
evidence:
  - {study: "Pilot", round: 1, version: 1, raters: {"occupational-therapist": 3, \
"roboticist": 2}, realism: "5/5", validity: "4/5", objections: 0, study_id: "aaaa"}
"""
"""What `study apply` made of a scenario's `status: drafted  # by hand` before `evidence.json`."""

REVISED = ("\nversion: 1\n", "\nversion: 2\n")
REWORDED = ("last winter.", "last winter. She holds a hot cup.")


def scenario_of(folder: BankFolder) -> Scenario:
    """The only scenario."""
    (scenario,) = folder.load().scenarios
    return scenario


def standings_of(folder: BankFolder) -> tuple[Status, tuple[Evidence, ...]]:
    """The status and the evidence of the only scenario."""
    return scenario_of(folder).status, scenario_of(folder).evidence


def write_entry(folder: BankFolder, status: Status, *evidence: Evidence) -> None:
    """Write the entry of the only scenario as it is now."""
    scenario = scenario_of(folder)
    entry = Vetting(
        version=scenario.version, hash=rated_hash(scenario), status=status, evidence=evidence
    )
    text = evidence_text({scenario.id: entry})
    (folder.root / FILE).write_text(text, encoding="utf-8")


def apply(folder: BankFolder, status: Status, evidence: Evidence) -> None:
    """Apply a study of the only scenario as it is now; as the command does, without probes."""
    bank = load_bank(folder.root, probes=False)
    (scenario,) = bank.scenarios
    version = scenario.version
    evidence = evidence.model_copy(update={"version": version})
    stands = ProposedStatus(scenario.id, version, rated_hash(scenario), status, evidence)
    apply_changes(bank, plan_changes(bank, [stands]))


@pytest.fixture
def old(folder: BankFolder) -> BankFolder:
    """A bank as an earlier careeval wrote it: status and evidence in the scenario's file."""
    return folder.plant(SCENARIO, "status: drafted\n", OLD_LINES)


# Banks of earlier versions


def test_a_bank_of_an_earlier_version_means_what_it_meant(old: BankFolder) -> None:
    """Without `evidence.json`, status and evidence of a scenario's file stand.

    What is asked for since then is found lacking: raters rate the items too.
    """
    assert standings_of(old) == (Status.validated, (BEFORE_ITEMS,))
    (problem,) = check(old.load())
    assert "fewer than three rated the relevance of some item" in problem.message


def test_a_status_has_one_hash_wherever_it_stands(folder: BankFolder) -> None:
    """Runs compare as before: a status in either file gives one content hash, and moves it."""
    drafted = content_hash(folder.load().scenarios)
    write_entry(folder, Status.validated, PASSED)
    in_its_file = content_hash(folder.load().scenarios)
    (folder.root / FILE).unlink()
    folder.plant(SCENARIO, "status: drafted\n", OLD_LINES)
    assert in_its_file == content_hash(folder.load().scenarios) != drafted


def test_what_an_earlier_version_wrote_is_carried_over(old: BankFolder) -> None:
    """The next study writes the old evidence into the entry beside its own, and no YAML."""
    before = (old.root / SCENARIO).read_bytes()
    other = PASSED.model_copy(update={"study_id": "cccc"})
    apply(old, Status.validated, other)
    assert (old.root / SCENARIO).read_bytes() == before
    entry = json.loads((old.root / FILE).read_text(encoding="utf-8"))["dressing-001"]
    assert [each["study_id"] for each in entry["evidence"]] == ["aaaa", "cccc"]
    assert standings_of(old) == (Status.validated, (BEFORE_ITEMS, other))


def test_old_evidence_holds_a_status_as_it_did(old: BankFolder) -> None:
    """Fewer raters than an earlier version counted do not lower what it wrote."""
    few = PASSED.model_copy(
        update={"study_id": "cccc", "raters": {"roboticist": 1}, "realism": "1/1"}
    )
    apply(old, Status.reviewed, few)
    assert not (old.root / FILE).exists()
    assert standings_of(old) == (Status.validated, (BEFORE_ITEMS,))


def test_an_entry_comes_before_the_file_of_its_scenario(old: BankFolder) -> None:
    """A study that takes its claim back lowers it, though the YAML still makes it."""
    now = PASSED.model_copy(update={"realism": "3/5"})
    apply(old, Status.reviewed, now)
    assert standings_of(old) == (Status.reviewed, (now,))
    assert check(old.load()) == []


def test_an_objection_outlives_a_change_of_text_over_an_old_claim(old: BankFolder) -> None:
    """No status rises because a text was changed, whatever an earlier version wrote of it."""
    apply(old, Status.reviewed, OBJECTED)
    old.plant(SCENARIO, *REWORDED)
    assert standings_of(old)[0] is Status.reviewed
    apply(old, Status.validated, PASSED.model_copy(update={"study_id": "cccc"}))
    status, evidence = standings_of(old)
    assert status is Status.reviewed
    assert [each.study_id for each in evidence] == ["bbbb", "cccc"]


def test_an_old_claim_that_outlived_a_revision_is_found(old: BankFolder) -> None:
    """CE127: a `validated` in a scenario's file is of the version that raters saw."""
    old.plant(SCENARIO, *REVISED)
    (problem,) = check(old.load())
    assert problem.message == "is validated, but raters saw version 1, not 2"
    assert problem.place == old.place(SCENARIO, "validated")


def test_what_an_earlier_version_wrote_of_a_later_revision_is_known(folder: BankFolder) -> None:
    """Evidence in a scenario's file of a version after the entry's is weighed with the rest."""
    write_entry(folder, Status.validated, PASSED)
    folder.plant(SCENARIO, *REVISED)
    lines = OLD_LINES.replace("version: 1", "version: 2").replace("objections: 0", "objections: 1")
    folder.plant(SCENARIO, "status: drafted\n", lines.replace("validated", "reviewed"))
    apply(folder, Status.validated, PASSED.model_copy(update={"study_id": "cccc"}))
    status, evidence = standings_of(folder)
    assert status is Status.reviewed
    assert [(each.study_id, each.version) for each in evidence] == [
        ("aaaa", 1), ("aaaa", 2), ("cccc", 2)
    ]  # fmt: skip


# Entries of another text


def test_a_status_is_of_the_text_that_was_rated(folder: BankFolder) -> None:
    """With a sentence more it falls, and CE127 says why; as it was rated, it stands again."""
    write_entry(folder, Status.validated, PASSED)
    folder.plant(SCENARIO, *REWORDED)
    assert standings_of(folder) == (Status.drafted, ())
    (problem,) = check(folder.load())
    assert problem.place == folder.place(SCENARIO, "1\nsplit")
    assert (problem.code, problem.message, problem.hint) == (
        "CE127",
        "its text is not the one that was rated, and is still version 1",
        "raise its version, and rate it again in the next round",
    )
    folder.plant(SCENARIO, *reversed(REWORDED))
    assert standings_of(folder) == (Status.validated, (PASSED,))
    assert check(folder.load()) == []


def test_a_revision_leaves_its_status_behind(folder: BankFolder) -> None:
    """A version that nobody rated is drafted; rated, it has the evidence of both."""
    write_entry(folder, Status.validated, PASSED)
    folder.plant(SCENARIO, *REVISED)
    assert standings_of(folder) == (Status.drafted, ())
    assert check(folder.load()) == []
    apply(folder, Status.reviewed, OBJECTED)
    status, evidence = standings_of(folder)
    assert (status, [each.version for each in evidence]) == (Status.reviewed, [1, 2])


def test_evidence_of_another_text_of_one_version_is_left_behind(folder: BankFolder) -> None:
    """Only an objection stays, which is open for as long as the version stands."""
    write_entry(folder, Status.reviewed, PASSED, OBJECTED)
    folder.plant(SCENARIO, *REWORDED)
    apply(folder, Status.validated, PASSED.model_copy(update={"study_id": "cccc"}))
    status, evidence = standings_of(folder)
    assert (status, [each.study_id for each in evidence]) == (Status.reviewed, ["bbbb", "cccc"])


@pytest.mark.parametrize("change", [REVISED, REWORDED])
def test_what_is_withdrawn_stays_withdrawn(folder: BankFolder, change: tuple[str, str]) -> None:
    """Neither another version nor other words bring a withdrawn scenario back."""
    write_entry(folder, Status.withdrawn, PASSED)
    folder.plant(SCENARIO, *change)
    assert scenario_of(folder).status is Status.withdrawn
    assert check(folder.load()) == []


def test_an_author_withdraws_what_raters_validated(folder: BankFolder) -> None:
    """`withdrawn` in a scenario's own file comes before its entry."""
    write_entry(folder, Status.validated, PASSED)
    folder.plant(SCENARIO, "status: drafted", "status: withdrawn")
    assert scenario_of(folder).status is Status.withdrawn


def test_a_twin_has_an_entry_of_its_own() -> None:
    """Evidence about a base is not evidence about its twin, which has another hash."""
    bank = load_bank(bank_folder("4"))
    twin = next(each for each in bank.scenarios if each.twin_of)
    base = bank.scenario(twin.twin_of or "")
    assert rated_hash(twin) != rated_hash(base)
    assert rated_hash(twin) == rated_hash(twin.model_copy(update={"status": Status.reviewed}))


# The file


def test_a_claim_that_somebody_typed_is_found(folder: BankFolder) -> None:
    """CE127: an entry whose evidence is not enough is found at its place in `evidence.json`."""
    write_entry(folder, Status.validated, PASSED.model_copy(update={"realism": "3/5"}))
    (problem,) = check(folder.load())
    assert problem.message.endswith("enough: realism: 3 of 5 gave 4 or 5; 4 were needed")
    assert problem.place == folder.place(FILE, '{\n    "study"')
    assert problem.hint.startswith("delete its entry")


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("[]", "[]", "the file: found a list, expected names with values"),
        ('{"dressing-001": {"version": 1}}', '{"version', "dressing-001.hash: is not there"),
        ('{"dressing-001": {"hash": "x"}}', '"x"', "dressing-001.hash: String should match"),
        ('{\n "a": 1,\n "a": 2}', '"a": 2', "key 'a' stands twice; first on line 2"),
        ('{"a": 1]', "]", "is not valid YAML"),
    ],
)
def test_what_is_wrong_with_it_is_told_with_its_place(
    folder: BankFolder, text: str, at: str, message: str
) -> None:
    """A problem of the file is reported as of any other file of the bank."""
    (folder.root / FILE).write_text(text, encoding="utf-8")
    problem = next(each for each in folder.problems() if message in each.message)
    place = folder.place(FILE, at)
    assert (problem.place.path, problem.place.line) == (place.path, place.line)


@given(study=st.text(min_size=1).filter(str.strip))
def test_any_title_is_read_back(study: str) -> None:
    """The file keeps any title of a study unchanged."""
    evidence = PASSED.model_copy(update={"study": study.strip()})
    entry = Vetting(version=1, hash="0" * 12, status=Status.reviewed, evidence=(evidence,))
    text = evidence_text({"dressing-001": entry})
    content = parse_yaml(text, FILE).content
    assert isinstance(content, dict)
    assert Vetting.model_validate(content["dressing-001"]) == entry
    assert Vetting.model_validate(json.loads(text)["dressing-001"]) == entry


def test_a_held_out_split_is_sealed_with_its_evidence(folder: BankFolder, tmp_path: Path) -> None:
    """Opened, rated and sealed again it has its status, of which the clear files tell nothing."""
    key = str(pyrage.x25519.Identity.generate())
    seal(pack(write_held_out(tmp_path / "apart")), folder.root, key)
    opened = BankFolder(tmp_path / "opened")
    write_open(unseal(folder.root, key), opened.root)
    (opened.root / "bank.yaml").write_bytes((folder.root / "bank.yaml").read_bytes())
    apply(opened, Status.reviewed, OBJECTED)
    seal(pack(opened.root), folder.root, key)

    assert load_bank(folder.root, key).scenario("dressing-h01").evidence == (OBJECTED,)
    write_entry(BankFolder(folder.root), Status.validated, PASSED)
    bank = load_bank(folder.root, key)
    assert [s.status for s in bank.scenarios] == [Status.validated, Status.reviewed]
    public = bank.scenarios[0]
    further = PASSED.model_copy(update={"study_id": "cccc"})
    stands = ProposedStatus(public.id, 1, rated_hash(public), Status.validated, further)
    apply_changes(bank, plan_changes(bank, [stands]))
    assert b"h01" not in (folder.root / FILE).read_bytes()
    assert check(load_bank(folder.root, key)) == []
