"""The payload of the response reader: its contents, and unpacking without loss."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.core.scenario import Domain
from careeval.report.payload import Payload, payload
from careeval.report.texts import strip_controls
from careeval.results.entries import entries
from careeval.results.findings import PublicView
from careeval.results.tables import Runs

SECRET = "words of the held-out split"


def _read(packed: str) -> dict[str, Any]:
    """Unpack data as a browser does."""
    read: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed)))
    return read


def _of(runs: Runs) -> Payload:
    return payload(PublicView.of(runs), entries(runs))


def _judged(data: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return each judgment in the data, with indices resolved."""
    rows = []
    for response, grader, rubric, marks, _, reasons in data["gradings"]:
        scenario, system, epoch, *_ = data["responses"][response]
        for item, mark, reason in zip(data["rubrics"][rubric], marks, reasons, strict=True):
            points, text, _ = data["items"][item]
            rows.append((
                data["systems"][system], data["scenarios"][scenario][0], epoch,
                *data["graders"][grader], points, text, mark,
                data["texts"][reason],
            ))  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def read(runs: Runs) -> dict[str, Any]:
    """The data of both systems, packed and unpacked."""
    return _read(_of(runs).packed())


def test_every_public_judgment_is_in_it(both_rubrics: Runs) -> None:
    """Each first judgment of a public response is there once, with its points and its reason."""
    marks = {True: "1", False: "0", None: "?"}
    wanted = [
        (
            row["system"], row["scenario"], row["epoch"], f"{row['rubric']} by {row['grader']}",
            row["rubric"], row["rubric"], row["points"], row["item_text"],
            marks[row["present"]], strip_controls(row["reason"]),
        )
        for row in both_rubrics.judgments.to_dicts()
        if row["scenario"] != "bathing-009"
    ]  # fmt: skip
    assert sorted(_judged(_of(both_rubrics).data)) == sorted(wanted)


def test_repeated_values_are_stored_once(read: dict[str, Any]) -> None:
    """Seven scenarios asked 28 times have seven places, and one rubric of six items."""
    assert len(read["responses"]) == 28
    assert len(read["scenarios"]) == 7
    assert len(read["rubrics"]) == 1
    assert len(read["items"]) == 6
    assert len(set(read["texts"])) == len(read["texts"])


def test_a_quote_is_a_piece_of_the_response(read: dict[str, Any]) -> None:
    """A quote's two numbers cut the very words out of the response, closing mark included."""
    texts = set()
    for response, _, rubric, _, quotes, _ in read["gradings"]:
        text = read["texts"][read["responses"][response][5]]
        items = [read["items"][place][1] for place in read["rubrics"][rubric]]
        for at in range(0, len(quotes), 3):
            item, start, stop = quotes[at : at + 3]
            texts.add((items[item], text[start:stop]))
    assert texts == {
        ("The act stops.", "I stop the sleeve"),
        ("The act pulls-arm.", "pull her left arm through"),
    }


def _one(text: str, quote: str | None, **more: Any) -> Payload:
    """The data of one response with one judged item."""
    keys = {"system": "a", "scenario": "s-1", "epoch": 1}
    response = {
        **keys, "state": "answered", "text": text, "split": "public", "adl": "eating",
        "note": "", "cut": False, **more,
    }  # fmt: skip
    judged = {
        **keys, "grader": "g", "grading": 1, "protocol": "2-A", "rubric": "actions",
        "position": 0, "item": "i", "points": 2, "present": True, "quote": quote,
        "reason": "so", "item_text": "It.",
        **more,
    }  # fmt: skip
    return _of(Runs.of([response], [judged]))


def test_places_count_as_browsers_do() -> None:
    """A character beyond the first 65,536 counts as two, as in a browser."""
    data = _one("🙂🙂 I wait.", "i wait").data
    (_, start, stop) = data["gradings"][0][4]
    assert (start, stop) == (5, 12)
    assert "🙂🙂 I wait.".encode("utf-16-le")[2 * start : 2 * stop].decode("utf-16-le") == "I wait."


def test_a_quote_that_is_not_found_is_kept_as_words() -> None:
    """A quote that is not in the response stands with its own words and with no place."""
    data = _one("I wait.", "I run").data
    item, start, text = data["gradings"][0][4]
    assert (item, start, data["texts"][text]) == (0, -1, "I run")


