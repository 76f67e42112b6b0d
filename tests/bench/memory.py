"""Memory of one process with a chat of so many messages: ``python -m tests.bench.memory N``.

Prints JSON: ``resident``, the process's peak resident set in bytes after its first turn, which is
handed the whole history, and five more; ``turn``, the peak of Python's allocations in one turn.
"""

import json
import sys
import tempfile
import tracemalloc
from pathlib import Path

from .chats import Chat


def peak_resident() -> int:
    """Peak resident set of this process in bytes.

    Linux' ``ru_maxrss`` starts with the parent's, so it is read from /proc there.
    """
    if sys.platform == "linux":
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    import psutil

    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(messages: int) -> dict[str, int]:
    """Measure a chat of so many messages."""
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(Path(folder), messages)
        chat.hand_in_all()
        for _ in range(5):
            chat.say(chat.next_turn())
        resident = peak_resident()
        history = chat.next_turn()
        tracemalloc.start()
        chat.say(history)
        turn = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return {"resident": resident, "turn": turn}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]))))
