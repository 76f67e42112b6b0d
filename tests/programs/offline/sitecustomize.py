"""Lets a Python process reach nothing but this machine; put its folder into ``PYTHONPATH``."""

import socket

_connect = socket.socket.connect


def connect(self, address):
    """Connect on loopback, and by files."""
    host = address[0] if isinstance(address, tuple) else ""
    if host and host not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"this process may not reach {host}")
    return _connect(self, address)


socket.socket.connect = connect
