"""`careeval bank`: commands to read, write, check, import and seal scenarios."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from careeval.bank import BankProblems, Problem, bank_folder, load_bank
from careeval.bank.rules.check import RULE_SETS
from careeval.bank.rules.check import check as find_problems
from careeval.bank.sealed import held_out_key, key_for_bank
from careeval.bank.sealed import seal as seal_packed
from careeval.cli.app import CHECK_FAILED, OK
from careeval.cli.bank.export import export
from careeval.cli.shared.options import Json
from careeval.cli.shared.printing import Out, Printing
from careeval.core.scenario import Adl, Assistance, Condition, Control, Scenario, Situation
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

app.command(export)

BankFolder = Annotated[Path | None, Parameter(name="--bank")]
"""The bank's folder; careeval's own bank if not given."""


@app.command
def check(folder: Path | None = None, *, as_json: Json = False) -> int:
    """List every problem of a bank, each with its file, line and column.

    A bank whose bank.yaml names rules, 'careeval' or 'careeval-plans', is checked
    against them; of any other bank only the form is checked.

    Args:
        folder: The bank's folder; careeval's own bank if not given.
        as_json: Print the problems as JSON.
    """
    remarks = elsewhere = ""
    try:
        bank = load_bank(folder, key_for_bank(bank_folder(folder)))
        problems: list[Problem] = find_problems(bank)
        n_probes = sum(map(len, bank.probes.values()))
        summary = f"{counted(len(bank), 'scenario')}, {counted(n_probes, 'probe')}"
        if bank.about.rules is None:
            remarks = "; held to its form alone (its bank.yaml names no rules)"
        else:
            elsewhere = RULE_SETS[bank.about.rules].elsewhere
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
        if elsewhere:
            print(elsewhere)
    return CHECK_FAILED if problems else OK


@app.command(name="list")
def list_(
    *,
    bank: BankFolder = None,
    adl: Annotated[list[Adl] | None, Parameter(negative=())] = None,
    condition: Annotated[list[Condition] | None, Parameter(negative=())] = None,
    situation: Annotated[list[Situation] | None, Parameter(negative=())] = None,
    actor: Literal["person", "robot"] | None = None,
    out: Out = None,
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
    from careeval.sheets.bank import list_document
    from careeval.sheets.bank_json import scenario_json

    def is_selected(s: Scenario) -> bool:
        return (
            (not adl or s.adl in adl)
            and (not condition or s.condition in condition)
            and (not situation or any(each in situation for each in s.situation))
            and (actor is None or s.actor == actor)
        )

    loaded = load_bank(bank, key_for_bank(bank_folder(bank)), probes=False)
    rows = [scenario_json(scenario) for scenario in loaded.scenarios if is_selected(scenario)]
    printing.print(list_document(rows), lambda: rows, out)
    return OK


@app.command
def show(
    scenario: str,
    *,
    bank: BankFolder = None,
    points: Annotated[bool, Parameter(negative=())] = False,
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

    loaded = load_bank(bank, key_for_bank(bank_folder(bank)), probes=points)
    shown = loaded.scenario(scenario)
    if as_json:
        print(json.dumps(shown.model_dump(mode="json"), indent=1, ensure_ascii=False))
    else:
        print_scenario(shown, loaded, points=points)
    return OK


@app.command
def stats(
    *,
    bank: BankFolder = None,
    pilot: Annotated[bool, Parameter(negative=())] = False,
    out: Out = None,
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
    from careeval.bank import pilot as pilots
    from careeval.bank.sealed import unseal
    from careeval.sheets.bank import pilot_document, stats_document
    from careeval.sheets.bank_json import pilot_json, stats_json

    root = bank_folder(bank)
    key = key_for_bank(root)
    loaded = load_bank(root, key)
    held_out = unseal(root, key) if key else {}
    if pilot:
        rows = pilots.read_pilot(root, held_out)
        if not pilots.item_health(loaded, rows).kinds:
            raise UsageError(
                f"{root} has no pilot of its items, so --pilot has nothing to show",
                hint=f"leave --pilot out, or name a bank whose {pilots.FILE} has rows of its items",
            )
        numbers = pilot_json(loaded, rows)
        document = pilot_document(numbers)
    else:
        numbers = stats_json(loaded)
        document = stats_document(loaded.about.title, numbers)
    printing.print(document, lambda: numbers, out)
    return OK


@app.command
def new(
    folder: Path,
    *,
    adl: Adl | None = None,
    condition: Condition | None = None,
    assistance: Literal["06", "05", "04", "03", "02", "01"] | None = None,
    situation: Situation | None = None,
    age: int | None = None,
    pronoun: Literal["she", "he", "they"] | None = None,
    actor: Literal["person", "robot"] = "person",
    part: Literal["upper-body", "lower-body"] | None = None,
    twin_of: str | None = None,
    control: Control | None = None,
) -> int:
    """Write the skeleton of a scenario and its probes; ask for options not given.

    A folder that is new or empty becomes a bank. 'careeval bank check' then reports only what is
    marked TO WRITE, and missing generic answers if the bank has fewer than three.

    Args:
        folder: The bank's folder, new or not.
        adl: Activity.
        condition: What the person lives with.
        assistance: Usual level of help, a Section GG code: 06 independent … 01 dependent.
        situation: What makes the moment hard.
        age: Age of the person in years, 18 to 110.
        pronoun: Pronoun of the person.
        actor: Who acts.
        part: Part of the body, for dressing only.
        twin_of: Write a twin of this scenario instead, with its words and points, to be changed.
        control: What the twin changes, if it is a control: one that changes no right act.
    """
    from careeval.bank.skeleton import (
        Outline,
        begin_bank,
        check_outline,
        write_skeleton,
        write_twin,
    )

    if control is not None and twin_of is None:
        raise UsageError(
            "--control needs the scenario that the control is made from",
            hint="name it with --twin-of ID",
        )
    if twin_of is not None:
        bank = load_bank(folder)
        return _report_files(folder, write_twin(bank, folder, bank.scenario(twin_of), control))

    is_bank = (folder / "bank.yaml").exists()
    if is_bank:
        # raises for a faulty bank before the user is asked anything
        load_bank(folder)
    outline = Outline(
        adl=Adl(adl or _ask("adl", list(Adl))),
        condition=Condition(condition or _ask("condition", list(Condition))),
        assistance=Assistance(assistance or _ask("assistance", list(Assistance))),
        situation=Situation(situation or _ask("situation", list(Situation))),
        age=age if age is not None else _ask_age(),
        pronoun=pronoun or _ask("pronoun", ["she", "he", "they"]),
        actor=actor,
        part=part,
    )
    check_outline(outline)
    bank_files = () if is_bank else begin_bank(folder)
    return _report_files(folder, (*bank_files, *write_skeleton(load_bank(folder), folder, outline)))


def _report_files(folder: Path, files: Sequence[Path]) -> int:
    """Print the files that were written and what to do next, and return the exit status."""
    for path in files:
        print(plain(str(path)))
    print(
        f"Write what is marked TO WRITE, then: careeval bank check {plain(str(folder))}",
        file=sys.stderr,
    )
    return OK


def _ask(name: str, choices: list[str]) -> str:
    """Ask on the terminal for the value of the option `--NAME`, one of `choices`.

    Raises:
        UsageError: There is no terminal.
    """
    from rich.prompt import Prompt

    if not sys.stdin.isatty():
        raise UsageError(
            f"--{name} is missing, and there is no terminal to ask on",
            hint=f"give one of {', '.join(choices)}",
        )
    return Prompt.ask(name, choices=[str(choice) for choice in choices])


def _ask_age() -> int:
    from rich.prompt import IntPrompt

    if not sys.stdin.isatty():
        raise UsageError(
            "--age is missing, and there is no terminal to ask on",
            hint="give the age in years, 18 to 110",
        )
    return IntPrompt.ask("age")


@app.command(name="import")
def import_(
    file: Path,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    name: str,
    columns: Annotated[
        list[str] | None, Parameter(name="--map", negative=(), consume_multiple=False)
    ] = None,
    adl: Adl | None = None,
) -> int:
    """Make a bank of a file of scenarios with graded options (JSON, JSON lines, CSV, XLSX).

    A record is one option, or a scenario with a list of options. If records cannot be imported,
    each of them is named with its number, and nothing is written.

    Args:
        file: The file to read.
        output: Folder of the new bank.
        name: The bank's name in every table and log: lower case, digits, hyphens.
        columns: FIELD=COLUMN where a column is not found by its name; fields are id, text, adl,
            condition, assistance, options, option, points, user_function, user_agency,
            communication_intent, functional_safety.
        adl: Activity of scenarios that name none.
    """
    from careeval.bank.imported_bank import import_bank

    mapping = {}
    for pair in columns or ():
        field, equals, column = pair.partition("=")
        if not equals:
            raise UsageError(
                f"--map {pair!r} is not FIELD=COLUMN", hint="write it as in --map text=Scenario"
            )
        mapping[field.strip()] = column
    imported = import_bank(file, output, name, mapping, adl)
    for note in imported.notes:
        print(plain(note), file=sys.stderr)
    sources = ", ".join(f"{field} from {column!r}" for field, column in imported.columns.items())
    print(plain(f"Read {sources}."), file=sys.stderr)
    counts = f"{imported.n_scenarios} scenarios, {imported.n_options} options"
    print(plain(f"{imported.folder}: {counts}"))
    return OK


@app.command
def seal(folder: Path, *, bank: BankFolder = None) -> int:
    """Check a held-out split and encrypt it into a bank; nothing is written if there is a problem.

    The key is read from CAREEVAL_HELD_OUT_KEY; 'age-keygen' makes a new one.

    Args:
        folder: Folder of the split in clear text, outside the bank: <adl>/<id>.yaml with its
            probes, sources.yaml, evidence.json, second-reading/.
        bank: The bank's folder; careeval's own bank if not given.
    """
    from careeval.bank.sealed import HASH, SEALED, pack

    root = bank_folder(bank)
    packed = pack(folder)
    problems = _problems_with(root, packed)
    for problem in problems:
        print(plain(str(problem)), file=sys.stderr)
    if problems:
        print(f"{counted(len(problems), 'problem')}; nothing was sealed", file=sys.stderr)
        return CHECK_FAILED
    digest = seal_packed(packed, root, _key())
    n = len(json.loads(packed))
    print(f"{counted(n, 'file')} sealed into {plain(str(root / SEALED))}; {HASH}: {digest}")
    return OK


def _problems_with(root: Path, packed: str) -> list[Problem]:
    """Return the problems that a bank's held-out split would have once it is sealed.

    If the bank cannot be loaded, return all of its problems, since the rules cannot be checked.
    """
    from careeval.bank.load import read_bank
    from careeval.bank.sealed import SEALED

    try:
        problems = find_problems(read_bank(root, json.loads(packed)))
    except BankProblems as error:
        return list(error.problems)
    return [problem for problem in problems if SEALED in Path(problem.place.path).parts]


@app.command(name="open")
def open_(folder: Path, *, bank: BankFolder = None) -> int:
    """Write a bank's held-out split in clear text into a new, private folder.

    Args:
        folder: A new folder, outside any git repository.
        bank: The bank's folder; careeval's own bank if not given.
    """
    from careeval.bank.sealed import unseal, write_open

    texts = unseal(bank_folder(bank), _key())
    write_open(texts, folder)
    print(
        plain(f"{len(texts)} files in {folder}: keep them private, and seal them again when done")
    )
    return OK


def _key() -> str:
    key = held_out_key()
    if key is None:
        raise UsageError(
            "the key of the held-out split is missing",
            hint="set CAREEVAL_HELD_OUT_KEY to the key, or to the path of its file",
        )
    return key
