"""What would leave this machine: said before the first push, and of what a bundle holds."""

import re
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.ledger.fence import neutral
from throughline_nb.store import gitrun, refs
from throughline_nb.store.objects import LEDGER_FILE
from throughline_nb.store.records import is_ours

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

_SHOWN = 4
_CHAT = re.compile(r"turn \d+ of (\S+)")


class Leaving(msgspec.Struct, frozen=True):
    """What the history of a project holds.

    Attributes:
        versions: How many versions of the ledger.
        edits: Hand edits and own commits, kept as they were typed, word for word.
        chats: Chats that are named by their ids.
        people: Names and addresses in the commits.
        retracted: Findings that no longer count, with what they said.
        deleted: Ids of entries that stand only in the history.
        files: Other files.
        kept: Copies for rescue that stay here.
    """

    versions: int
    edits: int
    chats: tuple[str, ...]
    people: tuple[str, ...]
    retracted: tuple[str, ...]
    deleted: tuple[str, ...]
    files: tuple[str, ...]
    kept: int

    @property
    def lines(self) -> list[str]:
        """As a person reads it, one thing a line."""
        found = [
            f"{_many(self.versions, 'version')} of ledger.md, with when and by whom it was changed"
        ]
        if self.edits:
            found.append(f"{_many(self.edits, 'hand edit')}, as typed, word for word")
        if self.retracted:
            found.append(f"retracted findings: {_some(self.retracted)}")
        if self.deleted:
            found.append(f"deleted entries, which the history still holds: {_some(self.deleted)}")
        if self.chats:
            found.append(f"ids of {_many(len(self.chats), 'chat')}: {_some(self.chats)}")
        if self.people:
            found.append(f"names and addresses: {_some(self.people)}")
        if self.files:
            found.append(f"other files: {_some(self.files)}")
        if self.kept:
            found.append(f"not sent: {_many(self.kept, 'rescue copy', 'rescue copies')}")
        return [neutral(line) for line in found]


def leaving(project: "Project") -> Leaving:
    """Look through the whole history of the branch; nothing is sent."""
    repo = project.repo
    commits = list(repo.log(refs.MAIN))
    ledger = project.read().ledger
    ours = [commit for commit in commits if is_ours(commit)]
    chats = [commit.trailers.get("Chat", "") for commit in ours]
    chats += [found for e in ledger.entries() for found in _CHAT.findall(e.origin)]
    known = {entry.id for entry in ledger.entries()}
    ever = [
        match[1]
        for commit in reversed(ours)
        if (match := re.match(r"([CSFDQP][1-9][0-9]*) ", commit.subject))
    ]
    done = gitrun.run(repo.git, "ls-tree", "-r", "-z", "--name-only", refs.MAIN)
    names = done.stdout.decode("utf-8", "replace").split("\0")
    return Leaving(
        versions=len(ours),
        edits=len(commits) - len(ours),
        chats=tuple(dict.fromkeys(chat for chat in chats if chat)),
        people=tuple(
            dict.fromkeys(
                str(c.author) for c in commits if not c.author.email.endswith("@localhost")
            )
        ),
        retracted=tuple(entry.id for entry in ledger.findings if entry.retracted),
        deleted=tuple(dict.fromkeys(ident for ident in ever if ident not in known)),
        files=tuple(n for n in names if n not in ("", LEDGER_FILE, ".gitattributes")),
        kept=len(refs.list_refs(repo.git, refs.RESCUE)),
    )


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or f'{one}s'}"


def _some(names: tuple[str, ...]) -> str:
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
