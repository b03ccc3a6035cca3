"""An image."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from cmsmcp.core.capability import Blob, Call
from conformance_fixtures._blocks import PNG, fixture_resource


@fixture_resource("test://static-binary", title="An image", mime_type="image/png")
def static_binary(variables: Mapping[str, Any], call: Call) -> Blob:
    """An image that never changes."""
    return Blob(base64.b64decode(PNG), "image/png")
