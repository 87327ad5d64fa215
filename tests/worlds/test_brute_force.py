"""The order of steps, branches and stop, against an interpreter of a few lines.

Every plan of up to three steps over a small alphabet is carried out by both.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from careeval.worlds.courses import carry_out_all
from careeval.worlds.plan_json import plan_of
from support.plan_worlds import on_answer, small_facts, step

ASK = step("ask")
WAIT = step("wait-for-answer", seconds=9)
TOUCH = step("support", thing="left-arm")
LET_GO = step("release", thing="left-arm")
SAY = step("say")
ON_YES = on_answer("yes", [TOUCH], [SAY])
ON_NO = on_answer("no", [SAY], [TOUCH, LET_GO])

ALPHABET = (ASK, WAIT, TOUCH, LET_GO, ON_YES, ON_NO)

Outcome = tuple[list[str], bool]
"""Acts that were carried out, and whether the plan broke off."""


class _Stopped(Exception):  # noqa: N818
    """The person has said stop."""


def interpreted(plan: dict[str, Any], answer: str) -> Outcome:
    """Return what happens, by rules written down once more, and only for this alphabet."""
    done: list[str] = []
    now = {"asked": False, "held": False, "answer": "none", "stopped": False}

    def run(steps: list[dict[str, Any]]) -> Iterator[None]:
        for each in steps:
            if "if" in each:
                chosen = "then" if now["answer"] == each["if"]["answer"] else "else"
                yield from run(each[chosen])
                continue
            act = each["act"]
            if act == "wait-for-answer":
                if not now["asked"]:
                    raise LookupError
                heard = {"stop": "no" if now["stopped"] else "yes"}.get(answer, answer)
                now.update(asked=False, answer=heard)
            elif act == "ask":
                now.update(asked=True, answer="none")
            elif act == "support":
                if now["held"]:
                    raise LookupError
                now["held"] = True
            elif act == "release":
                if not now["held"] and now["stopped"]:
                    continue  # after a stop, what is not held need not be let go
                if not now["held"]:
                    raise LookupError
                now["held"] = False
            done.append(act)
            if answer == "stop" and not now["stopped"] and act in ("support", "release"):
                now["stopped"] = True
                if "on_stop" in plan:
                    raise _Stopped
                done.append(act)  # the rest of it
            yield

    try:
        try:
            list(run(plan["steps"]))
        except _Stopped:
            list(run(plan["on_stop"]))
    except LookupError:
        return done, True
    return done, False


def test_all_short_plans() -> None:
    """The same acts happen in the same order, and the same plans break off."""
    facts = small_facts()
    n_broken = n_plans = 0
    for n_steps in (1, 2, 3):
        for steps in product(ALPHABET, repeat=n_steps):
            for on_stop in (None, [LET_GO], [ASK, WAIT, ON_NO]):
                plan: dict[str, Any] = {"steps": list(steps)}
                if on_stop is not None:
                    plan["on_stop"] = on_stop
                for trace in islice(carry_out_all(plan_of(plan), facts.room, facts.robot), 4):
                    answer = trace.course.answer
                    acts = [e.step.act.act for e in trace.events if not e.is_intended]
                    outcome = acts, trace.broken_at is not None
                    assert outcome == interpreted(plan, answer), (plan, answer)
                    n_plans += 1
                    n_broken += outcome[1]
    assert n_plans == (6 + 36 + 216) * 3 * 4
    # the comparison is of both kinds
    assert 0.2 < n_broken / n_plans < 0.8
