"""The version of the Every Eval Ever format, and careeval's names in it."""

from __future__ import annotations

SCHEMA_VERSION = "0.3.0"
BENCHMARK = "careeval"


def result_name(metric: str, part: str = "") -> str:
    """Return the name of a metric in the format, with the part of the scenarios if any."""
    return ".".join(name for name in (BENCHMARK, metric, part) if name)
