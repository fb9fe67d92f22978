"""Shorten words as people say them: `do not` is `don't`."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_live_runtime.local.language.vocabulary import expand

_FORMS = """
i'm i've i'd i'll it's that's what's how's who's where's when's there's he's she's you're you've you'll we're we've
we'll they're don't doesn't didn't can't couldn't won't wouldn't isn't aren't wasn't haven't hasn't shouldn't let's
gonna wanna gimme
"""
CONTRACTIONS = tuple(_FORMS.split())
_CONTRACTED = {tuple(expand((word,))): word for word in CONTRACTIONS}


def contract(words: Sequence[str]) -> tuple[str, ...]:
    """Return `words` with each contraction that they allow."""
    contracted: list[str] = []
    at = 0
    while at < len(words):
        short = _CONTRACTED.get(tuple(words[at : at + 2]))
        contracted.append(short or words[at])
        at += 2 if short else 1
    return tuple(contracted)


def spelled(words: Sequence[str]) -> tuple[str, ...]:
    """Return `words` with `cannot` as one word."""
    joined: list[str] = []
    for word in words:
        if word == "not" and joined[-1:] == ["can"]:
            joined[-1] = "cannot"
        else:
            joined.append(word)
    return tuple(joined)
