"""Changes that a study's results make to a bank's `evidence.json`: conditions, plan, writing.

A study proposes a status and evidence for the version of each scenario that was rated.
`plan_changes` weighs them against earlier evidence, and `apply_changes` writes them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from careeval.bank.croissant import FILE, croissant
from careeval.bank.evidence import FILE as EVIDENCE
from careeval.bank.evidence import RANKS, Evidence, Vetting, evidence_text, rated_hash
from careeval.bank.load import OWN_BANK, Bank, load_bank
from careeval.bank.sealed import SEALED
from careeval.core.rating import Role, Scale
from careeval.core.scenario import Scenario, Status
from careeval.core.text import counted
from careeval.errors import BankError, StatsError
from careeval.files import read_bytes, write_text

# Conditions

MIN_THERAPISTS, MIN_OTHERS = 3, 2
"""The fewest occupational therapists, and other raters, who can validate or withdraw a version."""


def unmet_conditions(evidence: Evidence) -> tuple[str, ...]:
    """Return the reasons why evidence is not enough to validate its version; empty if it is enough.

    Three occupational therapists and two other stakeholders must have rated both scales, and both
    scales must pass the CareEval paper's rule. As many must have given a view of the points of each
    item of −2, without an objection, and three or more must have rated each item and rejected none.
    Objections in other evidence of the same version stay open, and are not checked here.
    """
    reasons = list(missing_raters(evidence.raters))
    for scale, count in (Scale.realism, evidence.realism), (Scale.validity, evidence.validity):
        if fault := _why_too_low(count, _n_raters(evidence.raters)):
            reasons.append(f"{scale}: {fault}")
    if (n := evidence.objections) is None:
        reasons.append(
            "too few gave a view of the points of its −2 items: plan the next round, or a new "
            "study, with --points --rubric both"
        )
    elif n:
        reasons.append(_open_objections(n))
    if evidence.rejected is None:
        reasons.append(
            "fewer than three rated the relevance of some item: plan the next round, or a new "
            "study, with --items --points --rubric both"
        )
    elif evidence.rejected:
        reasons.append(_rejected_items(evidence.rejected))
    return tuple(reasons)


def _open_objections(n: int) -> str:
    return f"{n} open objection{'s' if n > 1 else ''} to an item of −2 points"


def _rejected_items(items: Sequence[str]) -> str:
    rest = len(items) - 3
    more = f" and {rest} more" if rest > 0 else ""
    return f"raters reject {counted(len(items), 'item')}: {', '.join(items[:3])}{more}"


def _open_faults(evidence: Evidence) -> str:
    """Return the objections and rejected items, which stay open until the next version."""
    faults = [_open_objections(evidence.objections)] if evidence.objections else []
    if evidence.rejected:
        faults.append(_rejected_items(evidence.rejected))
    return " and ".join(faults)


def missing_raters(raters: Mapping[str, int]) -> tuple[str, ...]:
    """Return the roles with too few raters to validate or withdraw, as text; empty if none."""
    therapists = raters.get(Role.occupational_therapist, 0)
    shortages = []
    if therapists < MIN_THERAPISTS:
        shortages.append(f"{therapists} of {MIN_THERAPISTS} occupational therapists")
    if (others := _n_raters(raters) - therapists) < MIN_OTHERS:
        shortages.append(f"{others} of {MIN_OTHERS} other stakeholders")
    return tuple(shortages)


def _n_raters(raters: Mapping[str, int]) -> int:
    """Return the number of raters in roles that are known."""
    return sum(raters.get(role, 0) for role in Role)


def _why_too_low(count: str, n_raters: int) -> str:
    """Return why a count k/n of endorsing raters is not enough; empty if it is."""
    # not at the top: most banks have no evidence, and need not load numpy
    from careeval.stats.validity import Endorsement, EndorsementRule

    k, n = map(int, count.split("/"))
    if n < n_raters:
        return f"only {n} rated it, but {n_raters} are said to have rated both scales"
    try:
        if Endorsement(k, n).passes(EndorsementRule.paper):
            return ""
        return f"{k} of {n} gave 4 or 5; {EndorsementRule.paper.min_endorsements(n)} were needed"
    except StatsError as error:
        return str(error)


# Planning of changes


@dataclass(frozen=True, slots=True)
class ProposedStatus:
    """The status and evidence that a study gives one version of a scenario."""

    scenario: str  # Its id
    version: int  # The version that was rated
    hash: str  # `rated_hash` of the text that was rated
    status: Status
    evidence: Evidence
    lacking: tuple[str, ...] = ()  # Reasons why the scenario is not validated; empty if it is


@dataclass(frozen=True, slots=True)
class EvidenceChange:
    """A planned change of one scenario's entry in `evidence.json`."""

    before: Status  # The scenario's status so far
    proposed: ProposedStatus
    refused: str = ""  # Why nothing is written; empty if something is
    vetting: Vetting | None = None  # The new entry; `None` if nothing is written


