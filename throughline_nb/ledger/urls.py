"""URLs in text, and the one spelling in which two URLs of one page are equal."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote_to_bytes, urlsplit

_URL: Final = re.compile(
    r"(?i)(?<![a-z0-9])https?://[^\s<>\"`\\^{}|\u3000-\u303f\uff00-\uff0e\uff1a-\uff60]+"
)
_CLOSING: Final = ".,;:!?'*_~"
_PAIRS: Final = {")": "(", "]": "["}

_DEFAULT_PORTS: Final = (None, 80, 443)
_PLAIN: Final = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!'()*,:@"
)
"""What is never encoded: RFC 3986's unreserved characters, and those that no server tells apart
from their encoding."""

_PATH_SAFE: Final = "/:@!$&'()*+,;=%~"
_QUERY_SAFE: Final = _PATH_SAFE + "?"

_TRACKING: Final = re.compile(
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|li_fat_id"
    r"|igshid|mc_[ce]id|_ga|_gl|_hsenc|_hsmi|__hs\w+|mkt_tok|vero_(?:id|conv)|oly_(?:anon|enc)_id"
    r"|wickedid|ref_(?:src|url)|s_cid|srsltid",
    re.IGNORECASE,
)
"""Parameters that only say where a reader came from, as browsers' query-stripping lists name them
(Firefox ``privacy.query_stripping.strip_list``, the ClearURLs rules)."""

_HOST: Final = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", re.IGNORECASE)
_TOP_LEVEL: Final = frozenset(
    [
        "ai",
        "app",
        "at",
        "au",
        "be",
        "blog",
        "br",
        "ca",
        "ch",
        "cloud",
        "cn",
        "co",
        "com",
        "cz",
        "de",
        "dev",
        "edu",
        "es",
        "eu",
        "fi",
        "fr",
        "gg",
        "gov",
        "in",
        "info",
        "int",
        "io",
        "it",
        "jp",
        "kr",
        "me",
        "mil",
        "net",
        "nl",
        "no",
        "nz",
        "org",
        "pl",
        "pt",
        "se",
        "sh",
        "tech",
        "tv",
        "tw",
        "uk",
        "us",
        "wiki",
        "xyz",
    ]
)
"""Top-level domains by which a bare ``example.org/x`` is told from a path."""


def urls_in(text: str) -> Iterator[str]:
    """The http and https URLs in running text, cut at punctuation that belongs to the sentence."""
    for match in _URL.finditer(text):
        url = match.group()
        while url:
            last = url[-1]
            opened = _PAIRS.get(last)
            if last in _CLOSING or (opened and url.count(opened) < url.count(last)):
                url = url[:-1]
            else:
                break
        if len(url) > len("https://"):
            yield url


def bare_url(text: str) -> str:
    """``https://`` put before what is a URL without a scheme (``example.org/x``), or empty."""
    host, slash, _ = text.partition("/")
    name = host.partition(":")[0]
    if " " in text or not _HOST.fullmatch(name):
        return ""
    known = name.rpartition(".")[2].lower() in _TOP_LEVEL
    return f"https://{text}" if known and (slash or name.lower().startswith("www.")) else ""


@lru_cache(maxsize=4096)
def normalise_url(url: str) -> str:
    """The spelling by which URLs are compared; not one to open a page by.

    The scheme is always ``https``; the host in lower case and IDNA; default port, user, fragment,
    trailing slash and tracking parameters are gone; percent-encoding is that of RFC 3986, section
    6.2.2. The order of a query's parameters counts and is kept.

    Args:
        url: An absolute http or https URL.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    if parts.scheme not in ("http", "https"):
        return url
    netloc = _host(host) + ("" if port in _DEFAULT_PORTS else f":{port}")
    path = _encoded(_without_dots(parts.path), _PATH_SAFE).rstrip("/")
    pairs = [
        _encoded(pair.replace("+", "%20"), _QUERY_SAFE)
        for pair in parts.query.split("&")
        if pair and not _tracks(pair)
    ]
    return f"https://{netloc}{path}" + (f"?{'&'.join(pairs)}" if pairs else "")


def _host(host: str) -> str:
    host = host.rstrip(".")
    if ":" in host:
        return f"[{host}]"
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return host.lower()
    return host.lower()


def _without_dots(path: str) -> str:
    """``path`` without dot segments (RFC 3986, section 5.2.4)."""
    if "/." not in path:
        return path
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if path.endswith(("/.", "/..")):
        kept.append("")
    return "/".join(kept)


def _encoded(text: str, safe: str) -> str:
    """``text`` with :data:`_PLAIN` characters plain, and all others as upper-case ``%XX``."""
    text = re.sub(r"%[0-9A-Fa-f]{2}", _plain, text)
    text = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", text)
    return quote(text, safe=safe)


def _plain(match: re.Match[str]) -> str:
    byte = unquote_to_bytes(match.group())
    return byte.decode("ascii") if byte[0] in _PLAIN else match.group().upper()


def _tracks(pair: str) -> bool:
    name, _, value = pair.partition("=")
    if name.lower() == "ref":
        # On GitHub and elsewhere ``ref`` names a branch; only another site's name is a trace.
        return bool(_HOST.fullmatch(value)) and value.rpartition(".")[2].lower() in _TOP_LEVEL
    return _TRACKING.fullmatch(name) is not None
