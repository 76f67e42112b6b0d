"""What git itself makes of two changed ledgers: as one blob a field, and as one text.

``merge-tree --write-tree`` (git 2.38) needs real commits, since it takes no ``--merge-base``
before 2.40. All commits of a run go in by one ``fast-import``, all merges by one process.
"""

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from throughline_nb.ledger import Ledger
from throughline_nb.ledger.model import SECTIONS

Fields = dict[str, str]
RUNNING = ("note", "reason")


def explode(ledger: Ledger) -> Fields:
    """A ledger as paths and blobs: ``findings/F12/text``; running text has a word a line."""
    fields = {"project": ledger.project, "goal": ledger.goal}
    fields |= {f"meta/{key}": value for key, value in ledger.meta}
    for block in ledger.prose:
        assert f"prose/{block.place}" not in fields
        fields[f"prose/{block.place}"] = _a_word_a_line(block.text)
    for section in SECTIONS:
        for entry in ledger.list(section.attr):
            for name in ("text", *section.fields):
                value = getattr(entry, name)
                text = _a_word_a_line(value) if name in RUNNING else value
                fields[f"{section.attr}/{entry.id}/{name}"] = text
    return {path: text for path, text in fields.items() if text}


def _a_word_a_line(text: str) -> str:
    return "".join(f"{word}\n" for word in text.split())


class Git:
    """A bare repository of its own, which no configuration reaches.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {name: os.environ[name] for name in os.environ if not name.startswith("GIT_")}
        self.env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        self("init", "--quiet", "--bare", str(folder))

    def __call__(self, *args: str, given: bytes = b"", fine: Sequence[int] = (0,)) -> bytes:
        done = subprocess.run(
            ["git", "-c", "merge.renames=false", *args],
            cwd=self.folder,
            env=self.env,
            input=given,
            capture_output=True,
            check=False,
        )
        assert done.returncode in fine, done.stderr.decode()
        return done.stdout

    def merge_trees(self, triples: Sequence[tuple[Fields, Fields, Fields]]) -> list[Fields | None]:
        """Merge each (base, ours, theirs) with git's own merge of trees; None on a conflict."""
        self("fast-import", "--quiet", given=b"".join(_stream(triples)))
        asked = "".join(f"o{number} t{number}\n" for number in range(len(triples)))
        said = self(
            "merge-tree", "--write-tree", "--stdin", "--name-only", "-z", given=asked.encode()
        )
        answers = _answers(said.decode().split("\0"))
        clean = {number: tree for number, (fine, tree) in enumerate(answers) if fine}
        return [
            self._tree(clean[number]) if number in clean else None for number in range(len(triples))
        ]

    def _tree(self, tree: str) -> Fields:
        listed = self("ls-tree", "-r", "-z", tree).decode().split("\0")[:-1]
        blobs = [line.split("\t", 1) for line in listed]
        names = "".join(f"{head.split()[2]}\n" for head, _ in blobs)
        out = self("cat-file", "--batch", given=names.encode())
        found: Fields = {}
        at = 0
        for _, path in blobs:
            end = out.index(b"\n", at)
            size = int(out[at:end].split()[2])
            found[path] = out[end + 1 : end + 1 + size].decode()
            at = end + 2 + size
        return found

    def merge_file(self, base: str, ours: str, theirs: str) -> str | None:
        """Merge one text with ``git merge-file``; None on a conflict."""
        for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
            (self.folder / name).write_text(text, encoding="utf-8", newline="\n")
        args = ("merge-file", "--quiet", "-p", "ours", "base", "theirs")
        done = subprocess.run(
            ["git", *args], cwd=self.folder, env=self.env, capture_output=True, check=False
        )
        return done.stdout.decode() if done.returncode == 0 else None

    def merge_text(self, base: str, ours: str, theirs: str) -> str | None:
        """Merge running text, a word a line, as the store does."""
        merged = self.merge_file(*map(_a_word_a_line, (base, ours, theirs)))
        return None if merged is None else " ".join(merged.split())


def _stream(triples: Iterable[tuple[Fields, Fields, Fields]]) -> Iterable[bytes]:
    for number, sides in enumerate(triples):
        for letter, fields in zip("bot", sides, strict=True):
            yield f"commit refs/heads/{letter}{number}\n".encode()
            yield b"committer t <t@example.org> 0 +0000\ndata 0\n"
            if letter != "b":
                yield f"from refs/heads/b{number}\ndeleteall\n".encode()
            for path, text in fields.items():
                data = text.encode()
                yield f"M 644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


def _answers(parts: Sequence[str]) -> Iterable[tuple[bool, str]]:
    """Read ``status NUL tree NUL`` of each merge; behind it, only on a conflict, names and messages.

    A message is ``number NUL paths… kind NUL text NUL``, an empty string ends names and messages;
    see git-merge-tree(1), OUTPUT.
    """
    at = 0
    while at < len(parts) - 1:
        clean, tree = parts[at] == "1", parts[at + 1]
        at += 2
        if not clean:
            at = parts.index("", at) + 1
            while parts[at]:
                at += int(parts[at]) + 3
        at += 1
        yield clean, tree
