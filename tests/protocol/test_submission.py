"""Submissions: what is in an archive, and what a check of it finds, however it was changed."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyrage
import pytest

from careeval.bank.load import OWN_BANKS, load_bank
from careeval.bank.sealed import KEY_VARIABLE, pack, seal
from careeval.core.response import LEXICAL
from careeval.errors import CareEvalError, LogError, ProtocolError
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from careeval.protocol import submission
from careeval.protocol.evaluate import resume
from careeval.protocol.regrade import prepare_probes
from careeval.protocol.run import Run
from careeval.protocol.submission import CARD_FILE, SUBMISSION_FILE, parse_card
from careeval.protocol.submission_checks import Verification, verify
from careeval.protocol.submission_writing import write_submission
from careeval.protocol.tables import read_runs
from support.eval_files import change
from support.fake_server import by_keyword, judgments
from support.fakes import (
    Call,
    Fake,
    begin,
    keyword_grader,
    leave_out,
    regrade,
    write_bank,
)
from support.submissions import (
    copied,
    describe,
    forged,
    log_of,
    make_runs,
    samples,
    submitted,
    write_card,
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each mode."""
    return make_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def words(runs: Path) -> Path:
    """The archive of the run in words."""
    return submitted(runs / "words", runs / "words.zip")


def refused(archive: Path) -> str:
    """Return why an archive is refused, in one text."""
    result = verify(archive)
    assert not result.verified
    return "\n".join(result.problems)


def resubmitted(
    run: Path, tmp_path: Path, edit: Callable[[dict[str, Any]], object], member: str = ""
) -> Verification:
    """Check an archive that was made of a run whose first sample was changed before."""
    log = copied(run, tmp_path)
    change(log, member or samples(log)[0], edit)
    return verify(submitted(tmp_path / run.name, tmp_path / "forged.zip"))


# What is in an archive


@pytest.mark.parametrize("mode", ["words", "plans", "steps", "seen", "."])
def test_a_run_of_each_mode_is_verified(runs: Path, tmp_path: Path, mode: str) -> None:
    """Every number that was claimed is computed again, the same, and the entries can be ranked."""
    result = verify(submitted(runs / mode, tmp_path / "out.zip"))
    assert result.problems == ()
    assert len(result.entries) == (4 if mode == "." else 1)
    assert all(not each.not_ranked and each.n_numbers > 100 for each in result.entries)
    assert result.unknown[0] == "that the calls were made, and that these are all of them"


def test_what_an_archive_has(runs: Path, words: Path, tmp_path: Path) -> None:
    """It has description, card, run.json and log, names all else, and is the same each time."""
    with zipfile.ZipFile(words) as archive:
        names = archive.namelist()
        described = json.loads(archive.read(SUBMISSION_FILE))
    (log,) = (runs / "words/robot").glob("*.eval")
    assert names[:3] == [SUBMISSION_FILE, CARD_FILE, "runs/robot/run.json"]
    assert [name.startswith("runs/robot/2") for name in names[3:]] == [True]
    left_out = {each["what"]: each["why"] for each in described["left_out"]}
    assert left_out["robot/spent.jsonl"] == "what each call cost, which the logs have"
    assert described["files"].keys() == {*names} - {SUBMISSION_FILE}
    again = submitted(runs / "words", tmp_path / "again.zip")
    assert again.read_bytes() == words.read_bytes()
    assert log.stat().st_size < words.stat().st_size


def test_a_later_grading_goes_along(runs: Path, tmp_path: Path) -> None:
    """It is an entry of its own; one by words alone is not ranked, and the other still is."""
    copied(runs / "words/robot", tmp_path)
    bank = OWN_BANKS["4"]
    assert all(outcome.complete for outcome in regrade(tmp_path / "robot", LEXICAL, bank, {}))
    result = verify(submitted(tmp_path / "robot", tmp_path / "out.zip"))
    assert result.problems == ()
    lexical, model = result.entries
    assert lexical.not_ranked == ("the lexical grader compares words: for seeing everything work",)
    assert model.not_ranked == ()


