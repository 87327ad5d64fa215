"""Scenarios and their twins, read from the files of a bank."""

from __future__ import annotations

from collections.abc import Mapping

from careeval.core.scenario import Scenario
from careeval.core.twin import Twin
from careeval.errors import did_you_mean
from careeval.modes.mode import BankFiles


def read_scenarios(files: BankFiles) -> list[tuple[str, Scenario | None]]:
    """Read every scenario and twin, by the name of its file; None where it has problems."""
    read: dict[str, Scenario | Twin | None] = {}
    for name in files.names():
        if name.endswith(".probes"):
            continue
        is_twin = files.has_field(name, "twin_of")
        read[name] = files.read(name, Twin) if is_twin else files.read(name, Scenario)
    bases = {each.id: each for each in read.values() if isinstance(each, Scenario)}
    return [
        (name, _twin(name, each, bases, files) if isinstance(each, Twin) else each)
        for name, each in read.items()
    ]


def _twin(
    name: str, twin: Twin, bases: Mapping[str, Scenario], files: BankFiles
) -> Scenario | None:
    """A twin as a scenario; None where it does not fit its base, and that is kept."""
    base = bases.get(twin.twin_of)
    if base is not None and twin.split is not base.split:
        message = f"is {twin.split}, and its base is {base.split}"
        files.report(name, ("split",), "CE129", message, f"write 'split: {base.split}'")
        return None
    if base is None:
        message = f"it is a twin of {twin.twin_of!r}, which is no base scenario of this bank"
        files.report(name, ("twin_of",), "CE129", message, did_you_mean(twin.twin_of, bases))
        return None
    wanted = [] if twin.control else [action.id for action in base.actions]
    stated = [item.id for item in twin.actions]
    if stated != wanted:
        message = f"its actions are {', '.join(stated) or 'none'}"
        hint = f"name those of {base.id}, in their order: {', '.join(wanted)}"
        if twin.control:
            hint = "a control has the points of its base: leave them out"
        files.report(name, ("actions",), "CE129", message, hint)
        return None
    return twin.scenario(base)
