"""Tests of the files that describe a sweep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from careeval.errors import ProtocolError
from careeval.sweep.description import load_sweep, read_sweep, save_sweep
from support.sweep_files import IDS, write_sweep


def test_worked_example(tmp_path: Path, bank: Path) -> None:
    """Two systems, four scenarios in two slices: four cells that ask and four that grade."""
    two = '[[systems]]\nmodel = "x/a"\n[[systems]]\nmodel = "x/b"\nname = "B"\nslices = 1\n'
    sweep = read_sweep(write_sweep(tmp_path, bank, two))
    paths = [cell.path for cell in sweep.cells()]
    assert paths == [
        *("x-a/slice-01/ask", "x-a/slice-02/ask", "B/slice-01/ask"),
        *("x-a/slice-01/grade-1", "x-a/slice-02/grade-1", "B/slice-01/grade-1"),
    ]
    slices = [sweep.slice(cell) for cell in sweep.cells()[:3]]
    assert slices == [["bathing-001", "eating-001"], ["dressing-001", "grooming-001"], list(IDS)]
    asking = sweep.run(sweep.cell("x-a/slice-02/ask"))
    assert (asking.model, asking.grader, asking.epochs) == ("x/a", None, 2)
    assert asking.task["scenario"] == list(IDS)
    assert asking.task["part"] == slices[1]
    grading = sweep.run(sweep.cell("B/slice-01/grade-1"))
    assert (grading.system, grading.model, grading.grader) == ("B", None, "openai-api/fake/grader")


def test_a_bank_is_seen_from_the_file(
    tmp_path: Path, bank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the command is typed; one of careeval's own keeps its number on every node."""
    file = write_sweep(tmp_path, Path("bank"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert read_sweep(file).systems[0].run.task["bank"] == str(bank)
    assert read_sweep(write_sweep(tmp_path, Path("plans"))).systems[0].run.task["bank"] == "plans"


def test_there_are_no_more_slices_than_families(tmp_path: Path, bank: Path) -> None:
    """Four scenarios make four slices, whatever is asked for."""
    sweep = read_sweep(write_sweep(tmp_path, bank, slices=9))
    assert [len(sweep.slice(cell)) for cell in sweep.cells() if cell.asks] == [1, 1, 1, 1]


def test_twins_stay_with_their_base(tmp_path: Path) -> None:
    """A slice has a base with its twins, so that pairs are asked by one cell."""
    file = tmp_path / "sweep.toml"
    file.write_text(
        'slices = 5\n[scenarios]\nbank = "4"\ntwins = true\n[[systems]]\nmodel = "x/a"\n'
    )
    sweep = read_sweep(file)
    families = {scenario.partition("-twin")[0] for scenario in sweep.scenarios}
    of_slice = [sweep.slice(cell) for cell in sweep.cells() if cell.asks]
    assert len(sweep.scenarios) == 144
    for family in families:
        assert sum(any(s.startswith(family) for s in one) for one in of_slice) == 1


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ('[[systems]]\nmodle = "x/a"\n', r"systems\.1\.modle: Extra inputs"),
        ("[[systems]]\n", r"systems\.1\.model: Field required"),
        ('[[systems]]\nmodel = "x/a"\n[[systems]]\nmodel = "x/a"\n', "duplicate systems: x-a"),
        ('[[systems]]\nmodel = "x/a"\nserver = "serve"\n', r"has no \{port\}"),
        (
            '[[systems]]\nmodel = "x/a"\nserver = "s {port}"\nbase_url = "http://h"\n',
            "must not both be given",
        ),
        ('[[systems]]\nmodel = "x/a"\nslices = 0\n', r"systems\.1\.slices: .* greater than 0"),
        ('[[systems]]\nmodel = "x/a"\nserver = "s {port} {model}"\n', "has braces other than"),
        ('[[systems]]\nmodel = "x/a"\nserver = "s {port} {"\n', "has braces other than"),
        ("systems = [", "is not TOML"),
        (
            '[[systems]]\nmodel = "x/a"\n[[gradings]]\ngrader = "openai-api/fake/grader"\n',
            "duplicate gradings",
        ),
    ],
)
def test_mistakes_are_named_with_their_place(
    tmp_path: Path, bank: Path, systems: str, message: str
) -> None:
    """A file that cannot be used says what is wrong, and where."""
    with pytest.raises(ProtocolError, match=message):
        read_sweep(write_sweep(tmp_path, bank, systems))


