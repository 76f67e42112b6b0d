"""A sync that is killed with -9, git's processes with it: the next one goes on."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from machines import all_synced, restarted, sync, two
from stores import MODEL, finding, sound

from throughline_nb.store.sharing import incoming

ROUNDS = 8


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_killed_at_any_moment(tmp_path):
    first, second = two(tmp_path)
    when = random.Random(11)
    command = [
        sys.executable, "-m", "throughline_nb", "--home", str(first.home.path),
        "--project", first.slug, "sync",
    ]  # fmt: skip
    begun = time.monotonic()
    subprocess.run(command, check=True, capture_output=True)
    whole = time.monotonic() - begun
    expected = []
    for number in range(ROUNDS):
        first.change(finding(f"of the first in round {number}"), MODEL)
        second.change(finding(f"of the second in round {number}"), MODEL)
        expected += [f"of the first in round {number}", f"of the second in round {number}"]
        sync(second)
        running = subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(whole * when.uniform(0.3, 1.1))
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        first = restarted(first)
        ledger = all_synced(first, second)
        assert sorted(e.text for e in ledger.findings) == sorted(expected)
        assert not (first.repo.git / incoming.INCOMING).exists()
    assert sound(first.path)
    assert sound(second.path)
