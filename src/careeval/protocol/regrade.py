"""Grading the responses of a run again, and checking a grader on the labelled probes of a bank.

Both grade recorded responses. Grading a random part of the responses a few more times shows how far
a grader agrees with itself, at a fraction of the cost of grading all.
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import polars as pl

from careeval.bank import Bank, bank_mode, bank_reference, load_bank
from careeval.bank.load import DEFAULT, OWN_BANK, OWN_BANKS, OWN_NAME
from careeval.bank.sealed import key_for_split
from careeval.core.response import Grader, Response, ResponseState
from careeval.core.scenario import READ_RUBRICS, Rubric, Scenario
from careeval.errors import LogError, ProtocolError
from careeval.files import read_text, write_text
from careeval.modes import Mode
from careeval.modes.response.lexical import THRESHOLD, coverage
from careeval.protocol.logs import read_log
from careeval.protocol.run import PROBES, Run, folder_name
from careeval.protocol.run_folder import (
    bank_of,
    is_complete,
    read_run_file,
    refuse_links,
    run_folders,
)
from careeval.protocol.run_setup import (
    discard,
    grading_folder,
    prepare_recorded,
    prepare_together,
    store_responses,
    unfinished_setups,
)
from careeval.protocol.selection import rubric_graded, selection_hashes, told
from careeval.protocol.sweep_cells import refuse_sweep
from careeval.protocol.tables import (
    cache_entry,
    make_entry,
    prune,
    read_run,
    responses_of,
    run_roots,
)
from careeval.results.entry import Entry
from careeval.results.probe_check import (
    LabelledJudgment,
    ProbeAgreement,
    ProbeTrial,
    labelled_judgments,
)
from careeval.results.tables import NOT_ASKED, Runs, grading_cost

PACKAGE = Path(__file__).parents[1]
"""Folder of careeval's code."""


@dataclass(frozen=True, slots=True)
class RegradePart:
    """The part of a run's responses that is graded again, and the number of gradings.

    Raises:
        ProtocolError: `share` or `times` is out of its range.
    """

    share: float = 1.0  # Share of the responses to each scenario, above 0 and at most 1
    times: int = 1  # Number of gradings, all of the same responses
    seed: int = 0  # The same seed draws the same responses of a run

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ProtocolError(
                f"the part to grade must be above 0 and at most 1, not {self.share:g}",
                hint="give a fraction: --part 0.2 is one in five, --part 1 is all",
            )
        if self.times < 1:
            raise ProtocolError(
                f"the number of gradings must be 1 or more, not {self.times}",
                hint="use --times 1 or more",
            )

    def draw(self, responses: Sequence[Response]) -> list[Response]:
        """Return the drawn part of one run's responses, in their order; all if the share is 1.

        Of each scenario `round(share × epochs)` responses are drawn, and at least one. Only
        responses with text are drawn, since a grader is shown no others; if fewer have text, all of
        them are drawn.
        """
        if self.share == 1:
            return list(responses)
        n_drawn = max(1, round(self.share * max(response.epoch for response in responses)))
        answered_epochs = defaultdict(list)
        for response in responses:
            if response.state.is_graded:
                answered_epochs[response.scenario].append(response.epoch)
        drawn = {
            (scenario, epoch)
            for scenario, epochs in answered_epochs.items()
            for epoch in random.Random(f"{self.seed}:{scenario}").sample(
                epochs, min(n_drawn, len(epochs))
            )
        }
        return [r for r in responses if (r.scenario, r.epoch) in drawn]


