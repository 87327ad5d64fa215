"""Tests of the queue in which replies wait."""

import asyncio

from careeval.protocol.connect import ReplyQueue


async def _deal(reply_queue: ReplyQueue, name: str, done: list[str], steps: int) -> None:
    await reply_queue.wait()
    for _ in range(steps):
        await asyncio.sleep(0)
    done.append(name)


def test_a_later_reply_that_takes_less_waits_for_an_earlier_one_that_takes_more() -> None:
    """Without a queue, `c` with one step would be done first."""

    async def all_at_once(reply_queue: ReplyQueue) -> list[str]:
        done: list[str] = []
        async with asyncio.TaskGroup() as group:
            for name, steps in (("a", 9), ("b", 5), ("c", 1)):
                group.create_task(_deal(reply_queue, name, done, steps))
        return done

    assert asyncio.run(all_at_once(ReplyQueue(steps=10))) == ["a", "b", "c"]
    assert asyncio.run(all_at_once(ReplyQueue(steps=0))) == ["c", "b", "a"]


def test_a_call_that_is_cancelled_while_it_waits_holds_nobody_up() -> None:
    """The turn of `b` passes to `c`, and the queue works in a later loop too."""

    async def cancelled(reply_queue: ReplyQueue) -> list[str]:
        done: list[str] = []
        tasks = [asyncio.create_task(_deal(reply_queue, name, done, 1)) for name in "abc"]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
        return done

    reply_queue = ReplyQueue(steps=10)
    assert asyncio.run(cancelled(reply_queue)) == ["a", "c"]
    assert asyncio.run(cancelled(reply_queue)) == ["a", "c"]
