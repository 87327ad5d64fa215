"""The type of the terms that people agree to before they see a scenario or a response."""

from __future__ import annotations

import hashlib

from careeval.core.scenario import Frozen, Text


class Consent(Frozen):
    """The terms of a study or an audit, as the people who run it have written them."""

    text: Text
    """The use that is made of people's answers; an empty line begins a paragraph."""
    ethics: Text
    """The reference of the ethics committee's approval, or the reason why none was needed."""
    contact: Text
    """The person to ask, and how to reach them."""

    @property
    def digest(self) -> str:
        """A short hash of the terms; if it changes, people are asked to agree again."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]
