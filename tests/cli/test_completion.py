"""Completion in bash, once it has read the script."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from careeval.cli.app import OK, run
from support.command_line import CommandLine

WORDS = [
    (["su"], {"submit", "summary"}),
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
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        run(["--install-completion", "--shell", "bash", "-o", str(home / "careeval.bash")])
    return home / "careeval.bash"


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


def test_install_has_bash_read_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Installed twice, the script stands in one line of the start-up file; stdout says where."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for _ in range(2):
        assert run(["--install-completion", "--shell", "bash"]) == OK
    (line,) = [
        line
        for line in (tmp_path / ".bashrc").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    written = tmp_path / ".local" / "share" / "bash-completion" / "completions" / "careeval"
    assert written.is_file()
    assert str(written) in line
    assert str(written) in capsys.readouterr().out


def test_an_unknown_shell_is_refused(cli: CommandLine) -> None:
    """A shell that careeval has no script for ends with status 2 and the names of those it has."""
    assert '"zsh", "bash", "fish"' in cli.refused("--install-completion", "--shell", "tcsh")
