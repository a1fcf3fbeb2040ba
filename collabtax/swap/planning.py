"""The planning phase: before the members act, each says how it would go on, within its share of the team's tokens
(paper, section 4.6, appendices C.5 and F.3)."""

from __future__ import annotations

from collections.abc import Mapping

from collabtax.agents import prompt
from collabtax.swap.team import HEARD, Table, Team, dialogue, shares, within, worded


async def plan(team: Team, table: Table, step: int, known: Mapping[int, str]) -> None:
    """One phase: every member speaks once, acting ones first, and hears those before it. What goes beyond a member's
    share is cut before it is published. `known`: what a member may know, by seat."""
    order = sorted(team, key=lambda member: (not member.acts, member.seat))
    for member, budget in zip(order, shares(len(order)), strict=True):
        system = prompt("swap/planning_system").format(
            budget=budget, part=prompt("swap/planning_acting" if member.acts else "swap/planning_only"), **member.bound
        )
        user = prompt("swap/planning_turn").format(
            information=known[member.seat],
            messages=dialogue(table.published[-HEARD:]),
        )
        reply = await table.ask(member, system, user, kind="plan", step=step)
        table.publish(step, member.role, within(worded(reply.text), budget)[0])
