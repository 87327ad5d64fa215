"""What the plans of studies and audits have in common: a title, terms, and their text. No I/O."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import ValidationError

from careeval.core.scenario import Frozen, Text
from careeval.errors import ReviewError
from careeval.people.consent import Consent


class Plan(Frozen):
    """The plan of a study or an audit, as the store keeps it."""

    kind: ClassVar[str]  # "study" or "audit"

    title: Text
    """The title that people see."""
    seed: int
    """The seed of the assignment and of every order."""
    consent: Consent

    def json_text(self) -> str:
        """Return the plan as the store keeps it."""
        return self.model_dump_json()

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the plan that `json_text` wrote; raise ReviewError if the text is not one."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise ReviewError(
                f"the file's plan of the {cls.kind} cannot be read: {error}",
                hint="go on from the last backup of the file",
            ) from error
