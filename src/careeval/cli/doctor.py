"""`careeval doctor`: a check of what is installed and set here, and what is missing.

The packages of a run, such as Inspect, are not imported: their versions are read from their
metadata. A key is never shown, only the name of its variable and whether that is set.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from cyclopts import App

from careeval.cli.app import CHECK_FAILED, COMMANDS, OK, print_json
from careeval.cli.config import FILE, PREFIX, check_commands, check_variables, read_settings
from careeval.cli.shared.options import Json
from careeval.core.text import plain
from careeval.errors import CareEvalError, UsageError
from careeval.protocol.machine import INSTALL, check_engine, embedded_model_path, n_cores
from careeval.protocol.providers import PROVIDERS, Provider

EXAMPLES = """\
Examples:

  careeval doctor          is everything there?
  careeval doctor --json   the same for a script or a bug report

Exit status 3 where careeval cannot work at all. No key is ever shown.
"""

app = App(name="doctor", help_epilogue=EXAMPLES)


@app.default
def doctor(*, as_json: Json = False) -> int:
    """Check what is installed and set here, and what is missing; nothing is sent anywhere.

    Args:
        as_json: Print JSON.
    """
    all_findings = [*examine(Path(), os.environ), settings(FILE), variables(os.environ)]
    if as_json:
        rows = [asdict(finding) for finding in all_findings]
        print_json({"findings": rows})
    else:
        width = min(100, shutil.get_terminal_size().columns)
        print("\n".join(plain(line) for line in lines(all_findings, width)))
    return CHECK_FAILED if any(f.state is State.PROBLEM for f in all_findings) else OK


def settings(file: Path) -> Finding:
    """Return a finding on careeval.toml: whether it exists, can be read, and names commands."""
    try:
        tables = read_settings(file)
        check_commands(tables, [""], [[*COMMANDS]])
    except CareEvalError as error:
        return Finding(file.name, State.PROBLEM, str(error), error.hint)
    if not file.exists():
        return Finding(file.name, State.OK, "none here: every option has its default")
    sets = ", ".join(f"[{name}]" for name in tables) or "nothing"
    return Finding(file.name, State.OK, f"found here; it sets {sets}")


def variables(environment: Iterable[str]) -> Finding:
    """Return a finding on the CAREEVAL_ variables, not on their values, which may be secret."""
    names = sorted(name for name in environment if name.startswith(PREFIX))
    if not names:
        return Finding(f"{PREFIX}*", State.OK, "none set")
    try:
        check_variables(names, [""], [[*COMMANDS]], ())
    except UsageError as error:
        return Finding(f"{PREFIX}*", State.PROBLEM, str(error), error.hint)
    return Finding(f"{PREFIX}*", State.OK, f"set: {', '.join(names)}")


def lines(findings: Sequence[Finding], width: int) -> list[str]:
    """Return lines with state, name and text of each finding, folded at `width`; hints below."""
    left = max(len(f.name) for f in findings)
    margin = len("problem") + 2 + left + 2
    folded = []
    for f in findings:
        head = f"{f.state:<7}  {f.name:<{left}}  "
        for text, start in ((f.text, head), (f.hint and f"hint: {f.hint}", " " * margin)):
            folded += textwrap.wrap(
                text, max(width, margin + 20), initial_indent=start, subsequent_indent=" " * margin,
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
    return folded


# The checks

MIN_PYTHON = (3, 11)
LITTLE_DISK = 10**9
"""Free disk space in bytes below which a note is given; a run of the whole bank needs tens of
millions."""
REINSTALL = "pip install --force-reinstall careeval"

Version = Callable[[str], str | None]
"""A function from a distribution's name to its version; `None` if it is not installed."""