def plan_changes(bank: Bank, proposals: Iterable[ProposedStatus]) -> tuple[EvidenceChange, ...]:
    """Return the changes for `apply_changes`, in the order given, without empty ones.

    Raises:
        BankError: The bank lacks a scenario.
    """
    changes = (_change(bank, proposed) for proposed in proposals)
    return tuple(change for change in changes if change is not None)


def _change(bank: Bank, proposed: ProposedStatus) -> EvidenceChange | None:
    scenario = bank.scenario(proposed.scenario)
    before = scenario.status
    if before is Status.withdrawn:
        return EvidenceChange(before, proposed, "it is withdrawn, and its id is not used again")
    if scenario.version != proposed.version:
        why = f"version {proposed.version} was rated; the bank has {scenario.version}"
        return EvidenceChange(before, proposed, why)
    if rated_hash(scenario) != proposed.hash:
        why = (
            f"its text is not the one that was rated, and is still version {scenario.version}: "
            "raise its version, and rate it again in the next round"
        )
        return EvidenceChange(before, proposed, why)
    earlier = _earlier_evidence(bank, scenario)
    others = tuple(e for e in earlier if not _of_same_round(e, proposed.evidence))
    proposed, why = _weighed(scenario, proposed, others, replaces=len(others) < len(earlier))
    if why:
        return EvidenceChange(before, proposed, why)
    if f"{SEALED}/" in bank.documents[scenario.id].path.replace(os.sep, "/"):
        why = "it is sealed: open the held-out split, apply the study there, and seal it"
        return EvidenceChange(before, proposed, why)
    evidence = (*others, proposed.evidence)
    if (proposed.status, evidence) == (scenario.status, bank.evidence(scenario)):
        return None
    vetting = Vetting(
        version=proposed.version, hash=proposed.hash, status=proposed.status, evidence=evidence
    )
    return EvidenceChange(before, proposed, "", vetting)


def _earlier_evidence(bank: Bank, scenario: Scenario) -> tuple[Evidence, ...]:
    """Return the evidence that the bank has of a scenario and that still counts.

    If its text has changed without a new version, what is said against this version still counts.
    """
    entry = bank.vettings.get(scenario.id)
    if entry is None or bank.vetting(scenario):
        return bank.evidence(scenario)
    return tuple(e for e in entry.evidence if e.version != scenario.version or _open_faults(e))


def _of_same_round(one: Evidence, other: Evidence) -> bool:
    """Tell whether two pieces of evidence are of one version, in one round of one study."""
    return (one.study_id, one.round, one.version) == (other.study_id, other.round, other.version)


