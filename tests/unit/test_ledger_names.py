"""The public names of the ledger are what they say, in whatever order they are first used."""

import subprocess
import sys

import pytest

ORDERS = [
    "from throughline_nb.ledger import Merged, merge",
    "from throughline_nb.ledger import merge, Merged",
    "from throughline_nb.ledger.merge import Merged; from throughline_nb.ledger import merge",
    "import throughline_nb.ledger.merge; from throughline_nb.ledger import *",
]


@pytest.mark.parametrize("order", ORDERS)
def test_merge_is_the_function(order):
    code = f"{order}\nfrom throughline_nb.ledger import Ledger\nassert merge(Ledger(), Ledger(), Ledger()).ledger == Ledger()"
    subprocess.run([sys.executable, "-c", code], check=True)
