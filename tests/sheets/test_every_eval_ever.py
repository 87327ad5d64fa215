"""Every Eval Ever: what is written, held to the schemas that it publishes."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import polars as pl
import pytest

from careeval.core.scenario import Domain
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.findings import findings
from careeval.results.held_out_words import WITHHELD
from careeval.results.tables import Runs
from careeval.sheets.every_eval_ever import (
    IS_CORRECT,
    SCHEMA_VERSION,
    write_evaluation_log,
)
from results.authored import Marks, by_hand, judgments, responses

MARKS: Marks = {f"dressing-{n}": ["11000", "01000", f"1100{n % 2}"] for n in range(6)}
SECRET = "words of the held-out split"


def schema(name: str) -> dict[str, Any]:
    """One of the vendored schemas."""
    place = files("careeval.results").joinpath("schemas", "every_eval_ever", name)
    found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return found


RECORD = jsonschema.Draft7Validator(schema("eval.schema.json"))
SAMPLE = jsonschema.Draft7Validator(schema("instance_level_eval.schema.json"))


def runs_of(systems: list[str], marks: Marks = MARKS, **columns: Any) -> Runs:
    """Systems with the same marks."""
    levels = {scenario: {domain: [2, 2, 1, 1, 0] for domain in Domain} for scenario in marks}
    told = {"item_text": "Asks her.", "levels": levels}
    return Runs.together(
        Runs.of(
            responses(marks, system=name, created="2026-11-19T08:00:00+00:00", **columns),
            judgments(marks, system=name, **told),  # type: ignore[arg-type]
        )
        for name in systems
    )


def write(entry: Entry, folder: Path, prompt: str = "") -> list[Path]:
    """Write the files of an entry; both are what the schemas say."""
    paths = write_evaluation_log(entry, folder, "Lab", "other", prompt)
    record, samples = read(paths)
    RECORD.validate(record)
    for sample in samples:
        SAMPLE.validate(sample)
    return paths


def read(paths: list[Path]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The record and the samples in the files of an entry."""
    record, samples = (path.read_text(encoding="utf-8") for path in paths)
    return json.loads(record), [json.loads(line) for line in samples.split("\n") if line]


def of_entry(entry: Entry, prompt: str = "") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The record and the samples of an entry."""
    with TemporaryDirectory() as folder:
        return read(write(entry, Path(folder), prompt))


def of(runs: Runs) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The record and the samples of the only entry."""
    (entry,) = entries(runs)
    return of_entry(entry)


def by_name(record: dict[str, Any]) -> dict[str, Any]:
    """The results of a record by their names."""
    return {result["evaluation_name"]: result for result in record["evaluation_results"]}


def test_schemas_are_of_the_version_that_is_written() -> None:
    """Both vendored schemas say the version that each record and sample names."""
    versions = {
        schema(f"{name}.schema.json")["version"] for name in ("eval", "instance_level_eval")
    }
    assert versions == {SCHEMA_VERSION}


def test_a_record_knows_the_file_of_its_samples(tmp_path: Path) -> None:
    """Each entry has its own files, each time the same; the record has path, rows and checksum."""
    runs = runs_of(["a", "b"], model="openai/gpt", text="I ask.")
    written = [write(entry, tmp_path) for entry in entries(runs)]
    assert written == [write(entry, tmp_path) for entry in entries(runs)]
    assert len({path for paths in written for path in paths}) == 4
    for paths in written:
        record, rows = read(paths)
        kept = record["detailed_evaluation_results"]
        assert tmp_path / kept["file_path"] == paths[1]
        assert kept["checksum"] == hashlib.sha256(paths[1].read_bytes()).hexdigest()
        # a row for each response
        assert kept["total_rows"] == len(rows) == 6 * 3
        ids = {result["evaluation_result_id"] for result in record["evaluation_results"]}
        assert {row["evaluation_result_id"] for row in rows} <= ids


