"""``python -m throughline_nb``: the same as the script ``throughline-nb``."""

import gc
import sys


def _main() -> None:
    if sys.argv[1:] == ["bridge"]:  # LM Studio's plugin waits for it, and the rest is not needed
        gc.disable()  # loading leaves no garbage; the bridge enables it
        from throughline_nb.hosts import bridge  # noqa: PLC0415

        bridge.main()
    from throughline_nb.hosts import cli  # noqa: PLC0415

    cli.main()


if __name__ == "__main__":
    _main()
