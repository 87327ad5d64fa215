"""An open, independent implementation of the CareEval benchmark.

It asks whether a language model decides like an expert caregiver when it physically helps a person.
The names below are the public surface. Each is loaded when it is first used, so that importing the
package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from careeval.bank import Bank, load_bank
    from careeval.core.response import Judgment, Response, ResponseState
    from careeval.core.scenario import Action, Adl, Domain, Probe, Rubric, Rung, Scenario
    from careeval.errors import CareEvalError
    from careeval.notebook import Summaries, run, summarise, summary_frame
    from careeval.protocol.tables import read_runs
    from careeval.results.compare import Comparison, compare
    from careeval.results.entry import Entry as Summary
    from careeval.results.tables import Runs
    from careeval.stats.estimate import Estimate
    from careeval.worlds.environment import EpisodeEnv
    from careeval.worlds.episode import Episode

    __version__: str

_MODULES = {
    "Action": "core.scenario",
    "Adl": "core.scenario",
    "Bank": "bank",
    "CareEvalError": "errors",
    "Comparison": "results.compare",
    "Domain": "core.scenario",
    "Episode": "worlds.episode",
    "EpisodeEnv": "worlds.environment",
    "Estimate": "stats.estimate",
    "Judgment": "core.response",
    "Probe": "core.scenario",
    "Response": "core.response",
    "ResponseState": "core.response",
    "Rubric": "core.scenario",
    "Rung": "core.scenario",
    "Runs": "results.tables",
    "Scenario": "core.scenario",
    "Summaries": "notebook",
    "Summary": "notebook",
    "compare": "results.compare",
    "load_bank": "bank",
    "read_runs": "protocol.tables",
    "run": "notebook",
    "summarise": "notebook",
    "summary_frame": "notebook",
}

__all__ = [
    "Action",
    "Adl",
    "Bank",
    "CareEvalError",
    "Comparison",
    "Domain",
    "Episode",
    "EpisodeEnv",
    "Estimate",
    "Judgment",
    "Probe",
    "Response",
    "ResponseState",
    "Rubric",
    "Rung",
    "Runs",
    "Scenario",
    "Summaries",
    "Summary",
    "compare",
    "load_bank",
    "read_runs",
    "run",
    "summarise",
    "summary_frame",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # costs more than the rest of the package's import
        from importlib.metadata import version

        return version("careeval")
    if name in _MODULES:
        return getattr(import_module(f"careeval.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'careeval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