def test_record_by_hand() -> None:
    """The numbers of two scenarios stand there by name, with the least that they could be."""
    _, entry = entries(by_hand())
    found = by_name(of_entry(entry)[0])
    score = found["careeval.score"]
    assert score["score_details"]["score"] == 0.25
    assert score["metric_config"]["min_score"] == -1
    assert "confidence_interval" not in score["score_details"]["uncertainty"]
    assert score["score_details"]["details"]["reason"] == "fewer than five scenarios"
    assert found["careeval.worst_at_n"]["score_details"]["score"] == pytest.approx(-1 / 6)
    severe = found["careeval.severe"]
    assert severe["score_details"]["score"] == 0.25
    assert severe["metric_config"]["lower_is_better"] is True


def test_rates_are_over_what_could_have_the_error() -> None:
    """A share of responses counts those to scenarios whose rubric has such an item."""
    marks = {f"dressing-{k}": ["100", "missing" if k == 0 else "100"] for k in range(8)}
    points = {name: [2, 1, -2 if k < 2 else 0] for k, name in enumerate(marks)}
    rows = judgments(marks, points, rubric="actions")
    record, _ = of(Runs.of(responses(marks), rows))
    n = {
        name: result["score_details"]["uncertainty"]["num_samples"]
        for name, result in by_name(record).items()
    }
    assert (n["careeval.severe"], n["careeval.score"]) == (3, 8)


def test_intervals_are_the_summary_s() -> None:
    """A known interval is given with its level and how it was made."""
    (entry,) = entries(runs_of(["a"]))
    results = by_name(of_entry(entry)[0])
    assert list(results)[:2] == ["careeval.severe", "careeval.score"]
    for name, estimate in (("severe", entry.severe.share), ("score", entry.score)):
        uncertainty = results[f"careeval.{name}"]["score_details"]["uncertainty"]
        interval = uncertainty["confidence_interval"]
        assert estimate.ci95 == (interval["lower"], interval["upper"])
        assert interval["confidence_level"] == 0.95
        assert interval["method"].startswith("clustered by scenario: Korn and Graubard's")


def test_what_is_unknown_is_left_out_with_its_reason() -> None:
    """A number that is not known is no result, least of all a 0, and the record says why."""
    runs = Runs.of(responses({"eating-1": ["11000", "missing"]}),
                   judgments({"eating-1": ["11000", "missing"]}))  # fmt: skip
    record, samples = of(runs)
    assert "careeval.score" in by_name(record)
    assert "careeval.worst_at_n" not in by_name(record)
    left_out = json.loads(record["source_metadata"]["additional_details"]["left_out"])
    assert left_out["careeval.worst_at_n"] == "1 of 2 responses are missing or not graded"
    assert [sample["metadata"]["epoch"] for sample in samples] == ["1"]


@pytest.mark.parametrize(
    ("mark", "correct"),
    [
        ("11000", True),
        ("11100", True),  # an item of 0 points is neither
        ("01000", False),
        ("11010", False),
        ("1?000", None),
        ("0?000", False),
        ("11?00", True),
        ("1100?", None),
        ("empty", False),
    ],
)
def test_is_correct(mark: str, correct: bool | None) -> None:
    """All positive items and no negative one; where that is open, there is no row, and a count."""
    # another response, so that something tells of what is unresolved
    marks = {"eating-1": [mark, "01000"]}
    record, samples = of(Runs.of(responses(marks), judgments(marks)))
    assert [sample["evaluation"]["is_correct"] for sample in samples] == (
        [False] if correct is None else [correct, False]
    )
    about = record["detailed_evaluation_results"]["additional_details"]
    assert about["is_correct"] == IS_CORRECT
    assert about["left_out"] == f"{int(correct is None)} responses without a known score"


