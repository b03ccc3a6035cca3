"""TLS to Redis: what is verified, and one line shared by threads (docs/rules.md, Redis; C068). The server here speaks no TLS, so a small
terminating proxy stands before it, as a provider's would."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from cmsmcp.protocol.errors import Unavailable
from cmsmcp.state.redis.bus import RedisBus
from cmsmcp.state.redis.client import Client


def certify(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate for `name`, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False).sign(key, SHA256())
    )
    cert_file, key_file = folder / f"{name}.crt", folder / f"{name}.key"
    cert_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return cert_file, key_file


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def accept(listener: socket.socket, context: ssl.SSLContext, target: str) -> None:
    while True:
        try:
            raw, _ = listener.accept()
        except OSError:
            return
        try:
            outside = context.wrap_socket(raw, server_side=True)
        except OSError:
            raw.close()
            continue
        inside = socket.socket(socket.AF_UNIX)
        inside.connect(target)
        for pair in ((outside, inside), (inside, outside)):
            threading.Thread(target=pump, args=pair, daemon=True).start()


@pytest.fixture
def tls(redis_server: Any, tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """The port of the proxy, and the certificate to trust. It is made out to `localhost`."""
    cert_file, key_file = certify(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert_file, key_file)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, args=(listener, context, str(redis_server.socket)), daemon=True).start()
    yield listener.getsockname()[1], cert_file
    listener.close()


def test_threads_share_one_tls_line(tls: tuple[int, Path]) -> None:
    port, trusted = tls
    client = Client(f"rediss://localhost:{port}/0?ssl_ca_certs={trusted}", timeout=2.0)

    def talk(who: int) -> None:
        for turn in range(100):
            word = f"{who}/{turn}/" + "x" * (turn * 997 % 60_000)
            assert client.call("ECHO", word) == word.encode()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(talk, range(6)))
    client.close()


def test_the_bus_listens_over_tls(tls: tuple[int, Path], site: str) -> None:
    port, trusted = tls
    client = Client(f"rediss://localhost:{port}/0?ssl_ca_certs={trusted}", timeout=2.0)
    bus, heard, done = RedisBus(client, site), [], threading.Event()
    bus.listen("n", lambda body: done.set() if body["n"] < 0 else heard.append(body["n"]))
    for number in [*range(100), -1]:
        bus.publish("n", {"n": number, "much": "x" * 20_000})
    assert done.wait(60) and heard == list(range(100))
    bus.close()
    client.close()


def test_a_certificate_nobody_vouches_for_is_refused(tls: tuple[int, Path], tmp_path: Path) -> None:
    port, trusted = tls
    stranger, _ = certify(tmp_path, "stranger")
    for url in (f"rediss://localhost:{port}", f"rediss://localhost:{port}?ssl_ca_certs={stranger}", f"rediss://127.0.0.1:{port}?ssl_ca_certs={trusted}"):
        with pytest.raises(Unavailable):
            Client(url).call("PING")
    assert Client(f"rediss://127.0.0.1:{port}?ssl_cert_reqs=none").call("PING") == b"PONG"
