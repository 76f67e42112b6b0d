"""``python -m throughline_nb``: the same as the script ``throughline-nb``."""

from throughline_nb.hosts.cli import main

if __name__ == "__main__":
    main()
