"""The prompts of a mode: files with fields to fill in, identified by their hash.

`--prompts DIR` names a folder with the same file names, to use other prompts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from careeval.core.response import GraderItem
from careeval.errors import ProtocolError
from careeval.files import read_given_text
from careeval.modes.grading import reply_schema
from careeval.modes.mode import Mode

FIELDS: dict[str, frozenset[str]] = {
    "ask-role.md": frozenset(),
    "ask-format.md": frozenset(),
    "grade-system.md": frozenset(),
    "grade-request.md": frozenset({"fence", "response", "items"}),
    "grade-request-scenario.md": frozenset({"fence", "scenario", "response", "items"}),
    "grade-repair.md": frozenset({"problem", "n_items"}),
}
"""Prompt file → the fields that it may have. Files for a grader begin with `grade-`."""

REQUIRED = frozenset({"response", "items"})
"""Fields that a prompt file must have if it may have them."""

_FIELD = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of a protocol."""

    texts: dict[str, str]
    """File name → text, stripped of space. If only programs grade, files for a grader are left
    out."""
    schema: str  # The form of the grader's reply, which `grade_hash` covers

    @property
    def ask_hash(self) -> str:
        """Eight hex digits: the hash of the prompts for a system under test."""
        return _hash(self.texts["ask-role.md"], self.texts["ask-format.md"])

    @property
    def grade_hash(self) -> str:
        """Eight hex digits: the hash of the prompts for a grader, and of the form of its reply."""
        files = [name for name in FIELDS if name.startswith("grade-") and name in self.texts]
        return _hash(*(self.texts[name] for name in files), self.schema)

    @property
    def ask_system(self) -> str:
        """The system message: the role instruction, then the response format."""
        return f"{self.texts['ask-role.md']}\n\n{self.texts['ask-format.md']}"

    def grade_request(
        self, response: str, items: Sequence[GraderItem], scenario: str | None = None
    ) -> str:
        """Return the request to grade a response; with `scenario`, the grader sees its text too."""
        fields = {
            "fence": f"=== {hashlib.sha256(response.encode()).hexdigest()[:10]} ===",
            "response": response,
            "items": "\n".join(map(str, items)),
        }
        if scenario is None:
            return self._fill("grade-request.md", fields)
        return self._fill("grade-request-scenario.md", {**fields, "scenario": scenario.strip()})

    def repair(self, problem: str, n_items: int) -> str:
        """Return the message to a grader whose reply could not be used."""
        return self._fill("grade-repair.md", {"problem": problem, "n_items": str(n_items)})

    def _fill(self, name: str, fields: dict[str, str]) -> str:
        # one pass, since a field's text may itself hold "{items}"
        return _FIELD.sub(lambda match: fields[match[1]], self.texts[name])


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:8]


MAX_BYTES = 1_000_000
"""The most bytes of a prompt file."""


def load_prompts(
    mode: Mode, folder: Path | None = None, *, step: bool = False, given: str | None = None
) -> Prompts:
    """Return the prompts of a folder, or the mode's own for single acts or for a condition.

    Raises:
        ProtocolError: A file is missing, is not text, lacks a required field or has one that is not
            allowed.
    """
    own = mode.prompts_for(step=step, given=given)
    root = folder or own
    needed = {name: FIELDS[name] for name in FIELDS if mode.models_grade or name.startswith("ask-")}
    if missing := [name for name in needed if not (root / name).exists()]:
        raise ProtocolError(
            f"prompts folder {str(root)!r} lacks {', '.join(missing)}",
            hint=f"copy the missing files from {own}, and edit the copies",
        )
    texts: dict[str, str] = {}
    for name, allowed in needed.items():
        content = read_given_text(root / name, ProtocolError, max_bytes=MAX_BYTES)
        text = texts[name] = content.strip()
        fields = set(_FIELD.findall(text))
        if unknown := fields - allowed:
            listed = ", ".join(f"{{{field}}}" for field in sorted(allowed))
            raise ProtocolError(
                f"{root / name}: field {{{min(unknown)}}} is not allowed in this file",
                hint=f"allowed in this file: {listed or 'no fields'}",
            )
        if absent := (REQUIRED & allowed) - fields:
            raise ProtocolError(
                f"{root / name}: field {{{min(absent)}}} is missing",
                hint=f"add {{{min(absent)}}} where the prompt needs the value",
            )
    return Prompts(texts, reply_schema())
