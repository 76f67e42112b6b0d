"""``make demo``: a long chat with throughLine beside it, in less than half a minute.

Replays the bundled chat; edits ``ledger.md`` by hand in the middle, in an editor that escapes and
flattens, while the model goes on writing; takes a change back; goes on in a second chat; shows
what git knows of it all; writes a handoff; deletes a chat; asks a chat of weeks for what was said
in passing; and shares the project with a second machine. The project stays where the output says.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from throughline_nb.engine.session import Engine
from throughline_nb.errors import ThroughLineError
from throughline_nb.hosts.lmstudio.files import (
    Conversation,
    LMStudioChats,
    Prompt,
    TurnVersions,
    conversations,
    read_conversation,
)
from throughline_nb.hosts.replay import Clock, Player, Screen
from throughline_nb.store.cleanup import clean, plan
from throughline_nb.store.home import Home

sys.path.insert(0, str(Path(__file__).parent))
import editor
from long_chat import long_chat
from two_machines import two_machines

CHATS = Path(__file__).parents[1] / "data" / "conversations"
EDITED_IN = 13
"""Turn in which the person has ledger.md open; it is saved before the second call in it."""


def main() -> None:
    """Run the demo."""
    folder = Path(tempfile.mkdtemp(prefix="throughline-demo-"))
    screen = Screen.standard(print, brief=True)
    first, second = map(read_conversation, conversations(CHATS))
    clock = Clock(first.created)
    kept = LMStudioChats(copied(folder / "conversations"))
    engine = Engine(Home(folder / "home"), clock, chat_exists=kept)

    screen.line("throughLine keeps the state of a long problem outside the conversation.")
    screen.line(f"Everything below happens in {folder}")
    screen.line()
    screen.labelled("status", "the line that the user sees above the reply")
    screen.labelled("added", "what goes to the model with the user's message")
    screen.labelled("tools", "which tools of throughLine the model is offered, where that changes")
    screen.labelled("call", "a call of one of them, and the first line of its result")
    screen.labelled("calls", "calls of other tools")
    screen.labelled("becomes", "what a command of the user is replaced by")
    screen.labelled("you", "what a person does to ledger.md meanwhile")
    first_player = play_first(engine, first, screen, clock)
    clock.now = second.created
    chat(screen, second, "a second chat, a day later")
    player = Player(engine, second, screen, clock)
    for turn in second.turns:
        player.play(turn)

    project = engine.projects.find("llm-runtimes").path
    changes = second_chat_changes(engine, second)
    hand_over(first_player, first, screen, project)
    delete_chat(engine, second, kept, screen)
    long_chat(engine, screen, clock, kept.folder)
    with paged(screen, "What git knows: git log --graph"):
        git(project, "log", "--graph", "--format=%h %<(11,trunc)%an %s")
    with paged(screen, "What the second chat changed: git diff"):
        before_handoff = f"HEAD~{changes + 1}"
        git(project, "diff", "--unified=0", before_handoff, "HEAD", "--", "ledger.md")
    two_machines(engine, screen, folder)
    screen.heading("Look around")
    screen.line(f"The ledger:   {project / 'ledger.md'}")
    screen.line(f"The handoff:  {project / 'handoff.md'}")
    screen.line(f"The history:  git -C {project} log --graph")
    screen.line(f"A command:    {sys.executable} -m throughline_nb --home {engine.home.path} list")


def play_first(engine: Engine, first: Conversation, screen: Screen, clock: Clock) -> Player:
    """The first chat, with a hand edit in the middle of a turn."""
    chat(screen, first, "the first chat, 26 turns")
    player = Player(engine, first, screen, clock)
    for turn in first.turns:
        if turn.turn == EDITED_IN:
            player.play(turn, HandEdit(engine, screen))
        else:
            player.play(turn)
    return player


def hand_over(player: Player, first: Conversation, screen: Screen, project: Path) -> None:
    """Somebody else is to go on: the first chat writes a handoff, which quotes its sources."""
    screen.heading("A handoff, for a person or another model")
    typed = Prompt("/tl handoff", "/tl handoff")
    player.play(TurnVersions(first.turns[-1].turn + 1, (typed,), 0))
    text = (project / "handoff.md").read_text(encoding="utf-8")
    brief = text.partition("## 1. Brief")[2].partition("### What is known")[0]
    screen.block(brief.strip())
    evidence = text.partition("## 3. Evidence")[2].partition("## 4.")[0].splitlines()
    at = next(n for n, line in enumerate(evidence) if line.startswith("  - “"))
    screen.line()
    screen.block("\n".join(evidence[max(at - 3, 0) : at + 1]))


def delete_chat(engine: Engine, second: Conversation, kept: LMStudioChats, screen: Screen) -> None:
    """The second chat is deleted in LM Studio: its folder goes, the project stays."""
    screen.heading("A deleted chat: what a cleaning would do, and does")
    given = (engine.home, kept, engine.clock(), engine.settings())
    screen.labelled("before", f"{len(plan(*given).actions)} things to clean up")
    file = next(f for f in conversations(kept.folder) if f.name.startswith(f"{second.key.id}."))
    file.unlink()
    screen.labelled("you", f"(delete {second.name or 'the second chat'} in LM Studio)", "33")
    for action in plan(*given).actions:
        screen.labelled("dry run", action.would)
    for action in clean(*given):
        screen.labelled("cleaned", action.done)
    chats = ", ".join(map(str, engine.chats.bound("llm-runtimes")))
    screen.labelled("left", f"llm-runtimes, open in {chats}")


def copied(folder: Path) -> Path:
    """The bundled chats as LM Studio would hold them, so that one can be deleted."""
    shutil.copytree(CHATS, folder, ignore=shutil.ignore_patterns("source"))
    return folder


class HandEdit:
    """The person opens ledger.md as the turn begins, and saves it when the model wrote once."""

    def __init__(self, engine: Engine, screen: Screen) -> None:
        self._file = engine.projects.find("llm-runtimes").path / "ledger.md"
        self._screen = screen
        self._opened = ""

    def __call__(self, call: int) -> None:
        """Before each call of the model in that turn."""
        if call == 1:
            self._opened = self._file.read_text(encoding="utf-8")
            self._screen.labelled("you", "(open ledger.md in a rich-text editor)", "33")
        elif call == 2:
            text = editor.saved(editor.edited(self._opened))
            self._file.write_bytes(text.encode())
            self._screen.labelled(
                "you", "(save it, now older than what the model wrote since:)", "33"
            )
            shown = [
                line
                for line in text.splitlines()
                if "**S4" in line or "example server" in line or "24 open" in line
            ]
            self._screen.block("\n".join(shown[:4]))


def chat(screen: Screen, conversation: Conversation, what: str) -> None:
    """The heading of a chat."""
    name = conversation.name or "(no name)"
    screen.heading(f"{name}: {what}, {conversation.key}")


def second_chat_changes(engine: Engine, second: Conversation) -> int:
    """How many versions on the first-parent line the second chat made."""
    records = engine.projects.find("llm-runtimes").history(50)
    return sum(record.chat == str(second.key) for record in records)


@contextmanager
def paged(screen: Screen, title: str) -> Iterator[None]:
    """A heading for what git prints itself."""
    screen.heading(title)
    sys.stdout.flush()
    yield


def git(folder: Path, *arguments: str) -> None:
    """Print what git says."""
    colour = "never" if os.environ.get("NO_COLOR") or not sys.stdout.isatty() else "always"
    command = ["git", "-C", str(folder), "-c", f"color.ui={colour}", "--no-pager", *arguments]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    try:
        main()
    except ThroughLineError as error:
        sys.exit(f"demo: {error}")
    except BrokenPipeError:  # the reader closed early, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
