"""A small bank, and the task over it as Inspect runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog

from support.fakes import Fake, write_bank


@pytest.fixture(scope="session")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scenarios of two activities, three actions and three rungs each."""
    return write_bank(tmp_path_factory.mktemp("bank"))


Evaluate = Callable[..., EvalLog]


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Evaluate:
    """The task as `inspect eval careeval/careeval` runs it, one epoch unless told."""

    def run(model: Fake, grader: Fake | None = None, epochs: int = 1, **task: Any) -> EvalLog:
        (log,) = inspect_eval(
            "careeval/careeval",
            task_args={"bank": str(bank), **task},
            model=model.model,
            model_roles={"grader": grader.model} if grader else None,
            epochs=epochs,
            log_dir=str(tmp_path_factory.mktemp("logs")),
            display="none",
            log_level="error",
        )
        return log

    return run