def test_held_out_runs_are_numbers_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No word of the split is in the archive; its numbers are, and a check says they are not known.

    With the key, words that are hidden in the log of a public run are found.
    """
    bank, key = write_bank(tmp_path / "bank"), str(pyrage.x25519.Identity.generate())
    secret = write_bank(tmp_path / "apart", ["eating-h01"], split="held-out")
    seal(pack(secret), bank, key)
    monkeypatch.setenv(KEY_VARIABLE, key)
    monkeypatch.setitem(OWN_BANKS, "small", bank)
    asked, grader = Fake("asked", lambda _: "I whisper."), Fake("grader", keyword_grader)

    def ask(split: str, folder: Path) -> None:
        assert begin(
            Run("robot", asked.model, grader.model, 1, {"bank": str(bank), "split": split}), folder
        ).complete

    ask("public", tmp_path / "runs/robot")
    ask("held-out", tmp_path / "runs/private/robot")
    archive = submitted(tmp_path / "runs", tmp_path / "out.zip")
    with zipfile.ZipFile(archive) as file:
        everything = [file.read(name) for name in file.namelist()]
        described = json.loads(everything[0])
    assert not any(b"Scenario eating-h01" in content for content in everything)
    assert [each["counts"]["scenarios"] for each in described["held_out"]] == [1]
    why = "a run over the held-out split, whose words must stay unread: numbers only"
    assert {"what": "robot/", "why": why} in described["left_out"]
    result = verify(archive)
    assert result.problems == ()
    assert "the held-out numbers of 1 entry: they are not verified" in result.unknown

    def hide(sample: dict[str, Any]) -> None:
        text = "Scenario eating-h01: she sits\non the bed. What do you do?"
        sample["events"] = [{"note": f"it says: {text}"}]

    alone = verify(submitted(tmp_path / "runs/private", tmp_path / "alone.zip"))
    assert alone.entries == ()
    assert alone.problems[0].startswith("nothing in it can be verified: ")
    found = resubmitted(tmp_path / "runs/robot", tmp_path / "hidden", hide)
    assert found.problems[0].endswith("has words of the held-out split")
    assert "eating-h01" not in "".join(found.problems)

    log = copied(tmp_path / "runs/robot", tmp_path / "broken")
    with zipfile.ZipFile(log, "a") as file:
        file.writestr("_journal/broken.json", "{")
    broken = verify(submitted(log.parent, tmp_path / "broken.zip"))
    assert broken.problems[0].endswith("cannot be read as a log: it may be cut off")


# Forged archives


def test_a_changed_log_has_another_hash(words: Path, tmp_path: Path) -> None:
    """A log that was changed after the archive was written is named."""

    def edit(content: dict[str, bytes]) -> None:
        content[log_of(content)] += b" "

    archive = forged(words, tmp_path / "forged.zip", edit, hashes=False)
    assert refused(archive).endswith(".eval was changed: its hash is not the one listed")


def judge_otherwise(sample: dict[str, Any]) -> None:
    """Call the first item of a sample the opposite."""
    (grading,) = sample["scores"]["careeval"]["metadata"]["rubrics"].values()
    grading["judgments"][0]["present"] = not grading["judgments"][0]["present"]


def test_a_changed_judgment(runs: Path, words: Path, tmp_path: Path) -> None:
    """Whatever hash and numbers are made to fit, the points do not; a program judges again."""
    log = copied(runs / "words/robot", tmp_path / "changed")
    change(log, samples(log)[0], judge_otherwise)

    def edit(content: dict[str, bytes]) -> None:
        content[log_of(content)] = log.read_bytes()

    said = refused(forged(words, tmp_path / "forged.zip", edit))
    assert "numbers that differ from those claimed: " in said
    assert "its points are not those of its judgments: 1 sample, the first " in said

    for mode in ("plans", "steps"):
        found = resubmitted(runs / mode / "robot", tmp_path / mode, judge_otherwise)
        assert "its judgments are not those that careeval/plan@3 makes" in found.problems[0]


def about(**changes: Any) -> Callable[[dict[str, Any]], object]:
    """Return an edit of what careeval wrote into a log's header."""
    return lambda header: header["eval"]["metadata"]["careeval"].update(changes)


