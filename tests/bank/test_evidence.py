"""Reading of `evidence.json`: the text that an entry is about, and scenarios without an entry."""

from __future__ import annotations

import json
from pathlib import Path

import pyrage
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.bank import bank_folder, load_bank, rated_hash
from careeval.bank.evidence import FILE, Evidence, Vetting, evidence_text
from careeval.bank.evidence_changes import ProposedStatus, apply_changes, plan_changes
from careeval.bank.rules import check
from careeval.bank.sealed import pack, seal, unseal, write_open
from careeval.bank.yaml_nodes import parse_yaml
from careeval.core.scenario import Scenario, Status
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

OBJECTED = PASSED.model_copy(update={"study_id": "bbbb", "objections": 1})

REVISED = ("\nversion: 1\n", "\nversion: 2\n")
REWORDED = ("last winter.", "last winter. She holds a hot cup.")


def scenario_of(folder: BankFolder) -> Scenario:
    """The only scenario."""
    (scenario,) = folder.load().scenarios
    return scenario


def standings_of(folder: BankFolder) -> tuple[Status, tuple[Evidence, ...]]:
    """The status and the evidence of the only scenario."""
    bank = folder.load()
    (scenario,) = bank.scenarios
    return scenario.status, bank.evidence(scenario)


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


def test_a_file_of_a_scenario_has_no_evidence(folder: BankFolder) -> None:
    """Evidence is in `evidence.json` alone; a scenario's file with it is refused."""
    folder.plant(SCENARIO, "status: drafted\n", "status: validated\nevidence: []\n")
    (problem,) = folder.problems()
    assert problem.place == folder.place(SCENARIO, "evidence")


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


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"raters": {"occupational-therapist": 2, "roboticist": 2}},
         "2 of 3 occupational therapists"),
        ({"raters": {"occupational-therapist": 3, "roboticist": 1}}, "1 of 2 other stakeholders"),
        ({"raters": {"occupational-therapist": 3, "friend": 2}}, "0 of 2 other stakeholders"),
        ({"realism": "3/5"}, "realism: 3 of 5 gave 4 or 5; 4 were needed"),
        ({"validity": "7/9"}, "validity: 7 of 9 gave 4 or 5; 8 were needed"),
        ({"validity": "4/4"},
         "validity: only 4 rated it, but 5 are said to have rated both scales"),
        ({"validity": "9/5"},
         "validity: 9 of 5 raters endorse it, but the number must be 0 to 5"),
        ({"objections": 1}, "1 open objection to an item of −2 points"),
        ({"objections": 2}, "2 open objections to an item of −2 points"),
        ({"objections": None}, "too few gave a view of the points of its −2 items"),
        ({"rejected": ("actions/waits",)}, "raters reject 1 item: actions/waits"),
        ({"rejected": None}, "fewer than three rated the relevance of some item"),
    ],
)  # fmt: skip
def test_too_little_evidence_is_found(
    folder: BankFolder, changed: dict[str, object], message: str
) -> None:
    """CE127: an entry whose evidence is not enough is found at its place in `evidence.json`."""
    write_entry(folder, Status.validated, PASSED.model_copy(update=changed))
    (problem,) = check(folder.load())
    start = f"is validated, but its evidence is not enough: {message}"
    assert (problem.code, problem.message[: len(start)]) == ("CE127", start)
    assert problem.place == folder.place(FILE, '{\n    "study"')
    assert problem.hint.startswith("delete its entry")


def test_a_status_without_evidence_is_found(folder: BankFolder) -> None:
    """CE127: `validated` in a scenario's file rests on nothing; an entry must be of its version."""
    write_entry(folder, Status.validated, PASSED)
    folder.plant(SCENARIO, *REVISED)
    folder.plant(SCENARIO, "status: drafted", "status: validated")
    (problem,) = check(folder.load())
    assert problem.message == "is validated, but raters saw version 1, not 2"
    assert problem.place == folder.place(SCENARIO, "validated")
    (folder.root / FILE).unlink()
    (problem,) = check(folder.load())
    assert problem.message == "is validated, but has no evidence of it"


def test_another_text_of_the_version_is_one_problem(folder: BankFolder) -> None:
    """CE127: the version that was rated is the present one, so only the text is told."""
    write_entry(folder, Status.validated, PASSED)
    folder.plant(SCENARIO, *REWORDED)
    folder.plant(SCENARIO, "status: drafted", "status: validated")
    (problem,) = check(folder.load())
    assert problem.message == "its text is not the one that was rated, and is still version 1"


@pytest.mark.parametrize("status", ["drafted", "reviewed", "withdrawn"])
def test_other_statuses_need_no_evidence(folder: BankFolder, status: str) -> None:
    """CE127: no other status claims that experts endorse the scenario."""
    folder.plant(SCENARIO, "status: drafted\n", f"status: {status}\n")
    assert check(folder.load()) == []


def test_enough_evidence(folder: BankFolder) -> None:
    """CE127: the least panel that validates is enough, whatever others find short of objecting."""
    failed = PASSED.model_copy(update={"realism": "1/5", "study_id": "bbbb"})
    for evidence in ([PASSED], [failed, PASSED], [PASSED, failed]):
        write_entry(folder, Status.validated, *evidence)
        assert check(folder.load()) == []


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("version", [1, 2])
def test_an_objection_is_open_in_any_study(folder: BankFolder, place: int, version: int) -> None:
    """CE127: one study's objection to the version is found, wherever another that is enough is."""
    evidence = [PASSED]
    evidence.insert(place, OBJECTED.model_copy(update={"version": version}))
    write_entry(folder, Status.validated, *evidence)
    assert [problem.code for problem in check(folder.load())] == ["CE127"] * (version == 1)


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("[]", "[]", "the file: found a list, expected names with values"),
        ('{"dressing-001": {"version": 1}}', '{"version', "dressing-001.hash: is missing"),
        ('{"dressing-001": {"hash": "x"}}', '"x"', "dressing-001.hash: String should match"),
        ('{\n "a": 1,\n "a": 2}', '"a": 2', "key 'a' appears twice; first on line 2"),
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

    sealed = load_bank(folder.root, key)
    assert sealed.evidence(sealed.scenario("dressing-h01")) == (OBJECTED,)
    write_entry(BankFolder(folder.root), Status.validated, PASSED)
    bank = load_bank(folder.root, key)
    assert [s.status for s in bank.scenarios] == [Status.validated, Status.reviewed]
    public = bank.scenarios[0]
    further = PASSED.model_copy(update={"study_id": "cccc"})
    stands = ProposedStatus(public.id, 1, rated_hash(public), Status.validated, further)
    apply_changes(bank, plan_changes(bank, [stands]))
    assert b"h01" not in (folder.root / FILE).read_bytes()
    assert check(load_bank(folder.root, key)) == []
