"""Who talks to whom before the agents of an episode commit their plans (paper, section 7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from collabtax.agents import prompt
from collabtax.coop.arenas import written
from collabtax.coop.minds import Minds, Reply
from collabtax.coop.process import Process

Structure = Callable[[Process, Minds], Awaitable[None]]


async def individual(process: Process, minds: Minds) -> None:
    """Whoever has to decides, all at the same time, and nobody says anything."""
    await decide(process, minds)


async def chain(process: Process, minds: Minds) -> None:
    """One after the other, in seat order. Whoever has a new plan sends it to all later ones, also to those who are at
    something; who goes on as before says nothing [our choice]."""
    for seat, name in enumerate(process.world.agents):
        if name not in process.reasoning or process.is_late:
            continue
        later = [other for other in process.world.agents[seat + 1 :] if other in process.living]
        kind = "revise" if process.members[name].status == "I" else "propose" if later else "plan"
        (reply,) = await minds.ask({name: kind})
        process.reach(reply.at)
        if not reply.said.resume:
            calls = ", ".join(written(process.world, call) for call in reply.said.calls)
            proposal = f"{reply.said.task}: {calls}. {reply.said.text}".strip()
            process.send(name, later, proposal, "proposal")
        settle(process, reply)


async def centralized(process: Process, minds: Minds) -> None:
    """Whenever the leader has to decide, it asks all others, waits for their replies as long as its patience lasts,
    plans, and sends assignments. A reply that comes later than that is not sent, and the leader's question is a fixed
    text that takes no time [our choices]. Whoever else has to decides then, also while the leader is at something. The
    leader is the first agent that lives."""
    leader, *followers = process.living
    if leader in process.reasoning:
        begun = process.now
        process.send(leader, followers, prompt("coop/request"), "request")
        replies = await minds.ask(dict.fromkeys(followers, "reply")) if followers else []
        patience = begun + round(1000 * process.arena.patience)
        for reply in replies:
            if reply.at <= patience:
                process.reach(reply.at)
                process.send(reply.agent, (leader,), reply.said.text, "reply")
        if any(reply.at > patience for reply in replies):
            process.reach(patience)
        if process.is_late:
            return
        (plan,) = await minds.ask({leader: "lead"})
        process.reach(plan.at)
        for name, text in plan.said.assignments.items():
            process.send(leader, (name,), text, "assignment")
        settle(process, plan)
    if not process.is_late:
        await decide(process, minds)


async def decide(process: Process, minds: Minds, kind: str = "") -> None:
    """All who have to decide do so at the same time."""
    kinds = {name: kind or ("revise" if process.members[name].status == "I" else "plan") for name in process.reasoning}
    if kinds:
        for reply in await minds.ask(kinds):
            process.reach(reply.at)
            settle(process, reply)


def settle(process: Process, reply: Reply) -> None:
    """An agent goes on with its plan, or commits a new one."""
    if reply.said.resume:
        process.resume(reply.agent)
    else:
        process.commit(reply.agent, reply.said.task, reply.said.calls, reply.said.fallback)


STRUCTURES: Mapping[str, Structure] = {"individual": individual, "centralized": centralized, "chain": chain}