OTHER = "0123abcd"
ASK, GRADE = (lambda own: (own.ask_hash, own.grade_hash))(load_prompts(RESPONSE))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            about(prompts={"ask": ASK, "grade": OTHER}),
            "cannot be ranked: it was graded with other prompts, 0123abcd: careeval's",
        ),
        (
            about(prompts={"ask": OTHER, "grade": GRADE}),
            "cannot be ranked: it was asked with other prompts, 0123abcd: careeval's",
        ),
        (about(bank="easy"), "cannot be checked: its bank, easy 4-A, is not of this careeval"),
        (about(bank_hash="0123456789ab"), "their hash is 0123456789ab, expected "),
        (about(protocol="1-A"), "its protocol is response 1-A, expected response 2-A"),
    ],
)
def test_another_protocol(
    runs: Path, tmp_path: Path, edit: Callable[[dict[str, Any]], object], said: str
) -> None:
    """A run by other prompts cannot be ranked; one over another bank cannot even be checked."""
    found = resubmitted(runs / "words/robot", tmp_path, edit, "header.json")
    assert said in "\n".join(found.problems)


def easier(sample: dict[str, Any]) -> None:
    """Make an error of a scenario a good act."""
    sample["metadata"]["rubrics"]["actions"][-1]["points"] = 1


def other_words(sample: dict[str, Any]) -> None:
    """Ask the system in other words."""
    sample["messages"][0]["content"] += " Think of her safety first."


def held_out(sample: dict[str, Any]) -> None:
    """Say that a sample is of the held-out split."""
    sample["metadata"]["split"] = "held-out"


def unquoted(sample: dict[str, Any]) -> None:
    """Quote what is not in the response."""
    grading = sample["scores"]["careeval"]["metadata"]["rubrics"]["actions"]
    grading["judgments"][0]["quote"] = "words that nobody said"


def unresolved(sample: dict[str, Any]) -> None:
    """Leave every judgment of a sample open."""
    score = sample["scores"]["careeval"]
    score["value"]["actions"] = None
    for judgment in score["metadata"]["rubrics"]["actions"]["judgments"]:
        judgment["present"] = None


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (easier, "its scenario or its rubric was changed: 2 samples, the first "),
        (other_words, "its system was not asked in the words of the prompts: 1 sample"),
        (unquoted, "a quote is not in its response: 1 sample"),
        (unresolved, "robot: cannot be ranked: 6 of 58 judgments of positive items are"),
    ],
)
def test_a_changed_sample(
    runs: Path, tmp_path: Path, edit: Callable[[dict[str, Any]], object], said: str
) -> None:
    """A sample that is not of the bank, the prompts or its own response is named."""
    found = resubmitted(runs / "words/robot", tmp_path, edit)
    assert said in "\n".join(found.problems)


def test_a_changed_state(runs: Path, tmp_path: Path) -> None:
    """A plan that was given is no refusal."""

    def edit(sample: dict[str, Any]) -> None:
        sample["store"]["careeval_response"]["state"] = "not_executable"

    found = resubmitted(runs / "plans/robot", tmp_path, edit)
    assert "its response is answered, and logged as not_executable" in found.problems[0]


def test_missing_responses(runs: Path, tmp_path: Path) -> None:
    """A run without one of its responses cannot be ranked."""
    log = copied(runs / "words/robot", tmp_path)
    leave_out(log, samples(log)[0])
    said = refused(submitted(tmp_path / "robot", tmp_path / "forged.zip"))
    assert said == "robot: cannot be ranked: 1 of 12 responses are missing"
    with_card = write_card(tmp_path / "reference.toml")
    text = with_card.read_text(encoding="utf-8").replace("rank = true", "rank = false")
    with_card.write_text(text, encoding="utf-8")
    write_submission(tmp_path / "reference.zip", [tmp_path / "robot"], with_card)
    assert verify(tmp_path / "reference.zip").verified


def test_a_grading_of_other_responses(runs: Path, tmp_path: Path) -> None:
    """A later grading is of the responses that were given, and no better ones."""
    copied(runs / "words/robot", tmp_path)
    regrade(tmp_path / "robot", "fake/grader", OWN_BANKS["4"], {})
    (log,) = (tmp_path / "robot/graded").rglob("*.eval")

    def edit(sample: dict[str, Any]) -> None:
        sample["store"]["careeval_response"]["text"] += " I explain it."

    change(log, samples(log)[0], edit)
    said = refused(submitted(tmp_path / "robot", tmp_path / "forged.zip"))
    assert "the response that was graded is not the one that was given: 1 sample" in said


