"""Selecting what runs ask and grade: bank, scenarios, prompts, rubric, and rosters of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from careeval.bank import Bank, content_hash, load_bank
from careeval.bank.sealed import KEY_VARIABLE, key_for_split
from careeval.core.scenario import Adl, Rubric, Scenario, Split
from careeval.errors import ProtocolError, did_you_mean
from careeval.files import read_given_text
from careeval.modes import Mode
from careeval.modes.prompts import Prompts, load_prompts
from careeval.protocol.log_fields import Grouping

BOTH = "both"
"""The name for both rubrics, in studies with people."""

ONE_RUBRIC = "run with one rubric, then grade the other: careeval grade RUN --rubric ladder"


@dataclass(frozen=True, slots=True)
class Selection:
    """The bank, scenarios, prompts and rubric of a run."""

    bank: Bank  # Without its probes
    prompts: Prompts  # The user's own prompts, or else those of the bank's mode
    scenarios: tuple[Scenario, ...]  # The whole selection, whose hash is in the run's log
    asked: tuple[Scenario, ...]
    """The scenarios that the run asks about: those of a sweep's slice, or else all selected."""
    rubric: Rubric  # The one that a grading judges
    given: str | None  # What a system is given of each scenario; `None` where all is given


def selection_of(task: Mapping[str, Any]) -> Selection:
    """Return the selection that the arguments of the task `careeval` describe; others are ignored.

    Raises:
        ProtocolError: An argument is not valid, nothing fits, or the prompts cannot be used.
        BankError: The bank cannot be used, or an id is not in it.
    """
    split = task.get("split") or Split.public.value
    if split not in Split.__members__.values():
        raise ProtocolError(f"split {split!r} is not known", hint=f"use {' or '.join(Split)}")
    bank = load_bank(task.get("bank"), key_for_split(split), probes=False)
    folder = Path(task["prompts"]) if task.get("prompts") else None
    given = bank.mode.condition(task.get("given"))
    prompts = load_prompts(bank.mode, folder, step=bool(task.get("step")), given=given)
    adls, ids, part = (_listed(task.get(name)) for name in ("adl", "scenario", "part"))
    asked_of = _with_something_given(bank, given, ids)
    scenarios = select_scenarios(
        asked_of, Split(split), adls, ids, task.get("limit"), twins=bool(task.get("twins"))
    )
    rubric = rubric_graded(task.get("rubric"), scenarios, bank.mode)
    scenarios = [*told(scenarios, bank.mode, given)]
    asked = _scenarios_of_slice(scenarios, part)
    return Selection(bank, prompts, tuple(scenarios), tuple(asked), rubric, given)


def _with_something_given(bank: Bank, given: str | None, ids: Iterable[str]) -> Bank:
    """Return a bank with those scenarios that have something to give in a condition.

    Raises:
        ProtocolError: One of `ids` has nothing, or none of the bank has.
        BankError: An id is not in the bank.
    """
    kept = {scenario.id: scenario for scenario in bank.scenarios
            if next(told([scenario], bank.mode, given), None)}  # fmt: skip
    for scenario_id in ids:
        if (own := bank.scenario(scenario_id).id) not in kept:
            raise ProtocolError(
                f"{own} has nothing that --given {given} could give",
                hint=f"leave it out: {len(kept)} of {len(bank)} have, such as {next(iter(kept))}"
                if kept
                else "use another --given",
            )
    if not kept:
        raise ProtocolError(
            f"no scenario of bank {bank.about.name!r} has anything that --given {given} could give",
            hint="use another --given",
        )
    return replace(bank, scenarios=tuple(kept.values()))


def told(scenarios: Iterable[Scenario], mode: Mode, given: str | None) -> Iterator[Scenario]:
    """Yield scenarios with what a system is asked in a condition, those that have it."""
    for scenario in scenarios:
        asked = scenario if given is None else mode.tell(scenario, given)
        if asked is not None:
            yield asked


