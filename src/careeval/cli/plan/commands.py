"""`careeval plan`: commands for developers of planners, which read and carry out plans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from careeval.bank import Bank, load_with_key
from careeval.cli.app import CHECK_FAILED, OK, USAGE, print_json
from careeval.cli.shared.options import Flag, Json, Out
from careeval.cli.shared.printing import Printing
from careeval.core.picture import picture_bytes
from careeval.core.text import counted, plain
from careeval.errors import BankError, UsageError

if TYPE_CHECKING:
    from careeval.worlds.plan_files import PlanResponse
    from careeval.worlds.walkthrough import Walkthrough
    from careeval.worlds.world import World

EXAMPLES = """\
Examples:

  careeval plan worlds                      the worlds, each with its body
  careeval plan world eating-p01            what a system is asked there
  careeval plan schema > plan.schema.json   the JSON Schema of a plan
  careeval plan check plan.json --world eating-p01
                                            what one plan does, step by step
  careeval plan check tree.xml --world eating-p01
                                            the same of a behaviour tree
  careeval plan check --world eating-p01    the same of the world's safe plan
  careeval plan check plans.jsonl           recorded responses of a planner
  careeval plan check plans.jsonl --json    the same, for a program
  careeval plan watch eating-p01 --answer stop
                                            an episode, act by act

A file of recorded responses is one that 'careeval run --responses' reads: each
line names its world. A behaviour tree is XML of BehaviorTree.CPP 4.

'check' ends with status 0 if every plan can be carried out without a danger, 3
if one cannot, and 2 if a file is no plan, or one of its responses is none.
"""

app = App(
    name="plan",
    help="Check a robot's plan, step by step, in a simulated room.",
    help_epilogue=EXAMPLES,
)

PlanBank = Annotated[Path, Parameter(name="--bank")]
"""The bank of worlds: its folder, or `plans` for careeval's own."""

PLANS = Path("plans")
"""The name of careeval's own bank of worlds."""


@app.command
def check(
    file: Path | None = None,
    *,
    world: str | None = None,
    bank: PlanBank = PLANS,
    as_json: Json = False,
) -> int:
    """Tell what a plan does, step by step, whatever the person answers.

    Args:
        file: A plan as JSON, a behaviour tree as XML, or recorded responses as JSON lines; the
            world's own safe plan if not given.
        world: Id of the world; for recorded responses, only those to this world.
        bank: The bank of worlds: its folder, or plans for careeval's own.
        as_json: Print the steps as JSON.
    """
    from careeval.sheets.terminal import console
    from careeval.worlds.acts import PlanError
    from careeval.worlds.plan_documents import print_walkthrough, walkthrough_json
    from careeval.worlds.plan_files import read_plan_file
    from careeval.worlds.plan_json import read_plan
    from careeval.worlds.walkthrough import walk_through

    loaded, out = _load(bank), console()
    responses = _safe_plan(loaded, world) if file is None else read_plan_file(file, world)
    rows: list[dict[str, Any]] = []
    checked: list[Walkthrough] = []
    for response in responses:
        about = {"world": response.world, "epoch": response.epoch, "system": response.system}
        try:
            walkthrough = walk_through(read_plan(response.text), _world(loaded, response.world))
        except (BankError, PlanError) as error:
            if len(responses) == 1:
                if isinstance(error, BankError):
                    raise
                raise PlanError(f"{response.place}: {error}", hint=error.hint) from None
            problem = plain("; ".join(filter(None, (str(error), error.hint))))
            rows.append({**about, "problem": problem})
            if not as_json:
                out.print(f"{response.place}: {problem}\n", markup=False, style="bold red")
            continue
        checked.append(walkthrough)
        rows.append({**about, "problem": None, **walkthrough_json(walkthrough)})
        if not as_json:
            out.print(plain(response.place), markup=False, style="bold")
            print_walkthrough(out, walkthrough)
            out.print()
    n_safe = sum(each.is_safe for each in checked)
    if as_json:
        print_json({"plans": rows})
    elif len(responses) > 1:
        n_wrong = len(responses) - len(checked)
        wrong = counted(n_wrong, "response is", "responses are")
        problems = f"; {wrong} no plan" if n_wrong else ""
        plans = counted(len(responses), "response")
        out.print(f"{plans}: {n_safe} executable without danger{problems}")
    if len(checked) < len(responses):
        return USAGE
    return OK if n_safe == len(checked) else CHECK_FAILED


