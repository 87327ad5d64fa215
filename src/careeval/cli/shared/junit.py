"""JUnit XML of checks, which systems of continuous integration show beside tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from careeval.core.text import plain
from careeval.files import write_text
from careeval.results.score.limits import Check, Outcome


def write_junit(path: Path, suite: str, checks: Sequence[Check]) -> None:
    """Write checks as JUnit XML: a test case each; one that could not be made is a failure.

    Args:
        path: The file, which is replaced.
        suite: Name of the suite, as `careeval.summary`.
        checks: The checks.

    Raises:
        OSError: The file cannot be written.
    """
    failures = [check for check in checks if check.outcome is not Outcome.passed]
    counts = {"tests": str(len(checks)), "failures": str(len(failures)), "errors": "0"}
    root = ElementTree.Element("testsuites", counts)
    cases = ElementTree.SubElement(root, "testsuite", {"name": suite, **counts, "skipped": "0"})
    for check in checks:
        name = {"classname": f"{suite}.{plain(check.entry)}", "name": plain(check.limit)}
        case = ElementTree.SubElement(cases, "testcase", name)
        about = plain(check.about)
        if check.outcome is not Outcome.passed:
            failure = {"message": about, "type": check.outcome.name}
            ElementTree.SubElement(case, "failure", failure).text = about
        else:
            ElementTree.SubElement(case, "system-out").text = about
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    write_text(path, f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')
