"""Real servers on loopback: sshd, and git's own http-backend behind a small HTTP server."""

import base64
import getpass
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

PASSWORD = "open-sesame-42"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def bare(path):
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(path)], check=True)
    return path


# --- ssh


def sshd_path():
    """Where sshd is; where CI asks for it, its absence fails the test."""
    found = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin")
    if found is None and os.environ.get("THROUGHLINE_NEEDS_SSHD"):
        pytest.fail("sshd is not installed, though it was asked for")
    if found is None:
        pytest.skip("there is no sshd on this machine")
    return found


class Ssh:
    """A running sshd: ``url(path)``, and the command line of a client that it lets in."""

    def __init__(self, folder, port):
        self.folder = folder
        self.port = port

    def url(self, path):
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{path}"

    def command(self, *, key="client", hosts="known_hosts"):
        options = (
            f"-F /dev/null -i {self.folder / key} -o IdentitiesOnly=yes "
            f"-o UserKnownHostsFile={self.folder / hosts} -o GlobalKnownHostsFile=/dev/null"
        )
        return f"ssh {options}"


@contextmanager
def sshd(folder):
    program = sshd_path()
    folder.mkdir(mode=0o700)
    for name in ("host", "client", "stranger"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
        )
    port = free_port()
    shutil.copy(folder / "client.pub", folder / "authorized_keys")
    host = (folder / "host.pub").read_text().split()[:2]
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {' '.join(host)}\n")
    (folder / "empty").write_text("")
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder / 'host'}\n"
        f"AuthorizedKeysFile {folder / 'authorized_keys'}\nStrictModes no\nPidFile none\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n"
    )
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # where it locks itself in
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(
            [program, "-D", "-e", "-f", str(folder / "config")], stderr=log, stdout=log
        )
        try:
            _wait_for(port, running, folder / "log")
            yield Ssh(folder, port)
        finally:
            running.terminate()
            running.wait(10)


def _wait_for(port, running, log):
    for _ in range(200):
        if running.poll() is not None:
            pytest.fail(f"sshd ended: {log.read_text()}")
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("sshd does not listen")


# --- http


class Backend(BaseHTTPRequestHandler):
    """Hands each request to ``git http-backend`` (gitprotocol-http)."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._serve()

    def do_POST(self):
        self._serve()

    def _serve(self):
        body = self._body()
        server = self.server
        server.requests.append(self.path)
        if server.redirect:
            self._answer(302, [("Location", server.redirect)], b"")
            return
        if server.password and self.headers.get("Authorization") != _basic(server.password):
            self._answer(401, [("WWW-Authenticate", 'Basic realm="git"')], b"")
            return
        path, _, query = self.path.partition("?")
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
            "GIT_PROJECT_ROOT": str(server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "someone",
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=env, capture_output=True, check=False
        )
        head, _, data = done.stdout.partition(b"\r\n\r\n")
        fields = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n") if line]
        status = next((int(v.split()[0]) for k, v in fields if k == "Status"), 200)
        self._answer(status, [pair for pair in fields if pair[0] != "Status"], data)

    def _body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _answer(self, status, fields, data):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def _basic(password):
    return "Basic " + base64.b64encode(f"someone:{password}".encode()).decode()


@contextmanager
def http_backend(root, *, password="", certificate=None, redirect=""):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    server.daemon_threads = True
    server.root, server.password, server.redirect, server.requests = root, password, redirect, []
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    server.url = f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}"
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def served(root, name="runtimes.git"):
    """A bare repository that may be pushed to over HTTP."""
    path = bare(root / name)
    subprocess.run(["git", "-C", str(path), "config", "http.receivepack", "true"], check=True)
    return path


def self_signed(folder):
    """Certificate and key for 127.0.0.1."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key
