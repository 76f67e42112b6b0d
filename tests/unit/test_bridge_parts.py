"""The bridge's parts by themselves: lines, lanes, and messages that commands are told from."""

import io
import os
import threading
import time

import pytest

from throughline_nb.engine.intake import COMMAND
from throughline_nb.engine.turn import OTHER_COMMAND, asks_for_projects
from throughline_nb.hosts.bridge import pipes
from throughline_nb.hosts.bridge.lanes import Lanes


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", []),
        (b"a\nbb\n", [b"a\n", b"bb\n"]),
        (b"a\nhalf", [b"a\n"]),
        (b"12345678\nab\n", [b"12345678\n", b"ab\n"]),
        (b"123456789\nab\n", [None, b"ab\n"]),
        (b"x" * 200_000 + b"\nab\n", [None, b"ab\n"]),
        (b"x" * 200_000, [None]),
        (b"\n\n", [b"\n", b"\n"]),
    ],
)
def test_lines(data, found):
    assert list(pipes.lines(io.BufferedReader(io.BytesIO(data)), 8)) == found


def test_a_line_is_written_whole():
    reader, writer = os.pipe()
    data = b"x" * 1_000_000
    got = []

    def read():
        with os.fdopen(reader, "rb") as file:
            got.append(file.read())

    thread = threading.Thread(target=read)
    thread.start()
    pipes.write_line(writer, data)
    os.close(writer)
    thread.join(10)
    assert got == [data + b"\n"]


def test_a_lane_keeps_its_order_and_lanes_do_not_wait_for_each_other():
    lanes, done, go = Lanes(), [], threading.Event()
    lanes.submit("hung", lambda: go.wait(10))
    lanes.submit("hung", lambda: done.append("behind"))
    for number in range(50):
        lanes.submit(number % 3, lambda number=number: done.append(number))
    until = time.monotonic() + 10
    while len(done) < 50 and time.monotonic() < until:
        time.sleep(0.001)
    assert len(done) == 50
    assert not lanes.wait(0.01)
    assert lanes.wait(1, but="hung")
    for lane in range(3):
        mine = [number for number in done if number % 3 == lane]
        assert mine == sorted(mine)
    go.set()
    assert lanes.wait(10)
    assert done[-1] == "behind"


def test_a_job_that_fails_is_no_end_of_its_lane(caplog):
    lanes, done = Lanes(), []
    lanes.submit("a", lambda: 1 / 0)
    lanes.submit("a", lambda: done.append(1))
    assert lanes.wait(10)
    assert done == [1]


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("/tl", None),
        ("/tl ", None),
        ("  /TL\n", None),
        ("/tl goal x", "goal x"),
        ("/tl  goal  a\nb ", "goal  a\nb "),
        ("\n/Tl list", "list"),
    ],
)
def test_a_command_is_known(text, given):
    assert COMMAND.fullmatch(text)[1] == given


@pytest.mark.parametrize("text", ["", "/tlx", "tl", "/ tl", "say /tl list", "/tl-x", "//tl"])
def test_what_is_no_command(text):
    assert COMMAND.fullmatch(text) is None


LONG = 50_000
GAPS = [" " * LONG, "\n" * LONG, " \n" * LONG, "\t" * LONG]


@pytest.mark.parametrize("gap", GAPS, ids=["spaces", "lines", "both", "tabs"])
@pytest.mark.parametrize(
    "words", [("/tl a", "b"), ("/a", "x"), ("/a b", "\nx"), ("list my projects", "x"), ("", "what")]
)
def test_long_gaps_in_a_message_take_no_time(gap, words):
    """Patterns that could divide a run of white space in many ways took minutes for a page of it."""
    text = words[0] + gap + words[1]
    begin = time.process_time()
    COMMAND.fullmatch(text)
    OTHER_COMMAND.fullmatch(text)
    asks_for_projects(text)
    assert time.process_time() - begin < 0.5


def test_a_question_about_projects_is_known():
    assert asks_for_projects("  What's the status of\nmy projects? ")
    assert asks_for_projects("please list my projects")
    assert not asks_for_projects("list my projects and rename the first")
