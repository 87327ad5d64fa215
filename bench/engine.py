"""The floor of embedded runs: the engine alone, asked the same by eight threads.

Prints one line of JSON: tokens written, and seconds from the first of them to the last.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def main() -> None:
    """Ask what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--limit", type=int, required=True, help="scenarios")
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--max-tokens", type=int, required=True)
    args = parser.parse_args()

    from careeval.bank import load_bank
    from careeval.core.scenario import Split
    from careeval.modes.prompts import load_prompts
    from careeval.modes.response import RESPONSE
    from careeval.protocol.gguf import NEUTRAL, SLOTS
    from careeval.protocol.machine import embedded_model_path
    from careeval.protocol.selection import select_scenarios

    scenarios = select_scenarios(load_bank(), Split.public, limit=args.limit)
    system = load_prompts(RESPONSE).ask_system
    requests = [
        {
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": scenario.text.strip()},
            ],
            **NEUTRAL,
            "min_p": 0.0,
            "max_tokens": args.max_tokens,
            "seed": 1000 * seed + place,
        }
        for seed in range(args.samples)
        for place, scenario in enumerate(scenarios)
    ]
    server = _loaded(str(embedded_model_path()))

    def answer(request: dict[str, Any]) -> tuple[float, float, int]:
        """Return the times of the first and the last token, and their number."""
        reply = server.handle_chat_completions(request)
        now = time.monotonic()
        return (
            now - reply["timings"]["predicted_ms"] / 1000,
            now,
            reply["usage"]["completion_tokens"],
        )

    with ThreadPoolExecutor(SLOTS) as threads:
        first, last, tokens = zip(*threads.map(answer, requests), strict=True)
    told = {"tokens": sum(tokens), "seconds": max(last) - min(first)}
    sys.stdout.write(f"{json.dumps(told)}\n")
    sys.stdout.flush()
    # the engine's threads would outlive what they call
    os._exit(0)


def _loaded(path: str) -> Any:
    """The engine with the settings of `careeval.protocol.gguf.Engine`."""
    from careeval.protocol.gguf import KEPT_PROMPTS_MIB, READ_TOKENS, SLOT_TOKENS, SLOTS

    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * SLOT_TOKENS
    params.n_batch = READ_TOKENS
    n_threads = len(os.sched_getaffinity(0))
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = n_threads
    params.verbosity = -1
    params.cache_ram_mib = KEPT_PROMPTS_MIB
    params.ui = False
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
