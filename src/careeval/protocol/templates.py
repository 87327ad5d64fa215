"""The prompts: files beside this module, filled in one pass, known by their hash.

`--prompts DIR` names a folder with the same file names, and someone else's protocol is run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from careeval.core.judgment import GraderItem
from careeval.errors import ProtocolError

OWN_PROMPTS = Path(__file__).parent / "prompts"

FIELDS: dict[str, frozenset[str]] = {
    "ask-role.md": frozenset(),
    "ask-format.md": frozenset(),
    "grade-system.md": frozenset(),
    "grade-request.md": frozenset({"fence", "response", "items"}),
    "grade-request-scenario.md": frozenset({"fence", "scenario", "response", "items"}),
    "grade-repair.md": frozenset({"problem", "n_items"}),
}
"""Each prompt file and the fields that it may hold."""

REQUIRED = frozenset({"response", "items"})
"""Fields that a file which may hold them must hold."""

_FIELD = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Prompts:
    """The six prompts of a protocol.

    Attributes:
        texts: File name → text, spaces around it removed.
    """

    texts: dict[str, str]

    @property
    def ask_hash(self) -> str:
        """Eight hex digits of what a system under test is told."""
        return self._hash("ask-role.md", "ask-format.md")

    @property
    def grade_hash(self) -> str:
        """Eight hex digits of what a grader is told."""
        return self._hash(*(name for name in FIELDS if name.startswith("grade-")))

    def _hash(self, *names: str) -> str:
        told = "\0".join(self.texts[name] for name in names)
        return hashlib.sha256(told.encode()).hexdigest()[:8]

    @property
    def ask_system(self) -> str:
        """The role instruction, then the response format."""
        return f"{self.texts['ask-role.md']}\n\n{self.texts['ask-format.md']}"

    def grade_request(
        self, response: str, items: Sequence[GraderItem], scenario: str | None = None
    ) -> str:
        """What the grader is asked about one response.

        Args:
            response: The response, as it is.
            items: The items, numbered as they are to be shown.
            scenario: The scenario's text, where the grader is to see it.
        """
        fields = {
            "fence": f"=== {hashlib.sha256(response.encode()).hexdigest()[:10]} ===",
            "response": response,
            "items": "\n".join(map(str, items)),
        }
        if scenario is None:
            return self._fill("grade-request.md", fields)
        return self._fill("grade-request-scenario.md", {**fields, "scenario": scenario.strip()})

    def repair(self, problem: str, n_items: int) -> str:
        """What the grader is told when its reply could not be used."""
        return self._fill("grade-repair.md", {"problem": problem, "n_items": str(n_items)})

    def _fill(self, name: str, fields: dict[str, str]) -> str:
        # one pass: a field's text that itself holds "{items}" stays as it is
        return _FIELD.sub(lambda match: fields[match[1]], self.texts[name])


def load_prompts(folder: Path | None = None) -> Prompts:
    """The prompts of a folder; careeval's own where none is given.

    Raises:
        ProtocolError: A file is missing or is not text, holds a field that is not known there, or
            lacks one that it needs.
    """
    root = folder or OWN_PROMPTS
    missing = [name for name in FIELDS if not (root / name).is_file()]
    if missing:
        raise ProtocolError(
            f"prompts folder {str(root)!r} lacks {', '.join(missing)}",
            hint=f"it needs {', '.join(FIELDS)}; begin with a copy of {OWN_PROMPTS}",
        )
    texts: dict[str, str] = {}
    for name, allowed in FIELDS.items():
        try:
            text = texts[name] = (root / name).read_text(encoding="utf-8").strip()
        except UnicodeDecodeError as error:
            raise ProtocolError(
                f"{root / name}: is not UTF-8 text", hint="save it as UTF-8"
            ) from error
        found = set(_FIELD.findall(text))
        if unknown := found - allowed:
            fields = ", ".join(f"{{{field}}}" for field in sorted(allowed))
            raise ProtocolError(
                f"{root / name}: field {{{min(unknown)}}} is not known there",
                hint=f"it may hold {fields or 'no fields'}",
            )
        if absent := (REQUIRED & allowed) - found:
            raise ProtocolError(
                f"{root / name}: field {{{min(absent)}}} is not there", hint="the grader needs it"
            )
    return Prompts(texts)
