"""``make demo`` shows what it promises, and leaves a sound project where it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from throughline_nb.ledger import read

DEMO = Path(__file__).parents[1] / "demo" / "demo.py"


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> str:
    folder = str(tmp_path_factory.mktemp("demo"))
    env = {**os.environ, "TMPDIR": folder, "TEMP": folder, "TMP": folder, "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, DEMO], env=env, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def project(shown) -> Path:
    ledger = re.search(r"^The ledger: +(\S+)$", shown, re.MULTILINE)[1]
    return Path(ledger).parent


@pytest.mark.parametrize(
    "line",
    [
        "Everything below happens in ",
        "started by itself: /tl accept",
        "    status  throughLine: llm-runtimes, step 4 of 7",
        "(open ledger.md in a rich-text editor)",
        r"│ *   \[x\] **S4** Settle what",
        "your edit of ledger.md was merged: S4 done",
        "The user edited ledger.md by hand: S4 done; F10 changed; F12 added.",
        "Undone: C2 added: Nothing that needs more than 24 GB of VRAM",
        "      user  /tl open llm-runtimes",
        "Project llm-runtimes is open here",
        "What git knows: git log --graph",
        "ledger.md edited by hand, from version",
        "|\\",
        "+- **F4** Ollama's newest release is v0.13.2",
        "+  - state: verified",
        "A handoff, for a person or another model",
        "│ ### Where it stands",
        "│   - “",
        "dry run  Would remove chat lmstudio/",
        "cleaned  Removed chat lmstudio/",
        "left  llm-runtimes, open in lmstudio/1764500000000",
        "0 tokens of history; nothing on disk; tools: none",
        "tokens of history; a copy to search is kept; tools: recall",
        "Peak memory was 5.7 GB",
        "Nothing is sent yet. This shares llm-runtimes with",
        "│ What would leave this machine:",
        "Project llm-runtimes is here, with ",
        "both sides merged; renumbered",
        "ledgers  equal on both machines",
        "key id 7F3A91C2",
    ],
)
def test_what_a_user_sees(shown, line):
    assert line in shown


def test_the_screen_is_a_hundred_columns_and_plain(shown):
    replayed = shown.partition("What git knows")[0]
    assert max(map(len, replayed.splitlines()[3:])) <= 100
    assert "\033" not in shown


def test_the_project_is_sound_and_holds_both_sides_of_the_edit(project):
    ledger = read((project / "ledger.md").read_text(encoding="utf-8")).ledger
    by_user = ledger.get("F12")
    assert (by_user.by, by_user.source) == ("user", "https://exllamav3.example.net/issues")
    assert "reserves 8,192" in ledger.get("F10").text
    assert ledger.get("F11").by == "model"  # written while the editor was open
    assert ledger.get("S4").status == "done"
    for command in (["fsck", "--strict"], ["status", "--porcelain"]):
        said = subprocess.run(
            ["git", "-C", project, *command], capture_output=True, text=True, check=True
        )
        assert said.stdout == ""
    text = (project / "ledger.md").read_text(encoding="utf-8")
    assert "\\_" not in text
    assert "===" not in text
    handoff = (project / "handoff.md").read_text(encoding="utf-8")
    assert "## 3. Evidence" in handoff
    assert handoff.count("  - “") > 3
