"""What raters found, written into the bank's files: `status` and `evidence`, and no other line.

A file is edited as text, so that its comments and its layout stay; what comes out is read again,
and must be the scenario as it was but for those two. Files are written after all have been tried.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from careeval.bank.load import Bank
from careeval.bank.problems import BankProblems
from careeval.bank.sealed import SEALED
from careeval.bank.yaml_nodes import Document, parse_yaml
from careeval.core.scenario import Evidence, Scenario, Status
from careeval.errors import BankError


@dataclass(frozen=True, slots=True)
class Standing:
    """What one version of a scenario comes to have.

    Attributes:
        lacking: Why it is not validated; empty where it is.
    """

    scenario: str
    version: int
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
        beside = change.path.with_name(f".{change.path.name}.new")
        try:
            beside.write_bytes(change.text.encode())
            beside.replace(change.path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise BankError(f"{change.path} cannot be written: {error.strerror}") from error
        written.append(change.path)
    return tuple(written)


def _change(bank: Bank, standing: Standing) -> Change | None:
    scenario = bank.scenario(standing.scenario)
    before = scenario.status
    if before is Status.withdrawn:
        return Change(before, standing, "it is withdrawn, and its id is not used again")
    if scenario.version != standing.version:
        why = f"version {standing.version} was rated; the bank has {scenario.version}"
        return Change(before, standing, why)
    document = bank.documents[scenario.id]
    if f"{SEALED}/" in document.path.replace(os.sep, "/"):
        why = "it is sealed: open the held-out split, apply the study there, and seal it"
        return Change(before, standing, why)
    wanted = _with(scenario, standing)
    if wanted == scenario:
        return None
    path = Path(document.path)
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise BankError(f"{path} cannot be read: {error.strerror}") from error
    new = edited(text, document, wanted.status, wanted.evidence)
    if _read(new, path) != wanted:
        raise BankError(
            f"{path}: its status cannot be written line by line",
            hint="write it as scenario files are: a key at the start of each line",
        )
    return Change(before, standing, "", path, new)


def _with(scenario: Scenario, standing: Standing) -> Scenario:
    """The scenario as it will be: evidence of the same round of the same study is replaced."""
    new = standing.evidence
    kept = [e for e in scenario.evidence if (e.study, e.round) != (new.study, new.round)]
    return scenario.model_copy(update={"status": standing.status, "evidence": (*kept, new)})


def edited(text: str, document: Document, status: Status, evidence: Sequence[Evidence]) -> str:
    """A scenario's text with that status and evidence, every other line as it was.

    Args:
        text: Of the file.
        document: The same as read, which knows where each key stands.
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
    content = evidence.model_dump(mode="json")
    raters = ", ".join(f"{_quoted(k)}: {n}" for k, n in content.pop("raters").items())
    parts = [f"{name}: {_quoted(value)}" for name, value in content.items()]
    parts.insert(3, f"raters: {{{raters}}}")
    return "{" + ", ".join(parts) + "}"


def _quoted(value: str | int) -> str:
    # escaped, a character beyond the first plane would be two halves, which YAML does not join
    return json.dumps(value, ensure_ascii=False)


def _read(text: str, path: Path) -> Scenario | None:
    """What the text says; `None` where it is no scenario."""
    try:
        return TypeAdapter(Scenario).validate_python(parse_yaml(text, str(path)).content)
    except (BankProblems, ValidationError):
        return None
