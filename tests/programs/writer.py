"""Record findings in a project, one change each; print a line when one is acknowledged.

Arguments: home, project, how many (0: until killed), a tag for the texts.
"""

import itertools
import sys
import time
from pathlib import Path

from throughline_nb.ledger import edits
from throughline_nb.ledger.edits import By
from throughline_nb.store.home import Home
from throughline_nb.store.projects import Projects, Stamp


def main():
    home, name, number, tag = sys.argv[1:]
    project = Projects(Home(Path(home))).open(name)
    stamp = Stamp(actor="model", now=time.time(), via="Tool: ledger_record")
    for i in range(int(number)) if int(number) else itertools.count():
        text = f"{tag} measured {i} times"

        def edit(ledger, text=text):
            done = edits.record(ledger, "finding", text, By("model", "", "2026-10-17T12:04:09Z"))
            return done.ledger, done.sentence

        project.change(edit, stamp)
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


main()
