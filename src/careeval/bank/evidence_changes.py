"""What a study found, weighed against what a bank knows, and written into its `evidence.json`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from careeval.bank.croissant import FILE, croissant
from careeval.bank.evidence import FILE as EVIDENCE
from careeval.bank.evidence import RANKS, Vetting, evidence_text, rated_hash
from careeval.bank.load import OWN_BANK, Bank, load_bank
from careeval.bank.sealed import SEALED
from careeval.core.rating import Role, Scale
from careeval.core.scenario import Evidence, Scenario, Status
from careeval.core.text import counted
from careeval.errors import BankError, StatsError
from careeval.files import read_bytes, write_text

LEAST_THERAPISTS, LEAST_OTHERS = 3, 2
"""Raters of the version at hand without whom no scenario is validated, and none withdrawn."""


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
        vetting: Its new entry in `evidence.json`; `None` where nothing is written.
    """

    before: Status
    standing: Standing
    refused: str = ""
    vetting: Vetting | None = None


def unmet(evidence: Evidence) -> tuple[str, ...]:
    """Why what raters found validates no version; empty where it is enough.

    It is not beside other evidence of the version with objections, which stay open.

    Asked for are three occupational therapists and two other stakeholders who rated both scales,
    both passing the paper's rule; no objection to an item of −2 points, known because as many were
    asked, and said; and no item that raters reject, known because three or more rated each.
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
    if evidence.rejected is None:
        found.append(
            "fewer than three rated the relevance of each item: plan the next round, or a new "
            "study, with --items --points --rubric both"
        )
    elif evidence.rejected:
        found.append(_rejected(evidence.rejected))
    return tuple(found)


def _unmet_before_items(evidence: Evidence) -> tuple[str, ...]:
    """Return why evidence validated nothing when items were not yet asked for."""
    return unmet(evidence.model_copy(update={"rejected": evidence.rejected or ()}))


def _open(n: int) -> str:
    return f"{n} open objection{'s' if n > 1 else ''} to an item of −2 points"


def _rejected(items: Sequence[str]) -> str:
    """Return what raters reject in words, with the names of the first three."""
    rest = len(items) - 3
    more = f" and {rest} more" if rest > 0 else ""
    return f"raters reject {counted(len(items), 'item')}: {', '.join(items[:3])}{more}"


def _open_faults(evidence: Evidence) -> str:
    """Return what raters hold against items, which stays open while the version stands."""
    faults = [_open(evidence.objections)] if evidence.objections else []
    if evidence.rejected:
        faults.append(_rejected(evidence.rejected))
    return " and ".join(faults)


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
    """Write what was planned into `evidence.json`, and the metadata, which name each file's hash.

    Metadata that are not as careeval writes them are somebody else's, and are left alone.

    Args:
        bank: As it was read before.
        changes: What `plan_changes` planned for it.

    Raises:
        BankError: A file cannot be written; `evidence.json` is the first.
    """
    new = {each.standing.scenario: each.vetting for each in changes if each.vetting is not None}
    if not new:
        return Applied((), ())
    folder = Path(bank.documents["bank"].path).parent
    files, to_do = [folder / EVIDENCE], []
    metadata = folder / FILE
    ours = metadata.is_file() and _has(metadata, croissant(load_bank(folder), folder))
    # read without a key: no entry of the held-out split comes into the clear file
    present = load_bank(folder, probes=False).vettings
    _write(folder / EVIDENCE, evidence_text({**present, **new}))
    if ours:
        _write(metadata, croissant(load_bank(folder), folder))
        files.append(metadata)
    elif metadata.is_file():
        to_do.append(f"{metadata} was not as careeval writes it: bring its hashes up to date")
    to_do.append(
        f"{folder / 'bank.yaml'}: raise the last part of its version, and see whether its "
        f"provenance still holds: {bank.about.provenance!r}"
    )
    if folder.resolve() == OWN_BANK.resolve():
        to_do.append("the documentation quotes scenarios and says how they stand: read it again")
    return Applied(tuple(files), tuple(to_do))


def _has(path: Path, text: str) -> bool:
    try:
        return read_bytes(path) == text.encode()
    except OSError as error:
        raise BankError(f"{path} cannot be read: {error.strerror}") from error


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        raise BankError(f"{path} cannot be written: {error.strerror}") from error


def plan_changes(bank: Bank, standings: Iterable[Standing]) -> tuple[Change, ...]:
    """Return what writing would change, without writing it, in the order given.

    What is already as it would be is not in it.

    Raises:
        BankError: The bank lacks a scenario.
    """
    changes = (_change(bank, standing) for standing in standings)
    return tuple(change for change in changes if change is not None)


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
    known = _known(bank, scenario)
    others = tuple(e for e in known if not _same(e, standing.evidence))
    standing, why = _weighed(scenario, standing, others, corrects=len(others) < len(known))
    if why:
        return Change(before, standing, why)
    if f"{SEALED}/" in bank.documents[scenario.id].path.replace(os.sep, "/"):
        why = "it is sealed: open the held-out split, apply the study there, and seal it"
        return Change(before, standing, why)
    evidence = (*others, standing.evidence)
    if (standing.status, evidence) == (scenario.status, scenario.evidence):
        return None
    vetting = Vetting(
        version=standing.version, hash=standing.hash, status=standing.status, evidence=evidence
    )
    return Change(before, standing, "", vetting)


def _known(bank: Bank, scenario: Scenario) -> tuple[Evidence, ...]:
    """Return all evidence of a scenario, also that of its earlier versions.

    Of another text of this version, objections and rejected items alone stay: they are open for as
    long as the version stands. What the scenario's own file says of the entry's version, or before,
    is in the entry.
    """
    entry = bank.vettings.get(scenario.id)
    if entry is None or bank.vetting(scenario):
        return scenario.evidence
    kept = (e for e in entry.evidence if e.version != scenario.version or _open_faults(e))
    later = (e for e in scenario.evidence if e.version > entry.version)
    return (*kept, *later)


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
    scenario: Scenario, standing: Standing, others: Sequence[Evidence], *, corrects: bool
) -> tuple[Standing, str]:
    """Return a standing as it is beside other evidence; and why nothing is written, or else ''.

    While somebody objects to an item of −2 points, or raters reject an item, no version is
    validated.

    Args:
        scenario: As it is in the bank.
        standing: What a study says.
        others: The scenario's evidence without what the same round of the study gave before.
        corrects: Whether that round gave anything before.
    """
    before, new = scenario.status, standing.evidence
    rest = [e for e in others if e.version == scenario.version]
    objecting = [e for e in rest if _open_faults(e)]
    if standing.status is not Status.withdrawn and objecting:
        told = (f"{_open_faults(e)}, in round {e.round} of {e.study!r}" for e in objecting)
        lacking = (*standing.lacking, *told)
        standing = replace(standing, status=Status.reviewed, lacking=lacking)
    falls = before is Status.validated and bool(objecting or _open_faults(new))
    held = Status.reviewed if falls else before
    why = _does_not_lower(held, standing, rest)
    if not why:
        return standing, ""
    if not (falls or corrects or _open_faults(new)):
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
    if RANKS.index(standing.status) >= RANKS.index(before):
        return ""
    gave = [e for e in rest if before is not Status.validated or not _unmet_before_items(e)]
    most = max((sum(_by_role(e.raters)) for e in gave), default=0)
    if (n := sum(_by_role(new.raters))) < most:
        few = f"{n} {'is' if n == 1 else 'are'} too few to make it {standing.status}"
        return f"{most} raters made it {before}; {few}"
    unasked = {"objections": new.objections or 0, "rejected": new.rejected or ()}
    if (
        gave
        and None in (new.objections, new.rejected)
        and not unmet(new.model_copy(update=unasked))
    ):
        return f"it is {before}, and too few were asked here about its items"
    return ""
