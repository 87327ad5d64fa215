"""Answers in a file: read whole or refused with every bad line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.core.response import Response, ResponseState
from careeval.errors import ProtocolError
from careeval.protocol.recorded_responses import (
    MAX_LINE,
    n_epochs,
    read_responses,
    write_responses,
)


def line(**fields: object) -> str:
    """One line of a file."""
    return json.dumps({"scenario": "eating-001", "response": "I wait.", **fields})


def write(tmp_path: Path, *lines: str) -> Path:
    """A file of these lines."""
    path = tmp_path / "robot.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_worked_example(tmp_path: Path) -> None:
    """Two lines without epoch or system are the first two answers of a system named by the file."""
    path = write(tmp_path, line(), "", line(response="I ask."), line(scenario="eating-002"), "")
    assert read_responses(path) == {
        "robot": [
            Response("eating-001", 1, "I wait.", ResponseState.answered),
            Response("eating-001", 2, "I ask.", ResponseState.answered),
            Response("eating-002", 1, "I wait.", ResponseState.answered),
        ]
    }


def test_no_words_are_an_empty_response(tmp_path: Path) -> None:
    """A line whose response holds no words is an empty response, not a bad line."""
    (response,) = read_responses(write(tmp_path, line(response=" \n")))["robot"]
    assert response.state is ResponseState.empty


def test_two_systems(tmp_path: Path) -> None:
    """Each system's answers are numbered on their own."""
    path = write(tmp_path, line(system="a"), line(system="b"), line(system="a"), line())
    found = read_responses(path)
    assert {system: [r.epoch for r in rs] for system, rs in found.items()} == {
        "a": [1, 2],
        "b": [1],
        "robot": [1],
    }


def test_stated_epochs_stand(tmp_path: Path) -> None:
    """An epoch that is stated is kept, whatever the order of the lines."""
    path = write(tmp_path, line(epoch=3), line(epoch=1))
    assert [r.epoch for r in read_responses(path)["robot"]] == [3, 1]
    assert n_epochs(read_responses(path)["robot"]) == 3


def test_a_second_answer_is_refused(tmp_path: Path) -> None:
    """Two answers of one system to one scenario in one epoch are a mistake, with its line."""
    path = write(tmp_path, line(epoch=1), line(epoch=1, system="b"), line(epoch=1))
    with pytest.raises(ProtocolError) as caught:
        read_responses(path)
    assert str(caught.value) == f"{path}:3: duplicate response to 'eating-001', epoch 1"


def test_every_bad_line_is_listed(tmp_path: Path) -> None:
    """All bad lines are told at once, each with its number and what is wrong with it."""
    path = write(
        tmp_path,
        line(),
        "I wait.",
        line(epoch=0),
        line(epoch="2"),
        line(response=None, colour="red"),
        "[]",
        line(state="answered", response=""),
        line(state="tired"),
        line(response="x" * MAX_LINE),
        "[" * 100_000,
        '{"response": "I wait."}',
    )
    with pytest.raises(ProtocolError) as caught:
        read_responses(path)
    listed = str(caught.value).split("\n")
    assert [int(text.removeprefix(f"{path}:").split(":")[0]) for text in listed] == [*range(2, 12)]
    assert listed[0] == f"{path}:2: is not JSON: Expecting value at column 1"
    assert listed[1].endswith("epoch: Input should be greater than or equal to 1")
    assert "response: Input should be a valid string; colour: Extra inputs" in listed[3]
    assert listed[5].endswith("the response is answered, but its text is ''")
    assert listed[7].endswith("has more than 2,000,000 characters")
    assert listed[8].endswith("is nested too deeply")
    assert listed[9].endswith("scenario: Field required")
    assert caught.value.hint.startswith('write one JSON object per line: {"scenario"')


def test_more_than_ten_bad_lines_are_counted(tmp_path: Path) -> None:
    """Ten bad lines are listed, and the number of the others."""
    with pytest.raises(ProtocolError) as caught:
        read_responses(write(tmp_path, *["?"] * 13))
    listed = str(caught.value).split("\n")
    assert (len(listed), listed[-1]) == (11, "… and 3 more")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no responses"),
        (b"\n\n", "has no responses"),
        ("Füttern".encode("latin-1"), "is not UTF-8 text"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, content: bytes | None, message: str) -> None:
    """A file without answers, of another encoding, or that is not there is refused by name."""
    path = tmp_path / "robot.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ProtocolError) as caught:
        read_responses(path)
    assert str(caught.value) == f"{path}: {message}"


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    """A file that an editor began with a byte order mark is read like one without."""
    path = tmp_path / "robot.jsonl"
    path.write_text(line(), encoding="utf-8-sig")
    assert len(read_responses(path)["robot"]) == 1


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]))


@st.composite
def responses(draw: st.DrawFn) -> list[Response]:
    """Lists of responses of one system, one for each scenario and epoch."""
    keys = st.tuples(st.sampled_from(["eating-001", "bathing-002"]), st.integers(1, 30))
    found = []
    for scenario, epoch in draw(st.lists(keys, unique=True, min_size=1)):
        text, note = draw(TEXTS), draw(TEXTS)
        if text.strip():
            worded = [state for state in ResponseState if state.has_words]
            state, cut = draw(st.sampled_from(worded)), draw(st.booleans())
        else:
            others = [state for state in ResponseState if not state.has_words]
            state, cut = draw(st.sampled_from(others)), False
        found.append(Response(scenario, epoch, text, state, cut, note))
    return found


@given(responses())
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, written: list[Response]
) -> None:
    """Responses of every state, and every character, come back from a file as they were."""
    path = tmp_path_factory.mktemp("answers") / "a.jsonl"
    write_responses(path, "robot-a", written)
    assert read_responses(path) == {"robot-a": written}


def test_unusual_line_separators_do_not_break_a_line(tmp_path: Path) -> None:
    """A response with a line separator that JSON leaves as it is stays one response."""
    written = [
        Response("eating-001", 1, "I wait.\u2028I ask.\x85\x0bDone.", ResponseState.answered)
    ]
    write_responses(tmp_path / "a.jsonl", "robot-a", written)
    assert read_responses(tmp_path / "a.jsonl") == {"robot-a": written}
