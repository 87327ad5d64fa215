"""The models that their providers have withdrawn, or will, as far as was known on one day.

Only models that careeval itself names: those of its rosters, and the default grader. A date can be
postponed, so a run is refused only where another model would answer under the old name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from careeval.errors import ProtocolError
from careeval.protocol.providers import Endpoint

CHECKED = date(2026, 11, 29)
"""The day on which the table was made."""


@dataclass(frozen=True, slots=True)
class Retirement:
    """The end of a model at its own provider."""

    names: tuple[str, ...]  # Inspect's names of the model
    served_until: date  # The day from which it is no longer served
    successor: str | None  # The model that its provider recommends; `None` if not known
    source: str  # Address of the page that says so
    source_read: date
    """The day on which the page was written, or says that it read the provider's own."""
    rerouted: bool = False
    """True if the provider then has the successor answer requests that name this model."""

    def in_words(self, model: str) -> str:
        """Return a sentence about one of the names."""
        words = f"{model} is served until {self.served_until}"
        if self.successor is None:
            return f"{words}; no successor was known on {CHECKED}."
        if self.rerouted:
            return f"{words}; from then on, {self.successor} answers under its name."
        return f"{words}; its provider names {self.successor} as successor."


RETIREMENTS = (
    Retirement(
        ("google/gemini-2.5-pro",),
        date(2026, 12, 1),
        "google/gemini-3.8-flash",
        "https://github.com/samarthputhraya/Modelpin/releases/tag/v0.5.2",
        date(2026, 11, 5),
        rerouted=True,
    ),
    Retirement(
        ("openai/gpt-4o-2024-08-06",),
        date(2027, 1, 14),
        "openai/gpt-6-luna",
        "https://dev.to/importstatic/"
        "every-openai-model-shutdown-date-until-january-2027-and-what-replaces-it-1dfk",
        date(2026, 10, 15),
    ),
    Retirement(
        ("anthropic/claude-opus-4-5-20251101", "anthropic/claude-opus-4-5"),
        date(2027, 1, 22),
        "anthropic/claude-opus-5-5",
        "https://github.com/samarthputhraya/Modelpin/releases/tag/v0.5.7",
        date(2026, 11, 26),
    ),
    Retirement(
        ("openai/gpt-5.1-2025-11-13", "openai/gpt-5.1"),
        date(2027, 4, 1),
        None,
        "https://dev.to/max_bob/openai-api-deprecations-2026-2027-"
        "every-shutdown-date-and-recommended-replacement-gpt-4o-2ffm",
        date(2026, 10, 28),
    ),
)
"""The retirements known to careeval, by date. The pages are others' accounts of the providers' own,
which could not be read in full."""


def retirement_of(model: str) -> Retirement | None:
    """Return the retirement of a model; `None` if careeval knows of none."""
    return next((each for each in RETIREMENTS if model in each.names), None)


def retirement_notes(models: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each model whose retirement is known."""
    for model in dict.fromkeys(models):
        if retirement := retirement_of(model):
            yield retirement.in_words(model)


def at_their_providers(endpoints: Iterable[Endpoint]) -> Iterator[str]:
    """Yield the models that are not called at an address of the user's own."""
    yield from (endpoint.model for endpoint in endpoints if not endpoint.address)


def check_not_rerouted(endpoints: Iterable[Endpoint], day: date) -> None:
    """Check that no model's successor answers under its name on a day.

    The user's own server may still serve it.

    Raises:
        ProtocolError: One does.
    """
    for model in at_their_providers(endpoints):
        retirement = retirement_of(model)
        if retirement is None or not retirement.rerouted:
            continue
        if day >= retirement.served_until:
            raise ProtocolError(
                f"{model} was withdrawn on {retirement.served_until}: "
                f"{retirement.successor} answers under its name",
                hint=f"name {retirement.successor} instead, in a copy of the roster if it is from "
                "one; if the model is served elsewhere, give the address with --base-url",
            )
