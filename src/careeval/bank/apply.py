"""What raters found, written into the bank's files: `status` and `evidence`, and no other line.

A file is edited as text, so that its comments and its layout stay; what comes out is read again,
and must be the scenario as it was but for those two. Files are written after all have been tried.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from careeval.bank.croissant import FILE, croissant
from careeval.bank.load import OWN_BANK, Bank, load_bank, rated_hash
from careeval.bank.problems import BankProblems
from careeval.bank.sealed import SEALED
from careeval.bank.yaml_nodes import Places, parse_yaml
from careeval.core.rating import Role, Scale
from careeval.core.scenario import Evidence, Scenario, Status
from careeval.core.twin import Twin
from careeval.errors import BankError, StatsError
from careeval.files import read_bytes

LEAST_THERAPISTS, LEAST_OTHERS = 3, 2
"""Raters of the version at hand without whom no scenario is validated, and none withdrawn."""

_RANKS = (Status.withdrawn, Status.drafted, Status.reviewed, Status.validated)
"""From the lowest: fewer raters than gave a status do not lower it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What one version of a scenario comes to have.

    Attributes:
        hash: Of the text that was rated, as `rated_hash`.
        lacking: Why it is not validated; empty where it is.
    """

    scenario: str
    version: int
    hash: str
    status: Status
    evidence: Evidence
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one scenario of a bank.

    Attributes:
        before: Its status so far.
        standing: What the study says.
        refused: Why nothing is written; empty where something is.
        path: The file; `None` where nothing is written.
    """

    before: Status
    standing: Standing
    refused: str = ""
    path: Path | None = None
    text: str = ""


def unmet(evidence: Evidence) -> tuple[str, ...]:
    """Why what raters found validates no version; empty where it is enough.

    It is not beside other evidence of the version with objections, which stay open.

    Asked for are three occupational therapists and two other stakeholders who rated both scales,
    both passing the paper's rule, and no objection to an item of −2 points: none that is known of
    because as many were asked, and said.
    """
    found, n_raters = list(too_few(evidence.raters)), sum(_by_role(evidence.raters))
    for scale, count in (Scale.realism, evidence.realism), (Scale.validity, evidence.validity):
        if fault := _falls_short(count, n_raters):
            found.append(f"{scale}: {fault}")
    if (n := evidence.objections) is None:
        found.append(
            "too few were asked, and said, whether its −2 items deserve it: plan the next round, "
            "or a new study, with --points --rubric both"
        )
    elif n:
        found.append(_open(n))
    return tuple(found)


def _open(n: int) -> str:
    return f"{n} open objection{'s' if n > 1 else ''} to an item of −2 points"


def too_few(raters: Mapping[str, int]) -> tuple[str, ...]:
    """Who is lacking among so many of each role, to validate or to withdraw; empty where nobody."""
    *others, therapists = _by_role(raters)
    found = []
    if therapists < LEAST_THERAPISTS:
        found.append(f"{therapists} of {LEAST_THERAPISTS} occupational therapists")
    if sum(others) < LEAST_OTHERS:
        found.append(f"{sum(others)} of {LEAST_OTHERS} other stakeholders")
    return tuple(found)


def _by_role(raters: Mapping[str, int]) -> list[int]:
    """How many of each role, therapists last; a role that is none counts nobody."""
    others = [role for role in Role if role is not Role.occupational_therapist]
    return [raters.get(role, 0) for role in (*others, Role.occupational_therapist)]


