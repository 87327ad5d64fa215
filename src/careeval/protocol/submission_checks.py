"""Checks of a submission: every number is computed again from its logs.

Logs are compared with the bank, prompts and protocol of this careeval. Judgments of programs are
made again from the responses. A model's judgments are taken as logged, since nobody can make them
again.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter
from pydantic_core import from_json

from careeval.bank import Bank, load_bank
from careeval.bank.load import OWN_BANKS, load_with_key
from careeval.bank.sealed import held_out_key
from careeval.core.response import Judgment, Response, ResponseState, grade_mode
from careeval.core.scenario import Rubric, Scenario, Split
from careeval.core.text import counted
from careeval.errors import BankError, CareEvalError, LogError, ProtocolError
from careeval.modes.grading import Reply, is_quoted, resolve
from careeval.modes.mode import PROVIDER, Case, Program
from careeval.modes.prompts import load_prompts
from careeval.protocol.log_fields import LoggedSample, LoggedScenario, text_of
from careeval.protocol.logs import Log, open_log, read_log, read_member
from careeval.protocol.regrade import read_agreement
from careeval.protocol.run import as_fields, check_name
from careeval.protocol.run_files import read_json
from careeval.protocol.run_folder import RUN_FILE, system_of
from careeval.protocol.selection import sample_metadata, selection_hashes, told
from careeval.protocol.submission import PROBES, RUNS, Submission, unpacked
from careeval.protocol.submission_writing import has_held_out, numbers_of
from careeval.protocol.tables import read_run, run_roots
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.tables import Runs, SystemKey, system_keys
from careeval.scoring import maximum, scenario_points


@dataclass(frozen=True)
class CheckedEntry:
    """One entry of a submission, as its logs have it."""

    entry: Entry
    n_public: int  # Scenarios of the public split of its bank, without twins and controls
    n_numbers: int  # Numbers that were computed again
    differences: tuple[str, ...]  # Those that differ from the numbers claimed
    not_ranked: tuple[str, ...]  # Reasons why it may not be ranked


@dataclass(frozen=True)
class Verification:
    """The result of checking a submission."""

    submission: Submission | None  # `None` if the archive cannot be read
    entries: tuple[CheckedEntry, ...] = ()
    problems: tuple[str, ...] = ()  # What is wrong; empty if nothing is
    unknown: tuple[str, ...] = ()  # What no check can show

    @property
    def verified(self) -> bool:
        """True if every number is as claimed, and nothing is wrong."""
        return not self.problems


def verify(archive: Path) -> Verification:
    """Check the submission in an archive.

    Raises:
        OSError: There is no such file, or the disk is full.
    """
    try:
        with unpacked(archive) as (submission, folder):
            return _Checks(submission, folder).result()
    except CareEvalError as error:
        return Verification(None, problems=tuple(str(error).splitlines()))


@dataclass
class _Checks:
    """The checks of one unpacked submission."""

    submission: Submission
    folder: Path
    problems: list[str] = field(default_factory=list)
    not_ranked: dict[tuple[SystemKey, str | None], list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """System and grader, or `None` for all graders of it → reasons not to rank them."""
    probed: dict[tuple[str, Rubric], list[str]] = field(default_factory=dict)
    """Grader and rubric of each probe check → why the grader fails it."""

    def result(self) -> Verification:
        """Return what the checks find."""
        checked: list[CheckedEntry] = []
        try:
            self._check_words()
            runs = self._runs()
            self._check_probes()
            checked = self._entries(runs)
        except CareEvalError as error:
            self._add(str(error))
        unknown = tuple(self._unknown(checked))
        return Verification(self.submission, tuple(checked), tuple(self.problems), unknown)

    def _add(self, problem: str) -> None:
        # the temporary folder is nobody's concern
        self.problems += problem.replace(f"{self.folder}/", "").splitlines()

    def _place(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def _check_words(self) -> None:
        """Check, with the key, that no held-out words are in logs and descriptions.

        Raises:
            LogError: There are, or a description cannot be read.
        """
        words = _held_out_words()
        for path in sorted(self.folder.rglob("*.eval")) if words else ():
            _check_log_words(path, words)
        described = [as_fields(self.submission)]
        for path in self.folder.rglob(RUN_FILE):
            try:
                described.append(read_json(path))
            except ValueError as error:
                raise LogError(f"{path}: cannot be read: {error}") from error
        if words and _has_words(described, words):
            raise LogError("its description has words of the held-out split")

    def _runs(self) -> Runs:
        """Read the runs, and check each log.

        Raises:
            LogError: A log cannot be read, or has words of the held-out split.
        """
        parts: list[Runs] = []
        roots = run_roots(self.folder / RUNS)
        for root in roots:
            runs = read_run(root, cached=False)
            if has_held_out(runs):
                raise LogError(f"{root} is over the held-out split, whose words must stay unread")
            for note in runs.notes:
                if note.startswith("left out: "):
                    self._add(note)
            given = {
                (scenario, epoch): (state, text)
                for scenario, epoch, state, text in runs.responses.select(
                    "scenario", "epoch", "state", "text"
                ).iter_rows()
            }
            for path in sorted(root.rglob("*.eval")):
                self._check_log(path, system_of(root), None if path.parent == root else given)
            parts.append(runs)
        both = Runs.together(parts, [root.name for root in roots])
        claimed = [*self.submission.numbers, *self.submission.held_out]
        systems = {*both.responses["system"], *(str(each.get("system")) for each in claimed)}
        if len(systems) != 1:
            raise LogError(f"it is of {len(systems)} systems, expected one: {sorted(systems)}")
        return both

    def _check_log(
        self, path: Path, name: str | None, given: Mapping[tuple[str, int], tuple[str, str]] | None
    ) -> None:
        """Compare one log with the bank, and make the judgments of its program again.

        Args:
            path: The log.
            name: The system's name in `run.json`.
            given: Scenario and epoch → state and text of the run's response, for a later grading.
        """
        try:
            log = read_log(path)
        except LogError:
            return  # is left out of the tables, with a note
        about = log.header.about
        system = name or log.system
        check_name(system)
        if not (log.grader or "").isprintable():
            raise LogError(f"{path}: the name of its grader has control characters")
        if problems := [*_not_released(log)]:
            self._add(f"{self._place(path)}: cannot be checked: {problems[0]}")
            return
        key = SystemKey(system, about.given, about.step)
        self.not_ranked[key, None] += _asked_otherwise(log)
        self.not_ranked[key, log.grader] += _graded_otherwise(log)
        self._add_samples(log, given)

    def _add_samples(
        self, log: Log, given: Mapping[tuple[str, int], tuple[str, str]] | None
    ) -> bool:
        """Check a log's samples; tell whether nothing is wrong with them."""
        counts = _SampleChecks(log, given).counts()
        for problem, samples in counts.items():
            where = f"{counted(len(samples), 'sample')}, the first {samples[0]}"
            self._add(f"{self._place(log.path)}: {problem}: {where}")
        return not counts

    def _check_probes(self) -> None:
        """Check the probe checks of graders, and see whether the graders pass."""
        for root in run_roots(self.folder / PROBES):
            logs = [read_log(path) for path in sorted(root.glob("*.eval"))]
            if not logs or any(problem for log in logs for problem in _not_released(log)):
                self._add(f"{self._place(root)}: its probes are not those of this careeval")
                continue
            about, grader = logs[0].header.about, logs[0].grader
            bank = _released_bank(about.bank, about.bank_version, probes=True)
            assert bank is not None
            probes = {
                (scenario, epoch): (ResponseState.answered.value, probe.text)
                for scenario, listed in bank.probes.items()
                for epoch, probe in enumerate(listed, start=1)
            }
            are_right = [self._add_samples(log, probes) for log in logs]
            if grader is None or not all(are_right):
                continue
            judged = read_run(root, cached=False).judgments
            why = [*read_agreement(bank, root).failed]
            if (n := judged.select("scenario", "epoch").n_unique()) < len(probes):
                why.append(f"{n} of {len(probes)} probes are judged")
            for rubric in about.rubrics:
                self.probed[grader, rubric] = why

    def _entries(self, runs: Runs) -> list[CheckedEntry]:
        """Compute the entries again, and compare them with those that are claimed."""
        claimed = {_key_of(each): each for each in self.submission.numbers}
        computed = entries(runs)
        checked: list[CheckedEntry] = []
        for entry, numbers in zip(computed, numbers_of(computed), strict=True):
            differences = tuple(_differences(claimed.pop(_key_of(numbers), None), numbers))
            if differences:
                n = len(differences)
                self._add(
                    f"numbers that differ from those claimed: {n}, the first {differences[0]}"
                )
            key = _system_of(entry)
            failed = self.probed.get((entry.grader, entry.rubric), ())
            not_ranked = [
                *self.not_ranked[key, None],
                *self.not_ranked[key, entry.grader],
                *(f"its grader fails the probe check: {each}" for each in failed),
                *entry.not_ranked,
            ]
            bank = _released_bank(entry.bank, entry.bank_version)
            n_public = 0 if bank is None else len(bank.bases)
            checked.append(
                CheckedEntry(
                    entry, n_public, _count(numbers), differences, (*dict.fromkeys(not_ranked),)
                )
            )
        for left in claimed:
            self._add(f"numbers are claimed that no log has: {left[:300]!a}")
        if not checked:
            self._add("nothing in it can be verified: no run over the public split is graded")
        for key in system_keys(runs.responses):
            of_key = [each for each in checked if _system_of(each.entry) == key]
            if not of_key:
                self._add(f"{key.name}: is not graded")
            elif self.submission.card.rank and all(each.not_ranked for each in of_key):
                self._add(f"{key.name}: cannot be ranked: {of_key[0].not_ranked[0]}")
        return checked

    def _unknown(self, checked: Sequence[CheckedEntry]) -> Iterator[str]:
        """Yield what no check of this archive can show."""
        yield "that the calls were made, and that these are all of them"
        if any(each.entry.asked is None for each in checked):
            yield "where the recorded responses come from"
        judged = {
            (each.entry.grader, each.entry.rubric)
            for each in checked
            if not each.entry.grader.startswith(f"{PROVIDER}/")
        }
        if judged:
            yield "that a model made these judgments: they are taken as logged"
        if judged - self.probed.keys():
            yield "how good the grader is: no probe check of it is in the archive"
        if n := len(self.submission.held_out):
            yield f"the held-out numbers of {counted(n, 'entry', 'entries')}: they are not verified"
        yield "that what the card says is true"
        if not held_out_key():
            yield "whether held-out words are hidden in the logs: that needs the key of the split"


