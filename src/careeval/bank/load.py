"""Loading of a bank from its folder; every error of format is listed with its place.

A bank is a folder with `bank.yaml`, and scenarios as `<adl>/<id>.yaml`. A scenario may have
`<id>.probes.yaml` beside it. Beside `bank.yaml` there may be `sources.yaml`, `generic-probes.yaml`
and `evidence.json`, and the sealed held-out split, which is read like the rest if its key is given.
`careeval.bank.rules` checks the content.
"""

from __future__ import annotations

import gc
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from html import escape
from pathlib import Path

from careeval.bank.evidence import FILE as EVIDENCE
from careeval.bank.evidence import Evidence, Vetting, vetted
from careeval.bank.reader import BankReader, shown
from careeval.bank.schema import BankFile, GenericProbe, ProbeEntry, ProbesFile
from careeval.bank.sealed import HASH, KEY_VARIABLE, SEALED, has_sealed, key_for_bank, unseal
from careeval.bank.yaml_nodes import BankProblems, FilePlaces, Loc
from careeval.core.scenario import Adl, ItemId, Probe, Scenario, Slug, Source
from careeval.core.twin import right_acts
from careeval.errors import BankError, did_you_mean
from careeval.modes import MODES, Mode

OWN_NAME = "careeval-open"
"""The name, in tables and logs, of the banks that ship with careeval."""

OWN_BANK = Path(__file__).parent / "data"
"""The bank that is used if none is given."""

DEFAULT = "4"
"""Number of `OWN_BANK`."""

OWN_BANKS = {
    DEFAULT: OWN_BANK,
    "plans": OWN_BANK.with_name("plans"),
}
"""Name for `--bank` → folder of each bank that ships with careeval."""


@dataclass(frozen=True, eq=False)
class Bank:
    """A bank: scenarios with their probes and sources, with a name and a version."""

    about: BankFile
    scenarios: tuple[Scenario, ...]  # Sorted by id
    probes: Mapping[str, tuple[Probe, ...]]
    """Scenario id → probes; a scenario without a probes file is not a key."""
    sources: Mapping[str, Source]  # Key → source
    vettings: Mapping[str, Vetting] = field(repr=False)
    """Scenario id → entry of `evidence.json`, even if the text has changed since."""
    documents: Mapping[str, FilePlaces] = field(repr=False)
    """Name of a file → the places of its values. A scenario's id is the name of its file; other
    names are `bank`, `sources`, `<id>.probes`, `<id>.evidence` (the file that has the scenario's
    entry) and so on."""

    def __len__(self) -> int:
        return len(self.scenarios)

    def __getitem__(self, scenario_id: str) -> Scenario:
        return self.scenario(scenario_id)

    def __iter__(self) -> Iterator[Scenario]:
        return iter(self.scenarios)

    def __repr__(self) -> str:
        return f"<Bank {self.about.name} {self.about.version}: {len(self)} scenarios>"

    def _repr_html_(self) -> str:
        counts = Counter(scenario.adl for scenario in self.scenarios)
        rows = "".join(f"<tr><th>{adl}</th><td>{counts[adl]}</td></tr>" for adl in Adl)
        about = self.about
        title = f"{about.name} {about.version}, {about.provenance}"
        return f"<table><caption>{escape(title)}</caption>{rows}</table>"

    @property
    def mode(self) -> Mode:
        """The mode, which defines how a system is asked and its responses are judged."""
        return MODES[self.about.mode]

    @property
    def bases(self) -> tuple[Scenario, ...]:
        """The scenarios that are not twins, sorted by id."""
        return tuple(scenario for scenario in self.scenarios if scenario.twin_of is None)

    @cached_property
    def _by_id(self) -> Mapping[str, Scenario]:
        return {scenario.id: scenario for scenario in self.scenarios}

    def pair_of(self, scenario_id: str, item: str) -> str:
        """Return the id of the base if an item decides between a base and its twin, else ''.

        An act decides if it is right in one of the two texts and bad in the other.
        """
        return self._pairs.get((scenario_id, item), "")

    @cached_property
    def _pairs(self) -> Mapping[tuple[str, ItemId], str]:
        """Id of a base or twin, and id of an act right in one of the two → id of the base."""
        pairs: dict[tuple[str, ItemId], str] = {}
        for twin in self.scenarios:
            if twin.twin_of is None or twin.control is not None:
                continue
            both = (self.scenario(twin.twin_of), twin)
            acts = right_acts(*({act.id: act.points for act in s.actions} for s in both))
            if [len(ids) for ids in acts] == [1, 1]:
                for scenario in both:
                    pairs |= {(scenario.id, act): twin.twin_of for act in acts[0] + acts[1]}
        return pairs

    def vetting(self, scenario: Scenario) -> Vetting | None:
        """Return the entry of `evidence.json` for a scenario's present text, or `None`."""
        entry = self.vettings.get(scenario.id)
        return entry if entry is not None and entry.is_of(scenario) else None

    def evidence(self, scenario: Scenario) -> tuple[Evidence, ...]:
        """Return the evidence on a scenario's present text and its earlier versions.

        Empty if `evidence.json` has no entry, or one of another text.
        """
        entry = self.vetting(scenario)
        return () if entry is None else entry.evidence

    def scenario(self, scenario_id: str) -> Scenario:
        """Return the scenario with that id.

        Raises:
            BankError: No scenario has that id; the hint names the closest id.
        """
        if scenario := self._by_id.get(scenario_id):
            return scenario
        ids = list(self._by_id)
        # ids with the same number first: by its letters, 'dressing-1' is closer to dressing-011
        number = _number(scenario_id)
        alike = [each for each in ids if number and _number(each) == number]
        hint = did_you_mean(scenario_id, alike) or did_you_mean(scenario_id, ids)
        if re.fullmatch(r"[a-z]+-p?h\d+", scenario_id):
            hint = f"this is a held-out scenario's id: set {KEY_VARIABLE} to the key of the split"
        raise BankError(
            f"bank {self.about.name!r} has no scenario {scenario_id!r}",
            hint=hint or "an id looks like 'dressing-101'",
        )


