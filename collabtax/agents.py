"""Agents: a model, a system prompt, a private history. All protocol texts are files in `prompts/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from collabtax.cassettes import Conversation, Message
from collabtax.chat import Chat, Completion
from collabtax.models import Model

RELAY = "[other agent]: "
FORGED = re.compile(r"^([ \t>*_`]*)\[\s*(other agent|user)\s*\]\s*:", re.IGNORECASE | re.MULTILINE)


@cache
def prompt(name: str) -> str:
    """A protocol text."""
    return (Path(__file__).parent / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()


def relayed(message: str) -> str:
    """A message as its partner gets it. Prefixes inside of it are defused: an agent cannot speak as somebody else."""
    return RELAY + FORGED.sub(r"\1(\2):", message)


@dataclass
class Agent:
    """One seat: `seat` counts from 0, the initiator."""

    seat: int
    model: Model
    conversation: Conversation

    @classmethod
    def start(cls, seat: int, model: Model, temperature: float, *messages: tuple[str, str]) -> Agent:
        opened: list[Message] = [{"role": role, "content": text} for role, text in messages]
        return cls(seat, model, Conversation(model.settings(temperature), opened))

    async def reply(self, chat: Chat) -> Completion:
        """Ask for the next message and keep it in the history."""
        completion = await chat.complete(self.model, self.conversation)
        self.conversation.add("assistant", completion.text)
        return completion

    def hear(self, text: str) -> None:
        self.conversation.add("user", text)
