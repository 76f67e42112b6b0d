"""What a user can be told, one sentence each.

Every error that may reach a person is a :class:`ThroughLineError`: its text says what happened,
what was kept, and what to do next. Hosts print it as it is; anything else is a defect, which a
host logs and reports in one line of its own.
"""


class ThroughLineError(Exception):
    """An error whose text is one sentence for a person."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback; the cell fails with this one line."""
        return [f"throughLine: {self}"]


class NotFoundError(ThroughLineError):
    """A project, entry or version that was named is not there."""


class RefusedError(ThroughLineError):
    """A rule of the ledger forbids the change; nothing was changed."""


class StoreError(ThroughLineError):
    """The disk, git or another process stands in the way; nothing was changed."""


class NewerFormatError(StoreError):
    """A home or project of a newer format: it is read, never written."""


class UnreadableFileError(ThroughLineError):
    """A file of another program is not what it should be; it was left as it is."""
