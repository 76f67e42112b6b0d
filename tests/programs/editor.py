"""A person at an editor: read ``ledger.md``, add a line, think, save; again and again.

Arguments: project's folder, how many saves, ``replace`` (save by rename), ``inplace`` (empty the
file, then fill it) or ``held`` (open it, and do so a moment later), a tag. Prints each line that
was saved.
"""

import random
import sys
import time
from pathlib import Path


def main():
    folder, number, way, tag = sys.argv[1:]
    path = Path(folder) / "ledger.md"
    think = random.Random(tag)
    for i in range(int(number)):
        text = ""
        while "## Decisions" not in text:  # another editor empties the file before it fills it
            text = path.read_text(encoding="utf-8")
        line = f"{tag} saw {i} of them"
        text = text.replace("## Decisions\n", f"- {line}\n\n## Decisions\n", 1)
        time.sleep(think.random() * 0.04)
        if way != "replace":
            with path.open("r+", encoding="utf-8", newline="\n") as file:
                if way == "held":
                    time.sleep(think.random() * 0.1)
                file.truncate()
                time.sleep(0.002)
                file.write(text)
        else:
            new = path.with_name(f".{tag}.swp")
            new.write_text(text, encoding="utf-8", newline="\n")
            new.replace(path)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        time.sleep(0.12)  # nobody saves again before the screen shows the new file


main()
