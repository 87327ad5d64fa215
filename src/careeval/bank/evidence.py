"""`evidence.json` of a bank: status and ratings of its scenarios.

An entry is about one version of one text, identified by a hash. Its status takes precedence over
the one in the scenario's file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field

from careeval.core.scenario import Frozen, Scenario, Slug, Status, Text

FILE = "evidence.json"

MAX_BYTES = 20_000_000
"""The most bytes of the file. An entry has about 400, and as many again per further study."""

RANKS = (Status.withdrawn, Status.drafted, Status.reviewed, Status.validated)
"""Statuses from the lowest to the highest."""


class Evidence(Frozen):
    """The results of one study for one version of a scenario, as counts."""

    study: Text
    """Title of the study."""
    round: Annotated[int, Field(ge=1)]
    """Round of the study."""
    version: Annotated[int, Field(ge=1)]
    """Version of the scenario that was rated."""
    raters: Mapping[Slug, Annotated[int, Field(ge=1)]]
    """Role → number of raters who rated both scales."""
    realism: Annotated[str, Field(pattern=r"^\d+/\d+$")]
    """Raters who gave realism 4 or 5 / raters who rated it."""
    validity: Annotated[str, Field(pattern=r"^\d+/\d+$")]
    """Raters who gave clinical validity 4 or 5 / raters who rated it."""
    objections: Annotated[int, Field(ge=0)] | None = None
    """Number of objections to items of -2 points; null if too few raters were asked about one."""
    rejected: tuple[Text, ...] | None = None
    """Items that raters reject, as rubric/id; null if none is, but too few rated some item."""
    study_id: Slug
    """Id of the study, since titles are not unique."""


class Vetting(Frozen):
    """An entry of `evidence.json`: the status of one text, and the evidence for it."""

    version: Annotated[int, Field(ge=1)]
    """Version of the scenario that was rated."""
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
    """Hash of the text that was rated; the entry does not hold for another text."""
    status: Status
    """Vetting of the text so far."""
    evidence: tuple[Evidence, ...]
    """Evidence for `status`, and evidence about earlier versions."""

    def is_of(self, scenario: Scenario) -> bool:
        """Tell whether the scenario's present version and text are those that were rated."""
        return self.version == scenario.version and self.hash == rated_hash(scenario)


def vetted(scenario: Scenario, vetting: Vetting | None) -> Scenario:
    """Return a scenario with the status of its entry in `evidence.json`.

    An entry about another text or version changes the status only if the entry's status is lower:
    a change of the text never raises a status. A scenario that is withdrawn, in its own file or by
    its entry, stays withdrawn.
    """
    if vetting is None:
        return scenario
    if vetting.is_of(scenario) and scenario.status is not Status.withdrawn:
        return scenario.model_copy(update={"status": vetting.status})
    lower = min(scenario.status, vetting.status, key=RANKS.index)
    return scenario.model_copy(update={"status": lower})


def evidence_text(vettings: Mapping[str, Vetting]) -> str:
    """Return the text of `evidence.json`, with the scenarios sorted by id."""
    content = {name: vettings[name].model_dump(mode="json") for name in sorted(vettings)}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    return _NO_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


_NO_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters to escape: JSON allows them, but the YAML parser that reads the file does not. If all
non-ASCII characters were escaped, some would become surrogate pairs, which YAML does not join."""


def content_hash(scenarios: Iterable[Scenario]) -> str:
    """Return twelve hex digits that change with the content of any scenario, not with its layout.

    Evidence is not part of a scenario: a new status changes the hash, evidence alone does not.
    """
    ordered = sorted(scenarios, key=lambda s: s.id)
    # hash a JSON list piece by piece: a large bank's text is as long as all its files
    digest = hashlib.sha256(b"[")
    for i, scenario in enumerate(ordered):
        content = scenario.model_dump(mode="json")
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        digest.update(f"{',' if i else ''}{text}".encode())
    digest.update(b"]")
    return digest.hexdigest()[:12]


def rated_hash(scenario: Scenario) -> str:
    """Return the hash of what is rated: a scenario without its status."""
    return content_hash([scenario.model_copy(update={"status": Status.drafted})])
