"""A client written with Python's mcp, with the arguments that every client of the benchmark has.

`--form` and `--threads` are understood and change nothing.
"""

import argparse
import json
import os
import sys
import threading
import time

import anyio
from mcp import Client, StdioServerParameters

from fixture import BIG_BYTES, TEXT, usage

MODES = {"legacy": "legacy", "modern": "2026-07-28"}
MOST = 120


def fail(reason: str) -> None:
    raise SystemExit(reason)


def guard() -> None:
    def end() -> None:
        time.sleep(MOST)
        print(f"the run was given up after {MOST} s", file=sys.stderr, flush=True)
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def micros(since: int) -> int:
    return (time.perf_counter_ns() - since + 999) // 1000


class Run:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.in_flight = args.in_flight if args.work == "echo" else 1
        self.clients: list[Client] = []
        self.times: list[int] = []
        self.done = anyio.Event()

    def client(self) -> Client:
        args = self.args
        target = args.url or StdioServerParameters(command=args.command[0], args=args.command[1:])
        return Client(target, mode=MODES[args.era], read_timeout_seconds=60)

    async def hold(self, began: int, *, task_status: anyio.abc.TaskStatus) -> None:
        async with self.client() as client:
            if self.args.work == "connect":
                await self.one(client)
            self.clients.append(client)
            self.times.append(micros(began))
            task_status.started()
            await self.done.wait()

    async def text(self, client: Client, name: str, arguments: dict) -> str:
        result = await client.call_tool(name, arguments)
        return result.content[0].text

    async def one(self, client: Client) -> None:
        work = self.args.work
        if work == "echo":
            size, expected = len(await self.text(client, "echo", {"text": TEXT})), len(TEXT)
        elif work == "big":
            size, expected = len(await self.text(client, "big", {})), BIG_BYTES
        else:
            size = len((await client.list_tools()).tools)
            expected = self.args.tools or size
        if size != expected:
            fail(f"the answer to {work} has the size {size}, not {expected}")

    async def many(self, count: int) -> list[int]:
        times = [0] * count

        async def worker(first: int) -> None:
            for call in range(first, count, self.in_flight):
                began = time.perf_counter_ns()
                await self.one(self.clients[call % len(self.clients)])
                times[call] = micros(began)

        async with anyio.create_task_group() as tasks:
            for first in range(self.in_flight):
                tasks.start_soon(worker, first)
        return times

    async def used(self) -> dict[str, int]:
        """What the servers have used: all of them where each session has its own."""
        everything = {"cpu_us": 0, "rss_kb": 0, "peak_kb": 0}
        for client in self.clients[:1] if self.args.url else self.clients:
            one = json.loads(await self.text(client, "usage", {}))
            for name in everything:
                everything[name] += one[name]
        return everything

    async def measure(self) -> dict:
        began, cpu = time.perf_counter_ns(), usage()["cpu_us"]
        async with anyio.create_task_group() as tasks:
            async with anyio.create_task_group() as opening:
                for _ in range(self.args.sessions):
                    opening.start_soon(tasks.start, self.hold, began)
            wall_us, own = micros(began), usage()
            if self.args.work == "connect":
                times, server = self.times, await self.used()
            else:
                await self.many(self.args.warm)
                before = await self.used()
                began, cpu = time.perf_counter_ns(), usage()["cpu_us"]
                times = await self.many(self.args.calls)
                wall_us, own = micros(began), usage()
                after = await self.used()
                server = {**after, "cpu_us": after["cpu_us"] - before["cpu_us"]}
            self.done.set()
        own["cpu_us"] -= cpu
        times.sort()
        p50, p99 = (times[len(times) * part // 100] for part in (50, 99))
        head = {"calls": len(times), "wall_us": wall_us, "p50_us": p50, "p99_us": p99}
        return {**head, **own, "server": server}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", choices=["echo", "big", "list", "connect"], required=True)
    parser.add_argument("--era", choices=MODES, required=True)
    parser.add_argument("--calls", type=int, default=1)
    parser.add_argument("--warm", type=int, default=0)
    parser.add_argument("--in-flight", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=1)
    parser.add_argument("--form")
    parser.add_argument("--threads")
    parser.add_argument("--tools", type=int)
    parser.add_argument("--url")
    parser.add_argument("command", nargs="*")
    args = parser.parse_args()
    guard()

    async def run() -> dict:
        return await Run(args).measure()

    print(json.dumps(anyio.run(run), separators=(",", ":")))


main()
