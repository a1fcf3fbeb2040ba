"""A team that plays CUBE well by a fixed rule, from what every agent sees: for simulated agents and for tests.

The rule: of all blocks that have a clear way, first the one that scores most for the steps it takes the free agents
to gather and push; then the next one, with who is left. Where no block can be delivered, the shortest row of pushes
that frees one is looked for. It needs no memory, so every agent finds the same jobs in the same state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, permutations

from tasks.worlds.cooperation import Call, Place
from tasks.worlds.cube import Cube
from tasks.worlds.cube_board import MOVES, OPPOSITE, STAY, Block, CubeState, beside, far

LOOKED_AT = 2000  # arrangements of blocks that are looked at for one that frees a block
CHOICES = 10  # of them that are tried for what can be done afterwards


@dataclass(frozen=True)
class Job:
    """A block to push, whither and how often, and who stands where for it."""

    block: Block
    direction: str
    pushes: int
    posts: tuple[tuple[int, Place], ...]  # seat and cell
    steps: int  # until it is done

    def post(self, seat: int) -> Place | None:
        """Where `seat` is to stand, if it takes part."""
        return dict(self.posts).get(seat)


def decide(world: Cube, state: CubeState) -> dict[str, str]:
    """The action of every agent."""
    todo = jobs(world, state)
    posts = {seat: cell for job in todo for seat, cell in job.posts}
    actions: dict[int, str] = {}
    bodies, blocks = {*state.agents, *state.cover}, state.blocks
    for job in todo:
        ready = all(state.agents[seat] == cell for seat, cell in job.posts)
        open_ = not any(cell in bodies for cell in job.block.face(job.direction))
        if ready and open_ and len(job.posts) == job.block.weight:
            after = tuple(job.block.pushed(job.direction) if block == job.block else block for block in blocks)
            if job.block in _deliverable(world.size, blocks) or _keeps(world.size, blocks, after):
                actions.update((seat, job.direction) for seat, _ in job.posts)
                bodies.update(job.block.face(job.direction))
                blocks = after
    _walks(world, state, todo, posts, actions)
    return {agent: actions.get(seat, STAY) for seat, agent in enumerate(world.agents)}


def _keeps(size: int, before: tuple[Block, ...], after: tuple[Block, ...]) -> bool:
    """Whether a push leaves all that could be done before it."""
    return _solvable(size, after) or not _solvable(size, before)


def _walks(
    world: Cube, state: CubeState, todo: Sequence[Job], posts: Mapping[int, Place], actions: dict[int, str]
) -> None:
    """Add the steps of those who are not where they should be to `actions`: who is nearest goes first; who meets
    somebody that leaves waits or follows, and goes round anybody else."""
    lanes = {cell for job in todo for cell in _lane(job)}
    away: list[tuple[int, int, list[Place]]] = []
    for seat, place in enumerate(state.agents):
        if seat in posts and posts[seat] != place:
            away.append((far(world.size, [posts[seat]], state.cover).get(place, 0), seat, [posts[seat]]))
        elif seat not in posts and place in lanes:  # out of the way of others
            goals = [cell for cell in far(world.size, [place], state.cover) if cell not in {*lanes, *state.agents}]
            away.append((world.size, seat, goals))
    bodies = {place: seat for seat, place in enumerate(state.agents)}
    waiting = []
    for _, seat, goals in sorted(away):
        if not _walk(world, state, seat, far(world.size, goals, state.cover), bodies, actions):
            waiting.append((seat, goals))
    for seat, goals in waiting:
        distances = far(world.size, goals, state.cover)
        ahead = [cell for cell in _nearer(state.agents[seat], distances).values() if cell not in bodies]
        if not ahead:  # nobody there is about to leave
            others = {cell for cell, other in bodies.items() if other != seat}
            _walk(world, state, seat, far(world.size, goals, {*state.cover, *others}), bodies, actions)


def _walk(
    world: Cube,
    state: CubeState,
    seat: int,
    distances: dict[Place, int],
    bodies: dict[Place, int],
    actions: dict[int, str],
) -> bool:
    """Let `seat` go one step nearer, if nobody stands there."""
    for direction, cell in _nearer(state.agents[seat], distances).items():
        if cell not in bodies and cell not in state.agents[seat:]:  # who leaves it later is still there
            actions[seat] = direction
            del bodies[state.agents[seat]]
            bodies[cell] = seat
            return True
    return False


def _nearer(place: Place, distances: dict[Place, int]) -> dict[str, Place]:
    """The directions that lead nearer, and the cells there."""
    here = distances.get(place, 0)
    cells = {direction: beside(place, direction) for direction in MOVES}
    return {direction: cell for direction, cell in cells.items() if distances.get(cell, here) < here}


def plan(world: Cube, state: CubeState, agent: str) -> tuple[Call, ...]:
    """The same for one agent, as calls of tools: go to where it is to stand and push the block to its place; wait, or
    leave the way of others, where there is nothing to push yet."""
    seat = world.agents.index(agent)
    job = next((job for job in jobs(world, state) if job.post(seat)), None)
    action = decide(world, state)[agent]
    otherwise = Call("wait", (1,)) if action == STAY else Call("move", (action, 1))
    if job is None:
        return (otherwise,)
    post, name = job.post(seat), job.block.name
    ready = job.block in _deliverable(world.size, state.blocks)
    rounds = [10] * (job.pushes // 10) + [job.pushes % 10] * (job.pushes % 10 > 0)
    pushes = tuple(Call("push", (name, steps)) for steps in rounds) if ready else ()
    if post == state.agents[seat]:
        return pushes or (Call("push", (name, 1)) if action == job.direction else otherwise,)
    bodies = {*state.cover, *state.agents} - {state.agents[seat]}
    moves = far(world.size, [state.agents[seat]], bodies)
    nearest = min((moves[cell] for cell in job.block.face(OPPOSITE[job.direction]) if cell in moves), default=-1)
    if post is not None and moves.get(post) == nearest:  # so that is where the tool leads
        return (Call("navigate", (name, 30, OPPOSITE[job.direction])), *pushes)
    return (otherwise,)


def jobs(world: Cube, state: CubeState) -> list[Job]:
    """What the team is at, the most urgent first. The last one may have too few agents as yet."""
    free, found = list(range(world.team)), list[Job]()
    while free:
        busy = {job.block for job in found}
        rest = tuple(block for block in state.blocks if block not in busy)
        best = None
        for goals in _goals(world, state, rest):
            goals = [goal for goal in goals if goal[0] not in busy]
            staffed = [job for goal in goals if (job := _staffed(world, state, goal, free))]
            if staffed:
                best = min(staffed, key=lambda job: (job.steps / job.block.weight, job.block.number))
                break
            early = [job for goal in goals if (job := _staffed(world, state, goal, range(world.team)))]
            if early:  # too few for any: they go ahead to where they will be needed
                posts = tuple((seat, cell) for seat, cell in early[0].posts if seat in free)
                return [*found, replace(early[0], posts=posts)]
        if best is None:
            break
        found.append(best)
        free = [seat for seat in free if best.post(seat) is None]
    return found


Goal = tuple[Block, str, int]  # block, direction, pushes


def _goals(world: Cube, state: CubeState, rest: tuple[Block, ...]) -> Iterator[list[Goal]]:
    """What to do next, while others see to all blocks but `rest`: deliver a block; else what can be delivered when the
    others are gone; else a push that leads there."""
    size = world.size
    yield [_delivery(size, block) for block in _deliverable(size, state.blocks)]
    yield [_delivery(size, block) for block in _deliverable(size, rest)]
    if push := _release(size, rest):
        yield [(*push, 1)]


def _delivery(size: int, block: Block) -> Goal:
    return block, "right", size - block.column - block.weight


def _surroundings(size: int, blocks: Sequence[Block]) -> tuple[set[Place], dict[Place, int]]:
    """The covered cells, and the ones that agents get to from the first column, which blocks never enter."""
    cover = {cell for block in blocks for cell in block.cells}
    return cover, far(size, [(row, 0) for row in range(size)], cover)


def _deliverable(size: int, blocks: Sequence[Block]) -> list[Block]:
    """Blocks whose way to the goal no other block covers, and whose left side agents can get to."""
    cover, within = _surroundings(size, blocks)
    return [
        block
        for block in blocks
        if all(cell in within for cell in block.face("left"))
        and not any(
            (row, column) in cover
            for row in range(block.row, block.row + block.weight)
            for column in range(block.column + block.weight, size)
        )
    ]


@lru_cache(maxsize=1000)
def _release(size: int, blocks: tuple[Block, ...]) -> tuple[Block, str] | None:
    """The first of the fewest pushes after which some block can be delivered, and if possible all others then."""
    found = list(islice(_released(size, blocks), CHOICES))
    return next((push for push, after in found if _solvable(size, after)), found[0][0] if found else None)


@lru_cache(maxsize=1000)
def _solvable(size: int, blocks: tuple[Block, ...]) -> bool:
    """Whether all blocks can be delivered, each time by the fewest pushes that free one."""
    while blocks:
        if gone := _deliverable(size, blocks):  # which frees others, and is never for the worse
            blocks = tuple(block for block in blocks if block not in gone)
        else:
            blocks = next((after for _, after in _released(size, blocks)), ())
            if not blocks:
                return False
    return True


def _released(size: int, blocks: tuple[Block, ...]) -> Iterator[tuple[tuple[Block, str], tuple[Block, ...]]]:
    """Arrangements in which some block can be delivered, those of the fewest pushes first, and the first push."""
    queue: deque[tuple[tuple[Block, ...], tuple[Block, str] | None]] = deque([(blocks, None)])
    seen = {blocks}
    while queue and len(seen) < LOOKED_AT:
        blocks, first = queue.popleft()
        if first and _deliverable(size, blocks):
            yield first, blocks
            continue
        for block, direction in _pushable(size, blocks):
            after = tuple(block.pushed(direction) if other == block else other for other in blocks)
            if after not in seen:
                seen.add(after)
                queue.append((after, first or (block, direction)))


def _pushable(size: int, blocks: Sequence[Block]) -> Iterator[tuple[Block, str]]:
    """What could be pushed by agents that get there, but into no first column, out of which nothing can be pushed."""
    cover, within = _surroundings(size, blocks)
    for block in blocks:
        for direction in MOVES:
            ahead, behind = block.face(direction), block.face(OPPOSITE[direction])
            inside = all(0 <= row < size and 1 <= column < size - 1 for row, column in ahead)
            if inside and all(cell in within for cell in behind) and not any(cell in cover for cell in ahead):
                yield block, direction


def _staffed(world: Cube, state: CubeState, goal: Goal, seats: Sequence[int]) -> Job | None:
    """The job with those of `seats` that gather soonest; None where they are too few or cannot get there."""
    block, direction, pushes = goal
    cells = block.face(OPPOSITE[direction])
    fields = [far(world.size, [cell], state.cover) if cell not in state.cover else {} for cell in cells]
    best: tuple[int, int, tuple[int, ...]] | None = None
    for team in permutations(seats, block.weight):
        moves = [field.get(state.agents[seat], -1) for seat, field in zip(team, fields, strict=True)]
        if min(moves) >= 0 and (best is None or (max(moves), sum(moves), team) < best):
            best = max(moves), sum(moves), team
    if best is None:
        return None
    return Job(block, direction, pushes, tuple(zip(best[2], cells, strict=True)), best[0] + pushes)


def _lane(job: Job) -> list[Place]:
    """The cells that a block will pass."""
    return [beside(cell, job.direction, k) for cell in job.block.face(job.direction) for k in range(job.pushes)]
