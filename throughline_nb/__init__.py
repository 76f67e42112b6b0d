"""throughLine: the state of a long problem, kept outside the conversation."""

__version__ = "0.1.0"
