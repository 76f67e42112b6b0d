"""The tutorial, typed as it stands: each command, and each line that it promises."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHANGING = [
    (r"\b\d+-[0-9a-f]{4}\b", "VERSION"),
    (r"\b\d\d:\d\d\b", "TIME"),
    (r"\b[0-9a-f]{7}\b", "COMMIT"),
    (r"Written: .*handoff\.md", "Written: handoff.md"),
]


def steady(text):
    for pattern, word in CHANGING:
        text = re.sub(pattern, word, text)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_every_command_says_what_the_tutorial_promises(tmp_path):
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    home = tmp_path / "home"
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env |= {"THROUGHLINE_HOME": str(home), "NO_COLOR": "1", "PYTHONUTF8": "1"}
    folder, commands = tmp_path, 0
    edit = re.search(r"```markdown\n(.*?)```", text, re.DOTALL)[1]
    for block in re.finditer(r"```(console|markdown)\n(.*?)```", text, re.DOTALL):
        if block[1] == "markdown":
            ledger = folder / "ledger.md"
            was = ledger.read_text(encoding="utf-8")
            now = was.replace("## Findings\n", f"## Findings\n\n{edit}")
            ledger.write_text(now, encoding="utf-8", newline="\n")
            continue
        for part in re.split(r"^\$ ", block[2], flags=re.MULTILINE)[1:]:
            command, _, promised = part.partition("\n")
            if command.startswith("cd ~/.lmstudio/throughline/"):
                folder = home / command.removeprefix("cd ~/.lmstudio/throughline/")
                continue
            words = command.split()
            if words[0] == "throughline-nb":
                words[:1] = [sys.executable, "-m", "throughline_nb"]
            said = subprocess.run(
                words, cwd=folder, env=env, capture_output=True, encoding="utf-8", check=True
            )
            commands += 1
            lines = steady(said.stdout)
            assert [line for line in steady(promised) if line not in lines] == []
    assert commands >= 8