def test_prompts_that_are_not_there(tmp_path: Path, bank: Path) -> None:
    """A folder without prompts is refused when the file is read, not in its first cell."""
    file = write_sweep(tmp_path, bank, '[[systems]]\nmodel = "x/a"\n')
    file.write_text(f'prompts = "none"\n{file.read_text("utf-8")}', "utf-8")
    with pytest.raises(ProtocolError, match=r"lacks ask-role\.md"):
        read_sweep(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is named, without a traceback."""
    with pytest.raises(ProtocolError, match=r"none\.toml: cannot be read: No such file"):
        read_sweep(tmp_path / "none.toml")


def test_what_is_kept_is_what_was_read(tmp_path: Path, bank: Path) -> None:
    """The folder gives the sweep back whole; one without says so."""
    sweep = read_sweep(write_sweep(tmp_path, bank, max_cost=2.5))
    save_sweep(tmp_path, sweep)
    assert load_sweep(tmp_path) == sweep
    with pytest.raises(ProtocolError, match="has no sweep"):
        load_sweep(tmp_path / "bank")


def test_systems_may_be_added_and_nothing_else(tmp_path: Path, bank: Path) -> None:
    """A system or a budget may come; what was asked may not become something else."""
    sweep = read_sweep(write_sweep(tmp_path, bank))
    save_sweep(tmp_path, sweep)
    two = '[[systems]]\nmodel = "openai-api/fake/a"\n[[systems]]\nmodel = "openai-api/fake/b"\n'
    more = read_sweep(write_sweep(tmp_path, bank, two, max_cost=3))
    save_sweep(tmp_path, more)
    assert load_sweep(tmp_path) == more
    with pytest.raises(ProtocolError, match=r"scenarios: 4 then, 2 now \(2 not in both\)"):
        save_sweep(tmp_path, replace(more, families=more.families[:2]))
    with pytest.raises(ProtocolError, match="systems: 2 then, 1 now"):
        save_sweep(tmp_path, sweep)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('"n_slices": 1', '"n_slices": "1"', "systems.0.n_slices"),
        ('"epochs": 2', '"epochs": 0', "systems.0.run.epochs"),
        ('"families": [[', '"families": [[[],', "families.0.0"),
        ('"gradings":', '"gradungs":', "gradings"),
    ],
)
def test_a_damaged_description(tmp_path: Path, bank: Path, old: str, new: str, place: str) -> None:
    """The message names the field."""
    save_sweep(tmp_path, read_sweep(write_sweep(tmp_path, bank, slices=1)))
    file = tmp_path / "sweep.json"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(ProtocolError, match=f"sweep.json is damaged: {place}:"):
        load_sweep(tmp_path)


@pytest.mark.parametrize(
    ("top", "grading", "changed"),
    [
        ({"samples": 3}, "", "samples: 2 then, 3 now"),
        ({"slices": 4}, "", "systems.1.slices: 2 then, 4 now"),
        ({"seed": 7}, "", "seed: 0 then, 7 now"),
        ({"max_tokens": 9}, "", "max_tokens: 8192 then, 9 now"),
        ({}, "per_item = true\n", "gradings.1.per_item: False then, True now"),
        (
            {},
            "model_args = {stream = false}\n",
            "gradings.1.model_args: not given then, {'stream': False} now",
        ),
    ],
)
def test_the_field_that_changed_is_named(
    tmp_path: Path, bank: Path, top: dict[str, int], grading: str, changed: str
) -> None:
    """With its value then and now, and no other field."""
    save_sweep(tmp_path, read_sweep(write_sweep(tmp_path, bank)))
    with pytest.raises(ProtocolError) as error:
        save_sweep(tmp_path, read_sweep(write_sweep(tmp_path, bank, "", grading, **top)))
    assert str(error.value).splitlines()[1:] == [f"  {changed}"]


def test_a_grading_has_its_own_server(tmp_path: Path, bank: Path) -> None:
    """Its address and arguments go to the grader alone; a key is refused, for files keep it."""
    lines = 'base_url = "http://127.0.0.1:9/v1"\nmodel_args = {stream = false}\n'
    sweep = read_sweep(write_sweep(tmp_path, bank, grading=lines))
    run = sweep.run(sweep.cell("openai-api-fake-a/slice-01/grade-1"))
    assert (run.base_url, run.model_args) == (None, {})
    assert run.grader_base_url == "http://127.0.0.1:9/v1"
    assert run.grader_args == {"stream": False}
    for refused in ('base_url = "http://me:word@h/v1"\n', 'model_args = {api_key = "word"}\n'):
        with pytest.raises(ProtocolError, match=r"password|a key") as error:
            read_sweep(write_sweep(tmp_path, bank, grading=refused))
        assert "word@" not in str(error.value)
