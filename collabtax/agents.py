"""Agents: a model, a system prompt, a private history. All protocol texts are files in `prompts/`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from collabtax.cassettes import Conversation, Message
from collabtax.chat import Chat, Completion
from collabtax.models import Model
from graders.extract.speakers import defused, unprefixed

RELAY = "[other agent]: "


@cache
def prompt(name: str) -> str:
    """A protocol text."""
    return (Path(__file__).parent / "prompts" / f"{name}.txt").read_text(encoding="utf-8").strip()


def relayed(message: str) -> str:
    """A message as its partner gets it: word for word, but for prefixes that the speaker was told not to write.

    At its beginning they imitate the relay and are left out, else they would pile up from turn to turn; further down
    they are defused, since an agent cannot speak as somebody else.
    """
    return RELAY + defused(unprefixed(message))


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
