"""``python -m tests.corpora``: make the fixtures again; with ``--check``, compare them instead."""

import argparse
import shutil
import sys

from tests.corpora import tools
from tests.corpora.fixtures import MADE
from tests.corpora.generate import generate


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpora", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 on a difference"
    )
    check = parser.parse_args().check
    tools.install()
    files = generate()
    if check:
        return _compare(files)
    shutil.rmtree(MADE, ignore_errors=True)
    for name, text in files.items():
        path = MADE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    size = sum(len(text.encode("utf-8")) for text in files.values())
    print(f"{len(files)} files, {size / 1e6:.1f} MB")
    return 0


def _compare(files: dict[str, str]) -> int:
    there = {
        path.relative_to(MADE).as_posix(): path.read_bytes()
        for path in MADE.rglob("*")
        if path.is_file()
    }
    made = {name: text.encode("utf-8") for name, text in files.items()}
    different = sorted(
        name for name in there.keys() | made.keys() if there.get(name) != made.get(name)
    )
    for name in different:
        print(f"differs: {name}")
    print(f"{len(made)} fixtures made again, {len(different)} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
