"""What every part of a file in the form of Every Eval Ever shares: its version, and our names."""

from __future__ import annotations

SCHEMA_VERSION = "0.3.0"
BENCHMARK = "careeval"


def result_name(metric: str, of: str = "") -> str:
    """A metric's name in the form: ours, and the part of the scenarios that it is over."""
    return ".".join(part for part in (BENCHMARK, metric, of) if part)