def _system_of(entry: Entry) -> SystemKey:
    return SystemKey(entry.system, entry.given, entry.step)


# Logs as files


def _check_log_words(path: Path, words: Sequence[str]) -> None:
    """Raise a `LogError` if a log has one of these texts, or cannot be read."""
    try:
        with open_log(path) as archive:
            names = archive.namelist()
            secret = any(_has_words(from_json(read_member(archive, name)), words) for name in names)
    except Exception as error:  # whatever a hostile log holds
        raise LogError(f"{path}: cannot be read as a log: it may be cut off") from error
    if secret:
        raise LogError(f"{path}: has words of the held-out split")


def _held_out_words() -> list[str]:
    """Return the texts of the held-out scenarios and items; none without the key."""
    texts: dict[Split, set[str]] = {split: set() for split in Split}
    if held_out_key():
        for folder in OWN_BANKS.values():
            with suppress(BankError):  # a key is of one bank
                for scenario in load_with_key(folder, probes=False):
                    items = (item.text for rubric in Rubric for item in scenario.rubric(rubric))
                    texts[scenario.split] |= {_normal(text) for text in (scenario.text, *items)}
    # what worlds share is public
    return sorted(texts[Split.held_out] - texts[Split.public])


def _has_words(value: Any, words: Sequence[str]) -> bool:
    """Tell whether a text in a JSON value has one of these texts."""
    if isinstance(value, str):
        text = _normal(value)
        return any(each in text for each in words)
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_has_words(each, words) for each in inside)


