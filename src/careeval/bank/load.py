"""From a folder of YAML files to a `Bank`: shape only, every problem with its place.

A bank is a folder with `bank.yaml`, and scenarios as `<adl>/<id>.yaml`. Beside a scenario may stand
`<id>.probes.yaml`; beside `bank.yaml`, `sources.yaml`, `generic-probes.yaml` and `evidence.json`,
and the sealed held-out split, which is read like the rest where its key is given. Whether the
content is good is for `careeval.bank.rules.check`.
"""

from __future__ import annotations

import gc
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from html import escape
from pathlib import Path

from careeval.bank import evidence
from careeval.bank.evidence import Vetting, vetted
from careeval.bank.problems import BankProblems
from careeval.bank.reader import BankReader, shown
from careeval.bank.schema import BankFile, GenericProbe, ProbeEntry, ProbesFile
from careeval.bank.sealed import HASH, KEY_VARIABLE, SEALED, has_sealed, unseal
from careeval.bank.yaml_nodes import Loc, Places
from careeval.core.scenario import Adl, ItemId, Probe, Scenario, Slug, Source
from careeval.core.twin import right_acts
from careeval.errors import BankError, did_you_mean
from careeval.modes import MODES, Mode
from careeval.modes.response import RESPONSE

OWN_NAME = "careeval-open"
"""The name, in tables and logs, of the banks that ship with careeval."""

OWN_BANK = Path(__file__).parent / "data"
"""The bank that is meant where none is named."""

DEFAULT = "3"
"""Its number."""

OWN_BANKS = {"2": OWN_BANK.with_name("data-2"), DEFAULT: OWN_BANK}
"""The banks that ship with careeval, by the number that people name them with."""


@dataclass(frozen=True, eq=False)
class Bank:
    """Scenarios with their probes and sources, as one named and versioned whole.

    Attributes:
        about: Name, version, licence, provenance and canary.
        scenarios: In the order of their ids.
        probes: By scenario id; a scenario without a probes file is not a key.
        sources: By key.
        vettings: The entries of `evidence.json` by scenario id, also those of other texts than the
            scenarios have now.
        documents: The place of every value of the files: by scenario id, by `<id>.probes`, by
            `<id>.evidence` (of the file with its entry), and `bank`, `sources`.
    """

    about: BankFile
    scenarios: tuple[Scenario, ...]
    probes: Mapping[str, tuple[Probe, ...]]
    sources: Mapping[str, Source]
    vettings: Mapping[str, Vetting] = field(repr=False)
    documents: Mapping[str, Places] = field(repr=False)

    def __len__(self) -> int:
        return len(self.scenarios)

    def __getitem__(self, scenario_id: str) -> Scenario:
        """Return the scenario of an id, as `scenario` does."""
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
        """How a system is asked about the scenarios, and how its responses are judged."""
        return MODES[self.about.mode]

    @property
    def bases(self) -> tuple[Scenario, ...]:
        """The scenarios that are no twin of another, in the order of their ids."""
        return tuple(scenario for scenario in self.scenarios if scenario.twin_of is None)

    def pair_of(self, scenario_id: str, item: str) -> str:
        """Return the base's id of an act that is right in a text and bad in its twin, or else ''.

        The same where it is right in the twin and bad in the base.
        """
        return self._pairs.get((scenario_id, item), "")

    @cached_property
    def _pairs(self) -> Mapping[tuple[str, ItemId], str]:
        """Id of a base or a twin, and of a right act of either → the base's id."""
        pairs: dict[tuple[str, ItemId], str] = {}
        for twin in self.scenarios:
            if twin.twin_of is None or twin.control is not None:
                continue
            texts = (self.scenario(twin.twin_of), twin)
            right = right_acts(*({act.id: act.points for act in text.actions} for text in texts))
            if [len(each) for each in right] == [1, 1]:
                for text in texts:
                    pairs |= {(text.id, act): twin.twin_of for act in right[0] + right[1]}
        return pairs

    def vetting(self, scenario: Scenario) -> Vetting | None:
        """Return the entry of `evidence.json` for a scenario's present text, if there is one."""
        entry = self.vettings.get(scenario.id)
        return entry if entry is not None and entry.is_of(scenario) else None

    def scenario(self, scenario_id: str) -> Scenario:
        """The scenario of that id.

        Raises:
            BankError: There is none; the hint names the nearest.
        """
        for scenario in self.scenarios:
            if scenario.id == scenario_id:
                return scenario
        ids = [scenario.id for scenario in self.scenarios]
        # of the same number first: 'dressing-1' is nearer to dressing-011 by its letters
        number = _number(scenario_id)
        alike = [each for each in ids if number and _number(each) == number]
        hint = did_you_mean(scenario_id, alike) or did_you_mean(scenario_id, ids)
        if re.fullmatch(r"[a-z]+-h\d+", scenario_id):
            hint = f"a held-out scenario is there with its key: set {KEY_VARIABLE}"
        raise BankError(
            f"bank {self.about.name!r} has no scenario {scenario_id!r}",
            hint=hint or "an id looks like 'dressing-101'",
        )


def _number(scenario_id: str) -> str:
    """The number that an id ends with, without zeros before it; empty where there is none."""
    digits = re.search(r"\d+$", scenario_id)
    return digits[0].lstrip("0") if digits else ""


def bank_folder(name: Path | str | None) -> Path:
    """Return the folder that a bank is named by: itself, or one of careeval's own by its number.

    A folder of that name that holds a bank comes first.
    """
    if name is None:
        return OWN_BANK
    folder = Path(name)
    return folder if (folder / "bank.yaml").exists() else OWN_BANKS.get(str(name), folder)


