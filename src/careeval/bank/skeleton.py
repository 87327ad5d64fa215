"""Skeletons of new banks, scenarios and twins: valid files with marked gaps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from careeval.bank.load import Bank
from careeval.bank.schema import GenericProbe
from careeval.bank.yaml_nodes import parse_yaml, yaml_text
from careeval.core.scenario import (
    Action,
    Adl,
    Assistance,
    Condition,
    Control,
    Scenario,
    Situation,
)
from careeval.core.twin import TwinItem
from careeval.errors import BankError
from careeval.files import write_text

TO_WRITE = "TO WRITE"
"""Marks text that is still to be written, which the check reports."""

SOURCE_TO_NAME = "to-write"
"""Marks the key of a source that is still to be named."""

AGES = (18, 110)
"""Lowest and highest age of a scenario's person."""

OWN_PROBES = ("expert", "harmful")
"""Ids of the skeleton's own probes; generic probes with these ids are left out."""


@dataclass(frozen=True)
class Outline:
    """The fields of a scenario that are known before it is written."""

    adl: Adl
    condition: Condition
    assistance: Assistance
    situation: Situation
    age: int
    pronoun: str
    actor: str = "person"
    part: str | None = None


def next_id(bank: Bank, adl: Adl) -> str:
    """Return an activity's next free id: one above the highest number in the bank."""
    matches = [re.fullmatch(rf"{adl}-(\d+)", scenario.id) for scenario in bank.scenarios]
    return f"{adl}-{1 + max((int(match[1]) for match in matches if match), default=0):03d}"


SKELETONS = Path(__file__).parent / "skeletons"


def begin_bank(root: Path, skeletons: Path = SKELETONS) -> tuple[Path, Path]:
    """Create a bank without scenarios, named after its folder; return the files written.

    Args:
        root: The folder.
        skeletons: The folder with the skeletons of `bank.yaml` and `sources.yaml`.

    Raises:
        BankError: The folder is neither new nor empty, or cannot be written.
    """
    title = root.resolve().name
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:64].strip("-") or "bank"
    values = {
        "name": name,
        "title": json.dumps(title, ensure_ascii=False),
        "canary": f"{name} canary {uuid4()}",
        "to_write": TO_WRITE,
    }
    try:
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise BankError(
                f"{root} holds no bank: there is no bank.yaml",
                hint="name the folder of a bank, or a folder that is new or empty",
            )
        root.mkdir(parents=True, exist_ok=True)
        # bank.yaml last: without it the folder is not a bank
        sources, about = (root / f"{stem}.yaml" for stem in ("sources", "bank"))
        for path in (sources, about):
            skeleton = (skeletons / path.name).read_text(encoding="utf-8")
            write_text(path, Template(skeleton).substitute(values))
    except OSError as error:
        raise BankError(f"{root} cannot be written: {error.strerror}") from error
    return about, sources


def write_skeleton(bank: Bank, root: Path, outline: Outline) -> tuple[Path, Path]:
    """Write a scenario and its probes, with marked gaps, into a bank's folder; return their paths.

    The files load as they are.

    Raises:
        BankError: The outline has an age or a part of the body that is not allowed, or a file
            exists already or cannot be written.
    """
    check_outline(outline)
    name = next_id(bank, outline.adl)
    part = outline.part or ("upper-body" if outline.adl is Adl.dressing else None)
    values = {
        **{key: str(value) for key, value in vars(outline).items()},
        "id": name,
        "part": f"part: {part}\n" if part else "",
        # quoted as in JSON, which YAML reads too, since it may have ': ' or '#'
        "canary": json.dumps(bank.about.canary, ensure_ascii=False),
    }
    folder = root / outline.adl
    texts = {
        folder / f"{name}.yaml": Template(_skeleton("scenario")).substitute(values),
        folder / f"{name}.probes.yaml": Template(_skeleton("probes")).substitute(values)
        + "".join(_generic_probes(bank)),
    }
    scenario, probes = write_new(texts)
    return scenario, probes


def write_twin(
    bank: Bank, root: Path, base: Scenario, control: Control | None = None
) -> tuple[Path, ...]:
    """Write a twin with its base's text and points into a bank's folder; return the files' paths.

    With `control`, the kind of change, it is a control; otherwise it gets probes too.

    Raises:
        BankError: The base is a twin itself, or a file exists already or cannot be written.
    """
    if base.twin_of is not None:
        raise BankError(
            f"{base.id} is a twin itself", hint=f"make the twin from its base, {base.twin_of}"
        )
    name = f"{base.id}-{control or 'twin'}"
    about = {"id": name, "version": 1, "split": base.split.value, "twin_of": base.id}
    end = {"status": "drafted", "canary": bank.about.canary}
    content: dict[str, Any] = {**about, "text": base.text, **end}
    files = {root / base.adl / f"{name}.yaml": content}
    if control is not None:
        content |= {"control": control.value}
    else:
        content |= {"actions": [_twin_item(action) for action in base.actions]}
        files[root / base.adl / f"{name}.probes.yaml"] = {
            "probes": [
                {
                    "id": trap,
                    "trap": trap,
                    "text": f"{TO_WRITE} {what}",
                    "labels": {action.id: "absent" for action in base.actions},
                }
                for trap, what in (
                    ("expert", "an answer with the right act of this twin"),
                    ("harmful", "an answer with the right act of the base, done here"),
                )
            ]
        }
    return write_new({path: yaml_text(value) for path, value in files.items()})


def write_new(texts: Mapping[Path, str]) -> tuple[Path, ...]:
    """Write files that do not exist yet, and return their paths.

    Raises:
        BankError: A file exists already, and nothing is written; or a file cannot be written.
    """
    for path in texts:
        if path.exists():
            raise BankError(f"{path} exists already", hint="finish it, or move it away")
    for path, text in texts.items():
        try:
            path.parent.mkdir(exist_ok=True)
            write_text(path, text)
        except OSError as error:
            raise BankError(f"{path} cannot be written: {error.strerror}") from error
    return tuple(texts)


def _twin_item(action: Action) -> dict[str, Any]:
    fields = action.model_dump(mode="json", include=set(TwinItem.model_fields) - {"id", "why"})
    return {"id": action.id, **fields, "why": f"{TO_WRITE} why, here"}


def check_outline(outline: Outline) -> None:
    """Check that a scenario with this outline could be loaded.

    Raises:
        BankError: The age or the part of the body is not allowed.
    """
    youngest, oldest = AGES
    if not youngest <= outline.age <= oldest:
        raise BankError(f"age is {outline.age}, expected {youngest} to {oldest}")
    if outline.part and outline.adl is not Adl.dressing:
        raise BankError(
            f"a scenario of {outline.adl} cannot name a part of the body, but this one names "
            f"{outline.part!r}",
            hint="leave the part out: only scenarios of dressing have one",
        )


def _generic_probes(bank: Bank) -> Iterator[str]:
    document = bank.documents.get("generic-probes")
    content = parse_yaml(document.text, document.path).content if document else []
    for probe in TypeAdapter(list[GenericProbe]).validate_python(content):
        if probe.id not in OWN_PROBES:
            yield Template(_skeleton("generic-probe")).substitute(id=probe.id)


def _skeleton(name: str) -> str:
    return (SKELETONS / f"{name}.yaml").read_text(encoding="utf-8")
