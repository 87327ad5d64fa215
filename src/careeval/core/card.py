"""The card of a submitted system."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """A submitter's description of a system and of themselves."""

    system: str  # Name of the system, as it is listed
    version: str
    date: str  # When it was run, YYYY-MM-DD
    run_by: str
    relation: str  # That of `run_by` to the maker of the system
    settings: str
    contact: str  # May be empty
    rank: bool  # False to be listed apart, as a reference
    agree: bool  # Whether the submitter agrees to `STATEMENT`