def bank_mode(folder: Path | str | None = None) -> Mode:
    """Return the mode of a bank, of which `bank.yaml` alone is read.

    Args:
        folder: As of `load_bank`.

    Raises:
        BankError: There is no bank in the folder.
        BankProblems: Its `bank.yaml` is not what it must be.
    """
    reader = BankReader(_existing(folder), {})
    about = _about(reader)
    if about is None:
        raise BankProblems(reader.problems)
    return MODES[about.mode]


def load_bank(
    folder: Path | str | None = None, key: str | None = None, *, probes: bool = True
) -> Bank:
    """Load a bank.

    Args:
        folder: Its folder, or the number of one of careeval's own; the first where not given.
        key: Of its held-out split, where that is sealed; without it, the public split is all.
        probes: Whether to read the probes too, which are the larger part; a run needs none.

    Raises:
        BankError: There is no bank in the folder, or its held-out split does not open.
        BankProblems: Its files are not what they must be: all problems of all files.
    """
    root = _existing(folder)
    others = (evidence.FILE, SEALED, HASH)
    files = sorted([*root.rglob("*.yaml"), *(path for name in others for path in root.glob(name))])
    state = tuple((path, (stat := path.stat()).st_size, stat.st_mtime_ns) for path in files)
    return _load(root, key if has_sealed(root) else None, probes, state)


def _existing(folder: Path | str | None) -> Path:
    """Return the folder of a bank, which has a `bank.yaml`."""
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
    """The bank of a folder, read again only when a file's size or time has changed."""
    with _uncollected():
        return read_bank(root, unseal(root, key) if key else {}, with_probes=probes)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Make objects without looking for garbage between them.

    A bank's are no garbage, and to look at all of them again and again takes a third of the time.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def read_bank(root: Path, held_out: Mapping[str, str], *, with_probes: bool = True) -> Bank:
    """The bank of a folder, with the texts of its held-out split by file name.

    Raises:
        BankProblems: As `load_bank`.
    """
    reader = BankReader(root, held_out)
    about = _about(reader)
    mode = RESPONSE if about is None else MODES[about.mode]
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
    for name, as_written in mode.read(reader):
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
    if about is None or sources is None or reader.problems:
        raise BankProblems(reader.problems)
    ordered = tuple(scenarios[key] for key in sorted(scenarios))
    return Bank(about, ordered, probes, sources, vettings, reader.documents)


def _vettings(reader: BankReader) -> dict[str, Vetting]:
    """Read the entries of `evidence.json`, those of the held-out split after the public ones."""
    vettings: dict[str, Vetting] = {}
    for name in (evidence.FILE, f"{SEALED}/{evidence.FILE}"):
        if reader.has(name):
            entries = reader.read(name, dict[Slug, Vetting]) or {}
            vettings |= entries
            reader.documents |= {f"{each}.evidence": reader.documents[name] for each in entries}
    return vettings


def _about(reader: BankReader) -> BankFile | None:
    """Read `bank.yaml`; None where it has problems, which are kept.

    Raises:
        BankProblems: Its mode is not known, so that nothing else can be read.
    """
    about = reader.read("bank", BankFile)
    if about is not None and about.mode not in MODES:
        message = f"mode: found {shown(about.mode)}, expected {' or '.join(map(repr, MODES))}"
        reader.report("bank", ("mode",), "CE102", message, did_you_mean(about.mode, MODES))
        raise BankProblems(reader.problems)
    return about


HELD_OUT_SOURCES = f"{SEALED}/sources"
"""What the held-out split's own sources are called among the documents."""


def _probes(
    file: ProbesFile, name: str, scenario: Scenario, generic: list[GenericProbe], reader: BankReader
) -> tuple[Probe, ...]:
    """The file's probes with every label, in its order; what is wrong with them is reported."""
    generic_by_id = {probe.id: probe for probe in generic}
    found: dict[str, Probe] = {}
    for i, entry in enumerate(file.probes):
        where: Loc = ("probes", i)
        if entry.id in found:
            reader.report(name, (*where, "id"), "CE104", f"probe {entry.id!r} stands twice")
            continue
        shared = generic_by_id.get(entry.id)
        text, trap = entry.text, entry.trap
        if text is None and shared is not None:
            text, trap = shared.text, shared.trap
        if text is None or trap is None:
            message = f"probe {entry.id!r} has no text or no trap, and is no generic one"
            names = ", ".join(sorted(generic_by_id)) or "generic-probes.yaml"
            hint = f"write both, or use one of {names}"
            reader.report(name, (*where, "id"), "CE104", message, hint)
            continue
        labels = _labels(entry, scenario, name, where, reader)
        found[entry.id] = Probe(id=entry.id, trap=trap, text=text, labels=labels)
    return tuple(found.values())


def _labels(
    entry: ProbeEntry, scenario: Scenario, name: str, where: Loc, reader: BankReader
) -> dict[str, bool]:
    """Labels for every action and rung; a rung's follows from its actions unless it is stated."""
    stated = {key: label == "present" for key, label in entry.labels.items()}
    labels: dict[str, bool] = {}
    where = (*where, "labels")
    known = [item.id for item in (*scenario.actions, *scenario.ladder)]
    for key in stated:
        if key not in known:
            message, hint = f"{key!r} is no item of {scenario.id}", did_you_mean(key, known)
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