@app.command
def watch(
    id: str,
    *,
    plan: Path | None = None,
    answer: Literal["yes", "no", "silence", "stop"] = "yes",
    bank: PlanBank = PLANS,
    as_json: Json = False,
) -> int:
    """Play an episode in a world: what the robot perceives after each act, and what changed.

    Args:
        id: Id of the world.
        plan: The plan that the robot follows, as JSON or XML; the world's own safe plan if not
            given.
        answer: What the person does: agrees, refuses, does not answer, or agrees and says stop.
        bank: The bank of worlds: its folder, or plans for careeval's own.
        as_json: Print the episode as JSON.
    """
    from careeval.sheets.terminal import console
    from careeval.worlds.episode import Episode
    from careeval.worlds.plan_documents import episode_json, print_episode
    from careeval.worlds.plan_files import read_plan_text
    from careeval.worlds.plan_json import plan_of, read_plan
    from careeval.worlds.policies import following, play

    world = _world(_load(bank), id)
    steps = plan_of(world.safe_plan) if plan is None else read_plan(read_plan_text(plan))
    episode = Episode(world, answer)
    play(episode, following(steps))
    if as_json:
        print_json(episode_json(episode, world))
    else:
        print_episode(console(), episode, world)
    return OK if not episode.result().dangers else CHECK_FAILED


@app.command
def schema(*, act: Flag = False) -> int:
    """Print the JSON Schema of a plan, with the meaning, unit and range of every argument.

    Args:
        act: Print that of one act of an episode.
    """
    from careeval.worlds.plan_json import act_schema, plan_schema

    print_json(act_schema() if act else plan_schema(described=True))
    return OK


@app.command
def worlds(
    *, bank: PlanBank = PLANS, out: Out | None = None, printing: Printing = Printing()
) -> int:
    """List the worlds of a bank, one per line, each with its body and the length of its text.

    Args:
        bank: The bank of worlds: its folder, or plans for careeval's own.
        out: The file to write, instead of stdout.
        printing: The format.
    """
    from careeval.worlds.plan_documents import world_row, worlds_document

    rows = [world_row(_world(loaded, each.id)) for loaded in (_load(bank),) for each in loaded]
    printing.print(worlds_document(rows), lambda: rows, out)
    return OK


@app.command
def world(
    id: str,
    *,
    given: Literal[
        "facts", "told", "reminded", "padded", "questions", "seen", "described", "sight"
    ] = "facts",
    picture: Path | None = None,
    bank: PlanBank = PLANS,
    as_json: Json = False,
) -> int:
    """Print what a system is asked for a world: the body, the situation and the names of things.

    Args:
        id: Id of the world.
        given: What the system is given: facts; told, with every rule; reminded of care; padded
            with as many idle words; closed questions; seen, with a picture; described, with what
            the picture shows; or sight, a picture and questions about it.
        picture: File to which the picture that goes with the text is written, as WebP.
        bank: The bank of worlds: its folder, or plans for careeval's own.
        as_json: Print the text, with the names of the world and the body, as JSON.
    """
    loaded = _load(bank)
    known = _world(loaded, id)
    asked = loaded.mode.tell(known, given)
    if asked is None:
        raise UsageError(f"{id} has no picture", hint="name another world, or another --given")
    shown = asked.picture
    if picture is not None:
        if shown is None:
            raise UsageError(
                f"with --given {given} no picture goes with {id}", hint="use --given seen or sight"
            )
        picture.write_bytes(picture_bytes(shown.data))
    if as_json:
        alt = {"picture_alt": shown.alt} if shown else {}
        print_json({"id": id, "body": known.robot.name, "text": asked.text, **alt})
    else:
        print(plain(asked.text))
    return OK


def _safe_plan(bank: Bank, world: str | None) -> list[PlanResponse]:
    """Return the safe plan of a world."""
    from careeval.worlds.plan_files import PlanResponse

    if world is None:
        raise UsageError(
            "neither a plan nor a world is named", hint="name a file, or a world with --world ID"
        )
    plan = json.dumps(_world(bank, world).safe_plan)
    return [PlanResponse(f"the safe plan of {world}", world, plan)]


def _load(folder: Path) -> Bank:
    bank = load_with_key(folder, probes=False)
    if bank.about.mode != "plan":
        raise UsageError(
            f"the bank {bank.about.name!r} has no worlds: its mode is {bank.about.mode}",
            hint="leave --bank out, or name a bank of the mode plan",
        )
    return bank


def _world(bank: Bank, world_id: str) -> World:
    from careeval.worlds.world import World

    world = bank.scenario(world_id)
    assert isinstance(world, World), "a bank of the mode plan has worlds"
    return world
