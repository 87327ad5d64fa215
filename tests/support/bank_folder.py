"""A copy of the good bank of `bank/data/good`, for tests that plant one fault in it."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from careeval.bank import Bank, BankProblems, FilePlace, Problem, load_bank

GOOD_BANK = Path(__file__).parents[1] / "bank" / "data" / "good"

SCENARIO = "dressing/dressing-001.yaml"
PROBES = "dressing/dressing-001.probes.yaml"


@dataclass(frozen=True)
class BankFolder:
    """A folder with a bank that a test may change."""

    root: Path

    @classmethod
    def good(cls, root: Path) -> BankFolder:
        """A copy of the good bank under `root`, which is new."""
        shutil.copytree(GOOD_BANK, root)
        return cls(root)

    def plant(self, file: str, old: str, new: str) -> BankFolder:
        """Replace `old`, which stands exactly once in `file`, by `new`."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new), encoding="utf-8")
        return self

    def copy_scenario(self, new_id: str, file: str = "") -> BankFolder:
        """Copy the scenario and its probes as `new_id`, into `file` where that is not its name."""
        for suffix in (".yaml", ".probes.yaml"):
            text = (self.root / f"dressing/dressing-001{suffix}").read_text(encoding="utf-8")
            path = self.root / f"dressing/{file or new_id}{suffix}"
            path.write_text(text.replace("id: dressing-001", f"id: {new_id}"), encoding="utf-8")
        return self

    def place(self, file: str, text: str) -> FilePlace:
        """Return the place of the first `text` in `file`."""
        path = self.root / file
        before, match, _ = path.read_text(encoding="utf-8").partition(text)
        assert match, f"no {text!r} in {file}"
        return FilePlace(str(path), before.count("\n") + 1, len(before) - before.rfind("\n"))

    def load(self) -> Bank:
        """The bank."""
        return load_bank(self.root)

    def problems(self) -> tuple[Problem, ...]:
        """The problems that keep the bank from loading; empty where it loads."""
        try:
            self.load()
        except BankProblems as error:
            return error.problems
        return ()


SECRET = "Nobody Inparticular"
"""Words of the scenario that `write_held_out` writes, and of no other."""


def write_held_out(root: Path) -> Path:
    """A held-out scenario with its probes and a source of its own, in a new folder `root`."""
    filler = " ".join(f"word{i}" for i in range(70))
    said = f"  {SECRET} {filler}. What do you do?\n"
    (root / "dressing").mkdir(parents=True)
    for file in (SCENARIO, PROBES):
        text = (GOOD_BANK / file).read_text(encoding="utf-8")
        text = text.replace("id: dressing-001", "id: dressing-h01")
        text = text.replace("split: public", "split: held-out")
        text = text.replace("sources: [made-up-forum]", "sources: [own-source]")
        text = re.sub(r"(?<=text: \|\n).*?(?=actions:)", said, text, flags=re.DOTALL)
        (root / file.replace("001", "h01")).write_text(text, encoding="utf-8")
    source = "own-source:\n  organisation: Nobody\n  document: Made up\n  tier: A\n"
    (root / "sources.yaml").write_text(source, encoding="utf-8")
    (root / "notes.txt").write_text("not of the bank", encoding="utf-8")
    return root