def _number(scenario_id: str) -> str:
    digits = re.search(r"\d+$", scenario_id)
    return digits[0].lstrip("0") if digits else ""


def bank_folder(name: Path | str | None) -> Path:
    """Return the folder of a bank, given as a path or by its name in `OWN_BANKS`.

    A folder of that name that has a bank takes precedence. `None` means `OWN_BANK`.
    """
    if name is None:
        return OWN_BANK
    folder = Path(name)
    return folder if (folder / "bank.yaml").exists() else OWN_BANKS.get(str(name), folder)


def bank_reference(name: Path | str | None) -> str | None:
    """Return a bank as a run stores it: the name of one of careeval's own, or an absolute path."""
    if name is None:
        return None
    folder = bank_folder(name).resolve()
    own = (number for number, each in OWN_BANKS.items() if each.resolve() == folder)
    return next(own, str(folder))


def bank_mode(folder: Path | str | None = None) -> Mode:
    """Return the mode of a bank, reading only its `bank.yaml`.

    Raises:
        BankError: There is no bank in the folder.
        BankProblems: Its `bank.yaml` has problems.
    """
    reader = BankReader(_existing(folder), {})
    return MODES[_about(reader).mode]


def load_bank(
    folder: Path | str | None = None, key: str | None = None, *, probes: bool = True
) -> Bank:
    """Load a bank.

    Args:
        folder: The bank's folder, or its name in `OWN_BANKS`; default `OWN_BANK`.
        key: Key of the bank's sealed held-out split; without it, only the public split is loaded.
        probes: Whether to load the probes, which are most of a bank; a run needs none.

    Raises:
        BankError: There is no bank in the folder, or its held-out split does not open.
        BankProblems: Its files have problems; all are listed.
    """
    root = _existing(folder)
    others = ("**/*.yaml", "*/*.webp", EVIDENCE, SEALED, HASH)
    files = sorted(path for name in others for path in root.glob(name))
    state = tuple((path, (stat := path.stat()).st_size, stat.st_mtime_ns) for path in files)
    return _load(root, key if has_sealed(root) else None, probes, state)


def load_with_key(folder: Path | str | None = None, *, probes: bool = True) -> Bank:
    """Load a bank as `load_bank` does, with the key of its held-out split if one is set."""
    return load_bank(folder, key_for_bank(bank_folder(folder)), probes=probes)


def _existing(folder: Path | str | None) -> Path:
    root = bank_folder(folder)
    if not os.path.lexists(root / "bank.yaml"):
        raise BankError(
            f"{root} holds no bank: there is no bank.yaml", hint="name the folder of a bank"
        )
    return root


@cache
def _load(
    root: Path, key: str | None, probes: bool, _state: tuple[tuple[Path, int, int], ...]
) -> Bank:
    """Return the bank of a folder, from a cache while no file's size or time has changed."""
    was_enabled = gc.isenabled()
    gc.disable()  # garbage collection would take a third of the time
    try:
        return read_bank(root, unseal(root, key) if key else {}, with_probes=probes)
    finally:
        if was_enabled:
            gc.enable()