def test_sample_of_an_unresolved_item_has_its_bounds() -> None:
    """A response that is wrong either way has its filled score, with its bounds beside it.

    Its +1 is present in one of the two others.
    """
    marks = {"eating-1": ["0?000", "11000", "10000"]}
    _, (sample, *_) = of(Runs.of(responses(marks), judgments(marks)))
    assert sample["evaluation"]["score"] == pytest.approx(1 / 6)
    assert float(sample["metadata"]["score_low"]) == 0
    assert float(sample["metadata"]["score_high"]) == pytest.approx(1 / 3)


def test_sample_that_nothing_tells_of() -> None:
    """A response whose unresolved item nothing tells of is no row, and is counted."""
    marks = {"eating-1": ["0?000"]}
    record, samples = of(Runs.of(responses(marks), judgments(marks)))
    about = record["detailed_evaluation_results"]["additional_details"]
    assert samples == []
    assert about["left_out"] == "1 responses without a known score"


def test_held_out_texts_stay_out(tmp_path: Path) -> None:
    """A held-out scenario has numbers but no texts, even if the tables have them."""
    secret = runs_of(["a"], split="held-out", text=SECRET, scenario_text=SECRET)
    told = Runs(
        secret.responses,
        secret.judgments.with_columns(pl.lit(SECRET).alias("item_text"), quote=pl.lit(SECRET)),
    )
    (entry,) = findings(told).entries
    written = write(entry, tmp_path)
    assert SECRET not in "".join(path.read_text(encoding="utf-8") for path in written)
    sample = read(written)[1][0]
    assert (sample["output"]["raw"], sample["input"]["reference"]) == ([WITHHELD], [])


def test_sample_has_what_was_asked_and_said() -> None:
    """A public response is there whole, as data, with the texts of the items that earn points."""
    hostile = "{{ 7 * 7 }} <script>\x1b[31m"
    _, (sample, *_) = of(runs_of(["a"], text=hostile, scenario_text="What do you do?"))
    assert sample["output"] == {"raw": [hostile]}
    assert sample["input"] == {"raw": "What do you do?", "reference": ["Asks her."] * 2}


def test_grader_is_a_judge_with_its_prompt() -> None:
    """The judge is named, its prompt is given where it is known; lexical grades have no judge."""
    judge = "openai/judge (batched, prompt 1234)"
    marks = {"eating-1": ["11000"]}
    lexical = "careeval/lexical (batched, prompt 1234)"
    rows = judgments(marks, grader=judge) + judgments(marks, grader=lexical)
    of_lexical, of_judge = entries(Runs.of(responses(marks), rows))
    record, _ = of_entry(of_judge, "Is it there?")
    scoring = record["evaluation_results"][0]["metric_config"]["llm_scoring"]
    assert scoring["judges"][0]["model_info"]["id"] == "openai/judge"
    assert scoring["input_prompt"] == "Is it there?"
    record, _ = of_entry(of_lexical)
    assert "llm_scoring" not in record["evaluation_results"][0]["metric_config"]
    assert "lexical" in record["source_metadata"]["additional_details"]["not_ranked"]


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("openai/gpt", {"id": "openai/gpt", "developer": "openai"}),
        ("together/meta-llama/L", {"id": "meta-llama/L", "inference_platform": "together"}),
        (None, {"id": "unknown/robot-a", "name": "robot-a"}),
    ],
)
def test_model_is_named_as_the_form_asks(asked: str | None, known: dict[str, str]) -> None:
    """Maker and model are the id, the host stands apart, and recorded answers have no maker."""
    marks = {"eating-1": ["11000"]}
    record, _ = of(Runs.of(responses(marks, model=asked), judgments(marks)))
    assert known.items() <= record["model_info"].items()


def test_name_of_a_system_is_no_path(tmp_path: Path) -> None:
    """Whatever a system is called, its files lie below the folder."""
    marks = {"eating-1": ["11000"]}
    name = "../../etc/pass wd"
    runs = Runs.of(responses(marks, system=name), judgments(marks, system=name))
    (entry,) = entries(runs)
    written = write(entry, tmp_path)
    assert all(path.resolve().is_relative_to(tmp_path.resolve()) for path in written)
