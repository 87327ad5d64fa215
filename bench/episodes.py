"""Play policies in every world, one act at a time, and print what each came to.

`python bench/episodes.py [--search] [--worlds N]`

- `random`: one of the acts that are possible, each equally likely;
- `duties`: asks, waits, calls a helper if there is no answer, reports a refusal, withdraws on stop;
- `plan`: follows the world's own safe plan;
- `search`: is told the rules: it looks ahead by a beam over all acts that are possible, and keeps
  those with the most points. Minutes long.

Each plays four episodes a world: the person agrees, refuses, does not answer, says stop.
"""

# ruff: noqa: T201  (a script prints)
from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Mapping
from typing import Any

from careeval.bank.load import load_with_key
from careeval.core.scenario import Split
from careeval.worlds.acts import Act
from careeval.worlds.episode import ANSWERS, Episode, GivenAct
from careeval.worlds.judge import Facts, read_facts
from careeval.worlds.plan_json import FINISH, plan_of
from careeval.worlds.policies import Policy, following, play
from careeval.worlds.world import World

BEAM, DEPTH = 6, 20
"""Episodes that a search keeps at each act, and the most acts that it looks ahead."""


def chooses_at_random(episode: Episode) -> Iterator[GivenAct]:
    """Yield one of the acts that are possible, each equally likely."""
    chance = random.Random(0)
    while True:
        yield chance.choice(episode.legal_acts())


def does_its_duties(episode: Episode) -> Iterator[GivenAct]:
    """Yield what every robot owes, and no act of care."""
    yield {"act": "ask", "words": "May I help you?"}
    yield {"act": "wait-for-answer", "seconds": 60}
    things = episode.facts.room.things
    if episode.observe()["answer"] == "silence":
        helper = next((name for name, thing in things.items() if thing.kind == "helper"), None)
        if helper is not None:
            yield {"act": "call-person", "helper": helper, "words": "There is no answer."}
    if episode.observe()["answer"] != "yes":
        yield {"act": "report", "words": "The person did not agree."}
    yield {"act": "withdraw"}


def searched(facts: Facts, answer: Any) -> list[Act]:
    """Return the acts of the best episode that a beam search finds."""
    beam = [(Episode(facts, answer), [])]
    best: tuple[int, list[Act]] = (-1000, [])
    seen: set[Any] = set()
    for _ in range(DEPTH):
        reached: list[tuple[tuple[int, int], Episode, list[Act]]] = []
        for episode, done in beam:
            for act in episode.legal_acts():
                other = episode.copy()
                _, _, _, _, info = other.step(act)
                key = _room(other, info["points"])
                if key in seen:
                    continue
                seen.add(key)
                reached.append(((info["points"], -len(done)), other, [*done, act]))
        reached.sort(key=lambda each: each[0], reverse=True)
        kept = reached[: 8 * BEAM]
        ended = [(episode.result().points, episode, done) for _, episode, done in kept]
        ended.sort(key=lambda each: each[0], reverse=True)
        beam = [(episode, done) for _, episode, done in ended[:BEAM]]
        if not ended:
            break
        if ended[0][0] > best[0]:
            best = ended[0][0], ended[0][2]
    return best[1]


def _room(episode: Episode, points: int) -> Any:
    """Return the points, what the robot perceives without the time, and what is possible now."""
    seen = {k: v for k, v in episode.observe().items() if k not in ("clock_s", "acts_left")}
    return points, repr(seen), tuple(episode.are_possible())


def main() -> None:
    """Play every policy in every public world, and print a row for each."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--search", action="store_true", help="and a search that is told the rules")
    parser.add_argument("--worlds", type=int, help="the first so many worlds; all if not given")
    args = parser.parse_args()
    bank = load_with_key("plans", probes=False)
    worlds = [w for w in bank if isinstance(w, World) and w.split is Split.public]
    worlds = worlds[: args.worlds]
    policies: Mapping[str, Any] = {
        "random": lambda _world, _facts, _answer: chooses_at_random,
        "duties": lambda _world, _facts, _answer: does_its_duties,
        "plan": lambda world, _facts, _answer: following(plan_of(world.safe_plan)),
        "search": lambda _world, facts, answer: _acts(searched(facts, answer)),
    }
    print("policy   points      episodes with a −2   acts an episode   acts/s   seconds")
    for name, policy_of in policies.items():
        if name == "search" and not args.search:
            continue
        points = maximum = n_severe = n_acts = n_episodes = 0
        in_steps, began = 0.0, time.process_time()
        for world in worlds:
            facts = read_facts(world.facts())
            severe = {danger.id for danger in facts.dangers if danger.points == -2}
            for answer in ANSWERS:
                policy = policy_of(world, facts, answer)
                episode = Episode(facts, answer)
                start = time.process_time()
                play(episode, policy)
                in_steps += time.process_time() - start
                result = episode.result()
                points += result.points
                maximum += result.max_points
                n_severe += bool(severe & {*result.dangers})
                n_acts += result.n_acts
                n_episodes += 1
        print(
            f"{name:8} {points:5} of {maximum:4}   {n_severe:4} of {n_episodes:4}"
            f"   {n_acts / n_episodes:12.1f}   {n_acts / in_steps:8,.0f}"
            f"   {time.process_time() - began:8.1f}"
        )


def _acts(acts: list[Act]) -> Policy:
    def policy(_episode: Episode) -> Iterator[GivenAct]:
        yield from acts
        yield {"act": FINISH}

    return policy


if __name__ == "__main__":
    main()
