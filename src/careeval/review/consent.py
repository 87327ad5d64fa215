"""What people agree to before they see a scenario or a response."""

from __future__ import annotations

import hashlib

from careeval.core.scenario import Frozen, Text


class Consent(Frozen):
    """A study's or an audit's terms, in words that its makers answer for."""

    text: Text
    """What is done with what they say; an empty line begins a paragraph."""
    ethics: Text
    """The reference of the ethics committee's approval, or why none was needed."""
    contact: Text
    """Whom to ask, and how."""

    @property
    def digest(self) -> str:
        """What somebody agreed to: other terms are agreed to anew."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]