def prepare_regrading(
    folder: Path, bank: Path | None, like: Run, part: RegradePart = RegradePart()
) -> list[Path]:
    """Set up gradings of the responses of every run in a folder; return the new folders.

    The grader, the task's arguments, the prices and the budget are those of `like`. Without a
    `bank`, each run's own is used.

    Each grading judges one rubric: the rubric in the task of `like`; else the run's, if the run was
    graded on only one; else the actions, or the ladder if the scenarios have no actions.

    Each grading shows the items in another order, since the order too contributes to a grader's
    noise. The seed of the order is that of `like`, plus one for each grading that the grader has
    already made of the run's rubric.

    Raises:
        ProtocolError: The folder has no run, is part of a sweep, or has an unfinished set-up; or a
            run has a link in its folder, is not complete, was asked with another bank, lacks the
            rubric, or has no response with text.
        BankError: The bank cannot be read.
    """
    refuse_sweep(folder)
    if any(unfinished_setups(folder)):
        raise ProtocolError(
            f"{folder}: setting up several runs was interrupted",
            hint=f"finish it with 'careeval run --resume -o {folder}', then grade",
        )
    roots = run_roots(folder)
    if not roots:
        raise ProtocolError(
            f"{folder} has no run", hint="give the folder that 'careeval run -o' wrote to"
        )
    assert like.grader is not None
    # check all of them before the first folder is made
    for root in roots:
        refuse_links(root)
    banks = {root: bank_of(root) if bank is None else bank_reference(bank) for root in roots}
    checked = [(root, *_checked(root, banks[root])) for root in roots]
    planned = [
        (
            root,
            runs,
            _rubric(runs, scenarios, bank_mode(banks[root]), like),
            _drawn(root, runs, part),
        )
        for root, runs, scenarios in checked
    ]
    prepared: dict[Path, Run] = {}
    try:
        for root, runs, rubric, drawn in planned:
            n_before = _n_gradings(runs, like.grader, rubric)
            for n in range(part.times):
                grading = replace(
                    like,
                    system=runs.responses["system"][0],
                    task=like.task
                    | {
                        "bank": banks[root],
                        "split": runs.responses["split"][0] or "public",
                        "rubric": rubric.value,
                        "step": runs.responses["step"][0],
                        "given": runs.responses["given"][0],
                        "grade_seed": like.task.get("grade_seed", 0) + n_before + n,
                    },
                )
                grading_path = grading_folder(root, like.grader, rubric)
                prepared[grading_path] = store_responses(grading_path, drawn, grading)
    except Exception:
        for grading_path in prepared:
            discard(grading_path)
        raise
    return prepare_together(folder, prepared)


def _drawn(root: Path, runs: Runs, part: RegradePart) -> list[Response]:
    drawn = part.draw(responses_of(runs))
    if not drawn:
        raise ProtocolError(
            f"{root}: no response has text, so there is nothing to grade",
            hint="leave this run out; 'careeval summary' says why its responses have no text",
        )
    return drawn


def _rubric(runs: Runs, scenarios: Sequence[Scenario], mode: Mode, like: Run) -> Rubric:
    graded = runs.judgments["rubric"].unique().to_list()
    default = graded[0] if len(graded) == 1 else None
    return rubric_graded(like.task.get("rubric") or default, scenarios, mode)


def _n_gradings(runs: Runs, grader: str, rubric: Rubric) -> int:
    """Return how often a grader has graded a run's rubric, in the mode that it used most."""
    names = [n for n in runs.judgments["grader"].unique() if Grader(n).model == grader]
    judgments = runs.judgments.filter(
        pl.col("grader").is_in(names), pl.col("rubric") == rubric.value
    )
    return max(judgments["grading"].to_list(), default=0)


def _twins_changed(root: Path, now: str | None) -> tuple[str, str] | None:
    """Return the hashes of a run's twins, in its logs and in the bank; `None` if they are equal."""
    for path in sorted(root.glob("*.eval")):
        try:
            then = read_log(path).header.about.twins_hash
        except LogError:
            continue
        if then != now:
            return str(then), str(now)
    return None


def _checked(root: Path, folder: str | None) -> tuple[Runs, list[Scenario]]:
    """Return a run with its scenarios; check that it is complete, and was asked with this bank."""
    runs = read_run(root)
    row = runs.responses.row(0, named=True)
    if n_open := runs.responses.filter(pl.col("note") == NOT_ASKED).height:
        raise ProtocolError(
            f"{root}: {n_open} responses are still missing",
            hint="finish the run with 'careeval run --resume', then grade it",
        )
    bank = load_bank(folder, key_for_split(row["split"]), probes=False)
    ids = runs.responses["scenario"].unique()
    asked = [*told(map(bank.scenario, ids), bank.mode, row["given"])]
    hashes = selection_hashes(asked)
    then, now = row["bank_hash"], hashes["bank_hash"]
    if then == now and (changed := _twins_changed(root, hashes.get("twins_hash"))):
        then, now = changed
    if (row["bank"], then) != (bank.about.name, now):
        raise ProtocolError(
            f"{root} was asked with bank {row['bank']} {row['bank_version']} ({then}), "
            f"but the bank given is {bank.about.name} {bank.about.version} ({now})",
            hint="give the bank that the run was asked with: --bank DIR",
        )
    return runs, asked


# Probe checks: the k-th probe of a scenario is graded as the response of its epoch k


