"""Words that were removed for good are known again in any dress, and nothing else goes."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.store.home import Home
from throughline_nb.store.purged import Purged

SECRET = "The key of the archive is Marigold-7731-Lantern"
WORDS = SECRET.replace("-", " ").split()
JOINS = st.sampled_from([" ", "-", "\n", ", ", " **", "_", "`", "\u00a0", "/"])


@pytest.fixture(scope="module")
def purged():
    with tempfile.TemporaryDirectory() as folder:
        made = Purged(Home(Path(folder) / "home"))
        made.add([SECRET, "既定のパスワードは七三一です", "Straße der Nelken 7731", "yes"])
        yield made


@given(
    before=st.text(max_size=30).map(lambda text: f"{text} . "),
    joins=st.lists(JOINS, min_size=len(WORDS) - 1, max_size=len(WORDS) - 1),
    case=st.sampled_from([str, str.upper, str.lower, str.title]),
    after=st.text(max_size=30).map(lambda text: f" . {text}"),
)
def test_in_any_dress(purged, before, joins, case, after):
    said = WORDS[0] + "".join(join + word for join, word in zip(joins, WORDS[1:], strict=True))
    found = purged.without(before + case(said) + after)
    assert found == f"{before}[purged]{after}"


@given(st.text(max_size=200))
def test_anything_else_stays(purged, text):
    assert purged.without(text) == text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("なお、既定のパスワードは七三一ですが。", "なお、[purged]が。"),
        ("STRASSE der nelken: 7731!", "[purged]!"),
        (f"{SECRET} {SECRET}", "[purged] [purged]"),
        (f"the {SECRET}s", f"the {SECRET}s"),
        ("yes", "yes"),
        ("The key of the archive is Marigold", "The key of the archive is Marigold"),
        ("The key of The key of the archive is marigold 7731 lantern", "The key of [purged]"),
        ("\ud83d half a pair", "\ud83d half a pair"),
        ("", ""),
    ],
)
def test_examples(purged, text, clean):
    assert purged.without(text) == clean


def test_the_file_does_not_hold_them(tmp_path):
    home = Home(tmp_path / "home")
    one, other = Purged(home), Purged(home)
    assert one.without(SECRET) == SECRET
    one.add([SECRET])
    one.add([SECRET])
    held = home.purged.read_text(encoding="utf-8").lower()
    assert not [word for word in WORDS if len(word) > 3 and word.lower() in held]
    assert held.count('"mark"') == 1
    assert other.without(f"so: {SECRET}") == "so: [purged]"  # another process's
    other.add(["another secret phrase"])
    assert one.without("Another secret phrase!") == "[purged]!"


@pytest.mark.parametrize("text", ["", "{", '{"salt": "zz"}', '{"phrases": [1]}', "\x00"])
def test_a_damaged_file_is_kept_beside(tmp_path, text):
    home = Home(tmp_path / "home")
    home.ensure_writable()
    home.purged.write_text(text, encoding="utf-8")
    purged = Purged(home)
    assert purged.without(SECRET) == SECRET
    purged.add([SECRET])
    assert purged.without(SECRET) == "[purged]"
    assert home.purged.with_suffix(".damaged.json").read_text(encoding="utf-8") == text