def _falls_short(count: str, raters: int) -> str:
    """Why k/n of raters is too few; empty where it is enough."""
    # where nobody has vetted anything, no arithmetic is loaded
    from careeval.stats.validity import Endorsement, Rule

    k, n = map(int, count.split("/"))
    if n < raters:
        return f"{n} have rated it, and {raters} both scales"
    try:
        given = Endorsement(k, n)
        if given.passes(Rule.paper):
            return ""
        return f"{k} of {n} gave 4 or 5; {Rule.paper.least(n)} were needed"
    except StatsError as error:
        return str(error)


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a bank.

    Attributes:
        files: What was written, the bank's metadata among it where careeval keeps them.
        to_do: What else a new status touches, and only people can mend; a sentence each.
    """

    files: tuple[Path, ...]
    to_do: tuple[str, ...]


def apply_changes(bank: Bank, changes: Sequence[Change]) -> Applied:
    """Write what was planned, and the metadata, which name each file by its hash.

    Metadata that are not as careeval writes them are somebody else's, and are left alone.

    Args:
        bank: As it was read before.
        changes: What `plan_changes` planned for it.

    Raises:
        BankError: A file cannot be written; those before it are.
    """
    folder = Path(bank.documents["bank"].path).parent
    metadata, to_do = folder / FILE, []
    ours = metadata.is_file() and _has(metadata, croissant(load_bank(folder), folder))
    files = list(write_changes(changes))
    if files and ours:
        _write(metadata, croissant(load_bank(folder), folder))
        files.append(metadata)
    elif files and metadata.is_file():
        to_do.append(f"{metadata} was not as careeval writes it: bring its hashes up to date")
    if files:
        to_do.append(
            f"{folder / 'bank.yaml'}: raise the last part of its version, and see whether its "
            f"provenance still holds: {bank.about.provenance!r}"
        )
    if files and folder.resolve() == OWN_BANK.resolve():
        to_do.append("the documentation quotes scenarios and says how they stand: read it again")
    return Applied(tuple(files), tuple(to_do))


def _has(path: Path, text: str) -> bool:
    try:
        return read_bytes(path) == text.encode()
    except OSError as error:
        raise BankError(f"{path} cannot be read: {error.strerror}") from error


def plan_changes(bank: Bank, standings: Iterable[Standing]) -> tuple[Change, ...]:
    """What writing would change, without writing it; in the order given.

    What is already as it would be is not in it.

    Raises:
        BankError: The bank lacks a scenario, or a file cannot be edited line by line.
    """
    found = (_change(bank, standing) for standing in standings)
    return tuple(change for change in found if change is not None)


def write_changes(changes: Iterable[Change]) -> tuple[Path, ...]:
    """Write what was planned, each file whole or not at all; the files written.

    Raises:
        BankError: A file cannot be written; those before it are.
    """
    written = []
    for change in changes:
        if change.path is None:
            continue
        _write(change.path, change.text)
        written.append(change.path)
    return tuple(written)


def _write(path: Path, text: str) -> None:
    """A file whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_bytes(text.encode())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise BankError(f"{path} cannot be written: {error.strerror}") from error


def _change(bank: Bank, standing: Standing) -> Change | None:
    scenario = bank.scenario(standing.scenario)
    before = scenario.status
    if before is Status.withdrawn:
        return Change(before, standing, "it is withdrawn, and its id is not used again")
    if scenario.version != standing.version:
        why = f"version {standing.version} was rated; the bank has {scenario.version}"
        return Change(before, standing, why)
    if rated_hash(scenario) != standing.hash:
        why = (
            f"its text is not the one that was rated, and is still version {scenario.version}: "
            "raise its version, and rate it again in the next round"
        )
        return Change(before, standing, why)
    others = tuple(e for e in scenario.evidence if not _same(e, standing.evidence))
    standing, why = _weighed(scenario, standing, others)
    if why:
        return Change(before, standing, why)
    document = bank.documents[scenario.id]
    if f"{SEALED}/" in document.path.replace(os.sep, "/"):
        why = "it is sealed: open the held-out split, apply the study there, and seal it"
        return Change(before, standing, why)
    evidence = (*others, standing.evidence)
    wanted = scenario.model_copy(update={"status": standing.status, "evidence": evidence})
    if wanted == scenario:
        return None
    path = Path(document.path)
    try:
        text = read_bytes(path).decode()
    except OSError as error:
        raise BankError(f"{path} cannot be read: {error.strerror}") from error
    new = edited(text, document, wanted.status, wanted.evidence)
    if not _changes_standing_alone(text, new, path, wanted):
        raise BankError(
            f"{path}: its status cannot be written line by line",
            hint="write it as scenario files are: a key at the start of each line",
        )
    return Change(before, standing, "", path, new)


def _same(one: Evidence, other: Evidence) -> bool:
    """Whether both are of one version, in one round of one study.

    Studies share titles: where one alone says which study it is, the rest must be the same.
    """
    if (one.round, one.version) != (other.round, other.version):
        return False
    if one.study_id and other.study_id:
        return one.study_id == other.study_id
    if one.study_id or other.study_id:
        unnamed = {"study_id": None}
        return one.model_copy(update=unnamed) == other.model_copy(update=unnamed)
    return one.study == other.study


