"""`careeval submit` and `careeval verify`: what they print, and with which status they end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from careeval.cli.app import CHECK_FAILED
from support.command_line import CommandLine
from support.pages import ROOT
from support.submissions import describe, forged, make_runs, write_card


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each mode."""
    return make_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_from_card_to_verified(cli: CommandLine, runs: Path) -> None:
    """An empty card is refused field by field; with a full one the archive is written, verified."""
    assert "Fill it in, then: " in cli.told("submit", "--new-card", "card.toml")
    assert "card.toml exists already" in cli.refused("submit", "--new-card", "card.toml")
    line = ("submit", str(runs / "plans"), "-o", "out.zip", "--card", "card.toml")
    assert "\n  relation is missing: of who ran it to its maker: first_party, " in cli.refused(
        *line
    )
    assert not Path("out.zip").exists()
    write_card(Path("card.toml"))
    printed = cli.printed(0, *line)
    assert "Written: out.zip, 0.0 MB, 3 files\n" in printed.err
    assert "Left out: robot/spent.jsonl: what each call cost, which the logs have" in printed.err
    assert printed.out == cli.ok("verify", "out.zip")
    first, card, name, headline, numbers, rank, *unknown = printed.out.splitlines()
    assert first == "out.zip: verified"
    assert card == "  card: Robot (1.0), run by A lab (third_party) on 2026-11-29, to be ranked"
    assert name.startswith("  robot · plan, judged by careeval/plan@3 (batched, prompt ")
    assert name.endswith("), 1 of 48 public scenarios, 1 response to each")
    assert "robot's 1 responses" in headline
    assert numbers.endswith(" numbers, all as claimed")
    assert rank == "    can be ranked, beside runs over the same 1 scenarios"
    assert unknown[0] == "  not known: that the calls were made, and that these are all of them"


def test_status_and_json(cli: CommandLine, runs: Path) -> None:
    """One archive that is refused ends with status 3; JSON has every archive, with the reasons."""
    card = write_card(Path("card.toml"))
    cli.ok("submit", str(runs / "plans"), "-o", "out.zip", "--card", str(card))
    edit = describe(lambda described: described["numbers"][0]["score"].update(value=0.99))
    forged(Path("out.zip"), Path("forged.zip"), edit)
    document = json.loads(
        cli.printed(CHECK_FAILED, "verify", "out.zip", "forged.zip", "--json").out
    )
    good, bad = document["archives"]
    assert document["schema"] == "careeval.verification/1"
    assert (good["verified"], bad["verified"]) == (True, False)
    assert good["entries"][0]["ranked"]
    assert bad["entries"][0]["differences"][0].startswith("score.value: claimed 0.99, computed ")
    assert good["held_out"] == {"n_entries": 0, "verified": False}
    printed = cli.printed(CHECK_FAILED, "verify", "forged.zip").out
    assert printed.startswith("forged.zip: REFUSED\n")
    assert (
        "\n  problem: numbers that differ from those claimed: 1, the first score.value" in printed
    )


def test_what_is_printed_of_names(cli: CommandLine, runs: Path) -> None:
    """Markup stays text; a name that would look like a line of ours stays within its own."""
    card = write_card(Path("card.toml"), system="<b>[red]x</b>")
    printed = cli.printed(0, "submit", str(runs / "plans"), "-o", "out.zip", "--card", str(card))
    assert "  card: <b>[red]x</b> (1.0), " in printed.out

    def rename(described: dict[str, object]) -> None:
        described["held_out"] = [{"system": "robot\n\x1b[2Jout.zip: verified"}]

    forged(Path("out.zip"), Path("forged.zip"), describe(rename))
    lines = cli.printed(CHECK_FAILED, "verify", "forged.zip").out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["forged.zip: REFUSED"]
    assert "\x1b" not in "".join(lines)


