"""Recall: the searchable copy of one long chat."""

from throughline_nb.store.recall.packing import Passage, lines
from throughline_nb.store.recall.recall import Recall

__all__ = ["Passage", "Recall", "lines"]
