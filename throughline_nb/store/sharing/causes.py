"""What git says when a remote cannot be reached, and what it means for a person."""

import re
from typing import Final

import msgspec

from throughline_nb.ledger.delta import clip
from throughline_nb.store.objects import one_line
from throughline_nb.store.sharing.addresses import without_secret


class Cause(msgspec.Struct, frozen=True):
    """One cause.

    Attributes:
        told: What a person is told.
        says: Regular expressions, one of which stands in what git says in English.
    """

    told: str
    says: tuple[str, ...]


CAUSES: Final = (
    Cause(
        "it did not let you in: set up a key or a credential helper with git first, since "
        "throughLine asks for no password",
        (
            r"Permission denied \(",
            r"Authentication failed",
            r"could not read (Username|Password)",
            r"terminal prompts disabled",
            r"HTTP 40[13]",
            r"error: 40[13]",
        ),
    ),
    Cause(
        "its host key is not known: connect once with ssh yourself",
        (r"Host key verification failed",),
    ),
    Cause(
        "it could not be reached: check the network, then say it again",
        (
            r"Could not resolve host",
            r"Name or service not known",
            r"nodename nor servname",
            r"Network is unreachable",
            r"No route to host",
        ),
    ),
    Cause(
        "it belongs to another user: `git config --global --add safe.directory` lets git in",
        (r"dubious ownership",),
    ),
    Cause(
        "there is no git repository: make an empty one there, or check the address",
        (
            r"does not appear to be a git repository",
            r"not found",
            r"does not exist",
            r"No such file",
            r"HTTP 404",
            r"not a git repository",
        ),
    ),
    Cause(
        "what it sent is damaged or not allowed",
        (
            r"fsck",
            r"unpack-objects",
            r"index-pack",
            r"bad object",
            r"missing blob",
            r"corrupt",
            r"fetch-pack",
            r"bogus",
        ),
    ),
    Cause(
        "the connection failed: say it again later",
        (
            r"Connection (refused|timed out|reset|closed)",
            r"Failed to connect",
            r"timed? ?out",
            r"Operation too slow",
            r"remote end hung up",
            r"early EOF",
            r"Couldn't connect",
        ),
    ),
    Cause(
        "it cannot be written there: check permissions and free space",
        (
            r"No space left",
            r"unable to (create|write)",
            r"Read-only",
            r"insufficient permission",
            r"Permission denied",
        ),
    ),
    Cause(
        "its protocol is not allowed here",
        (r"transport .* not allowed",),
    ),
)
"""The first that fits counts."""


def cause(said: str) -> str:
    """What it means that git said this; its own last words where that is not known."""
    for each in CAUSES:
        if any(re.search(pattern, said, re.IGNORECASE) for pattern in each.says):
            return each.told
    lines = [line for line in said.splitlines() if line.startswith(("fatal: ", "error: "))]
    last = re.sub(r"^(fatal|error): ", "", lines[-1]) if lines else "it gave no reason"
    return f"git says: {clip(without_secret(one_line(last)), 160)}"
