"""What a remote's address may be: a folder, ssh or https; everything else is refused by rule.

git itself takes more than that: ``ext::`` runs a program, a name that begins with a dash is an
option, ``git://`` and ``http://`` tell everybody on the way. So an address is judged here before
git sees it, and what git sees is built from the parts that were judged. A secret in an address is
never stored and never repeated in a message.
"""

import os
import re
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

import msgspec

from throughline_nb.errors import RefusedError

Kind = Literal["folder", "ssh", "web"]

_LONGEST: Final = 2000
"""Characters of an address; git's own limits are higher, no server's are."""

_TOKEN: Final = 20
"""Characters from which on a user name in a web address is taken for an access token; the tokens
of the large servers have 20 and more, and stand in the place of the user name."""

_HELPER = re.compile(r"[A-Za-z0-9+.-]*::")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_SCP = re.compile(
    r"(?:(?P<user>[^@/:\s]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^@/:\s\[\]]+):(?P<path>.*)"
)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+@-]*")
_SECRET = re.compile(r"(?<=://)[^/@\s]*:[^/@\s]*@|(?<=://)[^/@\s:]{20,}@|\?[^\s]*")
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_ALLOWED: Final = "name a folder, an ssh address (user@host:path) or an https address"


class Address(msgspec.Struct, frozen=True):
    """A remote, or a bundle's file, that git may be given.

    Attributes:
        kind: How it is reached.
        url: What git gets; holds no secret.
    """

    kind: Kind
    url: str

    @property
    def folder(self) -> Path | None:
        """The folder or file, where it is one of this machine."""
        return Path(self.url) if self.kind == "folder" else None


def address(text: str, base: Path | None = None) -> Address:
    """Judge what a person typed.

    Args:
        text: The address.
        base: Folder from which a relative path counts; the one the process stands in if None.

    Raises:
        RefusedError: It is none that may be used; the text says what may, and repeats no secret.
    """
    text = _unquoted(text.strip())
    if not text:
        raise RefusedError(f"The address is empty; nothing was changed: {_ALLOWED}.")
    if re.search(r"[\x00-\x1f\x7f\u2028\u2029]", text) or len(text) > _LONGEST:
        raise RefusedError(
            f"The address holds control characters or is too long; nothing was changed: {_ALLOWED}."
        )
    if text.startswith("-"):
        raise _refused(text, "looks like an option")
    if _HELPER.match(text) and not _DRIVE.match(text):
        raise _refused(text, "names a helper program")
    if scheme := _SCHEME.match(text):
        return _by_scheme(text, scheme[1].lower())
    if _DRIVE.match(text) or text.startswith((".", "/", "~", "\\")):
        return _folder(text, base)
    if ":" in text.split("/", 1)[0]:
        found = _SCP.fullmatch(text)
        if found is None:
            raise _refused(text, "cannot be read")
        return _ssh(text, found["user"] or "", found["host"].strip("[]"), found["path"], scp=True)
    return _folder(text, base)


def without_secret(text: str) -> str:
    """``text`` with passwords, tokens and queries taken out of the addresses in it."""
    return _SECRET.sub(lambda found: "?…" if found[0].startswith("?") else "…@", text)


def _by_scheme(text: str, scheme: str) -> Address:
    if scheme == "file":
        path = unquote(urlsplit(text).path)
        if os.name == "nt" and re.match(r"/[A-Za-z]:", path):
            path = path[1:]
        return _folder(path, None)
    if scheme not in {"ssh", "https", "http"}:
        raise _refused(text, f"uses {scheme}://")
    try:
        parts = urlsplit(text)
        host, port, path = parts.hostname or "", parts.port, parts.path
        user, secret = parts.username or "", parts.password
    except ValueError:
        raise _refused(text, "cannot be read") from None
    if secret is not None or (scheme != "ssh" and len(user) >= _TOKEN) or parts.query:
        raise RefusedError(
            f"The address of {host or 'the remote'} holds a password or token; nothing was stored: "
            "say it without, and let git's credential helper keep the secret."
        )
    if parts.fragment:
        raise _refused(text, "holds a #")
    if scheme == "ssh":
        return _ssh(text, unquote(user), host, path, port=port)
    if not _HOST.fullmatch(host) or (user and not _USER.fullmatch(unquote(user))):
        raise _refused(text, "has no host, or one that is no host's name")
    if scheme == "http" and host not in _LOOPBACK:
        raise _refused(text, "is not encrypted")
    where = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    return Address("web", f"{scheme}://{user + '@' if user else ''}{where}{path or '/'}")


def _ssh(
    text: str, user: str, host: str, path: str, *, port: int | None = None, scp: bool = False
) -> Address:
    if not _HOST.fullmatch(host) or (user and not _USER.fullmatch(user)):
        raise _refused(text, "has no host, or one that is no host's name")
    bare = path.removeprefix("/").removeprefix("~")
    if not bare or bare.startswith("-") or path.startswith("-"):
        raise _refused(text, "names no path on the host")
    who = f"{user}@" if user else ""
    where = f"[{host}]" if ":" in host else host
    if scp:
        return Address("ssh", f"{who}{where}:{path}")
    return Address("ssh", f"ssh://{who}{where}{f':{port}' if port else ''}{path}")


def _folder(text: str, base: Path | None) -> Address:
    path = Path(text)
    if text.startswith("~"):
        try:
            path = path.expanduser()
        except RuntimeError:
            raise _refused(text, "names a user's folder that there is not") from None
    if not path.is_absolute():
        path = (base or Path.cwd()) / path
    return Address("folder", os.path.normpath(path))


def _unquoted(text: str) -> str:
    """Without the quotation marks that a person puts around a path with spaces."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _refused(text: str, why: str) -> RefusedError:
    shown = without_secret(text)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    return RefusedError(f"“{shown}” {why}; nothing was changed: {_ALLOWED}.")