class State(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    NOTE = "note"
    """Part of careeval cannot be used, or the finding is only for information."""
    PROBLEM = "problem"
    """Nothing works until the problem is fixed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    state: State
    text: str
    hint: str = ""
    """The advice about the finding; empty if there is nothing to do."""


def examine(folder: Path, environment: Mapping[str, str]) -> list[Finding]:
    """Return the finding of each check, the most basic first; runs would be kept in `folder`.

    Bank and runs are checked only if all needed packages are installed.
    """
    packages = needed_packages(requires("careeval") or ())
    needed = needed_finding(packages, installed_version)
    return [
        python_finding(sys.version_info[:3]),
        Finding("careeval", State.OK, version("careeval")),
        needed,
        *(
            provider_finding(p, environment, installed_version)
            for p in PROVIDERS.values()
            if p.keys
        ),
        embedded_finding(),
        ray_finding(),
        # reading these needs the packages
        *([bank_finding(), runs_finding(folder)] if needed.state is State.OK else []),
        disk_finding(folder),
        machine_finding(),
        Finding("network", State.NOTE, "not tried: nothing is sent before you ask a model"),
    ]


def installed_version(package: str) -> str | None:
    """Return a distribution's version without importing it; `None` if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def python_finding(version_numbers: Sequence[int]) -> Finding:
    """Check that this Python is new enough."""
    text = ".".join(map(str, version_numbers))
    if tuple(version_numbers) >= MIN_PYTHON:
        return Finding("python", State.OK, text)
    oldest = ".".join(map(str, MIN_PYTHON))
    return Finding("python", State.PROBLEM, f"{text}, too old", f"install Python {oldest} or newer")


def needed_packages(requirements: Sequence[str]) -> list[str]:
    """Return the packages that a distribution needs on this Python, without its extras."""
    needed = []
    for requirement in requirements:
        spec, _, marker = requirement.partition(";")
        below = re.search(r"python_version < ['\"]3\.(\d+)['\"]", marker)
        if "extra" in marker or (below and sys.version_info >= (3, int(below[1]))):
            continue
        name = re.match(r"[\w.-]+", spec)
        needed += [name[0]] if name else []
    return needed


def needed_finding(packages: Sequence[str], installed: Version) -> Finding:
    """Check that the needed packages are installed, and list their versions."""
    versions = {package: installed(package) for package in packages}
    if missing := [package for package, number in versions.items() if number is None]:
        return Finding("packages", State.PROBLEM, f"not installed: {', '.join(missing)}", REINSTALL)
    text = ", ".join(f"{package} {number}" for package, number in versions.items())
    return Finding("packages", State.OK, text)


def provider_finding(
    provider: Provider, environment: Mapping[str, str], installed: Version
) -> Finding:
    """Check that a provider's package is installed and one of its keys is set; show no key."""
    # an empty variable counts as not set
    keys = {key: bool(environment.get(key)) for key in provider.keys}
    package = installed(provider.package)
    texts = [f"{key} {'set' if is_set else 'not set'}" for key, is_set in keys.items()]
    texts.append(f"package {provider.package} {package or 'not installed'}")
    ready = any(keys.values()) and package is not None
    hint = ""
    if any(keys.values()) and package is None:
        hint = f"pip install {provider.package}"
    elif provider.name == "openai" and not ready:
        hint = "the default grader is one of its models; --grader names another"
    state = State.OK if ready else State.NOTE
    return Finding(f"provider {provider.name}", state, "; ".join(texts), hint)


def embedded_finding() -> Finding:
    """Check that the model that runs in this process is installed, with its engine."""
    try:
        check_engine()
        file = embedded_model_path()
    except CareEvalError as error:
        hint = f"{INSTALL} (or: make demo, in a checkout)"
        return Finding("embedded model", State.NOTE, str(error), hint)
    return Finding("embedded model", State.OK, f"{file.name}, with its engine xllamacpp")


def ray_finding() -> Finding:
    """Check whether Ray, on which a sweep may run, is installed, without loading it."""
    try:
        return Finding("Ray", State.OK, f"{version('ray')}, for sweeps on a cluster")
    except PackageNotFoundError:
        hint = "pip install 'careeval[ray]', on every node"
        return Finding("Ray", State.NOTE, "not installed: sweeps run on this machine alone", hint)


def bank_finding() -> Finding:
    """Check that `bank.yaml` of careeval's own bank can be read, and count its scenario files."""
    from careeval.bank import OWN_BANK
    from careeval.bank.schema import BankFile
    from careeval.bank.yaml_nodes import read_yaml

    try:
        about = BankFile.model_validate(read_yaml(OWN_BANK / "bank.yaml").content)
    except (CareEvalError, ValueError) as error:
        return Finding("bank", State.PROBLEM, f"cannot be read: {error}", REINSTALL)
    # a twin's name has a word after its base's number
    scenarios = [f for f in OWN_BANK.glob("*/*.yaml") if f.stem[-1].isdecimal()]
    if not scenarios:
        return Finding("bank", State.PROBLEM, "has no scenarios", REINSTALL)
    n = f"{len(scenarios)} scenarios"
    return Finding("bank", State.OK, f"{about.name} {about.version}, {n}. {about.provenance}")


def runs_finding(folder: Path) -> Finding:
    """Count the folders in `folder`/runs that have runs; the hint says how to finish one."""
    root = folder / "runs"
    if not root.is_dir():
        return Finding("runs", State.OK, "none in ./runs yet")
    from careeval.protocol.run_folder import run_folders

    first_parts = {path.relative_to(root).parts[:1] for path in run_folders(root)}
    runs = sorted(Path("runs", *parts).as_posix() for parts in first_parts)
    if not runs:
        return Finding("runs", State.OK, "none in ./runs yet")
    hint = f"to finish one: careeval run --resume -o {runs[-1]}"
    return Finding("runs", State.OK, f"{len(runs)}, the last by name {runs[-1]}", hint)


def disk_finding(folder: Path) -> Finding:
    """Check that a run could be kept in a folder, by writing a file and removing it.

    The finding tells the free space; it is a note if that is below `LITTLE_DISK`, or if the folder
    cannot be written to.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"careeval")
    except OSError as error:
        hint = "name a folder that can be written to, with -o"
        return Finding("disk", State.NOTE, f"cannot write here: {error.strerror}", hint)
    free = shutil.disk_usage(folder).free
    text = f"{free / 10**9:.1f} GB free here, and can be written to"
    if free < LITTLE_DISK:
        return Finding("disk", State.NOTE, text, "keep runs elsewhere, with -o")
    return Finding("disk", State.OK, text)


def machine_finding() -> Finding:
    """Return the processors that this process may use, and the memory of the machine."""
    try:
        memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (AttributeError, ValueError, OSError):
        memory = "unknown"
    return Finding("machine", State.OK, f"{n_cores()} cores, memory {memory}")
