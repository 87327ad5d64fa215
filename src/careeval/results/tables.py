"""The two tables that every published number is computed from, and what their calls cost.

`responses` has one row for each (system, given, step, scenario, epoch); `judgments` one for each
of these and (grader, grading, rubric, item). The columns below are the contract with the code that
fills them, and with readers of the Parquet files.

A missing price makes a total unknown, never smaller; the known part is kept beside it.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from careeval.core.card import Card
from careeval.core.response import Grader
from careeval.core.scenario import Domain
from careeval.core.text import counted
from careeval.errors import LogError, UsageError, did_you_mean
from careeval.files import atomic_write


class Column(NamedTuple):
    """One column of a table: name, type and content."""

    name: str
    kind: pl.DataType | type[pl.DataType]
    holds: str


class SystemKey(NamedTuple):
    """A system in one condition; the fields are the columns that tell one from another."""

    system: str
    given: str | None = None
    step: bool = False

    @property
    def name(self) -> str:
        """Return the name of the system with its whole condition, such as "robot-a, told, step"."""
        return ", ".join(filter(None, (self.system, condition_text(self.given, step=self.step))))


def condition_text(given: str | None, *, step: bool) -> str:
    """Return a condition in words, such as "told, step"; empty for a bank of words."""
    return ", ".join(filter(None, (given, "step" if step else None)))


_SYSTEM_KEY = (
    Column("system", pl.String, "name of what is evaluated"),
    Column("given", pl.String, "what it is given of a world: told …; null in a bank of words"),
    Column("step", pl.Boolean, "whether it acts one act at a time, not by a whole plan"),
)

RESPONSES: tuple[Column, ...] = (
    *_SYSTEM_KEY,
    Column("scenario", pl.String, "id of the scenario"),
    Column("epoch", pl.Int32, "the k-th independent response, from 1"),
    Column(
        "state",
        pl.String,
        "answered, empty, refused or missing; of a plan also malformed or not_executable",
    ),
    Column("text", pl.String, "the words; empty if the response has none"),
    Column("cut", pl.Boolean, "whether the words stop at the token limit"),
    Column(
        "note",
        pl.String,
        "why a response is missing, refused, malformed or not_executable; else empty",
    ),
    Column("model", pl.String, "name of the model that was asked; null for recorded answers"),
    Column(
        "model_returned",
        pl.String,
        "name of the model that the provider says answered; null if unknown",
    ),
    Column("reasoned", pl.Boolean, "whether a reasoning trace came with it"),
    Column(
        "input_tokens",
        pl.Int64,
        "without those that the provider read from its cache or wrote to it; null if unknown",
    ),
    Column("cache_read_tokens", pl.Int64, "input, read from its cache; null if unknown or none"),
    Column("cache_write_tokens", pl.Int64, "input, written to it; null if unknown or none"),
    Column("output_tokens", pl.Int64, "reasoning included; null if unknown"),
    Column("reasoning_tokens", pl.Int64, "those of the output; null if unknown"),
    Column("cost_usd", pl.Float64, "of all of them, in dollars; null if unknown, never 0"),
    Column("seconds", pl.Float64, "of its calls; null if unknown"),
    Column("n_calls", pl.Int32, "calls by which it was asked; null if recorded or missing"),
    Column(
        "sampling", pl.String, "JSON of the sampling fields that were sent; empty object if unknown"
    ),
    Column("bank", pl.String, "name of the bank"),
    Column("bank_version", pl.String, "N-X"),
    Column("bank_hash", pl.String, "hash of the scenarios that the run took"),
    Column("bank_provenance", pl.String, "how the bank was made and vetted"),
    Column(
        "bank_makers",
        pl.List(pl.String),
        "vendors of the AI that wrote the bank, or on whose answers it was piloted",
    ),
    Column("protocol", pl.String, "N-X"),
    Column("ask_prompt", pl.String, "hash of the prompts that asked; null for recorded answers"),
    Column("software", pl.String, "version of careeval"),
    Column("created", pl.String, "when the log was begun, ISO 8601"),
    Column("adl", pl.String, "activity; null where the scenario never began"),
    Column("condition", pl.String, "what the person lives with"),
    Column("assistance", pl.String, "Section GG code"),
    Column("situation", pl.List(pl.String), "what makes the moment hard, the primary one first"),
    Column("actor", pl.String, "person or robot"),
    Column("split", pl.String, "public or held-out"),
    Column("group", pl.String, "S or P: how the scenario was written; null where not said"),
    Column("twin_of", pl.String, "of a twin or a control, the id of its base; else null"),
    Column("control", pl.String, "paraphrase or irrelevant; null where it is no control"),
    Column("scenario_text", pl.String, "what was asked"),
    Column("untold", pl.String, "rules of a world that it was not told; null where none are"),
    Column("picture", pl.String, "hash of the picture that it was shown; null where none was"),
    Column("picture_alt", pl.String, "what that picture shows, in words"),
    Column(
        "lacks",
        pl.List(pl.String),
        "rubrics that it was to be judged on, and that its scenario has no items of",
    ),
)

JUDGMENTS: tuple[Column, ...] = (
    *_SYSTEM_KEY,
    Column("scenario", pl.String, "id of the scenario"),
    Column("epoch", pl.Int32, "the k-th independent response, from 1"),
    Column("grader", pl.String, "name of the grader, with its mode and the hash of its prompt"),
    Column("rubric", pl.String, "ladder or actions"),
    Column(
        "grading",
        pl.Int32,
        "the k-th grading of these responses by this grader on this rubric, from 1",
    ),
    Column("protocol", pl.String, "N-X of the grading"),
    Column("bank_hash", pl.String, "hash of the scenarios of the grading"),
    Column("prompt", pl.String, "hash of the grading's prompts and reply schema"),
    Column("position", pl.Int32, "place of the item in its rubric, from 0"),
    Column("item", pl.String, "id of the item"),
    Column("points", pl.Int32, "-2 to 2"),
    Column("present", pl.Boolean, "null where the grader could not be brought to say"),
    Column("quote", pl.String, "the response's own words; null where none were given or found"),
    Column("reason", pl.String, "the grader's reason, or why there is no judgment"),
    Column("item_text", pl.String, "the item"),
    Column("of", pl.List(pl.String), "the actions that a rung is made of"),
    Column("excludes", pl.List(pl.String), "actions that cannot be true of the same answer"),
    Column("harm", pl.String, "of an item of -2, injury or rights; null where the bank says not"),
    Column("kind", pl.String, "technique or judgment; null where the bank says not"),
    Column("core", pl.Boolean, "whether it belongs to the easy core"),
    Column("error", pl.String, "of a bad act, too-little or too-much; null where not said"),
    *(
        Column(domain.value, pl.Int32, "0 to 2; null where the item is not about it")
        for domain in Domain
    ),
    # an even share of the calls that judged this rubric for this response; truly 0 for a response
    # without words, which needs no call
    Column("input_tokens", pl.Float64, "its share; null if unknown"),
    Column("output_tokens", pl.Float64, "its share, reasoning included; null if unknown"),
    Column("cost_usd", pl.Float64, "its share, in dollars; null if unknown"),
    Column("seconds", pl.Float64, "its share; null if unknown"),
)

NOT_ASKED = "not asked yet: the run is not finished"
"""Note of a response that a run has not asked for yet, and has spent nothing on."""

SYSTEM_KEY = SystemKey._fields
RESPONSE_KEY = (*SYSTEM_KEY, "scenario", "epoch")
"""Columns that tell responses apart. `given` may be null: join with `nulls_equal`."""


def system_keys(frame: pl.DataFrame) -> list[SystemKey]:
    """Return each system in each condition of a table, in the order of the rows."""
    # rows of one system follow one another, so that runs of equal rows are few
    runs = frame.select(pl.struct(SYSTEM_KEY).rle().alias("run"))["run"].struct.field("value")
    return [SystemKey(**row) for row in runs.unique(maintain_order=True)]


def system_names(keys: Sequence[SystemKey]) -> dict[SystemKey, str]:
    """Return a unique name for each.

    It says what the system is given of worlds only if they differ in it, or if the same system was
    also asked in a bank of words.
    """
    differ = len({key.given for key in keys if key.given}) > 1
    short = [key._replace(given=None) for key in keys]
    return {
        key: (key if differ or short.count(brief) > 1 else brief).name
        for key, brief in zip(keys, short, strict=True)
    }


def schema(columns: Iterable[Column]) -> dict[str, Any]:
    """Return the names and types of columns as a polars schema."""
    return {column.name: column.kind for column in columns}


def table(rows: Iterable[Mapping[str, Any]], columns: Iterable[Column]) -> pl.DataFrame:
    """Return a table from rows; a column that a row lacks is null.

    The table is built by column, which is several times faster than by row.
    """
    rows = list(rows)
    return pl.DataFrame(
        {name: _series([row.get(name) for row in rows], kind) for name, kind, _ in columns}
    )


def _series(values: Sequence[Any], kind: pl.DataType | type[pl.DataType]) -> pl.Series:
    if not isinstance(kind, pl.List):
        return pl.Series(values, dtype=kind)
    # polars is slow with lists, and most of ours are the same few
    lists = [None if value is None else tuple(value) for value in values]
    places = {value: place for place, value in enumerate(dict.fromkeys(lists))}
    return pl.Series(list(places), dtype=kind).gather([places[value] for value in lists])


@dataclass(frozen=True, eq=False)
class Runs:
    """The two tables, responses and judgments, of a set of runs."""

    responses: pl.DataFrame  # Columns `RESPONSES`, one row for each `RESPONSE_KEY`
    judgments: pl.DataFrame
    """Columns `JUDGMENTS`. A missing or ungraded response has no rows here; a refused or empty one
    has every item absent."""
    notes: tuple[str, ...] = ()  # Notes for the reader on logs left out and runs not finished
    pictures: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Hash → picture as a data URI; those that were not found are left out."""
    cards: Mapping[SystemKey, Card] = field(default_factory=dict, repr=False)
    """System in its condition → its card, for those that were submitted."""

    def __repr__(self) -> str:
        n_systems = self.responses["system"].n_unique()
        sizes = ((n_systems, "system"), (self.responses.height, "response"))
        counts = [counted(n, noun) for n, noun in (*sizes, (self.judgments.height, "judgment"))]
        return "\n".join([f"<Runs: {', '.join(counts)}>", *self.notes])

    @staticmethod
    def of(
        responses: Iterable[Mapping[str, Any]],
        judgments: Iterable[Mapping[str, Any]],
        notes: Iterable[str] = (),
    ) -> Runs:
        """Return tables from rows; a column that a row lacks is null."""
        return Runs.sorted(table(responses, RESPONSES), table(judgments, JUDGMENTS), notes)

    @staticmethod
    def sorted(responses: pl.DataFrame, judgments: pl.DataFrame, notes: Iterable[str] = ()) -> Runs:
        """Return the same tables with sorted rows."""
        by = (*RESPONSE_KEY, "grader", "grading", "rubric", "position")
        return Runs(responses.sort(RESPONSE_KEY), judgments.sort(by), tuple(notes))

    @staticmethod
    def together(parts: Iterable[Runs], folders: Sequence[str] = ()) -> Runs:
        """Join several runs into one.

        Args:
            parts: The runs.
            folders: The folder of each, for messages.

        Raises:
            LogError: Two of the runs are of the same system in the same condition; the message
                names their folders.
        """
        parts = list(parts)
        seen: dict[SystemKey, str] = {}
        for part, folder in zip(parts, folders or [""] * len(parts), strict=True):
            for key in system_keys(part.responses):
                if key in seen:
                    where = f": {seen[key]} and {folder}" if folder else ""
                    raise LogError(
                        f"two runs are of the system {key.name!r}{where}",
                        hint="read only one"
                        if folder.endswith(".zip")
                        else f"careeval status {folder or 'RUN'} --rename NAME renames one; "
                        "or read only one",
                    )
                seen[key] = folder
        if not parts:
            return Runs.of([], [])
        return Runs(
            pl.concat([part.responses for part in parts]),
            pl.concat([part.judgments for part in parts]),
            tuple(note for part in parts for note in part.notes),
            {hash: data for part in parts for hash, data in part.pictures.items()},
            {key: card for part in parts for key, card in part.cards.items()},
        )

    def write(self, folder: Path) -> None:
        """Write both tables as Parquet files into `folder`; the notes are not kept.

        Raises:
            OSError: A file cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for file, frame in zip(files_in(folder), (self.responses, self.judgments), strict=True):
            write_parquet(file, frame, compression="lz4")

    @staticmethod
    def read(folder: Path, notes: Iterable[str] = ()) -> Runs:
        """Read tables that `write` wrote, with these notes.

        Raises:
            LogError: The files are missing, or are not these tables.
        """
        files = files_in(folder)
        try:
            for file, columns in zip(files, (RESPONSES, JUDGMENTS), strict=True):
                if pl.read_parquet_schema(file) != schema(columns):
                    raise LogError(
                        f"{file}: has other columns than this version writes", hint=_AGAIN
                    )
            responses, judgments = map(pl.read_parquet, files)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise LogError(f"{folder}: its tables cannot be read: {error}", hint=_AGAIN) from error
        return Runs(responses, judgments, tuple(notes))


_AGAIN = "write the tables again, from the runs"


def files_in(folder: Path) -> tuple[Path, Path]:
    """Return the paths of responses and judgments that `Runs.write` writes into a folder."""
    return folder / "responses.parquet", folder / "judgments.parquet"


def write_parquet(
    path: Path, frame: pl.DataFrame, compression: Literal["lz4", "zstd"] = "zstd"
) -> None:
    """Write a table as a Parquet file, completely or not at all.

    Raises:
        OSError: It cannot be written.
    """
    with atomic_write(path) as beside:
        try:
            frame.write_parquet(beside, compression=compression)
        except (pl.exceptions.PolarsError, OSError) as error:
            # polars does not always say what failed
            is_full = shutil.disk_usage(beside.parent).free < frame.estimated_size()
            number = re.search(r"os error (\d+)", str(error))
            code = int(number[1]) if number else errno.ENOSPC if is_full else errno.EIO
            raise OSError(code, os.strerror(code), str(beside)) from error


def select(
    runs: Runs,
    systems: Sequence[str] = (),
    graders: Sequence[str] = (),
    rubric: str | None = None,
) -> Runs:
    """Return runs with only some systems, some graders and one rubric.

    Args:
        runs: The tables.
        systems: Names of systems, each in all conditions, or names as by `system_names`; empty for
            all.
        graders: Names of graders, full or without mode and prompt; empty for all. Systems that none
            of the named graders judged are left out.
        rubric: The rubric; `None` for both. Systems that were not judged on it are left out.

    Raises:
        UsageError: A system does not exist, or a grader judged no chosen system; the hint lists the
            names. Or no chosen grader judged a chosen system on the rubric.
    """
    if not systems and not graders and rubric is None:
        return runs
    responses, judgments = runs.responses, runs.judgments
    if systems:
        own = system_names(system_keys(responses))
        for name in systems:
            if name not in {*own.values(), *(key.system for key in own)}:
                raise _unknown_name("system", name, [*own.values()], [*own.values()])
        keys = [key for key, name in own.items() if {key.system, name} & {*systems}]
        chosen = pl.DataFrame(keys, schema(_SYSTEM_KEY), orient="row")
        responses, judgments = _of_systems(responses, chosen), _of_systems(judgments, chosen)
    if graders:
        judges = [Grader(name) for name in judgments["grader"].unique().sort()]
        called = {name for grader in judges for name in (grader, grader.model)}
        for name in graders:
            if name not in called:
                raise _unknown_name("grader", name, judges, sorted(called))
        named = [grader for grader in judges if {grader, grader.model} & {*graders}]
        judgments = judgments.filter(pl.col("grader").is_in(named))
        responses = _of_systems(responses, judgments)
    if rubric is not None:
        if rubric not in judgments["rubric"].unique().to_list():
            raise UsageError(
                f"no chosen system was judged on the {rubric} by a chosen grader",
                hint=f"careeval grade FOLDER --rubric {rubric}",
            )
        judgments = judgments.filter(pl.col("rubric") == rubric)
        responses = _of_systems(responses, judgments)
    left_out = {*system_keys(runs.responses)} - {*system_keys(responses)}
    prefixes = tuple(f"{key.name}: " for key in left_out)
    notes = tuple(note for note in runs.notes if not note.startswith(prefixes))
    return Runs(responses, judgments, notes, runs.pictures, runs.cards)


def _of_systems(frame: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a table whose system and condition are in another table."""
    keys = others.select(SYSTEM_KEY).unique()
    return frame.join(keys, on=SYSTEM_KEY, how="semi", nulls_equal=True, maintain_order="left")