def _listed(value: str | Sequence[str] | None) -> list[str]:
    """Return the names in a task argument: one name, names with commas, or a list."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return list(value or ())


def select_scenarios(
    bank: Bank,
    split: Split,
    adls: Sequence[str] = (),
    ids: Sequence[str] = (),
    limit: int | None = None,
    *,
    twins: bool = False,
) -> list[Scenario]:
    """Return the scenarios of a run, in the order of their ids.

    All activities are taken if none is named, and all bases if no id is. A limit takes scenarios
    from the activities in turn, so that a small run covers all activities. `twins` adds the twins
    and controls of the chosen bases, beyond the limit.

    Raises:
        ProtocolError: An activity is not known, the limit is below 1, or no scenario fits.
        BankError: An id is not in the bank.
    """
    for adl in adls:
        if adl not in Adl.__members__.values():
            hint = did_you_mean(adl, [each.value for each in Adl]) or f"use {', '.join(Adl)}"
            raise ProtocolError(f"activity {adl!r} is not known", hint=hint)
    if limit is not None and limit < 1:
        raise ProtocolError(f"the limit must be 1 or more, not {limit}", hint="use 1 or more")
    wanted = {bank.scenario(scenario_id).id for scenario_id in ids}
    chosen = [
        s
        for s in bank.scenarios
        if s.split is split
        and (not adls or s.adl in adls)
        and (s.id in wanted if wanted else s.twin_of is None)
    ]
    if not chosen:
        raise ProtocolError(
            f"bank {bank.about.name!r} has no {split} scenario of the chosen activities and ids",
            hint=f"if the split is sealed, set its key: {KEY_VARIABLE}"
            if split is Split.held_out
            else "choose others: 'careeval bank list' shows what there is",
        )
    if limit is not None:
        by_adl = [[s for s in chosen if s.adl is adl] for adl in Adl]
        in_turn = [s for s in chain.from_iterable(zip_longest(*by_adl)) if s is not None]
        chosen = in_turn[:limit]
    base_ids = {s.id for s in chosen} if twins else set()
    added = [s for s in bank.scenarios if s.twin_of in base_ids and s not in chosen]
    return sorted([*chosen, *added], key=lambda s: s.id)


def _scenarios_of_slice(chosen: Sequence[Scenario], ids: Sequence[str]) -> list[Scenario]:
    """Return the scenarios that one run asks about: those of a sweep's slice, or all of them."""
    if unknown := set(ids) - {scenario.id for scenario in chosen}:
        raise ProtocolError(
            f"the task's argument 'part' names {min(unknown)!r}, which is not among the scenarios "
            "that the run selects",
            hint="name only selected scenarios in 'part'",
        )
    return [scenario for scenario in chosen if not ids or scenario.id in ids]


def selection_hashes(chosen: Sequence[Scenario]) -> dict[str, str]:
    """Return `bank_hash` of a selection's bases, and `twins_hash` of its twins if it has any.

    With two hashes, a run with twins can be compared with one without: both have the same bases. A
    twin whose base is not chosen counts as a base, as it does in results.
    """
    ids = {scenario.id for scenario in chosen}
    twins = [scenario for scenario in chosen if scenario.twin_of in ids]
    bases = [scenario for scenario in chosen if scenario.twin_of not in ids]
    return {
        "bank_hash": content_hash(bases),
        **({"twins_hash": content_hash(twins)} if twins else {}),
    }


_KEPT = ("version", "part", "status", *(each.name for each in fields(Grouping)))
"""Fields of a scenario by which results may be grouped or selected."""


def sample_metadata(
    scenario: Scenario, rubrics: list[Rubric], *, step: bool = False
) -> dict[str, Any]:
    """Return the metadata of a scenario's sample: kept fields, rubrics, facts, rules not told.

    A scenario without facts has no key `facts`, one without such rules no key `untold`, one without
    a picture no key `picture`; with `step`, the facts say that a response is acts.
    """
    kept = scenario.model_dump(mode="json", include=set(_KEPT))
    items = {
        rubric.value: [
            item.model_dump(mode="json", exclude={"why", "sources"})
            for item in scenario.rubric(rubric)
        ]
        for rubric in rubrics
    }
    picture = scenario.picture
    facts = {**scenario.facts(), **({"step": True} if step else {})}
    return {
        **{name: kept[name] for name in _KEPT if name in kept},
        "rubrics": items,
        **({"facts": facts} if facts else {}),
        **({"untold": scenario.untold} if scenario.untold else {}),
        **({"picture": {"hash": picture.hash, "alt": picture.alt}} if picture else {}),
    }


