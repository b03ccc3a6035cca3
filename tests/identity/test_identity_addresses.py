"""Addresses as sockets and proxies write them: one form for each, and the nearest hop that is known where they name none."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsmcp.identity.addresses import Proxies, read_address

V4 = "203.0.113.51"
V6 = "2001:db8::1"


@pytest.mark.parametrize(("text", "address"), [
    (V4, V4), (f" {V4}\t", V4), (f"{V4}:4711", V4), (f'"{V4}"', V4), (f'"{V4}:4711"', V4), (f"[{V4}]", V4), (f"[{V4}]:80", V4),
    (f"::ffff:{V4}", V4), (f"::FFFF:{V4}", V4), ("::ffff:cb00:7133", V4), (f"[::ffff:{V4}]:443", V4), (f'"[::ffff:{V4}]:443"', V4),
    (V6, V6), ("2001:0DB8:0:0:0:0:0:1", V6), (f"[{V6}]", V6), (f"[{V6}]:443", V6), (f'"[{V6}]:443"', V6),
    ("fe80::1%eth0", "fe80::1"), ("[fe80::1%25eth0]:80", "fe80::1"), ("fe80::1%" + "x" * 500, "fe80::1"),
    *((text, None) for text in (
        "", " ", "unknown", "Unknown", "unknown:4711", "_hidden", "_SEVKISEK:80", "unix:", "unix:/run/x.sock", "localhost", "cms.example",
        "203.0.113", "203.0.113.051", "203.0.113.256", f"{V4}:", f"{V4}:x", f"{V4}:4711:1", f"{V4}/32", f"[{V6}", f"{V6}]", f"[{V6}]x",
        f"[{V6}]:", "[]", "[]:80", ":80", "1", "0x7f.1", "for=203.0.113.51", f"{V4} {V4}", "\u0662.0.0.1", "a" * 16_000,
    )),
])
def test_each_spelling_of_an_address_is_one_address(text: str, address: str | None) -> None:
    """RFC 7239, 6; RFC 4291, 2.5.5.2; what Azure, IIS, HAProxy, nginx and sockets write."""
    found = read_address(text)
    assert found == (None if address is None else ipaddress.ip_address(address))


@given(st.ip_addresses(), st.integers(0, 65_535))
def test_ports_brackets_and_quotes_change_no_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int) -> None:
    plain = read_address(str(address))
    assert plain == (getattr(address, "ipv4_mapped", None) or address)
    assert {read_address(text) for text in (f"[{address}]:{port}", f'"[{address}]"', f" {address} ")} == {plain}
    if address.version == 4:
        assert {read_address(text) for text in (f"{address}:{port}", f"::ffff:{address}", f"[::ffff:{address}]:{port}")} == {plain}


@given(st.text(max_size=60), st.text(alphabet="0123456789abcdef.:[]%\",_ \t\r\nunkow", max_size=120))
def test_whatever_is_sent_gives_an_address_or_the_nearest_that_is_known(remote: str, forwarded: str) -> None:
    known = Proxies(["10.0.0.0/8", "unix:"]).client(remote, forwarded)
    assert known == "unix:" or str(ipaddress.ip_address(known)) == known


@pytest.mark.parametrize(("remote", "forwarded", "client"), [
    ("10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
    ("203.0.113.5", "6.6.6.6", "203.0.113.5"),
    ("10.0.0.1", "", "10.0.0.1"),
    ("10.0.0.1", f"6.6.6.6, {V4}:4711,10.0.0.2:80", V4),
    ("::ffff:10.0.0.1", f"[{V6}]:443", V6),
    ("10.0.0.1", f",, {V4} ,,", V4),
    ("10.0.0.1", f"{V4}, unknown", "10.0.0.1"),
    ("10.0.0.1", f"{V4}, _hidden, 10.0.0.7", "10.0.0.7"),
    ("10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"),
    ("10.0.0.1", "unix:", "10.0.0.1"),
    ("", "6.6.6.6", "unix:"),
    ("fe80::1%eth0", V4, V4),
    ("fe80::2%eth0", V4, "fe80::2"),
    ("192.168.7.9", V4, V4),
])
def test_the_client_is_the_nearest_hop_that_is_no_proxy(remote: str, forwarded: str, client: str) -> None:
    """docs/rules.md, HTTP order of checks: left of the last trusted proxy anyone may have written what stands there."""
    assert Proxies(["10.0.0.0/8", "fe80::1", "::ffff:192.168.0.0/112"]).client(remote, forwarded) == client


@pytest.mark.parametrize(("forwarded", "client"), [
    (V4, V4), ("6.6.6.6, unix:", "6.6.6.6"), (f"{V4}, 10.0.0.2", "10.0.0.2"), ("", "unix:"), ("unknown", "unix:"),
])
def test_a_proxy_on_a_unix_socket_is_believed_where_it_is_listed(forwarded: str, client: str) -> None:
    assert Proxies(["unix:"]).client("", forwarded) == client
