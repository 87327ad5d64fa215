"""Runs as tables, and the numbers computed from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from careeval.results.graders import GraderCard

__all__ = ["GraderCard"]


def __getattr__(name: str) -> Any:
    # imported on first use, since it loads polars, which the help of a command does not need
    if name == "GraderCard":
        from careeval.results.graders import GraderCard

        return GraderCard
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