def rubric_graded(rubric: str | None, scenarios: Sequence[Scenario], mode: Mode) -> Rubric:
    """Return the rubric that a grading judges: by default the mode's first that any scenario has.

    Raises:
        ProtocolError: The rubric is not one of the mode, or no scenario has it.
    """
    if rubric is None:
        present = (each for each in mode.rubrics if any(s.rubric(each) for s in scenarios))
        return next(present, mode.rubrics[-1])
    if rubric == BOTH:
        raise ProtocolError("a grading judges one rubric, not both", hint=ONE_RUBRIC)
    if rubric not in mode.rubrics:
        hint = f"use {' or '.join(mode.rubrics)}"
        raise ProtocolError(f"rubric {rubric!r} is not known", hint=hint)
    chosen = Rubric(rubric)
    if not any(scenario.rubric(chosen) for scenario in scenarios):
        others = [each for each in mode.rubrics if each is not chosen]
        raise ProtocolError(
            f"none of the chosen scenarios has the rubric {chosen}",
            hint=f"use --rubric {' or '.join(others)}" if others else "",
        )
    return chosen


def rubrics_named(rubric: str) -> list[Rubric]:
    """Return the rubrics that `ladder`, `actions` or `both` names.

    Raises:
        ProtocolError: The name is none of these.
    """
    if rubric == BOTH:
        return [Rubric.ladder, Rubric.actions]
    if rubric not in Rubric.__members__.values():
        raise ProtocolError(f"rubric {rubric!r} is not known", hint="use ladder, actions or both")
    return [Rubric(rubric)]


# Rosters: lists of models to run. Each line has one Inspect model name; `#` begins a comment

PAPER = "paper"
"""The roster of the paper's nine models."""

ROSTERS = Path(__file__).parent / "rosters"
"""The rosters that ship with careeval, each `<name>.txt`."""


def rosters() -> list[str]:
    """Return the names of the rosters that ship with careeval, in order."""
    return sorted(path.stem for path in ROSTERS.glob("*.txt"))


MAX_BYTES = 1_000_000
"""The most bytes of a roster file; a larger file is refused."""


def read_roster(name_or_path: str) -> list[str]:
    """Return the models of a roster, in its order; at least one, without duplicates.

    One of `rosters()` comes before the path of a file.

    Raises:
        ProtocolError: The roster does not exist, cannot be read or names no model, or a line is not
            a model name or is a duplicate; every faulty line is listed.
    """
    if name_or_path in rosters():
        path = ROSTERS / f"{name_or_path}.txt"
    else:
        path = Path(name_or_path)
        if not path.exists() or path.is_dir():
            raise _unknown(name_or_path)
    text = read_given_text(path, ProtocolError, encoding="utf-8-sig", max_bytes=MAX_BYTES)
    first: dict[str, int] = {}
    problems: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        model = line.partition("#")[0].strip()
        if not model:
            continue
        if not _is_name(model):
            problems.append(
                f"{path}:{number}: {model!r} is not a model name of the form PROVIDER/MODEL"
            )
        elif model in first:
            problems.append(f"{path}:{number}: {model!r} is a duplicate of line {first[model]}")
        else:
            first[model] = number
    hint = "write one Inspect model name per line, such as openai/gpt-5.1; # begins a comment"
    if problems:
        raise ProtocolError("\n".join(problems), hint=hint)
    if not first:
        raise ProtocolError(f"{path}: names no model", hint=hint)
    return list(first)


def _is_name(model: str) -> bool:
    provider, _, name = model.partition("/")
    return bool(provider and name) and model.isprintable() and " " not in model


def _unknown(name: str) -> ProtocolError:
    near = did_you_mean(name, rosters())
    return ProtocolError(
        f"no roster or file is named {name!r}",
        hint=f"{near}{' ' * bool(near)}rosters: {', '.join(rosters())}. Or give the path of a file",
    )
