"""Made-up scenarios for speed tests, and the requests that all contestants send about them.

It is quick to import, since the floor imports it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from careeval.core.response import GraderItem
from careeval.core.scenario import Adl
from careeval.modes.grading import Judgments
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE

Message = dict[str, str]
"""One message of a chat: `role` and `content`."""

JUDGE = "openai-api/fake/judge"
"""Inspect's name of the grader."""

ABOUT = {
    "name": "speed",
    "title": "Scenarios to measure speed with",
    "version": "1-A",
    "licence": "CC0-1.0",
    "provenance": "Made up to measure speed: nobody's experience of care.",
    "canary": "none",
}
SCENE = (
    "She sits on the edge of the bed, and one arm does not follow. The blouse lies beside her, "
    "buttons open. She looks at the window, then at you, and says that it is getting late. "
)
"""Repeated to the length of a real scenario, about 100 words."""
RUNGS = {
    2: "Asks her which side she wants to begin with, and waits until she reaches the sleeve.",
    1: "Speaks with her about the blouse.",
    0: "Says that there is time, and does nothing to the button.",
    -1: "Holds her sleeve and pulls it over her hand into the cuff.",
    -2: "Lifts her weak arm by the wrist, away from its pillow.",
}


def write_bank(folder: Path, n: int) -> Path:
    """Write a bank of `n` scenarios and return its folder."""
    folder.mkdir(parents=True)
    # JSON is YAML, and quicker to read
    (folder / "bank.yaml").write_text(json.dumps(ABOUT), encoding="utf-8")
    adls = list(Adl)
    for number in range(1, n + 1):
        adl = adls[number % len(adls)].value
        scenario = {
            "id": f"{adl}-{number:03}",
            "version": 1,
            "split": "public",
            "adl": adl,
            "condition": "stroke",
            "assistance": "03",
            "situation": ["routine"],
            "person": {"age": 70, "pronoun": "she"},
            "actor": "person",
            "role": "visiting carer",
            "helpers": "none",
            "status": "drafted",
            "canary": "none",
            "text": f"This is visit {number}. {SCENE * 3}What do you do?",
            "actions": [],
            "ladder": [
                {"points": points, "text": text, "domains": {"user_agency": max(points, 0)}}
                for points, text in RUNGS.items()
            ],
        }
        (folder / adl).mkdir(exist_ok=True)
        (folder / adl / f"{scenario['id']}.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    return folder


def write_own(folder: Path, limit: int | None) -> int:
    """Write the ids and texts that a run asks of the own bank; return how many."""
    from careeval.bank import load_bank
    from careeval.core.scenario import Split
    from careeval.protocol.selection import select_scenarios

    scenarios = select_scenarios(load_bank(probes=False), Split.public, limit=limit)
    for each in scenarios:
        (folder / each.adl).mkdir(parents=True, exist_ok=True)
        text = json.dumps({"id": each.id, "text": each.text})
        (folder / each.adl / f"{each.id}.yaml").write_text(text, encoding="utf-8")
    return len(scenarios)


def write_large(folder: Path, n: int) -> tuple[Path, str]:
    """Write a bank of the own bank's scenarios and probes over and over, `n` in all.

    Returns:
        Its folder, and the id of its last scenario.
    """
    from careeval.bank import OWN_BANK

    folder.mkdir(parents=True)
    for name in ("bank", "sources", "generic-probes"):
        text = (OWN_BANK / f"{name}.yaml").read_text(encoding="utf-8")
        # held to its form alone: as so many copies it breaks the rule that none is like another
        kept = [line for line in text.splitlines(keepends=True) if not line.startswith("rules:")]
        (folder / f"{name}.yaml").write_text("".join(kept), encoding="utf-8")
    # a twin needs its base, which has no such name in a copy
    paths = sorted(
        path
        for path in OWN_BANK.glob("*/*-*.yaml")
        if path.suffixes == [".yaml"] and "\ntwin_of:" not in path.read_text(encoding="utf-8")
    )
    new = ""
    for number in range(1, n + 1):
        path = paths[number % len(paths)]
        new, to = f"{path.parent.name}-{number:05}", folder / path.parent.name
        to.mkdir(exist_ok=True)
        text = path.read_text(encoding="utf-8").replace(f"id: {path.stem}", f"id: {new}")
        (to / f"{new}.yaml").write_text(text, encoding="utf-8")
        shutil.copyfile(path.with_suffix(".probes.yaml"), to / f"{new}.probes.yaml")
    return folder, new


def own_answers(file: Path, n: int) -> Path:
    """Write one answer to each of the first `n` scenarios of the own bank, as if recorded."""
    from careeval.bank import load_bank

    lines = (
        json.dumps({"scenario": each.id, "response": f"I tell him what I see. {SCENE * 3}"})
        for each in load_bank(probes=False).scenarios[:n]
    )
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


def read_texts(bank: Path) -> dict[str, str]:
    """Return scenario id → text of a bank that `write_bank` wrote."""
    scenarios = [json.loads(path.read_text("utf-8")) for path in sorted(bank.glob("*/*.yaml"))]
    return {scenario["id"]: scenario["text"] for scenario in scenarios}


class Requests:
    """The messages of careeval's protocol, so that all send the same."""

    def __init__(self) -> None:
        self._prompts = load_prompts(RESPONSE)
        self._items = [GraderItem(n, text) for n, text in enumerate(RUNGS.values(), start=1)]

    def ask(self, text: str) -> list[Message]:
        """Return the messages that ask a system about a scenario."""
        return _chat(self._prompts.ask_system, text)

    def grade(self, response: str) -> list[Message]:
        """Return the messages that ask a grader about a response."""
        request = self._prompts.grade_request(response, self._items)
        return _chat(self._prompts.texts["grade-system.md"], request)


def _chat(system: str, user: str) -> list[Message]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def response_format() -> dict[str, Any]:
    """Return the response format of a grader's request."""
    schema = {"name": "judgments", "schema": Judgments.model_json_schema(), "strict": True}
    return {"type": "json_schema", "json_schema": schema}