def _weighed(
    scenario: Scenario, proposed: ProposedStatus, others: Sequence[Evidence], *, replaces: bool
) -> tuple[ProposedStatus, str]:
    """Weigh the proposed status against other evidence of the same version.

    A fault, an objection or a rejected item, keeps the scenario from being validated as long as the
    version lasts, whoever found it. Otherwise a status is lowered only by enough raters.

    Args:
        scenario: The scenario with its status so far.
        proposed: What the study proposes.
        others: Evidence of other rounds and studies, of any version.
        replaces: Whether the proposed evidence replaces earlier results of its own round.

    Returns:
        The status to write, and the reason if nothing is to be written; else empty.
    """
    others = [e for e in others if e.version == scenario.version]
    with_faults = [e for e in others if _open_faults(e)]
    if proposed.status is not Status.withdrawn and with_faults:
        faults = (f"{_open_faults(e)}, in round {e.round} of {e.study!r}" for e in with_faults)
        lacking = (*proposed.lacking, *faults)
        proposed = replace(proposed, status=Status.reviewed, lacking=lacking)
    has_new_fault = bool(_open_faults(proposed.evidence))
    loses_validation = scenario.status is Status.validated and bool(with_faults or has_new_fault)
    floor = Status.reviewed if loses_validation else scenario.status
    why = _reason_not_to_lower(floor, proposed, others)
    if not why:
        return proposed, ""
    if not (loses_validation or replaces or has_new_fault):
        return proposed, why
    return replace(proposed, status=floor, lacking=(*proposed.lacking, why)), ""


def _reason_not_to_lower(
    floor: Status, proposed: ProposedStatus, others: Sequence[Evidence]
) -> str:
    """Return why a study may not lower the status below `floor`; empty if it may.

    `others` is the other evidence of the scenario's version.
    """
    new = proposed.evidence
    if RANKS.index(proposed.status) >= RANKS.index(floor):
        return ""
    supporting = [e for e in others if floor is not Status.validated or not unmet_conditions(e)]
    max_raters = max((_n_raters(e.raters) for e in supporting), default=0)
    if (n := _n_raters(new.raters)) < max_raters:
        few = f"{n} {'is' if n == 1 else 'are'} too few to make it {proposed.status}"
        return f"{max_raters} raters made it {floor}; {few}"
    without_faults = {"objections": new.objections or 0, "rejected": new.rejected or ()}
    if (
        supporting
        and None in (new.objections, new.rejected)
        and not unmet_conditions(new.model_copy(update=without_faults))
    ):
        return f"it is {floor}, and too few were asked here about its items"
    return ""


# Writing of changes


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of applying changes to a bank."""

    files: tuple[Path, ...]
    """The files written: also the bank's metadata, if careeval wrote them before."""
    to_do: tuple[str, ...]
    """The tasks that are left for people, one sentence each."""


def apply_changes(bank: Bank, changes: Sequence[EvidenceChange]) -> Applied:
    """Write changes by `plan_changes` into `evidence.json`, and its new hash into the metadata.

    Metadata that differ from what careeval writes were made by somebody else, and are not changed.

    Raises:
        BankError: A file cannot be read or written. `evidence.json` is written first.
    """
    new = {change.proposed.scenario: change.vetting for change in changes if change.vetting}
    if not new:
        return Applied((), ())
    folder = Path(bank.documents["bank"].path).parent
    files, to_do = [folder / EVIDENCE], []
    metadata = folder / FILE
    is_ours = metadata.is_file() and _has(metadata, croissant(load_bank(folder), folder))
    # loaded without a key, so that no entry of the held-out split gets into the public file
    present = load_bank(folder, probes=False).vettings
    _write(folder / EVIDENCE, evidence_text({**present, **new}))
    if is_ours:
        _write(metadata, croissant(load_bank(folder), folder))
        files.append(metadata)
    elif metadata.is_file():
        to_do.append(f"{metadata} was not as careeval writes it: bring its hashes up to date")
    to_do.append(
        f"{folder / 'bank.yaml'}: raise the last part of its version, and see whether its "
        f"provenance still holds: {bank.about.provenance!r}"
    )
    if folder.resolve() == OWN_BANK.resolve():
        to_do.append("the documentation quotes scenarios and their status: read it again")
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
