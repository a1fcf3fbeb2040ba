"""The medical team (paper, C.4 and F.2): three specialists and a coordinator answer one question in at most three
rounds of four phases. Everything that is said is published; only specialists are replaced."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from collabtax.agents import prompt
from collabtax.settings import Settings
from collabtax.swap.configuration import Configuration
from collabtax.swap.games import Game, rotated
from collabtax.swap.team import Episode, Member, Table, Team, quoted
from tasks.base import seeded
from tasks.worlds.clinic import COORDINATOR, INVALID, Clinic, ClinicState, Reply, read_reply
from tasks.worlds.medqa import Question, assert_no_leak, load, own_questions

HELD_BACK = 300  # a file without training questions lends its last ones to formation, at most so many [our choice]


@cache
def digest_of(path: Path) -> str:
    """Names the bytes of a file of questions. Raises ValueError where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as problem:
        raise ValueError(f"--medqa {path}: {problem.strerror}; name a file of MedQA's JSON lines") from None


@cache
def questions(path: Path | None) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """The questions for formation and for evaluation. Raises ValueError, in one line, for a file that is none."""
    if path is not None:
        digest_of(path)  # says in one line that it cannot be read
    pool = own_questions() if path is None else load(path)
    train = tuple(question for question in pool if question.split == "train")
    test = tuple(question for question in pool if question.split != "train")
    if not train:
        kept = max(len(test) - HELD_BACK, len(test) // 2)
        train, test = test[kept:], test[:kept]
    if not test:
        raise ValueError(f"{path}: all questions are for training; add some of the test split")
    return train, test


@cache
def clinic(path: Path | None) -> Clinic:
    train, test = questions(path)
    return Clinic((*train, *test))


class ClinicGame(Game):
    name = family = "clinic"
    version = 1
    seats = ("specialist",)
    roles = ("specialist_1", "specialist_2", "specialist_3", COORDINATOR)
    decisions = 2 * len(roles) * Clinic.rounds

    def replaced(self, seat: str, repetition: int) -> int:
        return seeded("clinic", "replaced", repetition).randrange(len(self.roles) - 1)

    def formation_tasks(self, repetition: int, configuration: Configuration, settings: Settings) -> list[str]:
        """A window of the training questions, another one in each repetition as far as they go."""
        train = [question.id for question in questions(settings.medqa)[0]]
        return rotated(train, repetition * configuration.formation, configuration.formation)

    def evaluation_tasks(self, repetition: int, configuration: Configuration, settings: Settings) -> list[str]:
        """A sample of the test questions, drawn anew in each repetition."""
        test = [question.id for question in questions(settings.medqa)[1]]
        return seeded("clinic", "evaluation", repetition).sample(test, min(settings.episodes, len(test)))

    def about(self, member: Member) -> str:
        part = "coordinator" if member.role == COORDINATOR else "specialist"
        specialty = "" if member.role == COORDINATOR else Clinic.specialties[member.seat]
        return prompt(f"swap/clinic_{part}").format(specialty=specialty)

    async def play(self, task: str, team: Team, table: Table, configuration: Configuration) -> Episode:
        world = clinic(table.stage.settings.medqa)
        state = world.begin(task)
        said: dict[tuple[int, str, str], str] = {}  # by round, phase and speaker: what was published
        while not world.is_over(state):
            number, phase, chosen = state.round, state.phase, dict[str, str]()
            replies: dict[str, Reply | None] = {}
            for agent in world.acting(state):
                member = team[world.agents.index(agent)]
                replies[agent] = await self.reply(world, state, member, agent, table, said)
            for agent, reply in replies.items():
                chosen[agent] = INVALID if reply is None else reply.action
                if reply is not None:
                    said[number, phase, agent] = reply.published
                    table.publish(number, agent, reply.published)
                    table.note(world.agents.index(agent), f"round {number}, {phase}: I said: {quoted(reply.published)}")
            state = world.step(state, chosen)
        answer, score = world.answer(state), world.score(state)
        for member in team:
            for (number, phase, speaker), text in said.items():
                if speaker != member.role:
                    table.note(member.seat, f"round {number}, {phase}, {speaker}: {quoted(text)}")
            table.note(member.seat, f"The team answered {answer or 'nothing readable'}; score {score:.0f} of 100.")
        rounds = state.round - 1
        return Episode(
            task, score, int(score > 0), 1, rounds, len(table.published), table.tokens,
            "done" if world.agreed(state, rounds) else "cap", table.invalid, table.retries,
            {"answer": answer, "said": [list(phase) for phase in state.said]},
        )  # fmt: skip

    async def reply(
        self, world: Clinic, state: ClinicState, member: Member, agent: str, table: Table,
        said: dict[tuple[int, str, str], str],
    ) -> Reply | None:  # fmt: skip
        """One member's reply in a phase, asked for once more where it cannot be read; None if it still cannot."""
        question, phase = world.question(state), state.phase
        system = prompt("swap/clinic_system").format(
            about=self.about(member), task=prompt(f"swap/clinic_{phase}"), **member.bound
        )
        discussion = [
            f"Round {number}, {past}, {speaker}:\n{quoted(said[number, past, speaker])}"
            for number, past, speaker in world.visible(state, agent) if (number, past, speaker) in said
        ]  # fmt: skip
        status = world.status(state) if agent == COORDINATOR and phase == "decide" else ""
        told = prompt("swap/clinic_turn").format(
            question=question.question,
            options="\n".join(f"{label}: {option}" for label, option in question.options.items()),
            round=state.round,
            discussion="\n\n".join(discussion) or "(nothing yet)",
            status=f"\n{status}\n" if status else "",
        )
        complaint = ""
        for attempt in ("decision", "retry"):
            user = told if not complaint else f"{told}\n\n{prompt('swap/complaint').format(complaint=complaint)}"
            assert_no_leak(f"{system}\n{user}", question, [member.notebook, *map(quoted, said.values()), complaint])
            text = (await table.ask(member, system, user, kind=attempt, step=len(state.said), phase=phase)).text
            found = read_reply(phase, text, list(question.options))
            if isinstance(found, Reply):
                return found
            complaint = found
            table.retries += attempt == "decision"
        table.invalid += 1
        return None