def _unknown_name(what: str, name: str, own: Sequence[str], names: Sequence[str]) -> UsageError:
    guess = did_you_mean(name, names)
    others = f"there are: {'; '.join(own)}" if own else "careeval grade FOLDER --grader MODEL"
    return UsageError(f"no {what} is named {name!r}", hint=f"{guess} {others}".strip())


@dataclass(frozen=True)
class Cost:
    """The cost of the calls for some responses."""

    value: float | None  # Dollars; `None` if the price of any response is unknown
    reason: str  # Reason why there is no value; else empty
    known_usd: float  # Dollars of the responses with a known price
    n: int  # Responses
    n_unknown: int  # Responses with an unknown price
    input_tokens: int | None
    """Input, the provider's cache included; `None` if unknown for any response."""
    output_tokens: int | None  # Output, reasoning included; `None` if unknown for any response
    per_response: float | None  # Mean dollars of a response; `None` without a value
    n_calls: int | None = None  # Calls by which they were asked; `None` if unknown, or of gradings
    seconds: float | None = None  # All calls together; `None` likewise


@dataclass(frozen=True)
class RunCost:
    """The cost of one system and of its grading by one grader."""

    asking: Cost  # Cost of its responses
    grading: Cost  # Cost of the judgments that count: one grading of each response, on one rubric

    @property
    def per_response(self) -> float | None:
        """Return the mean dollars of asking and grading a response; `None` if either is unknown."""
        asking, grading = self.asking.per_response, self.grading.per_response
        return None if asking is None or grading is None else asking + grading


