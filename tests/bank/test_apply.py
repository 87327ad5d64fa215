"""What raters found, written into scenario files: two keys change, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bank_folder import SCENARIO, BankFolder
from careeval.bank import content_hash
from careeval.bank.apply import Standing, edited, plan_changes, write_changes
from careeval.bank.yaml_nodes import parse_yaml
from careeval.core.scenario import Evidence, Status
from careeval.errors import BankError


@pytest.fixture
def folder(tmp_path: Path) -> BankFolder:
    """A good bank."""
    return BankFolder.good(tmp_path / "bank")


def standing(
    status: Status = Status.validated, *, study: str = "Pilot", round_: int = 1, version: int = 1
) -> Standing:
    """What a made-up study says of the good bank's scenario."""
    evidence = Evidence(
        study=study,
        round=round_,
        version=version,
        raters={"occupational-therapist": 3, "roboticist": 2},
        realism="5/5",
        validity="4/5",
    )
    return Standing("dressing-001", version, status, evidence)


def apply(folder: BankFolder, *standings: Standing) -> str:
    """Write them one after the other; the file as it is then."""
    for each in standings:
        write_changes(plan_changes(folder.load(), [each]))
    text: str = (folder.root / SCENARIO).read_text(encoding="utf-8")
    return text


def test_two_keys_change_and_comments_stay(folder: BankFolder) -> None:
    """The status keeps its comment, the evidence stands below it, and all else is as it was."""
    folder.plant(SCENARIO, "status: drafted\n", "status: drafted  # by hand\n")
    before = (folder.root / SCENARIO).read_text(encoding="utf-8")

    after = apply(folder, standing())

    assert after == before.replace(
        "status: drafted  # by hand\n",
        "status: validated  # by hand\n"
        "evidence:\n"
        '  - {study: "Pilot", round: 1, version: 1, raters: {"occupational-therapist": 3, '
        '"roboticist": 2}, realism: "5/5", validity: "4/5", objections: 0}\n',
    )
    (scenario,) = folder.load().scenarios
    assert (scenario.status, scenario.evidence) == (Status.validated, (standing().evidence,))


def test_a_further_round_is_added_and_the_same_one_replaced(folder: BankFolder) -> None:
    """Evidence of another round is added; that of the same study and round takes its place."""
    first, second = standing(Status.reviewed), standing(round_=2)
    apply(folder, first, second, standing(Status.validated))
    (scenario,) = folder.load().scenarios
    assert [e.round for e in scenario.evidence] == [2, 1]
    assert scenario.status is Status.validated


def test_the_same_again_changes_nothing(folder: BankFolder) -> None:
    """What stands already is not planned a second time."""
    apply(folder, standing())
    assert plan_changes(folder.load(), [standing()]) == ()


def test_evidence_is_no_content(folder: BankFolder) -> None:
    """Evidence alone moves no hash: a bank that was run is still that bank."""
    apply(folder, standing())
    before = content_hash(folder.load().scenarios)
    apply(folder, standing(round_=2))
    assert content_hash(folder.load().scenarios) == before


def test_another_version_is_left_alone(folder: BankFolder) -> None:
    """What was rated in another version than the bank's says nothing of the bank's."""
    (change,) = plan_changes(folder.load(), [standing(version=2)])
    assert change.refused == "version 2 was rated; the bank has 1"
    assert write_changes([change]) == ()


def test_withdrawn_stays_withdrawn(folder: BankFolder) -> None:
    """No study brings a withdrawn scenario back."""
    apply(folder, standing(Status.withdrawn))
    (change,) = plan_changes(folder.load(), [standing(round_=2)])
    assert "withdrawn" in change.refused


def test_a_layout_that_cannot_be_edited_is_told(folder: BankFolder) -> None:
    """A file in one pair of braces is refused with its name, and stays as it is."""
    path = folder.root / SCENARIO
    content = folder.load().scenarios[0].model_dump_json(exclude_none=True)
    path.write_text(content + "\n", encoding="utf-8")
    with pytest.raises(BankError, match=r"dressing-001\.yaml: its status cannot be written"):
        plan_changes(folder.load(), [standing()])
    assert path.read_text(encoding="utf-8") == content + "\n"


def test_evidence_that_stands_first_moves_the_status_below_it() -> None:
    """Old evidence above the status is replaced, and the status is still found."""
    text = "id: x\nevidence:\n  - old\n  - older\n# of the status\nstatus: drafted\ncanary: c\n"
    new = edited(text, parse_yaml(text, "x"), Status.reviewed, [standing().evidence])
    lines = new.splitlines()
    assert lines[:2] == ["id: x", "evidence:"]
    assert lines[3:] == ["# of the status", "status: reviewed", "canary: c"]


def test_windows_lines_stay(folder: BankFolder) -> None:
    """A file with Windows ends of line keeps them, in what is added too."""
    path = folder.root / SCENARIO
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    apply(folder, standing())
    raw = path.read_bytes()
    assert raw.count(b"\n") == raw.count(b"\r\n")


@given(study=st.text(min_size=1).filter(lambda text: text.strip() and text.isprintable()))
def test_any_title_is_read_back(study: str) -> None:
    """Whatever a study is called, the file says it as it is."""
    evidence = standing(study=study).evidence
    text = "id: x\nstatus: drafted\n"
    new = edited(text, parse_yaml(text, "x"), Status.reviewed, [evidence])
    content = parse_yaml(new, "x").content
    assert isinstance(content, dict)
    assert isinstance(content["evidence"], list)
    assert Evidence.model_validate(content["evidence"][0]) == evidence
