"""The mode `response`: a system says in words what it would do, and a grader judges that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from careeval.core.response import LEXICAL
from careeval.core.scenario import Rubric, Scenario
from careeval.core.twin import Twin
from careeval.errors import did_you_mean
from careeval.modes.mode import BankFiles, Mode
from careeval.modes.response.lexical import lexical


def read_scenarios(files: BankFiles) -> list[tuple[str, Scenario | None]]:
    """Return every scenario and twin with the name of its file; None in place of a faulty one."""
    by_name: dict[str, Scenario | Twin | None] = {}
    for name in files.names():
        if name.endswith(".probes"):
            continue
        is_twin = files.has_field(name, "twin_of")
        by_name[name] = files.read(name, Twin) if is_twin else files.read(name, Scenario)
    bases = {each.id: each for each in by_name.values() if isinstance(each, Scenario)}
    return [
        (name, _twin(name, each, bases, files) if isinstance(each, Twin) else each)
        for name, each in by_name.items()
    ]


def _twin(
    name: str, twin: Twin, bases: Mapping[str, Scenario], files: BankFiles
) -> Scenario | None:
    """Return a twin as a scenario; if it does not fit its base, report that and return None."""
    base = bases.get(twin.twin_of)
    if base is not None and twin.split is not base.split:
        message = f"is {twin.split}, but its base scenario is {base.split}"
        files.report(name, ("split",), "CE129", message, f"write 'split: {base.split}'")
        return None
    if base is None:
        message = f"{twin.twin_of!r} is not a base scenario of this bank"
        files.report(name, ("twin_of",), "CE129", message, did_you_mean(twin.twin_of, bases))
        return None
    expected = [] if twin.control else [action.id for action in base.actions]
    actions = [item.id for item in twin.actions]
    if actions != expected:
        message = f"the twin's actions are {', '.join(actions) or 'none'}, not those of its base"
        hint = f"give the actions of {base.id} in the same order: {', '.join(expected)}"
        if twin.control:
            hint = "leave out the actions: a control uses the points of its base"
        files.report(name, ("actions",), "CE129", message, hint)
        return None
    return twin.scenario(base)


RESPONSE = Mode(
    name="response",
    protocol="2-A",
    read=read_scenarios,
    rubrics=(Rubric.actions, Rubric.ladder),
    prompts=Path(__file__).parent / "prompts",
    models_grade=True,
    programs={LEXICAL: lexical},
    # the paper's grader, dated: an alias moves
    grader="openai/gpt-4o-2024-08-06",
    rules="careeval",
)
"""The mode of a bank whose `bank.yaml` names none."""