def _normal(text: str) -> str:
    return " ".join(text.split())


# The bank, prompts and protocol of this careeval


def _released_bank(name: str, version: str, *, probes: bool = False) -> Bank | None:
    """Return the bank of this careeval with a name and version; `None` if there is none."""
    banks = (load_bank(folder, probes=probes) for folder in OWN_BANKS.values())
    own = (bank for bank in banks if (bank.about.name, bank.about.version) == (name, version))
    return next(own, None)


def _not_released(log: Log) -> Iterator[str]:
    """Yield in what a log differs from the bank and the protocol of this careeval."""
    about = log.header.about
    bank = _released_bank(about.bank, about.bank_version)
    if bank is None:
        yield f"its bank, {about.bank} {about.bank_version}, is not of this careeval"
        return
    mode = bank.mode
    if (about.mode, _n(about.protocol)) != (mode.name, _n(mode.protocol)):
        yield f"its protocol is {about.mode} {about.protocol}, expected {mode.name} {mode.protocol}"
        return
    try:
        mode.prompts_for(step=about.step, given=mode.condition(about.given))
        hashes = selection_hashes(_scenarios(log, bank))
    except (BankError, ProtocolError) as error:
        yield str(error)
        return
    if (hashes["bank_hash"], hashes.get("twins_hash")) != (about.bank_hash, about.twins_hash):
        yield (
            f"its scenarios are not those of bank {about.bank} {about.bank_version}: their hash is "
            f"{about.bank_hash}, expected {hashes['bank_hash']}"
        )


