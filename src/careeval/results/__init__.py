"""Runs as tables, what they come to, and how that is handed on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from careeval.results.trust.grader_card import GraderCard

__all__ = ["GraderCard"]


def __getattr__(name: str) -> Any:
    # loaded when it is first used: polars comes with it, which a command's help can do without
    if name == "GraderCard":
        from careeval.results.trust.grader_card import GraderCard

        return GraderCard
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
