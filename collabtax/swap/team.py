"""Members and teams, how they are asked, and what an episode comes to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from collabtax.agents import Agent
from collabtax.chat import Completion
from collabtax.models import SIMULATED, Model
from collabtax.study import Stage
from graders.tokens import clip, count
from tasks.base import seeded

NOTEBOOK_BUDGET = 1000  # tokens of the o200k_base encoding (paper, appendix A)
HEARD = 20  # latest messages that a member is shown [our choice]
PLANNING_BUDGET = 128  # tokens of a planning phase, the whole team's (paper, C.5)


def digest(text: str) -> str:
    """Names the bytes of a notebook."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class Member:
    """Who sits in a seat: a model with a role and a notebook. `seat` counts from 0; `notice` is the line that only a
    newcomer gets, or what those who stay are told of it; "" for nothing."""

    seat: int
    role: str
    model: Model
    notebook: str = ""
    notice: str = ""
    acts: bool = True  # False: a member that only plans
    newcomer: bool = False

    @property
    def bound(self) -> dict[str, str]:
        """What every system message says of the member."""
        return {
            "role": self.role,
            "notebook": self.notebook or "(empty)",
            "notice": f"{self.notice}\n" if self.notice else "",
        }


Team = tuple[Member, ...]


@dataclass
class Message:
    """One contribution that the team can read. Empty ones are none."""

    step: int
    speaker: str
    text: str

    @property
    def tokens(self) -> int:
        return count(self.text)


@dataclass
class Table:
    """Where a team sits in one episode: asks members and keeps what was published, what each saw and did, and how
    often a reply could not be used. `about` goes into every turn."""

    stage: Stage
    about: Mapping[str, Any]
    published: list[Message] = field(default_factory=list)
    records: dict[int, list[str]] = field(default_factory=dict)  # by seat: its own experience, for its notebook
    invalid: int = 0
    retries: int = 0

    async def ask(self, member: Member, system: str, user: str, **about: Any) -> Completion:
        """One call, a chat of its own: whatever a member knows is in these two texts."""
        agent = Agent.start(
            member.seat, self.sampled(member.model), self.stage.settings.temperature, ("system", system), ("user", user)
        )
        completion = await agent.reply(self.stage.chat)
        self.stage.transcript.say(member.seat, completion, **self.about, **about)
        return completion

    def sampled(self, model: Model) -> Model:
        """A simulated model gets a seed in its request, whose reply depends on nothing else: two teams begin with equal
        requests, and so do repetitions of a game in which nothing is random."""
        if not model.id.startswith(SIMULATED):
            return model
        seed = seeded("sample", self.stage.seed, self.about.get("side", "")).getrandbits(31)
        return replace(model, parameters={**model.parameters, "seed": seed})

    def publish(self, step: int, speaker: str, text: str) -> None:
        """Make a contribution known to all; one without words is none (paper, C.5)."""
        if text.strip():
            self.published.append(Message(step, speaker, text))

    def note(self, seat: int, line: str) -> None:
        """Add to what a member has experienced."""
        self.records.setdefault(seat, []).append(line)

    @property
    def tokens(self) -> int:
        """Of all published contributions, each counted by itself."""
        return sum(message.tokens for message in self.published)


@dataclass(frozen=True)
class Episode:
    """What an episode came to. `score` in [0, 100], `progress` in its game's units, `most` the highest progress;
    `messages` and `tokens` of published contributions; `invalid` decisions that stayed unusable after a second try;
    `detail` is what the game keeps, enough to draw and to check it."""

    task: str
    score: float
    progress: int
    most: int
    steps: int
    messages: int
    tokens: int
    ended: str  # "done" or "cap"
    invalid: int
    retries: int
    detail: dict[str, Any]

    def row(self) -> dict[str, Any]:
        return dict(vars(self))


def worded(text: str) -> str:
    """A reply, or "" where it is the dash that stands for nothing: endpoints take an empty reply for a failure."""
    text = text.strip()
    return "" if text in ("-", "–", "—") else text


def quoted(text: str) -> str:
    """A contribution as it is shown to others: its further lines are indented, so that nobody can write a line that
    looks like one of somebody else's."""
    return "\n    ".join(text.splitlines())


def dialogue(messages: Iterable[Message]) -> str:
    """Contributions as members read them."""
    return "\n".join(f"step {m.step}, {m.speaker}: {quoted(m.text)}" for m in messages) or "(none)"


def within(text: str, budget: int) -> tuple[str, bool]:
    """`text` cut to `budget` tokens, at the end of a line where one ends in the second half of them; and whether it was
    cut."""
    text = text.strip()
    if count(text) <= budget:
        return text, False
    kept = clip(text, budget)
    line = kept.rfind("\n")
    return (kept[:line] if line > len(kept) // 2 else kept).rstrip(), True


def shares(members: int, budget: int = PLANNING_BUDGET) -> Sequence[int]:
    """A planning phase's budget, shared out equally; what remains goes to the first ones (paper, C.5)."""
    share, rest = divmod(budget, members)
    return [share + (seat < rest) for seat in range(members)]
