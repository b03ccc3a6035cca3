"""The external issuers of a site: their keys kept in its state folder, and the document that names them."""

from __future__ import annotations

from hashlib import sha256

from flask import Blueprint

from cmsmcp.bootstrap.chosen import Chosen
from cmsmcp.governance.scopes import READ_SCHEMA, READ_SCOPES
from cmsmcp.identity.issuers import Expected, ExternalIssuer
from cmsmcp.identity.keysource import KeySource
from cmsmcp.transports import wellknown


def open_issuers(chosen: Chosen) -> list[ExternalIssuer]:
    """Each begins to fetch its keys; nothing waits for that."""
    found = []
    for issuer in chosen.settings.door.issuers:
        name = f"issuer-{sha256(issuer.jwks_url.encode()).hexdigest()[:16]}.json"
        found.append(ExternalIssuer(Expected(issuer.name, issuer.audience), KeySource(issuer.jwks_url, chosen.state / name)))
    for external in found:
        external.start()
    return found


def describe_resource(chosen: Chosen) -> list[Blueprint]:
    """The RFC 9728 document; nothing without an issuer."""
    door = chosen.settings.door
    if not door.issuers or door.public_url is None:
        return []
    scopes = sorted(chosen.settings.policy.scopes & (READ_SCOPES | {READ_SCHEMA}))
    return [wellknown.blueprint(wellknown.Resource(door.public_url, [issuer.name for issuer in door.issuers], scopes))]