def read_bank(root: Path, held_out: Mapping[str, str], *, with_probes: bool = True) -> Bank:
    """Return the bank of a folder; `held_out` has the texts of its held-out split by file name.

    Raises:
        BankProblems: As for `load_bank`.
    """
    reader = BankReader(root, held_out)
    about = _about(reader)
    sources: dict[str, Source] | None = {}
    for name in ("sources", HELD_OUT_SOURCES):
        if reader.has(name) and sources is not None:
            more = reader.read(name, dict[Slug, Source])
            sources = None if more is None else sources | more
    generic: list[GenericProbe] | None = []
    if reader.has("generic-probes"):
        generic = reader.read("generic-probes", list[GenericProbe])
    scenarios: dict[str, Scenario] = {}
    probes: dict[str, tuple[Probe, ...]] = {}
    vettings = _vettings(reader)
    for name, as_written in MODES[about.mode].read(reader):
        probes_name = f"{name}.probes"
        labelled = with_probes and reader.has(probes_name)
        file = reader.read(probes_name, ProbesFile) if labelled else None
        if as_written is None:
            continue
        scenario = vetted(as_written, vettings.get(as_written.id))
        if (first := scenarios.setdefault(scenario.id, scenario)) is not scenario:
            where = reader.documents[first.id].path
            reader.report(name, ("id",), "CE103", f"id {scenario.id!r} is also that of {where}")
            continue
        reader.documents[scenario.id] = reader.documents.pop(name)
        if file is not None and generic is not None:
            probes[scenario.id] = _probes(file, probes_name, scenario, generic, reader)
            reader.documents[f"{scenario.id}.probes"] = reader.documents.pop(probes_name)
    if with_probes:
        for name in reader.names():
            if name.endswith(".probes"):
                reader.expect_scenario_beside(name)
    if sources is None or reader.problems:
        raise BankProblems(reader.problems)
    ordered = tuple(scenarios[key] for key in sorted(scenarios))
    return Bank(about, ordered, probes, sources, vettings, reader.documents)


def _vettings(reader: BankReader) -> dict[str, Vetting]:
    vettings: dict[str, Vetting] = {}
    for name in (EVIDENCE, f"{SEALED}/{EVIDENCE}"):
        if reader.has(name):
            entries = reader.read(name, dict[Slug, Vetting]) or {}
            vettings |= entries
            reader.documents |= {f"{each}.evidence": reader.documents[name] for each in entries}
    return vettings


def _about(reader: BankReader) -> BankFile:
    """Return a bank's `bank.yaml`, which says how all its other files are read.

    Raises:
        BankProblems: It has problems; no other file is read then.
    """
    about = reader.read("bank", BankFile)
    if about is None:
        raise BankProblems(reader.problems)
    if about.mode not in MODES:
        message = f"mode: found {shown(about.mode)}, expected {' or '.join(map(repr, MODES))}"
        reader.report("bank", ("mode",), "CE102", message, did_you_mean(about.mode, MODES))
    elif about.rules is not None and about.rules != MODES[about.mode].rules:
        message = f"rules: {shown(about.rules)} are not for the mode {shown(about.mode)}"
        meant = [name for name in MODES if MODES[name].rules == about.rules]
        hint = f"write 'mode: {meant[0]}', or other rules"
        reader.report("bank", ("rules",), "CE102", message, hint)
    if reader.problems:
        raise BankProblems(reader.problems)
    return about


HELD_OUT_SOURCES = f"{SEALED}/sources"
"""Name of the sources of the held-out split among the documents."""


def _probes(
    file: ProbesFile, name: str, scenario: Scenario, generic: list[GenericProbe], reader: BankReader
) -> tuple[Probe, ...]:
    generic_by_id = {probe.id: probe for probe in generic}
    probes: dict[str, Probe] = {}
    for i, entry in enumerate(file.probes):
        where: Loc = ("probes", i)
        if entry.id in probes:
            reader.report(name, (*where, "id"), "CE104", f"probe {entry.id!r} appears twice")
            continue
        shared = generic_by_id.get(entry.id)
        text, trap = entry.text, entry.trap
        if text is None and shared is not None:
            text, trap = shared.text, shared.trap
        if text is None or trap is None:
            message = f"probe {entry.id!r} has no text or no trap, and is not a generic probe"
            names = ", ".join(sorted(generic_by_id)) or "generic-probes.yaml"
            hint = f"write text and trap, or use a generic probe: {names}"
            reader.report(name, (*where, "id"), "CE104", message, hint)
            continue
        labels = _labels(entry, scenario, name, where, reader)
        probes[entry.id] = Probe(id=entry.id, trap=trap, text=text, labels=labels)
    return tuple(probes.values())


def _labels(
    entry: ProbeEntry, scenario: Scenario, name: str, where: Loc, reader: BankReader
) -> dict[str, bool]:
    """Return a probe's labels; a rung that the file does not label gets those of its actions."""
    stated = {key: label == "present" for key, label in entry.labels.items()}
    labels: dict[str, bool] = {}
    where = (*where, "labels")
    ids = [item.id for item in (*scenario.actions, *scenario.ladder)]
    for key in stated:
        if key not in ids:
            message, hint = f"{key!r} is not an item of {scenario.id}", did_you_mean(key, ids)
            reader.report(name, (*where, key), "CE105", message, hint, key=True)
    for action in scenario.actions:
        if action.id in stated:
            labels[action.id] = stated[action.id]
        else:
            message = f"probe {entry.id!r} does not label {action.id!r}"
            reader.report(name, where, "CE105", message, "write present or absent")
    for rung in scenario.ladder:
        if rung.id in stated:
            labels[rung.id] = stated[rung.id]
        elif rung.of:
            labels[rung.id] = all(stated.get(action, False) for action in rung.of)
        else:
            message = f"probe {entry.id!r} does not label rung {rung.id!r}"
            hint = "a rung made of no actions is labelled by hand"
            reader.report(name, where, "CE105", message, hint)
    return labels
