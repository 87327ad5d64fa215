"""Completion in bash, once it has read the script."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from careeval.cli.app import OK, USAGE, run

WORDS = [
    (["su"], {"summary"}),
    (["summary", "--fo"], {"--format"}),
    (["summary", "--format", "m"], {"md"}),
    (["run", "--max-con"], {"--max-connections"}),
    (["audit", "re"], {"reopen", "results", "revoke"}),
    (["audit", "probes", "--grader-c"], {"--grader-context"}),
    (["doctor", "--js"], {"--json"}),
]
"""What is typed after `careeval`, and what it may become."""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script for bash."""
    file = tmp_path_factory.mktemp("completion") / "careeval.bash"
    assert run(["--install-completion", "bash", "-o", str(file)]) == OK
    return file


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(("words", "offered"), WORDS)
def test_bash_offers(words: list[str], offered: set[str], script: Path) -> None:
    """A real bash completes a command, an option and a choice, starting no Python for it."""
    code = (
        'source "$1"; shift; PATH=; COMP_WORDS=(careeval "$@"); COMP_CWORD=$#;'
        '_careeval careeval; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    bash = str(shutil.which("bash"))
    done = subprocess.run(
        [bash, "--norc", "-c", code, "bash", str(script), *words],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == offered
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_holds_everything(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--show-completion` prints a script that has each command and asks careeval for nothing."""
    assert run(["--show-completion", shell]) == OK
    text = capsys.readouterr().out
    assert all(name in text for name in ("summary", "probes", "grader-context"))
    assert "__complete" not in text


def test_install_into_a_file_leaves_start_up_files_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Path
) -> None:
    """With -o the script is written there, and no start-up file is made."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    out = tmp_path / "out.bash"
    assert run(["--install-completion", "bash", "-o", str(out)]) == OK
    assert out.read_bytes() == script.read_bytes()
    assert not (tmp_path / "home").exists()


def test_install_has_bash_read_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Installed twice, the script stands in one line of the start-up file; stderr says where."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for _ in range(2):
        assert run(["--install-completion", "bash"]) == OK
    (line,) = [
        line
        for line in (tmp_path / ".bashrc").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    written = tmp_path / ".local" / "share" / "bash-completion" / "completions" / "careeval"
    assert written.is_file()
    assert str(written) in line
    assert str(written) in capsys.readouterr().err


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A shell that careeval has no script for ends with status 2 and the names of those it has."""
    assert run(["--show-completion", "tcsh"]) == USAGE
    assert '"bash", "zsh", "fish"' in capsys.readouterr().err
