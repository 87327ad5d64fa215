"""From a folder of YAML files to a `Bank`: shape only, every problem with its place.

A bank is a folder with `bank.yaml`, and scenarios as `<adl>/<id>.yaml`. Beside a scenario may stand
`<id>.probes.yaml`; beside `bank.yaml`, `sources.yaml` and `generic-probes.yaml`. Whether the content
is good is for `careeval.bank.rules`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from careeval.bank.problems import BankProblems, Problem
from careeval.bank.schema import BankFile, GenericProbe, ProbeEntry, ProbesFile
from careeval.bank.yaml_nodes import Document, Loc, read_yaml
from careeval.core.scenario import Probe, Scenario, Source
from careeval.errors import BankError

OWN_BANK = Path(__file__).parent / "data"
"""The bank that ships with careeval."""

T = TypeVar("T")


@dataclass(frozen=True)
class Bank:
    """Scenarios with their probes and sources, as one named and versioned whole.

    Attributes:
        about: Name, version, licence, provenance and canary.
        scenarios: In the order of their ids.
        probes: By scenario id; a scenario without a probes file is not a key.
        sources: By key.
        documents: The files as read, which know the place of every value: by scenario id, by
            `<id>.probes`, and `bank`, `sources`.
    """

    about: BankFile
    scenarios: tuple[Scenario, ...]
    probes: Mapping[str, tuple[Probe, ...]]
    sources: Mapping[str, Source]
    documents: Mapping[str, Document] = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.scenarios)

    def scenario(self, scenario_id: str) -> Scenario:
        """The scenario of that id.

        Raises:
            BankError: There is none; the hint names the nearest.
        """
        for scenario in self.scenarios:
            if scenario.id == scenario_id:
                return scenario
        near = get_close_matches(scenario_id, [s.id for s in self.scenarios], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "an id looks like 'dressing-001'"
        raise BankError(f"bank {self.about.name!r} has no scenario {scenario_id!r}", hint=hint)


def content_hash(scenarios: Iterable[Scenario]) -> str:
    """Twelve hex digits that change when any scenario's content does, whatever its layout on disk."""
    content = [s.model_dump(mode="json") for s in sorted(scenarios, key=lambda s: s.id)]
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def load_bank(folder: Path | str | None = None) -> Bank:
    """Load a bank.

    Args:
        folder: Its folder; careeval's own bank where not given.

    Raises:
        BankError: There is no bank in the folder.
        BankProblems: Its files are not what they must be: all problems of all files.
    """
    root = Path(folder) if folder is not None else OWN_BANK
    if not (root / "bank.yaml").is_file():
        raise BankError(f"{root} holds no bank: there is no bank.yaml", hint="name the folder of a bank")
    files = sorted(root.rglob("*.yaml"))
    state = tuple((path, (stat := path.stat()).st_size, stat.st_mtime_ns) for path in files)
    return _load(root, state)


@cache
def _load(root: Path, _state: tuple[tuple[Path, int, int], ...]) -> Bank:
    """The bank of a folder, read again only when a file's size or time has changed."""
    reader = _Reader(root)
    about = reader.read("bank", BankFile)
    sources = reader.read("sources", dict[str, Source], optional=True)
    generic = reader.read("generic-probes", list[GenericProbe], optional=True)
    scenarios: dict[str, Scenario] = {}
    probes: dict[str, tuple[Probe, ...]] = {}
    for path in sorted(root.glob("*/*.yaml")):
        name = path.relative_to(root).with_suffix("").as_posix()
        if name.endswith(".probes") or (scenario := reader.read(name, Scenario)) is None:
            continue
        if scenario.id in scenarios:
            reader.report(name, ("id",), "CE103", f"id {scenario.id!r} is another scenario's too")
            continue
        scenarios[scenario.id] = scenario
        reader.documents[scenario.id] = reader.documents.pop(name)
        if (file := reader.read(f"{name}.probes", ProbesFile, optional=True)) is not None:
            probes[scenario.id] = _probes(file, f"{name}.probes", scenario, generic or [], reader)
            reader.documents[f"{scenario.id}.probes"] = reader.documents.pop(f"{name}.probes")
    if about is None or reader.problems:
        raise BankProblems(reader.problems)
    ordered = tuple(scenarios[key] for key in sorted(scenarios))
    return Bank(about, ordered, probes, sources or {}, reader.documents)


