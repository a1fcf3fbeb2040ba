"""How close calls come to what an endpoint allows: `python benchmarks/throughput.py`. Prints what docs/reliability.md
states.

Dialogues go through `Chat`, recorded, to simulated endpoints on loopback; endpoints and clients are processes of their
own. The cases with a limit run side by side, those without one after the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
LATENCY = 0.3  # seconds of a reply
TURNS = 6  # calls of a dialogue
SETTLED = 5.0  # seconds after which the slow start is over
MESSAGE = "Row 3 has walls at columns 1, 4 and 7; what do you see around column 5?"


def serve(rate: float, retry_after: str) -> None:
    """An endpoint: prints its address; for each line on standard input, its counts; ends with the input."""
    from collabtax.sim.endpoint import Server

    server = Server(latency=LATENCY, rate=rate or None, retry_after=retry_after == "yes")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.url, flush=True)
    for _ in sys.stdin:
        print(server.accepted, server.refused, flush=True)


def ask(client: str, url: str, lanes: int, seconds: float, folder: Path) -> None:
    """`lanes` dialogues at once for `seconds`, begun by a line on standard input. Prints what came of it."""
    import openai

    from collabtax.cassettes import Cassette, Conversation
    from collabtax.chat import Chat
    from collabtax.models import Model

    model, answered, waits = Model("sim/http", f"sim/scripted={TURNS}", base_url=url), list[float](), dict[str, float]()

    def waited(cause: str, length: float) -> None:
        waits[cause] = waits.get(cause, 0.0) + length

    async def ours(chat: Chat, lane: int) -> None:
        for number in range(1_000_000):
            talk = Conversation(model.settings(0.7))
            with Cassette(folder / f"{os.getpid()}-{lane}-{number}.yaml", "new_episodes"):
                for _ in range(TURNS):
                    talk.add("user", MESSAGE)
                    talk.add("assistant", (await chat.complete(model, talk)).text)
                    answered.append(time.monotonic())

    async def bare(sdk: openai.AsyncOpenAI) -> None:
        while True:
            history: list[Any] = []
            for _ in range(TURNS):
                history.append({"role": "user", "content": MESSAGE})
                reply = await sdk.chat.completions.create(model=model.id, messages=history, temperature=0.7)
                history.append({"role": "assistant", "content": reply.choices[0].message.content})
                answered.append(time.monotonic())

    async def go() -> None:
        if client == "chat":
            chat = Chat(waited, folder / "shared")
            talks = [ours(chat, lane) for lane in range(lanes)]
        else:
            sdk = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, timeout=120)
            talks = [bare(sdk) for _ in range(lanes)]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*talks)

    importlib.import_module("collabtax.transport")
    importlib.import_module("openai.resources.chat.completions")  # loaded at the first call otherwise

    print("ready", flush=True)
    sys.stdin.readline()
    begun, spent = time.monotonic(), time.process_time()
    asyncio.run(go())
    spent = time.process_time() - spent
    settled = sum(at - begun > SETTLED for at in answered) / max(seconds - SETTLED, 0.1)
    print(json.dumps({"calls": len(answered), "settled": settled, "cpu": spent, "waits": waits}))


@contextlib.contextmanager
def process(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """This script in another process, with pipes."""
    command = [sys.executable, __file__, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as one:
        try:
            yield one
        finally:
            one.kill()


def tell(one: subprocess.Popen[str]) -> None:
    assert one.stdin is not None
    one.stdin.write("go\n")
    one.stdin.flush()


def hear(one: subprocess.Popen[str]) -> str:
    assert one.stdout is not None
    return one.stdout.readline()


def measure(
    seconds: float, lanes: int, processes: int = 1, rate: float = 0.0, retry_after: str = "yes", client: str = "chat"
) -> dict[str, Any]:
    """One case: `lanes` dialogues at once, spread over `processes`; the endpoint takes `rate` calls a second
    (0: any number)."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = stack.enter_context(process("serve", rate, retry_after))
        url = hear(server).strip()
        given = ("ask", client, url, lanes // processes, seconds, folder)
        clients = [stack.enter_context(process(*given)) for _ in range(processes)]
        for one in clients:
            hear(one)
        for one in clients:
            tell(one)
        told = [json.loads(hear(one)) for one in clients]
        tell(server)
        accepted, refused = map(int, hear(server).split())
    calls, settled, cpu = (sum(one[what] for one in told) for what in ("calls", "settled", "cpu"))
    return {
        "accepted": accepted, "refused": refused, "calls": calls, "settled": settled,
        "cpu": cpu / max(calls, 1) * 1000, "busy": cpu / seconds, "waits": [one["waits"] for one in told],
    }  # fmt: skip


def limited(seconds: float, lanes: int = 64, rates: tuple[float, ...] = (20, 5)) -> list[dict[str, Any]]:
    """The cases with a limit, side by side."""
    cases = [
        {"rate": rate, "retry_after": retry_after, "processes": processes}
        for rate in rates for retry_after in ("yes", "no") for processes in (1, 2)
    ]  # fmt: skip
    found: list[dict[str, Any]] = [{} for _ in cases]

    def run(number: int) -> None:
        case: Any = cases[number]
        found[number] = case | measure(seconds, lanes, **case)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(cases))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        one["allowed"] = one["rate"] * (seconds + 1)  # the endpoint saves up one second's calls before the first
        one["share"] = one["accepted"] / one["allowed"]
        one["lost"] = one["refused"] / (one["accepted"] + one["refused"])
    return found


def main(seconds: float = 60.0, unlimited: float = 20.0) -> None:
    print(
        f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {LATENCY} s a reply"
    )
    print(f"\n64 dialogues at once for {seconds:g} s; at least 85 % of what is allowed, at most 5 % refused\n")
    print("| allowed | Retry-After | processes | accepted | of the allowed | refused |\n|---|---|---|---|---|---|")
    for one in limited(seconds):
        print(
            f"| {one['rate']:g}/s | {one['retry_after']} | {one['processes']} | {one['accepted']} "
            f"| {one['share']:.0%} | {one['lost']:.1%} |"
        )
    print(f"\nno limit, {unlimited:g} s; at least 90 % of the ideal until the CPU is full\n")
    print("| client | at once | ideal | calls/s | after 5 s | CPU a call | CPU |\n|---|---|---|---|---|---|---|")
    for lanes in (1, 8, 64, 256):
        for client in ("chat", "sdk"):
            one, ideal = measure(unlimited, lanes, client=client), lanes / LATENCY
            print(
                f"| {client} | {lanes} | {ideal:.0f}/s | {one['calls'] / unlimited / ideal:.0%} "
                f"| {one['settled'] / ideal:.0%} | {one['cpu']:.1f} ms | {one['busy']:.0%} |",
                flush=True,
            )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", rate, retry_after]:
            serve(float(rate), retry_after)
        case ["ask", client, url, lanes, seconds, folder]:
            ask(client, url, int(lanes), float(seconds), Path(folder))
        case times:
            main(*map(float, times))
