"""Speed of careeval, as ratios of medians over interleaved runs; see README.md.

```sh
python bench/speed.py                    # all measures, half an hour on two cores
python bench/speed.py cpu help           # some of them
python bench/speed.py --table            # what was found last
```
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from contestants import SMALL, Bench, Size
from findings import medians
from measures import MEASURES
from processes import HERE
from speed_table import table

RESULTS = HERE / "results" / "speed.json"
PACKAGES = ("careeval", "inspect-ai", "openai", "httpx2", "aiohttp", "polars", "xllamacpp")


def main() -> None:
    """Measure what the command line asks for, and print all that is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", nargs="*", help=f"{' '.join(MEASURES)}; all where none is given")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each contestant")
    parser.add_argument("--table", action="store_true", help="measure nothing, print the table")
    parser.add_argument("--small", action="store_true", help="a try: small runs, not kept")
    args = parser.parse_args()
    if unknown := set(args.name) - set(MEASURES):
        parser.error(f"no measure is called {', '.join(sorted(unknown))}")
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if args.table:
        sys.stdout.write(table(known))
        return
    found = {}
    for name in args.name or MEASURES:
        sys.stderr.write(f"{name}\n")
        here = conditions()
        with TemporaryDirectory(prefix="careeval-speed-") as root:
            # what the user has kept is neither read nor removed
            os.environ["XDG_CACHE_HOME"] = str(Path(root) / "cache")
            bench = Bench(Path(root), SMALL if args.small else Size(), args.rounds)
            measured = MEASURES[name](bench)
        found[name] = here | {
            "rows": measured.rows,
            "medians": medians(measured.singles),
            "singles": measured.singles,
        }
        if not args.small:
            # each at once: a later one may fail
            known[name] = found[name]
            RESULTS.parent.mkdir(exist_ok=True)
            in_order = {each: known[each] for each in MEASURES if each in known}
            RESULTS.write_text(_rounded(in_order) + "\n", encoding="utf-8")
    sys.stdout.write(table(found))


def conditions() -> dict[str, Any]:
    """Return the machine, the date and the load of the last minute."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "versions": {"python": platform.python_version()}
        | {name: known for name in PACKAGES if (known := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _rounded(results: object) -> str:
    """As JSON, numbers to six digits: more is not known."""

    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: rounded(part) for key, part in value.items()}
        if isinstance(value, list):
            return [rounded(part) for part in value]
        return float(f"{value:.6g}") if isinstance(value, float) else value

    return json.dumps(rounded(results), indent=1, ensure_ascii=False)


if __name__ == "__main__":
    main()
