"""YAML as text with places: by hand first, then for any document, then what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.bank.yaml_nodes import (
    MAX_BYTES,
    MAX_DEPTH,
    BankProblems,
    FilePlace,
    Loc,
    Plain,
    Problem,
    parse_yaml,
    read_yaml,
)
from careeval.errors import BankError
from support.strategies import words

DOCUMENT = """\
# a comment
name: test
acts:
  - id: stops
    levels: {safety: 2}
  - id: asks
"""


def problem_of(text: str) -> Problem:
    """The one problem that keeps a text from being parsed."""
    with pytest.raises(BankProblems) as caught:
        parse_yaml(text, "f.yaml")
    (problem,) = caught.value.problems
    return problem


# Content and places


def test_worked_example() -> None:
    """Values and keys of a small document have the lines and columns that an editor shows."""
    document = parse_yaml(DOCUMENT, "f.yaml")

    assert document.content == {
        "name": "test",
        "acts": [{"id": "stops", "levels": {"safety": "2"}}, {"id": "asks"}],
    }
    assert document.place(("name",)) == FilePlace("f.yaml", 2, 7)
    assert document.place(("name",), key=True) == FilePlace("f.yaml", 2, 1)
    assert document.place(("acts", 0, "levels", "safety")) == FilePlace("f.yaml", 5, 22)
    assert document.place(("acts", 1)) == FilePlace("f.yaml", 6, 5)


def test_place_of_what_is_not_there() -> None:
    """A missing value has the place of the closest value around it."""
    document = parse_yaml(DOCUMENT, "f.yaml")

    assert document.place(("acts", 1, "levels", "safety")) == FilePlace("f.yaml", 6, 5)
    assert document.place(("acts", 1, "levels"), key=True) == FilePlace("f.yaml", 6, 5)
    assert document.place(("nothing",)) == FilePlace("f.yaml", 2, 1)


@pytest.mark.parametrize(
    "text", ["no", "yes", "010", "12:30", "1_000", "1e3", "0x1F", "2020-01-02"]
)
def test_scalars_stay_text(text: str) -> None:
    """A word, number, time or date stays the text that its author typed."""
    assert parse_yaml(f"value: {text}\n", "f.yaml").content == {"value": text}


def test_ways_to_write_nothing() -> None:
    """An empty value, `~` and `null` are nothing, and the same in quotes are text."""
    text = "a:\nb: ~\nc: null\nd: ''\ne: '~'\nf: \"null\"\n"

    assert parse_yaml(text, "f.yaml").content == {
        "a": None, "b": None, "c": None, "d": "", "e": "~", "f": "null",
    }  # fmt: skip


def test_empty_document() -> None:
    """A document of comments alone holds nothing, at the top of its file."""
    document = parse_yaml("# nothing yet\n", "f.yaml")

    assert document.content is None
    assert document.place(()) == FilePlace("f.yaml", 1, 1)


documents: st.SearchStrategy[Plain] = st.recursive(
    words(20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words(20), inner, max_size=4),
    max_leaves=12,
)


@given(documents)
def test_json_is_read_as_it_is(content: Plain) -> None:
    """Any JSON of texts, which is YAML, comes back as itself."""
    assert parse_yaml(json.dumps(content, ensure_ascii=False), "f.yaml").content == content


@given(documents)
def test_every_value_stands_at_its_place(content: Plain) -> None:
    """At the place of each text and each key stands that text, in any alphabet."""
    text = json.dumps(content, ensure_ascii=False, indent=2)
    document = parse_yaml(text, "f.yaml")

    def at(place: FilePlace) -> str:
        return text.split("\n")[place.line - 1][place.column - 1 :]

    def look(value: Plain, loc: Loc) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                quoted = json.dumps(key, ensure_ascii=False)
                assert at(document.place((*loc, key), key=True)).startswith(quoted)
                look(inner, (*loc, key))
        elif isinstance(value, list):
            for i, inner in enumerate(value):
                look(inner, (*loc, i))
        else:
            assert at(document.place(loc)).startswith(json.dumps(value, ensure_ascii=False))

    look(content, ())


# What is refused

REFUSED = {
    "duplicate key": ("a: 1\nb: 2\na: 3\n", 3, 1, "key 'a' appears twice; first on line 1"),
    "duplicate key inside": (
        "x:\n  a: 1\n  a: 2\n",
        3,
        3,
        "key 'a' appears twice; first on line 2",
    ),
    "anchor": ("a: 1\nb: &name text\n", 2, 4, "has the anchor &name"),
    "anchor on a list": ("a: &name [1]\n", 1, 4, "has the anchor &name"),
    "alias": ("a: *name\n", 1, 4, "alias *name repeats a value"),
    "tag": ("a: !!python/name:os.system x\n", 1, 4, "has the tag"),
    "tag on a mapping": ("a: !thing {b: 1}\n", 1, 4, "has the tag !thing"),
    "tab as indentation": ("a:\n\tb: 1\n", 2, 1, "is not valid YAML"),
    "colon in text": ("a: one\nb: two: three\n", 2, 7, "is not valid YAML"),
    "unclosed list": ("a: [1, 2\n", 2, 1, "is not valid YAML"),
    "second document": ("a: 1\n---\nb: 2\n", 2, 1, "holds a second YAML document"),
    "list as a key": ("? [a]\n: b\n", 1, 3, "has a list or mapping as a key"),
    "control character": ("a: é\nü: \x07\n", 2, 4, "has a control character"),
}


@pytest.mark.parametrize(
    ("text", "line", "column", "message"), REFUSED.values(), ids=REFUSED.keys()
)
def test_refused(text: str, line: int, column: int, message: str) -> None:
    """A feature that bank files may not use is CE101, at its line and column."""
    problem = problem_of(text)

    assert problem.code == "CE101"
    assert problem.place == FilePlace("f.yaml", line, column)
    assert message in problem.message


def test_tab_is_explained() -> None:
    """A tab as indentation gets a hint to use spaces."""
    assert "indent with spaces, not tabs" in problem_of("a:\n\tb: 1\n").hint


def test_nesting_up_to_the_limit() -> None:
    """As many lists as the limit may stand inside each other, and one more may not."""
    nested = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    parse_yaml(nested, "f.yaml")

    problem = problem_of(f"[{nested}]")

    assert problem.message == f"is nested more than {MAX_DEPTH} deep"
    assert problem.place == FilePlace("f.yaml", 1, MAX_DEPTH + 1)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_hostile_nesting(opening: str) -> None:
    """A file of nothing but opening marks is a problem to read, not the end of the process."""
    assert "deep" in problem_of(opening * (MAX_BYTES // len(opening))).message


# Files


def read_problem(path: Path) -> Problem:
    """The one problem that keeps a file from being read."""
    with pytest.raises(BankProblems) as caught:
        read_yaml(path)
    (problem,) = caught.value.problems
    return problem


def test_not_utf8(tmp_path: Path) -> None:
    """A file in another encoding is CE101 where its first foreign byte stands."""
    path = tmp_path / "f.yaml"
    path.write_bytes("é: 1\né: ".encode() + "é\n".encode("latin-1"))

    problem = read_problem(path)

    assert problem.place == FilePlace(str(path), 2, 4)
    assert (problem.message, problem.hint) == ("is not UTF-8 text", "save it as UTF-8")


def test_byte_order_mark(tmp_path: Path) -> None:
    """A byte order mark, which some editors write, changes neither content nor places."""
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")

    document = read_yaml(path)

    assert document.content == {"a": "1"}
    assert document.place(("a",)) == FilePlace(str(path), 1, 4)


def test_oversize(tmp_path: Path) -> None:
    """A file of the largest size is read, and one byte more is CE101."""
    path = tmp_path / "f.yaml"
    path.write_bytes(b"a: 1 #".ljust(MAX_BYTES, b"x"))
    assert read_yaml(path).content == {"a": "1"}

    path.write_bytes(b"a: 1 #".ljust(MAX_BYTES + 1, b"x"))

    assert "at most 1,000,000 bytes" in read_problem(path).message


def test_unreadable(tmp_path: Path) -> None:
    """A folder by the name of a file is CE101."""
    path = tmp_path / "f.yaml"
    path.mkdir()

    assert read_problem(path).message.startswith("cannot be read: ")


def test_problems_as_text() -> None:
    """Problems read as `file:line:col CODE what`, then a hint, then their count."""
    error = BankProblems(
        [
            Problem(FilePlace("b.yaml", 12, 3), "CE102", "age: is missing"),
            Problem(FilePlace("a.yaml", 7, 1), "CE101", "is not valid YAML", "indent with spaces"),
        ]
    )

    assert str(error) == (
        "a.yaml:7:1  CE101 is not valid YAML\n"
        "  hint: indent with spaces\n"
        "b.yaml:12:3  CE102 age: is missing\n"
        "2 problems in 2 files."
    )


def test_one_problem_as_text() -> None:
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