AMOUNTS = ("cost_usd", "input_tokens", "output_tokens")


def asking_cost(responses: pl.DataFrame) -> Cost:
    """Return the cost of one system's responses, without those that were not asked yet.

    The price of a recorded response is unknown: it was paid for elsewhere, if at all.
    """
    cached = pl.sum_horizontal("cache_read_tokens", "cache_write_tokens")  # null: none
    asked = responses.select(
        "note",
        "model",
        "cost_usd",
        pl.col("input_tokens") + cached,
        "output_tokens",
        "n_calls",
        "seconds",
    ).filter(pl.col("note").fill_null("") != NOT_ASKED)
    recorded = asked.height > 0 and asked["model"].null_count() == asked.height
    cost = _total_cost(
        asked,
        "the responses were recorded, not asked for here" if recorded else "",
    )
    seconds = asked["seconds"]
    return replace(
        cost,
        n_calls=_total(asked["n_calls"]),
        seconds=None if seconds.null_count() or seconds.is_empty() else float(seconds.sum()),
    )


def grading_cost(judgments: pl.DataFrame) -> Cost:
    """Return the cost of these judgments of one system's responses by one grader."""
    return _total_cost(
        judgments.group_by("scenario", "epoch")
        # a sum skips nulls, but an unknown part must make the sum unknown
        .agg(pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).sum()) for name in AMOUNTS)
        .select(AMOUNTS)
    )


def _total_cost(responses: pl.DataFrame, why_unknown: str = "") -> Cost:
    """Return the total cost and tokens of responses, which have one row each."""
    n, n_unknown = responses.height, responses["cost_usd"].null_count()
    known = float(responses["cost_usd"].sum())
    reason = ""
    if not n:
        reason = "there is no response"
    elif n_unknown:
        reason = why_unknown or f"the price of {n_unknown:,} of {n:,} responses is not known"
    return Cost(
        value=None if reason else known,
        reason=reason,
        known_usd=known,
        n=n,
        n_unknown=n_unknown,
        input_tokens=_total(responses["input_tokens"]),
        output_tokens=_total(responses["output_tokens"]),
        per_response=None if reason else known / n,
    )


def _total(tokens: pl.Series) -> int | None:
    """Return the sum of a column; `None` if any value is unknown.

    A call's tokens are split over its rows, so the sum is rounded to a whole number again.
    """
    return None if tokens.null_count() or tokens.is_empty() else round(tokens.sum())