def test_script_of_submissions(cli: CommandLine, runs: Path, tmp_path: Path) -> None:
    """The script verifies each folder's archive and writes a site; one that is refused ends it."""
    results = tmp_path / "results"
    (results / "robot-1").mkdir(parents=True)
    shutil.copy(ROOT / "results" / "verify.sh", results)

    def script(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", str(results / "verify.sh"), *words],
            env={**os.environ, "CAREEVAL": f"{sys.executable} -m careeval"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    assert script() == (3, "robot-1: REFUSED: there is no file submission.zip\n"
                        "There is no submission to verify.\n")  # fmt: skip
    archive, card = str(results / "robot-1/submission.zip"), str(write_card(Path("card.toml")))
    cli.ok("submit", str(runs / "plans"), "-o", archive, "--card", card)
    status, printed = script("site")
    assert (status, printed.partition("\n")[0]) == (0, "robot-1.zip: verified")
    assert "robot" in (tmp_path / "site/index.html").read_text(encoding="utf-8")
    (results / "robot-2").mkdir()
    (results / "robot-2/submission.address").write_text("0 file:///etc/passwd\n")
    status, printed = script()
    assert status == CHECK_FAILED
    assert "robot-2: REFUSED: its address does not give it\n" in printed


def test_an_archive_is_read_like_a_folder(cli: CommandLine, runs: Path) -> None:
    """Its numbers are those of the runs; a card that asks for no rank gets none, and is shown."""
    card = write_card(Path("card.toml"), settings="<i>slow</i>")
    card.write_text(card.read_text(encoding="utf-8").replace("rank = true", "rank = false"))
    archive = "robot.zip"
    cli.ok("submit", str(runs / "plans"), "-o", archive, "--card", str(card))
    assert "\n    could be ranked, beside runs over the same 1 scenarios\n" in cli.ok(
        "verify", archive
    )
    (of_archive,) = json.loads(cli.ok("summary", archive, "--json"))["entries"]
    (of_folder,) = json.loads(cli.ok("summary", str(runs / "plans"), "--json"))["entries"]
    reason = "a reference, listed apart as its card asks"
    assert of_archive["not_ranked"] == [reason]
    assert {**of_archive, "not_ranked": []} == of_folder
    cli.ok("site", archive, str(runs / "words"), "-o", "site")
    index = Path("site/index.html").read_text(encoding="utf-8")
    assert f"not ranked: {reason}" in index
    assert index.count("<caption>References over the public split, not ranked") == 2
    assert "Safe plan" in Path("site/data/references.csv").read_text(encoding="utf-8")
    (page,) = Path("site/models").glob("*facts.html")
    shown = page.read_text(encoding="utf-8")
    assert "run by A lab (third party) on 2026-11-29; settings: &lt;i&gt;slow&lt;/i&gt;" in shown
    Path("cut.zip").write_bytes(Path(archive).read_bytes()[:500])
    assert "cut.zip: it cannot be read as an archive" in cli.refused("summary", "cut.zip")


def test_a_card_is_of_the_runs_in_its_archive_alone(cli: CommandLine, runs: Path) -> None:
    """The same system in another condition, in a folder beside it, may be ranked as ever."""
    card = write_card(Path("card.toml"))
    card.write_text(card.read_text(encoding="utf-8").replace("rank = true", "rank = false"))
    cli.ok("submit", str(runs / "plans"), "-o", "robot.zip", "--card", str(card))
    listed = json.loads(cli.ok("summary", "robot.zip", str(runs / "steps"), "--json"))["entries"]
    reasons = {each["step"]: each["not_ranked"] for each in listed}
    assert reasons == {False: ["a reference, listed apart as its card asks"], True: []}
    refused = cli.refused("summary", "robot.zip", str(runs / "plans"))
    assert "two runs are of the system 'robot" in refused


def test_archives_are_compared_with_folders(cli: CommandLine, runs: Path, tmp_path: Path) -> None:
    """An archive may be named wherever a folder may, and is left out with a reason if it is bad."""
    shutil.copytree(runs / "plans/robot", tmp_path / "other")
    cli.ok("status", str(tmp_path / "other"), "--rename", "other")
    card = str(write_card(Path("card.toml")))
    cli.ok("submit", str(runs / "plans"), "-o", "robot.zip", "--card", card)
    (pair,) = cli.json("compare", "robot.zip", "other", "--json")["comparisons"]
    assert (pair["a"], pair["b"]) == ("robot", "other")
    forged(Path("robot.zip"), Path("bad.zip"), lambda files: files.pop("card.toml"))
    printed = cli.printed(0, "summary", "bad.zip", "other")
    assert "bad.zip: its description cannot be read" in printed.out + printed.err


def test_what_an_archive_lacks_is_told(cli: CommandLine, runs: Path) -> None:
    """Numbers without runs are no runs, and no path of a temporary folder is printed."""
    card = str(write_card(Path("card.toml")))
    cli.ok("submit", str(runs / "plans"), "-o", "robot.zip", "--card", card)

    def leave_numbers(files: dict[str, bytes]) -> None:
        for name in [name for name in files if name.startswith("runs/")]:
            del files[name]

    forged(Path("robot.zip"), Path("numbers.zip"), leave_numbers)
    refused = cli.refused("summary", "numbers.zip")
    assert "numbers.zip has no run over the public split, only numbers" in refused

    def held_out(described: dict[str, object]) -> None:
        described["held_out"] = [{"system": "robot"}]

    forged(Path("robot.zip"), Path("both.zip"), describe(held_out))
    printed = cli.printed(0, "summary", "both.zip")
    note = "both.zip: its numbers of 1 entry over the held-out split are left out"
    assert note in " ".join((printed.out + printed.err).split())


def test_mistakes(cli: CommandLine, runs: Path) -> None:
    """What is not given is named; a file that is not there is a user's mistake."""
    assert "not given: the folder of a run, --out FILE.zip, --card FILE" in cli.refused("submit")
    assert "name the archive of a submission" in cli.refused("verify")
    assert "nothing.zip: No such file" in cli.refused("verify", "nothing.zip")
    Path("x.zip").write_text("no archive", encoding="utf-8")
    assert "x.zip: REFUSED" in cli.printed(CHECK_FAILED, "verify", "x.zip").out