def _scenarios(log: Log, bank: Bank) -> list[Scenario]:
    given = log.header.about.given
    return [*told(map(bank.scenario, log.header.scenarios), bank.mode, given)]


def _asked_otherwise(log: Log) -> Iterator[str]:
    about = log.header.about
    bank = _released_bank(about.bank, about.bank_version)
    assert bank is not None
    expected = load_prompts(bank.mode, step=about.step, given=about.given).ask_hash
    if not about.recorded and about.prompts.ask != expected:
        yield f"it was asked with other prompts, {about.prompts.ask}: careeval's are {expected}"


def _graded_otherwise(log: Log) -> Iterator[str]:
    about, grader = log.header.about, log.header.grader
    bank = _released_bank(about.bank, about.bank_version)
    assert bank is not None
    if log.grader is None or grader is None:
        return
    expected = load_prompts(bank.mode).grade_hash
    if about.prompts.grade != expected:
        yield f"it was graded with other prompts, {about.prompts.grade}: careeval's are {expected}"
    try:
        bank.mode.check_grader(grader)
    except ProtocolError as error:
        yield str(error)


def _n(version: str) -> str:
    return version.partition("-")[0]


# Samples


class _SampleChecks:
    """The checks of the samples of one log, whose bank and hashes are those of this careeval."""

    def __init__(self, log: Log, given: Mapping[tuple[str, int], tuple[str, str]] | None) -> None:
        self._about = about = log.header.about
        bank = _released_bank(about.bank, about.bank_version)
        assert bank is not None
        self._log, self._given, self._mode = log, given, bank.mode
        self._scenarios = {scenario.id: scenario for scenario in _scenarios(log, bank)}
        self._prompts = load_prompts(bank.mode, step=about.step, given=about.given)
        self._expected: dict[str, tuple[LoggedScenario, dict[str, Any]]] = {}

    def counts(self) -> Mapping[str, list[str]]:
        """Return problem → the samples that have it, in words."""
        found: dict[str, list[str]] = defaultdict(list)
        for each in self._log.samples():
            if isinstance(each, tuple):
                sample, scenario = each
                for problem in self._problems(sample, scenario):
                    found[problem].append(f"{sample.id} epoch {sample.epoch}")
        with open_log(self._log.path) as archive:
            for name in archive.namelist():
                if name.startswith("samples/"):
                    try:
                        raw = from_json(read_member(archive, name))
                        problems = [*self._raw_problems(raw)]
                    except Exception:  # whatever a hostile sample holds; tables leave it out too
                        problems = ["cannot be read"]
                    for problem in problems:
                        found[problem].append(name.removeprefix("samples/"))
        return found

    def _problems(self, sample: LoggedSample, logged: LoggedScenario) -> Iterator[str]:
        """Yield what is wrong with one sample, as the tables read it."""
        scenario = self._scenarios.get(sample.id)
        if scenario is None:
            yield "is of a scenario that its header does not name"
            return
        expected, facts = self._of_scenario(scenario)
        if logged != expected:
            yield "its scenario or its rubric was changed"
            return
        response = sample.stored
        if response is None:
            return
        if self._given is not None:
            own = self._given.get((sample.id, sample.epoch))
            if own != (response.state.value, response.text):
                yield "the response that was graded is not the one that was given"
        if response.state.has_words != bool(response.text.strip()):
            yield f"its response is logged as {response.state}"
            return
        if self._mode.interpret and response.state.has_words:
            as_given = Response(sample.id, sample.epoch, response.text, ResponseState.answered)
            again = self._mode.interpret(as_given, facts)
            logged_as = response.state, response.text, response.note
            if (again.state, again.text, again.note) != logged_as:
                yield f"its response is {again.state}, and logged as {response.state}"
                return
        if not response.state.is_graded:
            return
        for rubric in self._about.rubrics:
            if (grading := sample.graded.get(rubric)) is None:
                continue
            marks = [(j.item, j.present, j.quote, j.reason) for j in grading.judgments]
            program = self._mode.programs.get(self._log.header.grader or "")
            if program is not None:
                if marks != self._again(program, scenario, rubric, response.text, facts):
                    yield f"its judgments are not those that {self._log.header.grader} makes"
            elif any(quote and not is_quoted(quote, response.text) for _, _, quote, _ in marks):
                yield "a quote is not in its response"

    def _again(
        self,
        program: Program,
        scenario: Scenario,
        rubric: Rubric,
        text: str,
        facts: Mapping[str, Any],
    ) -> list[tuple[str, bool | None, str | None, str]]:
        """Return a program's judgments of a response, made again."""
        items = scenario.rubric(rubric)
        per_item = grade_mode(per_item=True, with_scenario=False)
        apart = self._about.grade_mode.startswith(per_item)
        made: list[Judgment] = []
        for shown in [[item] for item in items] if apart else [items]:
            judged = program(Case(text, [(item.id, item.text) for item in shown], facts))
            reply = Reply({each.item: each for each in judged})
            made += resolve(shown, shown, [reply], text).judgments
        return [(each.item, each.present, each.quote, each.reason) for each in made]

    def _of_scenario(self, scenario: Scenario) -> tuple[LoggedScenario, dict[str, Any]]:
        """Return a scenario as its samples have it, and its facts."""
        if scenario.id not in self._expected:
            about = self._about
            metadata = sample_metadata(scenario, list(about.rubrics), step=about.step)
            content = json.dumps({"input": scenario.text, "metadata": metadata})
            logged = TypeAdapter(LoggedScenario).validate_json(content, strict=True)
            self._expected[scenario.id] = logged, metadata.get("facts", {})
        return self._expected[scenario.id]

    def _raw_problems(self, raw: Mapping[str, Any]) -> Iterator[str]:
        """Yield what is wrong with the fields of a sample that the tables do not need."""
        scenario = self._scenarios.get(raw["id"])
        if scenario is None or raw.get("store", {}).get("careeval_response") is None:
            return
        is_ours = self._about.prompts.ask == self._prompts.ask_hash and not self._about.recorded
        if is_ours and not self._was_asked(raw["messages"], scenario):
            yield "its system was not asked in the words of the prompts"
        score = raw.get("scores", {}).get("careeval", {})
        values = score.get("value")
        for rubric, grading in score.get("metadata", {}).get("rubrics", {}).items():
            shown = values.get(rubric) if isinstance(values, dict) else None
            expected = _points(scenario, Rubric(rubric), grading["judgments"])
            if expected is not None and shown != expected:
                yield "its points are not those of its judgments"

    def _was_asked(self, messages: Sequence[Mapping[str, Any]], scenario: Scenario) -> bool:
        system, user = (text_of(message["content"]) for message in messages[:2])
        if isinstance(messages[1]["content"], list) != (scenario.picture is not None):
            return False  # with a picture, whose bytes a log does not have, or without
        text = scenario.text.strip()
        begins = user.startswith(f"{text}\n\n") if self._about.step else user == text
        return system == self._prompts.ask_system and bool(begins)