def prepare_probes(bank: Bank, root: Path, run: Run) -> Path:
    """Set up a grading of every probe of a bank by the grader of a run; return its folder.

    The folder is the next free `<grader>-<rubric>-<n>` below `root`.

    Raises:
        ProtocolError: The bank has no probes, or none of its probed scenarios has the rubric.
    """
    responses = [
        Response(scenario, epoch, probe.text, ResponseState.answered)
        for scenario, probes in bank.probes.items()
        for epoch, probe in enumerate(probes, start=1)
    ]
    if not responses:
        raise ProtocolError(
            f"bank {bank.about.name!r} has no probes",
            hint="give a bank with probes; careeval's own has some",
        )
    probed = [bank.scenario(scenario) for scenario in bank.probes]
    rubric = rubric_graded(run.task.get("rubric"), probed, bank.mode)
    n = 1
    while (free := root / f"{folder_name(run.grader or '')}-{rubric}-{n}").exists():
        n += 1
    return prepare_recorded(free, responses, replace(run, system=PROBES))


def unfinished_probe_check(root: Path, run: Run) -> Path | None:
    """Return the newest unfinished probe check below `root` with the same settings as `run`."""
    wanted = (run.grader, run.task, run.protocol, PROBES)
    for folder in sorted(run_folders(root), key=lambda each: each.stat().st_mtime, reverse=True):
        other = read_run_file(folder)
        task = {name: other.task.get(name) for name in run.task}
        is_same = (other.grader, task, other.protocol, other.system) == wanted
        if is_same and not is_complete(folder):
            return folder
    return None


def read_agreement(bank: Bank, folder: Path) -> ProbeAgreement:
    """Return how far a finished grading of a bank's probes agrees with their labels."""
    return ProbeAgreement.of(
        labelled_judgments(read_run(folder).judgments, bank.probes, bank.pair_of)
    )


def read_trial(bank: Bank, folder: Path) -> ProbeTrial:
    """Return a finished probe check: the grader's name in tables, its agreement, cost and time.

    Raises:
        ProtocolError: No probe was judged.
    """
    judgments = read_run(folder).judgments
    if judgments.is_empty():
        raise ProtocolError(
            f"{folder}: no probe was judged",
            hint="check the grader again: careeval audit probes",
        )
    seconds = judgments["seconds"]
    return ProbeTrial(
        grader=Grader(judgments["grader"][0]),
        agreement=ProbeAgreement.of(labelled_judgments(judgments, bank.probes, bank.pair_of)),
        cost=grading_cost(judgments),
        seconds=None if seconds.null_count() else float(seconds.sum()),
    )


def lexical_agreement(bank: Bank) -> ProbeAgreement:
    """Return how far the lexical grader agrees with the labels of a bank's probes.

    The agreement is computed without a run, since the lexical grader makes no calls.
    """
    return ProbeAgreement.of(_lexical_judgments(bank))


def _lexical_judgments(bank: Bank) -> Iterator[LabelledJudgment]:
    for scenario_id, probes in bank.probes.items():
        for rubric in READ_RUBRICS:
            items = bank.scenario(scenario_id).rubric(rubric)
            for place, probe in enumerate(probes, start=1):
                shares = coverage(probe.text, [item.text for item in items])
                for item, share in zip(items, shares, strict=True):
                    label, present = probe.labels[item.id], share >= THRESHOLD
                    yield LabelledJudgment(
                        rubric, item.points, probe.trap, label, present, scenario_id, place,
                        bank.pair_of(scenario_id, item.id),
                    )  # fmt: skip


def lexical_sentences(entries: Sequence[Entry]) -> list[str]:
    """Return a sentence on the lexical grader for each bank that it judged.

    For a bank that is not careeval's own, the agreement on the default bank is given.
    """
    numbers = {
        s.bank_version.partition("-")[0] if s.bank == OWN_NAME else DEFAULT
        for s in entries
        if s.grader.is_lexical
    }
    return [lexical_sentence(number) for number in sorted(numbers)]


@cache
def lexical_sentence(number: str) -> str:
    """Return a sentence on the lexical grader's agreement with the probes of one of our own banks.

    The bank is named by the number that begins its version. The sentence is kept in the user's
    cache folder until the bank or careeval changes: to judge all probes takes longer than the rest
    of a summary.
    """
    folder = OWN_BANKS.get(number, OWN_BANK)
    kept = cache_entry("agreement", _hash_of(PACKAGE, folder))
    with suppress(OSError, ValueError):
        if kept is not None:
            return read_text(kept / "sentence.txt")
    sentence = _computed_sentence(folder)
    with suppress(OSError):
        if kept is not None:
            make_entry(kept)
            write_text(kept / "sentence.txt", sentence)
            prune(kept, max_bytes=10_000)
    return sentence


def _computed_sentence(folder: Path) -> str:
    bank = load_bank(folder)
    agreement = lexical_agreement(bank).sentence()
    return f"The lexical grader, on bank {bank.about.version}: {agreement}"


def _hash_of(package: Path, bank: Path) -> str:
    digest = hashlib.sha256()
    for path in (*sorted(package.rglob("*.py")), *sorted(bank.rglob("*.yaml"))):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