def _weighed(
    scenario: Scenario, standing: Standing, others: Sequence[Evidence]
) -> tuple[Standing, str]:
    """A standing as it is beside other evidence; and why nothing is written, empty where it is.

    Whoever objects to an item of −2 points, nothing is validated while the version stands.

    Args:
        scenario: As it is in the bank.
        standing: What a study says.
        others: The scenario's evidence without what the same round of the study gave before.
    """
    before, new = scenario.status, standing.evidence
    rest = [e for e in others if e.version == scenario.version]
    objecting = [e for e in rest if e.objections]
    if standing.status is not Status.withdrawn and objecting:
        told = (f"{_open(e.objections or 0)}, in round {e.round} of {e.study!r}" for e in objecting)
        lacking = (*standing.lacking, *told)
        standing = replace(standing, status=Status.reviewed, lacking=lacking)
    falls = before is Status.validated and bool(objecting or new.objections)
    held = Status.reviewed if falls else before
    why = _does_not_lower(held, standing, rest)
    if not why:
        return standing, ""
    corrects = len(others) < len(scenario.evidence)
    if not (falls or corrects or new.objections):
        return standing, why
    return replace(standing, status=held, lacking=(*standing.lacking, why)), ""


def _does_not_lower(before: Status, standing: Standing, rest: Sequence[Evidence]) -> str:
    """Why a standing leaves a higher status alone; empty where it may lower it, or does not.

    Args:
        before: The status so far.
        standing: What a study says.
        rest: What others found of the version.
    """
    new = standing.evidence
    if _RANKS.index(standing.status) >= _RANKS.index(before):
        return ""
    gave = [e for e in rest if before is not Status.validated or not unmet(e)]
    most = max((sum(_by_role(e.raters)) for e in gave), default=0)
    if (n := sum(_by_role(new.raters))) < most:
        few = f"{n} {'is' if n == 1 else 'are'} too few to make it {standing.status}"
        return f"{most} raters made it {before}; {few}"
    if gave and new.objections is None and not unmet(new.model_copy(update={"objections": 0})):
        return f"it is {before}, and too few were asked here whether its −2 items deserve it"
    return ""


def edited(text: str, document: Places, status: Status, evidence: Sequence[Evidence]) -> str:
    """A scenario's text with that status and evidence, every other line as it was.

    Args:
        text: Of the file.
        document: Where each key stands in it.
        status: What `status:` says, whose line keeps its comment; added where there is none.
        evidence: What stands below `evidence:`, in place of what stood there.
    """
    # split at line feeds alone: other marks that Python calls an end of line are somebody's words
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    n_before, end = len(lines), "\r\n" if "\r\n" in text else "\n"
    tops = sorted(place.line or 0 for loc, place in document.keys.items() if len(loc) == 1)
    block = ["evidence:", *(f"  - {_flow(each)}" for each in evidence)]
    if ("evidence",) in document.keys:
        first = (document.keys["evidence",].line or 0) - 1
        last = min([line - 1 for line in tops if line - 1 > first], default=len(lines))
        # comments and gaps before the next key are its own
        while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1][0] == "#"):
            last -= 1
        lines[first:last] = block
        block = []
    if ("status",) in document.values:
        at = document.values["status",]
        row, column = (at.line or 1) - 1, (at.column or 1) - 1
        if row >= len(lines):
            return text
        if ("evidence",) in document.keys and row > (document.keys["evidence",].line or 0) - 1:
            row += len(lines) - n_before
        _, gap, comment = lines[row][column:].partition(" ")
        lines[row] = f"{lines[row][:column]}{status.value}{gap}{comment}"
        lines[row + 1 : row + 1] = block
    else:
        lines += [f"status: {status.value}", *block]
    return end.join(lines) + end


def _flow(evidence: Evidence) -> str:
    """One line: JSON is YAML, and its quotes hold whatever a title does."""
    unnamed = {"study_id"} if evidence.study_id is None else set()
    content = evidence.model_dump(mode="json", exclude=unnamed)
    raters = ", ".join(f"{_quoted(k)}: {n}" for k, n in content.pop("raters").items())
    parts = [f"{name}: {_quoted(value)}" for name, value in content.items()]
    parts.insert(3, f"raters: {{{raters}}}")
    return "{" + ", ".join(parts) + "}"


def _quoted(value: str | int) -> str:
    # escaped, a character beyond the first plane would be two halves, which YAML does not join
    return json.dumps(value, ensure_ascii=False)


def _changes_standing_alone(old: str, new: str, path: Path, wanted: Scenario) -> bool:
    """Return whether a file's new text changes its status and evidence alone, as wanted."""
    kind = Scenario if wanted.twin_of is None else Twin
    try:
        before, after = (
            TypeAdapter(kind).validate_python(parse_yaml(text, str(path)).content)
            for text in (old, new)
        )
    except (BankProblems, ValidationError):
        return False
    changes = {"status": wanted.status, "evidence": wanted.evidence}
    return bool(after == before.model_copy(update=changes))