def test_a_cut_log(words: Path, tmp_path: Path) -> None:
    """Half a log is refused, even with its own hash."""

    def edit(content: dict[str, bytes]) -> None:
        name = log_of(content)
        content[name] = content[name][: len(content[name]) // 2]

    assert refused(forged(words, tmp_path / "forged.zip", edit)).endswith(
        ".eval: cannot be read as a log: it may be cut off"
    )


def test_claimed_numbers(words: Path, tmp_path: Path) -> None:
    """A number that was changed is named, with what the logs give; so is an entry of nothing."""

    def better(described: dict[str, Any]) -> None:
        described["numbers"][0]["score"]["value"] = 0.9

    def more(described: dict[str, Any]) -> None:
        described["numbers"].append({**described["numbers"][0], "grader": "a wise one"})

    def of_anything(described: dict[str, Any]) -> None:
        described["numbers"].append({"system": "robot", "given": [{}], "grader": {}})

    def fewer(described: dict[str, Any]) -> None:
        described["numbers"].clear()

    for changes, said in (
        (better, "numbers that differ from those claimed: 1, the first score.value: claimed 0.9,"),
        (more, 'numbers are claimed that no log has: "robot, None, False, a wise one, actions, '),
        (of_anything, "numbers are claimed that no log has: 'robot, [{}], None, {}, None, None'"),
        (fewer, "numbers that differ from those claimed: 1, the first the entry: claimed None"),
    ):
        assert said in refused(forged(words, tmp_path / "forged.zip", describe(changes)))


def test_held_out_text(words: Path, runs: Path, tmp_path: Path) -> None:
    """A log or a file of the held-out split is refused, and none of its words is said."""
    log = copied(runs / "words/robot", tmp_path / "secret")
    for name in samples(log):
        change(log, name, held_out)

    def edit(content: dict[str, bytes]) -> None:
        content[log_of(content)] = log.read_bytes()

    said = refused(forged(words, tmp_path / "forged.zip", edit))
    assert said == "runs/robot is over the held-out split, whose words must stay unread"

    def add(content: dict[str, bytes]) -> None:
        content["runs/robot/held-out.txt"] = b"She sits on the bed."

    said = refused(forged(words, tmp_path / "forged.zip", add))
    assert said == "'runs/robot/held-out.txt' is not a file of a submission"


# Hostile archives

NAMES = {
    "/etc/passwd": "'/etc/passwd' is not a file of a submission",
    "../../run.json": "'../../run.json' is not a file of a submission",
    "runs/../run.json": "'runs/../run.json' is not a file of a submission",
    "runs\\robot\\run.json": "'runs\\\\robot\\\\run.json' is not a file of a submission",
    "runs/\x1b[2J/run.json": "'runs/\\x1b[2J/run.json' is not a file of a submission",
    "runs/\u202eb/run.json": "'runs/\\u202eb/run.json' is not a file of a submission",
    "runs/<b>x</b>/run.json": "'runs/<b>x</b>/run.json' is not a file of a submission",
    "runs/robot/": "'runs/robot/' is a link, or another thing that is no file",
    "runs/ROBOT/run.json": "'runs/ROBOT/run.json' appears twice",
    "runs/robot/sweep.json": "'runs/robot/sweep.json' is not a file of a submission",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_files(words: Path, tmp_path: Path, name: str) -> None:
    """A file that would lie elsewhere, or twice, is refused by its name, in plain characters."""
    archive = forged(words, tmp_path / "forged.zip", lambda content: content.update({name: b"{}"}))
    assert refused(archive) == NAMES[name]


def with_member(words: Path, out: Path, info: zipfile.ZipInfo, content: bytes) -> Path:
    """Write an archive with one more member."""
    out.write_bytes(words.read_bytes())
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr(info, content)
    return out


def test_a_link(words: Path, tmp_path: Path) -> None:
    """A link is refused, wherever it leads."""
    info = zipfile.ZipInfo("runs/robot/x.eval")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive = with_member(words, tmp_path / "forged.zip", info, b"/etc/passwd")
    assert refused(archive) == "'runs/robot/x.eval' is a link, or another thing that is no file"


def test_zip_bombs(
    words: Path, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is packed a thousandfold is refused unread, also inside a log."""
    info = zipfile.ZipInfo("runs/robot/x.eval")
    info.compress_type = zipfile.ZIP_DEFLATED
    archive = with_member(words, tmp_path / "bomb.zip", info, bytes(50_000_000))
    assert refused(archive).endswith("to 50,000,000, at most 100 times as many")

    log = copied(runs / "words/robot", tmp_path / "bomb")
    with zipfile.ZipFile(log, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("_journal/bomb.json", bytes(50_000_000))
    monkeypatch.setattr(submission, "LOG_SLACK", 1_000_000)

    def edit(content: dict[str, bytes]) -> None:
        content[log_of(content)] = log.read_bytes()

    assert "bytes, too many for its size" in refused(forged(words, tmp_path / "forged.zip", edit))
    monkeypatch.setattr(submission, "MAX_UNPACKED", 1_000)
    assert refused(words).startswith("it is too large: ")
    monkeypatch.setattr(submission, "MAX_MEMBERS", 3)
    assert refused(words) == "it has 4 files, at most 3"


def test_where_an_archive_was_unpacked_is_not_told(runs: Path, words: Path, tmp_path: Path) -> None:
    """What is wrong with a log is told without the temporary folder, to readers of runs too."""
    log = copied(runs / "words/robot", tmp_path / "odd")
    change(log, "header.json", lambda header: header["eval"]["metadata"].clear())

    def edit(content: dict[str, bytes]) -> None:
        content[log_of(content)] = log.read_bytes()

    archive = forged(words, tmp_path / "forged.zip", edit)
    with pytest.raises(LogError) as error:
        read_runs(archive)
    assert f"{archive}: " in str(error.value)
    assert "careeval-" not in str(error.value).replace(str(tmp_path), "")


def test_other_members_of_a_log(runs: Path, words: Path, tmp_path: Path) -> None:
    """A log has what Inspect writes, each once."""
    for name, said in (
        ("secret.txt", "'secret.txt' is not a member of a log"),
        ("header.json", "has two members of one name"),
    ):
        log = copied(runs / "words/robot", tmp_path / name)
        with (
            pytest.warns() if name == "header.json" else zipfile.ZipFile(words),
            zipfile.ZipFile(log, "a") as file,
        ):
            file.writestr(name, b"{}")

        def edit(content: dict[str, bytes], log: Path = log) -> None:
            content[log_of(content)] = log.read_bytes()

        assert said in refused(forged(words, tmp_path / "forged.zip", edit))


HOSTILE: tuple[Any, ...] = (None, -1, 10**30, "\x1b[2J", [], {}, [[[]]], {"a": {"b": None}})


@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_any_field_of_the_description_may_be_anything(
    words: Path, tmp_path: Path, value: Any
) -> None:
    """A hostile value is refused or differs from the logs; nothing else is raised."""
    with zipfile.ZipFile(words) as archive:
        described = json.loads(archive.read(SUBMISSION_FILE))
    for name in described:
        if name == "files":
            continue

        def put(fields: dict[str, Any], name: str = name) -> None:
            fields[name] = value

        result = verify(forged(words, tmp_path / "forged.zip", describe(put)))
        harmless = name in ("software", "prices", "left_out", "held_out")
        assert result.problems or harmless
    assert verify(
        forged(words, tmp_path / "forged.zip", lambda content: content.pop(SUBMISSION_FILE),
               hashes=False)
    ).problems  # fmt: skip


def test_not_an_archive(tmp_path: Path) -> None:
    """A file of any other kind is refused in a sentence."""
    file = tmp_path / "x.zip"
    for content in (b"", b"PK\x03\x04", b"text", bytes(1_000)):
        file.write_bytes(content)
        assert refused(file).startswith("it cannot be read as an archive: ")


def test_the_folder_is_removed(
    words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of an archive stays, in the temporary folder or in the cache."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "temporary").mkdir()
    assert verify(words).verified
    assert not [*(tmp_path / "temporary").iterdir()]
    assert not (tmp_path / "cache").exists()


# Names


def test_names_of_systems(runs: Path, tmp_path: Path) -> None:
    """A name with markup is a name; one with control characters is refused."""
    for name, problem in (("<b>[red]x</b>", None), ("a\x1b[2J", "the system name is not allowed")):
        copied(runs / "words/robot", tmp_path / ascii(name)[1:4])
        file = tmp_path / ascii(name)[1:4] / "robot/run.json"
        fields = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**fields, "system": name}), encoding="utf-8")
        result = verify(submitted(file.parent, tmp_path / "named.zip"))
        assert (result.problems[0].partition(":")[0] if result.problems else None) == problem
        assert problem or result.entries[0].entry.system == name


# Probe checks


def all_present(call: Call) -> str:
    """Find every item in every response."""
    return judgments([True] * len(by_keyword(call.request)))


def test_probes_of_the_grader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A grader that passes may rank, one that fails may not; other probes are refused."""
    bank = write_bank(tmp_path / "bank")
    monkeypatch.setitem(OWN_BANKS, "small", bank)
    asked = Fake("asked", lambda _: "I ask about the blouse.")

    def probed(grader: Fake, folder: Path) -> Verification:
        begin(Run("robot", asked.model, grader.model, 1, {"bank": str(bank)}), folder / "robot")
        like = Run("probes", None, grader.model, 1, {"bank": str(bank)})
        assert resume(prepare_probes(load_bank(bank), folder / "audit", like)).complete
        card = write_card(folder / "card.toml")
        write_submission(folder / "out.zip", [folder / "robot"], card, folder / "audit")
        return verify(folder / "out.zip")

    unknown = "how good the grader is: no probe check of it is in the archive"
    good = probed(Fake("good", keyword_grader), tmp_path / "good")
    assert good.problems == ()
    assert unknown not in good.unknown
    bad = probed(Fake("bad", all_present), tmp_path / "bad")
    assert bad.entries[0].not_ranked[0].startswith("its grader fails the probe check: ")
    assert bad.problems[0].startswith("robot: cannot be ranked: its grader fails the probe check: ")

    (log,) = (tmp_path / "good/audit").rglob("*.eval")

    def easy(sample: dict[str, Any]) -> None:
        sample["store"]["careeval_response"]["text"] = "I ask about the blouse, at once."

    change(log, samples(log)[0], easy)
    card = write_card(tmp_path / "card.toml")
    write_submission(
        tmp_path / "easy.zip", [tmp_path / "good/robot"], card, tmp_path / "good/audit"
    )
    result = verify(tmp_path / "easy.zip")
    assert "the response that was graded is not the one that was given" in result.problems[0]
    assert unknown in result.unknown


# Cards


def test_a_card_names_every_field_that_is_missing(tmp_path: Path) -> None:
    """Fields that are empty, unknown or faulty are all named, and a card that disagrees."""
    with pytest.raises(ProtocolError) as caught:
        parse_card(submission.new_card() + 'mood = "good"\n', "card.toml")
    said = str(caught.value)
    for field in ("system", "version", "date", "run_by", "relation", "settings"):
        assert f"{field} is missing: " in said
    assert "agree is false" in said
    assert "'mood' is not a field of a card" in said
    filled_in = write_card(tmp_path / "card.toml").read_text(encoding="utf-8")
    assert parse_card(filled_in, "card.toml").run_by == "A lab"
    for old, new, said in (
        ('"third_party"', '"a friend"', "relation is not one of first_party"),
        ('"2026-11-29"', '"yesterday"', "date is missing: when it was run"),
        (
            'settings = "defaults"',
            'settings = "a\\nb"',
            "settings has control characters, several lines",
        ),
        ("rank = true", 'rank = "yes"', "rank is missing: true or false"),
        ("rank = true", "rank = ", "is not TOML"),
    ):
        with pytest.raises(ProtocolError, match=said):
            parse_card(filled_in.replace(old, new), "card.toml")


def test_what_is_not_submitted(runs: Path, tmp_path: Path) -> None:
    """Runs of two systems, a folder without a run and a sweep are refused, and nothing written."""
    log = copied(runs / "words/robot", tmp_path / "other")
    fields = json.loads((log.parent / "run.json").read_text(encoding="utf-8"))
    (log.parent / "run.json").write_text(json.dumps({**fields, "system": "b"}), encoding="utf-8")
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep/sweep.json").write_text("{}", encoding="utf-8")
    card, out = write_card(tmp_path / "card.toml"), tmp_path / "out.zip"
    for folders, said in (
        ([log.parent, runs / "words"], "these runs are of 2 systems: b, robot"),
        ([tmp_path / "nothing"], "no run with a log"),
        ([tmp_path / "sweep"], "is the folder of a sweep"),
    ):
        with pytest.raises(CareEvalError, match=said):
            write_submission(out, folders, card)
    with pytest.raises(CareEvalError, match="no finished audit of a grader"):
        write_submission(out, [runs / "words"], card, runs / "plans")
    assert not out.exists()
