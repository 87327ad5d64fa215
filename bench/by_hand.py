"""The peer: the same evaluation with Inspect alone, as one who knows it well would set it up.

Of the same durability: every reply, of the system's and of the grader's, is in Inspect's own cache
on disk before it is used. Several models are run side by side, in this one process.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("bank", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", action="append", required=True)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--connections", type=int, required=True)
    args = parser.parse_args()
    # read when Inspect is imported
    os.environ["INSPECT_CACHE_DIR"] = str(args.out / "cache")
    evaluate(args.bank, args.out, args.model, args.samples, args.connections)


def evaluate(bank: Path, out: Path, models: list[str], n_samples: int, n_connections: int) -> None:
    """Ask and grade, into logs in `out`."""
    from inspect_ai import Task, eval_set, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import (
        CachePolicy,
        ChatMessage,
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        ResponseSchema,
        get_model,
    )
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.util import json_schema

    from asked import JUDGE, RUNGS, Message, Requests, read_texts
    from careeval.modes.grading import Judgments

    requests = Requests()
    kept = CachePolicy(expiry=None)
    schema = ResponseSchema(name="judgments", json_schema=json_schema(Judgments), strict=True)
    judging = GenerateConfig(temperature=0.0, response_schema=schema)

    def chat(messages: list[Message]) -> list[ChatMessage]:
        system, user = (message["content"] for message in messages)
        return [ChatMessageSystem(content=system), ChatMessageUser(content=user)]

    @solver
    def ask() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
            state.messages = chat(requests.ask(state.input_text))
            config = GenerateConfig(seed=state.epoch)
            state.output = await get_model().generate(state.messages, config=config, cache=kept)
            return state

        return solve

    @scorer(metrics=[mean()])
    def grade() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
            response = state.output.completion
            grader = get_model(role="grader", required=True)
            messages = chat(requests.grade(response))
            output = await grader.generate(messages, config=judging, cache=kept)
            judged = json.loads(output.completion)["judgments"]
            points = sum(list(RUNGS)[entry["item"] - 1] for entry in judged if entry["present"])
            return Score(value=points, answer=response, metadata={"judgments": judged})

        return score

    @task
    def by_hand() -> Task:
        samples = [Sample(id=name, input=text) for name, text in read_texts(bank).items()]
        return Task(
            dataset=MemoryDataset(samples),
            solver=ask(),
            scorer=grade(),
            config=GenerateConfig(temperature=1.0, max_tokens=8192),
        )

    limit = GenerateConfig(max_connections=n_connections, max_tokens=8192)
    succeeded, _ = eval_set(
        by_hand(),
        log_dir=str(out / "logs"),
        model=models,
        model_roles={"grader": get_model(JUDGE, config=limit)},
        epochs=n_samples,
        max_connections=n_connections,
        # one half is asked while the other is graded
        max_samples=2 * n_connections,
        log_buffer=10,
        log_realtime=False,
        score_display=False,
        log_level="error",
        display="none",
        ctl_server=False,
    )
    if not succeeded:
        raise SystemExit("not all succeeded")


if __name__ == "__main__":
    main()
