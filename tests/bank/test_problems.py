"""Problems: how they read, and in what order."""

from __future__ import annotations

from careeval.bank.problems import BankProblems, FilePlace, Problem
from careeval.errors import BankError


def test_worked_example() -> None:
    """Problems read as `file:line:col CODE what`, then a hint, then their count."""
    error = BankProblems(
        [
            Problem(FilePlace("b.yaml", 12, 3), "CE102", "age: is not there"),
            Problem(FilePlace("a.yaml", 7, 1), "CE101", "is not valid YAML", "indent with spaces"),
        ]
    )

    assert str(error) == (
        "a.yaml:7:1  CE101 is not valid YAML\n"
        "  hint: indent with spaces\n"
        "b.yaml:12:3  CE102 age: is not there\n"
        "2 problems in 2 files."
    )


def test_one_of_each() -> None:
    """A single problem is counted in the singular."""
    error = BankProblems([Problem(FilePlace("a.yaml"), "CE101", "is too long")])

    assert str(error).endswith("\n1 problem in 1 file.")


def test_lines_are_ordered_as_numbers() -> None:
    """Line 9 comes before line 10."""
    late, early = (Problem(FilePlace("a.yaml", n), "CE102", "x") for n in (10, 9))

    assert BankProblems([late, early]).problems == (early, late)


def test_is_the_users_to_mend() -> None:
    """Problems of a bank are an error that the command line prints without a traceback."""
    assert issubclass(BankProblems, BankError)