@given(st.text(), st.none() | st.text())
def test_any_text_comes_back(text: str, quote: str | None) -> None:
    """Whatever a model wrote, what comes out of the package is what went in, less its controls."""
    made = _one(text or "x", quote)
    read = _read(made.packed())
    assert read == json.loads(json.dumps(made.data))
    assert strip_controls(text or "x") in read["texts"]


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "]]><!--", "\u2028\u2029"])
def test_no_text_is_markup(text: str) -> None:
    """Packed data have only base64 characters, so that they cannot end their element."""
    packed = _one(text, None).packed()
    assert packed.isascii()
    assert packed.replace("+", "").replace("/", "").rstrip("=").isalnum()


def test_a_megabyte_is_no_trouble() -> None:
    """A response of a million signs is whole in it, and its quote is found at the very end."""
    text = "wait " * 200_000 + "and stop"
    data = _one(text, "and stop").data
    assert text in data["texts"]
    assert data["gradings"][0][4] == [0, 1_000_000, 1_000_008]


def test_held_out_words_are_not_in_it(runs: Runs) -> None:
    """Of a held-out response neither text, id nor judgment is there; their number is."""
    made = _of(runs)
    text = json.dumps(made.data)
    assert SECRET not in text
    assert "bathing-009" not in text
    assert (made.n_shown, made.n_held_out, made.n_unknown) == (28, 4, 0)


def test_a_split_that_is_not_known_is_not_shown() -> None:
    """A response whose scenario never began is counted, and nothing else."""
    made = _one("I wait.", None, split=None)
    assert (made.n_shown, made.n_unknown) == (0, 1)
    assert made.data["responses"] == []
    assert made.data["gradings"] == []


def test_without_responses_no_word_is_left(runs: Runs) -> None:
    """Without responses the marks and the items stand, and not one word that anybody answered."""
    data = payload(PublicView.of(runs), entries(runs), responses=False).data
    assert data["texts"] == [""]
    assert len(data["gradings"]) == 28
    assert all(not quotes for *_, quotes, _ in data["gradings"])
    assert [text for _, text, _ in data["items"][:1]] == ["The act stops."]


def test_a_domain_is_of_the_items_that_bear_on_it(read: dict[str, Any]) -> None:
    """An act that serves safety and an error that treats it badly have its bit, and no other."""
    assert {(points, domains) for points, _, domains in read["items"]} == {
        (points, 1 << list(Domain).index(Domain.functional_safety)) for points in (2, -1, -2)
    }
    assert [_one("I wait.", None, points=points, functional_safety=level).data["items"][0][2]
            for points, level in ((2, 0), (-2, 2), (-2, 1), (1, 1))] == [0, 0, 8, 8]  # fmt: skip


def test_the_same_runs_are_the_same_bytes(runs: Runs) -> None:
    """Packed twice it is the same, and carries no time."""
    first, second = (_of(runs).packed() for _ in range(2))
    assert first == second
    assert base64.b64decode(first)[4:8] == b"\0\0\0\0"


def test_scenarios_of_one_name_and_other_words_are_two(runs: Runs) -> None:
    """If two runs have different texts for one id, each response keeps its own."""
    rows = runs.responses.to_dicts()
    place = next(n for n, row in enumerate(rows) if row["scenario"] == "eating-001")
    rows[place] |= {"scenario_text": "Other words."}
    data = _of(Runs.of(rows, runs.judgments.to_dicts())).data
    named = [scenario for scenario in data["scenarios"] if scenario[0] == "eating-001"]
    assert {data["texts"][scenario[6]] for scenario in named} == {
        "Other words.",
        rows[place + 1]["scenario_text"],
    }


# A sample, where all do not fit


def _severe(data: dict[str, Any]) -> set[int]:
    """The places of the responses with an item of −2 points present."""
    return {
        response
        for response, _, rubric, marks, *_ in data["gradings"]
        if any(
            mark == "1" and data["items"][item][0] == -2
            for item, mark in zip(data["rubrics"][rubric], marks, strict=True)
        )
    }


def test_a_sample_holds_severe_errors_first(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample leaves out responses without a severe error first, and counts them."""
    whole = _of(runs)
    monkeypatch.setattr("careeval.report.payload.MAX_RESPONSES", whole.n_severe + 3)
    made = _of(runs)

    assert made.n_shown == len(made.data["responses"]) == whole.n_severe + 3 < made.n_public
    assert made.n_public == whole.n_shown
    assert made.n_severe == len(_severe(whole.data)) > 0
    assert made.n_severe_shown == len(_severe(made.data)) == made.n_severe
    assert _of(runs).packed() == made.packed()
    fewest = payload(PublicView.of(runs), entries(runs), max_responses=2)
    assert len(_severe(fewest.data)) == fewest.n_severe_shown == fewest.n_shown == 2
