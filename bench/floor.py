"""The floor: what sends the same requests with a bare client, and does nothing else with them.

Two stages with connections of their own; a response is graded as soon as it is there, and each
reply is a line of a file before it is used.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import aiohttp

from asked import Requests, read_texts, response_format


class Stage:
    """One model: so many calls at a time, each reply kept."""

    def __init__(
        self, http: aiohttp.ClientSession, file: BinaryIO, n: int, body: dict[str, Any]
    ) -> None:
        self._http, self._file, self._free, self._body = http, file, asyncio.Semaphore(n), body

    async def call(self, messages: list[dict[str, str]], seed: int | None) -> str:
        """The text of the reply."""
        body = self._body | {"messages": messages} | ({} if seed is None else {"seed": seed})
        async with self._free, self._http.post("chat/completions", json=body) as reply:
            raw = await reply.read()
        self._file.write(raw.rstrip() + b"\n")
        self._file.flush()
        return str(json.loads(raw)["choices"][0]["message"]["content"])


async def send(bank: Path, model: str, n_samples: int, n_connections: int, file: BinaryIO) -> None:
    """Ask about every scenario so many times, and have each response graded."""
    requests = Requests()
    connector = aiohttp.TCPConnector(limit=0)
    url = os.environ["FAKE_BASE_URL"] + "/"
    key = {"Authorization": f"Bearer {os.environ['FAKE_API_KEY']}"}
    no_limit = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(
        url, connector=connector, headers=key, timeout=no_limit
    ) as http:
        asking = Stage(
            http,
            file,
            n_connections,
            {"model": model.rpartition("/")[2], "temperature": 1.0, "max_tokens": 8192},
        )
        grading = Stage(
            http,
            file,
            n_connections,
            {
                "model": "judge",
                "temperature": 0.0,
                "max_tokens": 8192,
                "response_format": response_format(),
            },
        )

        async def sample(text: str, seed: int) -> None:
            response = await asking.call(requests.ask(text), seed)
            json.loads(await grading.call(requests.grade(response), None))["judgments"]

        texts = read_texts(bank).values()
        await asyncio.gather(
            *(sample(text, epoch) for epoch in range(1, n_samples + 1) for text in texts)
        )


def main() -> None:
    """Send what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("bank", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--connections", type=int, required=True)
    args = parser.parse_args()
    with args.out.open("wb") as file:
        asyncio.run(send(args.bank, args.model, args.samples, args.connections, file))


if __name__ == "__main__":
    main()
