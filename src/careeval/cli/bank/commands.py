"""`careeval bank`: the commands, and those of them that read a bank."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from careeval.bank import BankProblems, Problem, bank_folder, load_bank, load_with_key
from careeval.bank.rules import RULE_SETS
from careeval.bank.rules import check as find_problems
from careeval.bank.sealed import key_for_bank
from careeval.cli.app import CHECK_FAILED, OK, print_json
from careeval.cli.bank.writing import export, import_, new, open_, seal
from careeval.cli.shared.options import BankFolder, Flag, Json, Out
from careeval.cli.shared.printing import Printing
from careeval.core.scenario import Adl, Condition, Scenario, Situation
from careeval.core.text import counted, plain
from careeval.errors import UsageError

EXAMPLES = """\
Examples:

  careeval bank list --adl eating          what there is
  careeval bank show eating-101 --points   one scenario with its rubrics
  careeval bank stats                      what it covers, and how it stands
  careeval bank stats --pilot              which items tell answers apart
  careeval bank list --format csv          in any format, as bank stats
  careeval bank new my-bank                a skeleton, in a bank new or not
  careeval bank new my-bank --twin-of eating-101
                                           one fact to change, with its points
  careeval bank new my-worlds --mode plan  a robot's body, and a world for it
  careeval bank check my-bank              every problem, with file and line
  careeval bank import theirs.xlsx -o their-bank --name theirs
                                           graded options, as ladders
  careeval bank export --to jsonl parquet -o bank
                                           public scenarios as tables
  careeval bank seal ../held-out           encrypt a split into the bank
  careeval bank open ../held-out           the other way round

A folder is a bank's, with a bank.yaml; without one, careeval's own is meant.
The held-out split is there for whoever has its key: CAREEVAL_HELD_OUT_KEY is
the key, or the path of its file. 'check' ends with status 3 where it finds a
problem, so that a script or a commit hook can stop at it.
"""

app = App(
    name="bank",
    help="Read, write, check, import and seal the scenarios.",
    help_epilogue=EXAMPLES,
)


@app.command
def check(folder: Path | None = None, *, as_json: Json = False) -> int:
    """List every problem of a bank, each with its file, line and column.

    A bank whose bank.yaml names rules, 'careeval' or 'careeval-plans', is checked
    against them; of any other bank only the form is checked.

    Args:
        folder: The bank's folder; careeval's own bank if not given.
        as_json: Print the problems as JSON.
    """
    remarks = ""
    lines: list[str] = []
    try:
        bank = load_with_key(folder)
        problems: list[Problem] = find_problems(bank)
        n_probes = sum(map(len, bank.probes.values()))
        summary = f"{counted(len(bank), 'scenario')}, {counted(n_probes, 'probe')}"
        if bank.about.rules is None:
            remarks = "; held to its form alone (its bank.yaml names no rules)"
        else:
            lines = [*RULE_SETS[bank.about.rules].remarks(bank)]
        versions = {name: entry.version for name, entry in bank.vettings.items()}
        if n := sum(versions.get(s.id, s.version) != s.version for s in bank.scenarios):
            remarks += f"; {counted(n, 'scenario')} rated in another version than the present one"
    except BankProblems as error:
        problems, summary = list(error.problems), "not loaded"
    if as_json:
        rows = [
            {"file": p.place.path, "line": p.place.line, "column": p.place.column, "code": p.code,
             "message": p.message, "hint": p.hint} for p in problems
        ]  # fmt: skip
        print(json.dumps({"problems": rows}, indent=1))
    else:
        for problem in problems:
            print(plain(str(problem)))
        n_problems = counted(len(problems), "problem") if problems else "no problem found"
        print(f"{summary}: {n_problems}{remarks}")
        for line in lines:
            print(plain(line))
    return CHECK_FAILED if problems else OK


@app.command(name="list")
def list_(
    *,
    bank: BankFolder = None,
    adl: Annotated[list[Adl] | None, Parameter(negative=())] = None,
    condition: Annotated[list[Condition] | None, Parameter(negative=())] = None,
    situation: Annotated[list[Situation] | None, Parameter(negative=())] = None,
    actor: Literal["person", "robot"] | None = None,
    out: Out | None = None,
    printing: Printing = Printing(),
) -> int:
    """List scenarios, one per line.

    Args:
        bank: The bank's folder; careeval's own bank if not given.
        adl: Only these activities.
        condition: Only these conditions.
        situation: Only those in which one of these makes the moment hard.
        actor: Only those where a person, or a robot, acts.
        out: The file to write, instead of stdout.
        printing: The format.
    """
    from careeval.sheets.bank import list_document, scenario_json

    def is_selected(scenario: Scenario) -> bool:
        return (
            (not adl or scenario.adl in adl)
            and (not condition or scenario.condition in condition)
            and (not situation or any(each in situation for each in scenario.situation))
            and (actor is None or scenario.actor == actor)
        )

    loaded = load_with_key(bank, probes=False)
    rows = [scenario_json(scenario) for scenario in loaded.scenarios if is_selected(scenario)]
    printing.print(list_document(rows), lambda: rows, out)
    return OK


@app.command
def show(
    scenario: str,
    *,
    bank: BankFolder = None,
    points: Flag = False,
    as_json: Json = False,
) -> int:
    """Show a scenario as a person reads it.

    Args:
        scenario: Its id.
        bank: The bank's folder; careeval's own bank if not given.
        points: Show points, domains, reasons and sources too; without, the items are in an order
            that does not give their points away.
        as_json: Print the whole scenario as JSON.
    """
    from careeval.cli.bank.scenario_text import print_scenario

    loaded = load_with_key(bank, probes=points)
    shown = loaded.scenario(scenario)
    if as_json:
        print_json(shown.model_dump(mode="json"))
    else:
        print_scenario(shown, loaded, points=points)
    return OK


@app.command
def stats(
    *,
    bank: BankFolder = None,
    pilot: Flag = False,
    out: Out | None = None,
    printing: Printing = Printing(),
) -> int:
    """Count what a bank covers: scenarios, rubric items and probes.

    Args:
        bank: The bank's folder; careeval's own bank if not given.
        pilot: Show instead how often each class of items was present in the answers of the bank's
            pilot, and which items do not tell answers apart.
        out: The file to write, instead of stdout.
        printing: The format.
    """
    from careeval.bank.coverage import PILOT_FILE, item_health, read_pilot
    from careeval.bank.sealed import unseal
    from careeval.sheets.bank import pilot_document, pilot_json, stats_document, stats_json

    root = bank_folder(bank)
    key = key_for_bank(root)
    loaded = load_bank(root, key)
    held_out = unseal(root, key) if key else {}
    if pilot:
        rows = read_pilot(root, held_out)
        if not item_health(loaded, rows).kinds:
            raise UsageError(
                f"{root} has no pilot of its items, so --pilot has nothing to show",
                hint=f"leave --pilot out, or name a bank whose {PILOT_FILE} has rows of its items",
            )
        numbers = pilot_json(loaded, rows)
        document = pilot_document(numbers)
    else:
        numbers = stats_json(loaded)
        document = stats_document(loaded.about.title, numbers)
    printing.print(document, lambda: numbers, out)
    return OK


app.command(new)
app.command(import_, name="import")
app.command(export)
app.command(seal)
app.command(open_, name="open")