class _Reader:
    """Reads a bank's files one by one, keeping each document and each problem."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.documents: dict[str, Document] = {}
        self.problems: list[Problem] = []

    def read(self, name: str, kind: type[T], *, optional: bool = False) -> T | None:
        """One file as `kind`; None when it has problems, or is `optional` and not there."""
        path = self.root / f"{name}.yaml"
        if optional and not path.is_file():
            return None
        try:
            document = self.documents[name] = read_yaml(path)
        except BankProblems as error:
            self.problems += error.problems
            return None
        try:
            return _adapter(kind).validate_python(document.content)
        except ValidationError as error:
            self.problems += [_problem(document, details) for details in error.errors()]
            return None

    def report(self, name: str, loc: Loc, code: str, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self.documents[name].place(loc), code, message, hint))


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)


def _problem(document: Document, error: ErrorDetails) -> Problem:
    """One pydantic error as CE102, at the place of what it is about, in a clinician's words."""
    loc: Loc = error["loc"]
    # pydantic marks an error in a mapping's key by a last step '[key]'
    if loc and loc[-1] == "[key]":
        loc = loc[:-1]
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc).lstrip(".")
    match error["type"]:
        case "missing":
            message, hint, loc_of = f"{path}: is not there", "", loc[:-1]
        case "extra_forbidden":
            message, hint, loc_of = f"{path}: is no field of this file", "", loc
        case "enum" | "literal_error":
            expected = str(error.get("ctx", {}).get("expected", ""))
            names = [name.strip(" '") for name in expected.replace(" or ", ",").split(",")]
            near = get_close_matches(str(error["input"]), names, n=1, cutoff=0.5)
            message = f"{path}: found {error['input']!r}, expected {expected}"
            hint, loc_of = (f"did you mean {near[0]!r}?" if near else ""), loc
        case _:
            found = "" if isinstance(error["input"], dict | list) else f" (found {error['input']!r})"
            message, hint, loc_of = f"{path}: {error['msg']}{found}", "", loc
    return Problem(document.place(loc_of, key=error["type"] == "extra_forbidden"), "CE102", message, hint)


def _probes(
    file: ProbesFile, name: str, scenario: Scenario, generic: list[GenericProbe], reader: _Reader
) -> tuple[Probe, ...]:
    """The file's probes with every label, their problems reported."""
    by_id = {probe.id: probe for probe in generic}
    found: dict[str, Probe] = {}
    for i, entry in enumerate(file.probes):
        where: Loc = ("probes", i)
        if entry.id in found:
            reader.report(name, (*where, "id"), "CE104", f"probe {entry.id!r} stands twice")
            continue
        source = by_id.get(entry.id)
        text, trap = (entry.text, entry.trap) if entry.text else (source and source.text, source and source.trap)
        if text is None or trap is None:
            reader.report(
                name, (*where, "id"), "CE104", f"probe {entry.id!r} has no text or no trap, and is no generic one",
                f"write both, or use one of {', '.join(sorted(by_id)) or 'generic-probes.yaml'}",
            )  # fmt: skip
            continue
        labels = _labels(entry, scenario, name, where, reader)
        found[entry.id] = Probe(id=entry.id, trap=trap, text=text, labels=labels)
    return tuple(found.values())


def _labels(entry: ProbeEntry, scenario: Scenario, name: str, where: Loc, reader: _Reader) -> dict[str, bool]:
    """Labels for every action and rung; a rung's follows from its actions unless it is stated."""
    stated = {key: label == "present" for key, label in entry.labels.items()}
    labels: dict[str, bool] = {}
    known = {item.id for item in (*scenario.actions, *scenario.ladder)}
    for key in stated.keys() - known:
        near = get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else ""
        reader.report(name, (*where, "labels", key), "CE105", f"{key!r} is no item of {scenario.id}", hint)
    for action in scenario.actions:
        if action.id in stated:
            labels[action.id] = stated[action.id]
        else:
            reader.report(name, (*where, "labels"), "CE105", f"probe {entry.id!r} does not label {action.id!r}")
    for rung in scenario.ladder:
        if rung.id in stated:
            labels[rung.id] = stated[rung.id]
        elif rung.of:
            labels[rung.id] = all(stated.get(action, False) for action in rung.of)
        else:
            reader.report(
                name, (*where, "labels"), "CE105", f"probe {entry.id!r} does not label rung {rung.id!r}",
                "a rung made of no actions is labelled by hand",
            )  # fmt: skip
    return labels
