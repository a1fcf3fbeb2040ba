"""Tokens of published texts: known examples of the o200k_base encoding, and properties of counting and clipping."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.tokens import clip, count

MIXED = st.text(st.sampled_from("ab cdE1,.\n\t '🙂é日𝔘\u200d\ud800"), max_size=40) | st.text(max_size=60)

# Published with the encoding: the cookbook's comparison of encodings, and single tokens of its vocabulary.
KNOWN = {
    "": 0,
    "hello world": 2,
    "antidisestablishmentarianism": 6,
    "2 + 2 = 4": 7,
    "お誕生日おめでとう": 8,
    "tiktoken is great!": 6,
    " the": 1,
    "🙂": 1,
}


@pytest.mark.parametrize(("text", "tokens"), KNOWN.items())
def test_known_counts(text, tokens):
    assert count(text) == tokens


def test_markers_are_plain_text():
    assert count("<|endoftext|>") == 7
    assert count("<|im_start|>system") > 4


def test_words_worth_counting():
    assert count(" ".join(["word"] * 1000)) == 1000
    assert count("A\nThe signs fit.") == count("A") + count("\n") + count("The signs fit.")


@given(MIXED, MIXED)
@settings(max_examples=300, deadline=None, derandomize=True, database=None)
def test_putting_texts_together_costs_next_to_nothing(a, b):
    assert count(a + b) <= count(a) + count(b) + 2


@given(MIXED, st.integers(0, 30))
@settings(max_examples=500, deadline=None, derandomize=True, database=None)
def test_clip_is_a_beginning_that_fits(text, most):
    kept = clip(text, most)
    assert text.startswith(kept)
    assert count(kept) <= most
    assert clip(kept, most) == kept
    if count(text) <= most:
        assert kept == text
    else:  # at most one character, of up to four tokens and what joins them, is left out beyond need
        assert count(kept) >= most - 4


def test_clip_cuts_where_tokens_end():
    assert clip("hello world", 1) == "hello"
    assert clip("hello world", 2) == "hello world"
    assert clip("a b c d e", 3) == "a b c"
    assert clip("𝔘𝔘", 1) == ""  # one character of three tokens
    assert clip("𝔘𝔘", 5) == "𝔘"
    assert clip("anything", 0) == ""


def test_clip_refuses_less_than_nothing():
    with pytest.raises(ValueError, match="-1 tokens; 0 or more"):
        clip("text", -1)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb" * 50, "\x00" * 100, "\u202e" * 99, "{{ 7*7 }}<script>" * 20])
def test_hostile_text_is_counted_and_clipped(text):
    assert count(text) >= 1
    for most in range(5):
        assert text.startswith(clip(text, most))
        assert count(clip(text, most)) <= most


def test_long_runs_take_no_time():
    assert count(" " * 1_000_000) < 20_000
    assert count(clip("a" * 200_000, 1000)) == 1000


def test_vocabulary_is_loaded_late():
    code = "import sys, graders.tokens; sys.exit('rs_bpe' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
