"""How simulated models put things: varied surface forms around the same acts, drawn from the speaker's generator."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any

from tasks.answers import FieldsForm, Form, PathForm, TableForm
from tasks.frames import schemes

ASK = (
    "Please state what you know about it.",
    "What does your part say? Please state all of it.",
    "Could you tell me everything that you see?",
)


class Voice:
    """Says acts in words."""

    def __init__(self, rng: random.Random, form: Form) -> None:
        self.rng = rng
        self.form = form

    def pick(self, *forms: str) -> str:
        return self.rng.choice(forms)

    def told(self, answer: Any) -> str:
        """An answer in one of the forms in which people write it down."""
        if answer is None or answer in ({}, []):
            return "I have no answer"
        told: str = getattr(self, f"told_{self.form.kind}")(answer)
        return told

    def told_path(self, cells: Any) -> str:
        dims = self.form.dims if isinstance(self.form, PathForm) else 2
        scheme = self.rng.choice([s for s in schemes(dims) if not any(s.flips)])  # the others need the grid's size
        shift = self.rng.random() < 0.3
        told = [scheme.write(tuple(cell), (0,) * dims) if shift else cell for cell in cells]
        marks, joint = self.rng.choice((("(, )", " -> "), ("(,)", " "), ("[, ]", ", "), ("(, )", ", ")))
        return joint.join(f"{marks[0]}{marks[1:-1].join(map(str, cell))}{marks[-1]}" for cell in told)

    def told_cells(self, cells: Any) -> str:
        form, joint = self.rng.choice((("({}, {})", ", "), ("({},{})", " "), ("[{}, {}]", ", ")))
        return joint.join(form.format(*cell) for cell in cells)

    def told_paths(self, paths: Any) -> str:
        return "\n" + "\n".join(
            f"{walker}: {' -> '.join(f'({a}, {b})' for a, b in cells)}" for walker, cells in paths.items()
        )

    def told_trail(self, edges: Any) -> str:
        if all(a[1] == b[0] for a, b in pairwise(edges)) and self.rng.random() < 0.5:
            return self.pick(" -> ", " - ", ", ").join([edges[0][0], *(v for _, v in edges)])
        form = self.pick("{}-{}", "({}, {})", "{} - {}")
        return ", ".join(form.format(*edge) for edge in edges)

    def told_groups(self, groups: Any) -> str:
        form = self.pick("({})", "{{{}}}", "[{}]")
        return self.pick(", ", "; ", "\n").join(form.format(", ".join(group)) for group in groups)

    def told_order(self, items: Any) -> str:
        if self.rng.random() < 0.3:
            return "\n" + "\n".join(f"{i}. {item}" for i, item in enumerate(items, 1))
        return self.pick(", ", " > ", " -> ").join(items)

    def told_number(self, number: Any) -> str:
        return self.pick("{}", "**{}**", "{}.").format(number)

    def told_text(self, text: Any) -> str:
        return self.pick("{}", '"{}"', "**{}**").format(text)

    def told_grid(self, rows: Any) -> str:
        joint = self.pick("", " ")
        return "\n" + "\n".join(joint.join(row) for row in rows)

    def told_fields(self, values: Any) -> str:
        fields = self.form.items if isinstance(self.form, FieldsForm) else {}

        def told(item: str, value: Any) -> str:
            if not isinstance(value, list):
                return str(value)
            return (" -> " if fields[item].kind == "order" else ", ").join(value) or "none"

        return self.lines({item: told(item, value) for item, value in values.items()})

    def told_table(self, cells: Any) -> str:
        if not isinstance(self.form, TableForm):
            return ""
        keys = {row: [self.form.cell(row, column) for column in self.form.columns] for row in self.form.rows}
        return self.lines({row: ", ".join(cells[k] for k in of if k in cells) for row, of in keys.items()})

    def told_queries(self, triples: Any) -> str:
        return self.lines({query: ", ".join(triple) for query, triple in triples.items()})

    def told_slots(self, times: Any) -> str:
        if self.rng.random() < 0.3:
            return "; ".join(f"{event} -> {time} UTC" for event, time in times.items())
        return self.lines(times)

    def lines(self, items: dict[str, str]) -> str:
        joint = self.pick("\n", "\n- ")
        return joint + joint.join(f"{item}: {value}" for item, value in items.items())

    def final(self, answer: Any) -> str:
        told = self.told(answer)
        form = self.pick("FINAL: {}", "**FINAL:** {}", "Final answer: {}", "FINAL:\n```\n{}\n```")
        return form.format(told.strip("\n") if "```" in form else told)

    def yaml(self, answer: Any) -> str:
        """A YAML reply of an extractor; JSON is YAML."""
        return f'answer: {json.dumps(answer)}\nscheme: "as written"'

    def solution(self, answer: Any, second_look: bool) -> str:
        begin = self.pick("I checked it step by step.", "Here is what I found.", "Going through all of it:")
        if second_look:
            begin = self.pick("I went over it again.", "Second look: each step checked.", "Reviewed.")
        return f"{begin}\n\n{self.final(answer)}"

    def share(self, shown: str, ask: bool) -> str:
        begin = self.pick("This is my part:", "Here is all I see:", "My information, complete:")
        fence = self.pick("", "```\n")
        text = f"{begin}\n{fence}{shown}\n{fence.strip()}".rstrip()
        return f"{text}\n\n{self.pick(*ASK)}" if ask else f"{text}\n\n{self.pick('That is it.', 'Over to you.')}"

    def is_question(self, text: str) -> bool:
        """Whether a message ends by asking; what stands above its last paragraph is information."""
        last = text.rstrip().rpartition("\n\n")[2].lower()
        return "?" in last or "please" in last

    def small_talk(self) -> str:
        return self.pick("Thanks, noted. Go ahead.", "Good, let us start.", "Understood. Make a proposal")

    def proposal(self, answer: Any, combined: str | None) -> str:
        block = f"Combining both parts:\n{combined}\n\n" if combined else ""
        lead = self.pick("So I propose:", "This is my proposal:", "Then this should be right:")
        return f"{block}{lead}\n{self.final(answer)}"

    def accept(self, answer: Any) -> str:
        if self.rng.random() < 0.5:
            return self.pick("Agreed. ACTI!", "I agree with your answer. **ACTI!**", "Looks good to me. ACTI!")
        return f"{self.pick('Fine.', 'Agreed.')}\n{self.final(answer)}\nACTI!"

    def recomputed(self, answer: Any, same: bool) -> str:
        work = self.pick("I recomputed it from both parts", "I went through every step myself")
        outcome = "and come to the same result." if same else "and come to another result."
        return f"{work} {outcome}\n{self.final(answer)}\nACTI!"
