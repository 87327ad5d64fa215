"""The peer of `careeval run --responses`: recorded answers graded with Inspect alone.

Each answer is judged by careeval's own comparison of words, on five items; no model is called.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def main() -> None:
    """Grade the answers of a file, and print their mean."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("answers", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    sys.stdout.write(f"{grade(args.answers, args.out):.2f}\n")


def grade(answers: Path, out: Path) -> float:
    """Judge the answers, into a log in `out`; the mean of their points comes back."""
    from inspect_ai import Task, eval_set
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    from asked import RUNGS
    from careeval.modes.mode import Case
    from careeval.modes.response.lexical import lexical as lexical_grader

    @solver
    def recorded() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
            state.output = ModelOutput.from_content("none", state.metadata["response"])
            return state

        return solve

    @scorer(metrics=[mean()])
    def lexical() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
            items = [(str(points), text) for points, text in RUNGS.items()]
            judged = lexical_grader(Case(state.output.completion, items, {}))
            points = sum(list(RUNGS)[entry.item - 1] for entry in judged if entry.present)
            kept = [entry.model_dump() for entry in judged]
            return Score(value=points, metadata={"judgments": kept})

        return score

    lines = [json.loads(line) for line in answers.read_text("utf-8").splitlines()]
    samples = [
        Sample(id=line["scenario"], input="-", metadata={"response": line["response"]})
        for line in lines
    ]
    succeeded, logs = eval_set(
        Task(
            name="by_hand",
            dataset=MemoryDataset(samples),
            solver=recorded(),
            scorer=lexical(),
        ),
        log_dir=str(out),
        model="none",
        log_level="error",
        display="none",
        ctl_server=False,
    )
    results = logs[0].results
    if not succeeded or results is None:
        raise SystemExit("not all succeeded")
    return float(results.scores[0].metrics["mean"].value)


if __name__ == "__main__":
    main()
