"""How simulated models put things: varied surface forms around the same acts, drawn from the speaker's generator."""

from __future__ import annotations

import json
import random
from typing import Any

from tasks.frames import SCHEMES

UPRIGHT = [s for s in SCHEMES if not (s.flip_rows or s.flip_cols)]  # need no size of the grid
ASK = (
    "Please state what you know about it.",
    "What does your part say? Please state all of it.",
    "Could you tell me everything that you see?",
)


class Voice:
    """Says acts in words."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def pick(self, *forms: str) -> str:
        return self.rng.choice(forms)

    def told(self, answer: Any) -> str:
        """An answer in one of the forms in which people write it down."""
        if answer is None:
            return "I have no answer"
        if isinstance(answer, list):
            scheme = self.rng.choice(UPRIGHT)
            cells = [scheme.write((a, b), 0, 0) for a, b in answer] if self.rng.random() < 0.3 else answer
            form, joint = self.rng.choice(
                (("({}, {})", " -> "), ("({},{})", " "), ("[{}, {}]", ", "), ("({}, {})", ", "))
            )
            return joint.join(form.format(a, b) for a, b in cells)
        triples = all(isinstance(v, list) for v in answer.values())
        texts = {k: v if isinstance(v, str) else ", ".join(v) for k, v in answer.items()}
        if not triples and self.rng.random() < 0.3:
            return "; ".join(f"{k} -> {v} UTC" for k, v in texts.items())
        joint = self.pick("\n", "\n- ")
        return joint + joint.join(f"{k}: {v}" for k, v in texts.items())

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
