"""The journal of a run's calls, so that no call is made twice and every payment is known.

```text
calls.jsonl   finished calls of a run that is not complete
spent.jsonl   the cost log, kept as long as the folder: see `costs.cost_log`
```
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, Model, ModelOutput

from careeval.protocol.calls.replies import CallResult
from careeval.protocol.costs.cost_log import (
    CALLS_FILE,
    SPENT_FILE,
    PaidCall,
    Role,
    cost_row,
    finished_key,
)
from careeval.protocol.json_lines import JsonLines


class StoredCalls:
    """The finished calls of one run, on disk.

    Raises:
        OSError: The files cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._calls, self._spent = JsonLines(folder / CALLS_FILE), JsonLines(folder / SPENT_FILE)
        self._finished = {row["key"]: span for span, row in self._calls.rows() if _is_call(row)}

    def get(self, key: str) -> CallResult | None:
        """Return the result of a call; `None` if the call is not finished."""
        if not (span := self._finished.get(key)):
            return None
        row = self._calls.at(span)
        return CallResult(ModelOutput.model_validate(row["output"]), row["sampling"])

    def keep(self, key: str, paid: PaidCall | None, called: CallResult) -> None:
        """Write the cost and then the result of a call.

        Raises:
            OSError: It could not be written.
        """
        # the cost first: a process killed in between has paid, and makes the call again
        if paid:
            self._spent.append(cost_row(paid))
        output = called.output.model_dump(mode="json", exclude_none=True)
        row = {"key": key, "output": output, "sampling": called.sampling}
        self._finished[key] = self._calls.append(row)

    def close(self) -> None:
        """Close the files."""
        self._calls.close()
        self._spent.close()


def call_key(role: Role, name: str, model: Model, messages: Sequence[ChatMessage]) -> str:
    """Return the key of a call: its role, its name, and a hash of the model and the messages."""
    digest = hashlib.sha256(str(model).encode())
    for message in messages:
        digest.update(f"\0{message.role}\0{message.text}".encode())
    return f"{role} {name} {digest.hexdigest()[:16]}"


def _is_call(row: Any) -> bool:
    """Tell whether a row of the file is a valid finished call; otherwise the call is made again."""
    try:
        ModelOutput.model_validate(row["output"])
        return bool(finished_key(row)) and isinstance(row["sampling"], dict)
    except (KeyError, TypeError, ValueError):
        return False
