"""Answers that somebody types for people, from CSV files: all rows of a file or none."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path

from careeval.errors import ReviewError
from careeval.files import open_file
from careeval.people.deck import Question
from careeval.people.forms import FormChange, FormId, clean
from careeval.people.store import Store

MAX_PROBLEMS = 20
"""The most problems of a file that are reported at once."""


def read_rows(
    path: Path,
    needed: Sequence[str],
    columns: Sequence[str],
    take: Callable[[int, Mapping[str, str]], None],
) -> None:
    """Pass each row that is not empty to `take`, with the number of the row's last line.

    What `take` gets has every column of `columns`, with stripped values, empty if the file lacks
    the column.

    Args:
        path: The file, separated by commas or semicolons.
        needed: Columns that must be present, in lower case.
        columns: All columns that are read, in the order that a hint recommends; others are ignored.
        take: Function of a line number and its row. It raises ValueError if the row is wrong; later
            rows are still checked.

    Raises:
        OSError: The file cannot be opened.
        ReviewError: The file is not such a table, or rows are wrong: the message has the line of
            each, since all rows are checked first.
    """
    problems = []
    try:
        for line, names, cells in _rows(path, needed, columns):
            try:
                if any(cells[len(names) :]):
                    raise ValueError(
                        f"the row has {len(cells)} cells, but there are only {len(names)} columns: "
                        "put any text that contains the separator (, or ;) in quotation marks"
                    )
                row = dict(zip(names, cells, strict=False))
                take(line, {name: row.get(name, "") for name in columns})
            except ValueError as error:
                problems.append(f"{path}:{line}: {error}")
    except UnicodeDecodeError as error:
        raise ReviewError(f"{path}: not UTF-8", hint="save it as CSV in UTF-8") from error
    if problems:
        more = len(problems) - MAX_PROBLEMS
        lines = [*problems[:MAX_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
        hint = "correct these lines, then give the file again: nothing of it was taken"
        raise ReviewError("\n".join(lines), hint=hint)


def _rows(
    path: Path, needed: Sequence[str], columns: Sequence[str]
) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield line number, column names and cells of each row that is not empty."""
    with TextIOWrapper(open_file(path), encoding="utf-8-sig", newline="") as file:
        head = file.readline()
        file.seek(0)
        reader = csv.reader(file, delimiter=";" if head.count(";") > head.count(",") else ",")
        try:
            names = [name.strip().lower() for name in next(reader, [])]
            if missing := [name for name in needed if name not in names]:
                raise ReviewError(
                    f"{path}:1: no column {', '.join(missing)}; there are "
                    f"{', '.join(names) or 'none'}",
                    hint=f"make the first line: {','.join(columns)}",
                )
            if twice := [name for name in columns if names.count(name) > 1]:
                raise ReviewError(
                    f"{path}:1: more than one column {', '.join(twice)}", hint="keep one of each"
                )
            for row in reader:
                cells = [cell.strip() for cell in row]
                # spreadsheets leave empty rows where rows were deleted
                if any(cells):
                    yield reader.line_num, names, cells
        except csv.Error as error:
            raise ReviewError(f"{path}:{reader.line_num}: {error}") from error


@dataclass
class TypedPage:
    """The answers typed for one rater that belong on one page of the app."""

    rater: str
    task: str
    place: int | None  # The place of the page in the rater's order, from 1; None if it has none
    seen: int  # The number of the task's newest event (`Store.newest`) when the file was read
    values: dict[str, str] = field(default_factory=dict)  # Answer by field


class TypedPages:
    """The answers in the rows of a file, page by page, checked against each other and the store.

    Args:
        store: The study's or the audit's.
        replace: Whether earlier answers may be replaced by different ones.
    """

    def __init__(self, store: Store, *, replace: bool = False) -> None:
        self._store, self._replace = store, replace
        self._present = {rater.id for rater in store.raters()}
        self._revoked = store.revoked_ids()
        self._pages: dict[tuple[str, str], TypedPage] = {}
        self._lines: dict[tuple[str, str, str], int] = {}

    def has(self, rater: str) -> bool:
        """Tell whether this id is that of a rater who has not withdrawn.

        Raises:
            ValueError: Their link is switched off, so that nothing could be saved for them.
        """
        if rater in self._revoked:
            raise ValueError(
                f"the link of {rater} is switched off, so nothing can be saved for them"
            )
        return rater in self._present

    def page(self, rater: str, task: str, place: int | None) -> TypedPage:
        """Return the answers typed for a rater's page; a new, empty one if none has been noted."""
        key = (rater, task)
        if key not in self._pages:
            self._pages[key] = TypedPage(rater, task, place, self._store.newest(rater, task))
        return self._pages[key]

    def note(
        self, page: TypedPage, question: Question, text: str, line: int, column: str = ""
    ) -> None:
        """Note an answer from a line of the file.

        Args:
            page: The page that the question is on.
            question: The question.
            text: The answer as typed; without an answer, nothing is noted.
            line: The number of the line.
            column: The column of the answer, to name it in messages; its field if not given.

        Raises:
            ValueError: The text is not a valid answer, or the question is answered already: in
                another line, or differently in the store while `replace` is false.
        """
        answer = question.read(clean(text))
        if answer is None:
            return
        name, called = question.field, column or question.field
        key = (page.rater, page.task, name)
        if key in self._lines:
            raise ValueError(
                f"{page.rater} answers {called} twice, here and on line {self._lines[key]}: keep "
                "one of the two answers"
            )
        stored = self._store.answers(page.rater, page.task).get(name)
        if stored is not None and stored.value != answer and not self._replace:
            raise ValueError(
                f"{page.rater} has answered {called} already, with {stored.value!r}; --replace "
                "replaces it"
            )
        self._lines[key] = line
        page.values[name] = answer

    def filled(self) -> tuple[TypedPage, ...]:
        """Return the pages for which answers were typed."""
        return tuple(page for page in self._pages.values() if page.values)


def save_typed_pages(store: Store, pages: Sequence[TypedPage], typed_by: str) -> int:
    """Save typed pages, and return how many answers are new or changed.

    Args:
        store: The study's or the audit's.
        pages: The typed pages.
        typed_by: The name or role of who typed them.

    Raises:
        ReviewError: The work is closed, a link is switched off, somebody has answered the same
            since the file was read, or the store cannot be written: nothing is saved.
    """
    changes = [
        FormChange(each.rater, each.task, each.values, FormId.new(each.seen), each.place, typed_by)
        for each in pages
    ]
    return sum(len(saved.changed) for saved in store.save_all(changes, overwrite=False))