def _points(
    scenario: Scenario, rubric: Rubric, judgments: Iterable[Mapping[str, Any]]
) -> float | None:
    """Return the points that a viewer shows; `None` if unresolved judgments leave them open."""
    present = {each["item"]: each["present"] for each in judgments}
    items = scenario.rubric(rubric)
    if any(present.get(item.id) is None for item in items):
        return None
    points = np.array([item.points for item in items])
    earned = scenario_points(points, np.array([[float(present[item.id]) for item in items]]))
    lowest = -float(maximum(points)) if rubric is Rubric.plan else -math.inf
    return max(float(earned.low[0]), lowest)


# Numbers


def _key_of(numbers: Mapping[str, Any]) -> str:
    """Return the name of an entry, which no other entry of a submission has."""
    names = ("system", "given", "step", "grader", "rubric", "protocol")
    return ", ".join(str(numbers.get(name)) for name in names)


def _differences(claimed: Any, found: Any, place: str = "") -> Iterator[str]:
    """Yield each value that differs between the numbers claimed and those computed."""
    if isinstance(claimed, dict) and isinstance(found, dict):
        for name in dict.fromkeys((*found, *claimed)):
            yield from _differences(
                claimed.get(name), found.get(name), f"{place}.{name}" if place else str(name)
            )
    elif isinstance(claimed, list) and isinstance(found, list) and len(claimed) == len(found):
        for n, (one, other) in enumerate(zip(claimed, found, strict=True)):
            yield from _differences(one, other, f"{place}[{n}]")
    elif not _equal(claimed, found):
        yield f"{place or 'the entry'}: claimed {_shown(claimed)}, computed {_shown(found)}"


def _equal(one: Any, other: Any) -> bool:
    numbers = (int, float)
    if isinstance(one, numbers) and isinstance(other, numbers) and type(one) is not bool:
        # the last digits of a sum depend on the processor
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


def _shown(value: Any) -> str:
    return ascii(value)[:60]


def _count(found: Any) -> int:
    """Return how many numbers a document has."""
    if isinstance(found, dict):
        return sum(map(_count, found.values()))
    if isinstance(found, list):
        return sum(map(_count, found))
    return int(isinstance(found, (int, float)) and not isinstance(found, bool))
