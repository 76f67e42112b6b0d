"""Rounds of two writers that are killed while they write; print what was acknowledged.

Arguments: home, project, rounds. Everything is loaded once and each writer is a fork, so that a
round takes a moment. After each round one more change is made, which must go through.
"""

import itertools
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

import git  # noqa: F401 - loaded before the writers, which would each wait for it

from throughline_nb.ledger import edits
from throughline_nb.ledger.edits import By
from throughline_nb.store.home import Home
from throughline_nb.store.projects import Projects, Stamp

STAMP = Stamp(actor="model", now=time.time(), via="Tool: ledger_record")


def record(project, text):
    def edit(ledger):
        done = edits.record(ledger, "finding", text, By("model", "", "2026-10-17T12:04:09Z"))
        return done.ledger, done.sentence

    project.change(edit, STAMP)


def writer(home, name, tag, out):
    project = Projects(home).open(name)
    for i in itertools.count():
        record(project, f"{tag} measured {i} times")
        os.write(out, f"{tag} measured {i} times\n".encode())


def begin(home, name, tag):
    inward, outward = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(inward)
            writer(home, name, tag, outward)
        except BaseException:  # noqa: BLE001 - the end of this process
            traceback.print_exc()
        finally:
            os._exit(1)  # a writer never comes to its end
    os.close(outward)
    return pid, os.fdopen(inward)


def main():
    home, name, rounds = Home(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
    when = random.Random(7)
    acknowledged = set()
    for number in range(rounds):
        running = [begin(home, name, f"r{number}{side}") for side in "ab"]
        first = [stream.readline() for _, stream in running]
        time.sleep(when.random() * 0.03)
        for pid, _ in running:
            os.kill(pid, signal.SIGKILL)
        for line, (pid, stream) in zip(first, running, strict=True):
            assert os.waitpid(pid, 0)[1] == signal.SIGKILL
            acknowledged |= {line, *stream.readlines()}
            stream.close()
        project = Projects(home).open(name)
        found = {f"{entry.text}\n" for entry in project.read().ledger.findings}
        assert acknowledged <= found, acknowledged - found
        record(project, f"after round {number} it goes on")
        acknowledged.add(f"after round {number} it goes on\n")
    sys.stdout.writelines(sorted(acknowledged))


main()
