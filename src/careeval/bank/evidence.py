"""What raters found of a bank's scenarios: `evidence.json`, which stands beside its `bank.yaml`.

An entry is of one version of one text, which a hash names. Scenarios of banks that an earlier
careeval wrote have `status` and `evidence` in their own file; an entry here comes before them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field

from careeval.core.scenario import Evidence, Frozen, Scenario, Status

FILE = "evidence.json"

MAX_BYTES = 20_000_000
"""An entry has about 400 bytes, and as many more for each further study."""

RANKS = (Status.withdrawn, Status.drafted, Status.reviewed, Status.validated)
"""From the lowest."""


class Vetting(Frozen):
    """An entry of `evidence.json`: how far one text has been vetted, and on what that rests."""

    version: Annotated[int, Field(ge=1)]
    """Of the scenario, as it was rated."""
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
    """Of the text that was rated; of another text the entry says nothing."""
    status: Status
    """How far the text has been vetted."""
    evidence: tuple[Evidence, ...]
    """What `status` rests on; evidence of earlier versions stays among it."""

    def is_of(self, scenario: Scenario) -> bool:
        """Return whether the scenario's present version and text are those that were rated."""
        return self.version == scenario.version and self.hash == rated_hash(scenario)


def vetted(scenario: Scenario, vetting: Vetting | None) -> Scenario:
    """Return a scenario with the status and evidence of its entry in `evidence.json`.

    An entry of another text or version gives it neither, but takes away a status above its own:
    nothing rises because a text was changed. Whatever is withdrawn once, here or in its own file,
    stays so.
    """
    if vetting is None:
        return scenario
    if vetting.is_of(scenario) and scenario.status is not Status.withdrawn:
        update = {"status": vetting.status, "evidence": vetting.evidence}
        return scenario.model_copy(update=update)
    lower = min(scenario.status, vetting.status, key=RANKS.index)
    return scenario.model_copy(update={"status": lower})


def evidence_text(vettings: Mapping[str, Vetting]) -> str:
    """Return the text of `evidence.json`, its scenarios in the order of their ids."""
    content = {name: vettings[name].model_dump(mode="json") for name in sorted(vettings)}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    return _NO_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


_NO_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that JSON takes as they are, and that YAML, as which it is read, refuses or changes.

To escape all that is not ASCII would make two halves of some, which YAML does not join.
"""


def content_hash(scenarios: Iterable[Scenario]) -> str:
    """Return twelve hex digits that change when any scenario's content does, whatever its layout.

    What raters found of it is no content: evidence can be added to a bank that has been run.
    """
    ordered = sorted(scenarios, key=lambda s: s.id)
    # a JSON list, one scenario after the other: a large bank's is as long as all its files
    of_all = hashlib.sha256(b"[")
    for place, scenario in enumerate(ordered):
        content = scenario.model_dump(mode="json", exclude={"evidence"})
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        of_all.update(f"{',' if place else ''}{text}".encode())
    of_all.update(b"]")
    return of_all.hexdigest()[:12]


def rated_hash(scenario: Scenario) -> str:
    """Return the hash of what raters are shown: a status, which their study changes, is not in it.

    Nor is evidence.
    """
    return content_hash([scenario.model_copy(update={"status": Status.drafted})])
