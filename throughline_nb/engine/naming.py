"""What a project is called when nobody named it."""

from typing import Final

WORDS: Final = 6
"""Words of the goal or the first message that make a name."""

_LOOSE_ENDS: Final = {
    *("a", "an", "and", "as", "at", "by", "for", "from", "in"),
    *("of", "on", "or", "per", "than", "the", "to", "vs", "with"),
}


def title_of(text: str) -> str:
    """The first words of a text, not ending in one that leads on; empty for an empty text."""
    words = text.split()[:WORDS]
    while len(words) > 1 and words[-1].casefold() in _LOOSE_ENDS:
        words.pop()
    return " ".join(words)
