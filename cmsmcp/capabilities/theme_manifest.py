"""A theme's manifest (F28)."""

from unicodedata import normalize

from cmsmcp.capabilities._completion import themes
from cmsmcp.capabilities._themes import ManifestSchema
from cmsmcp.core.capability import Call, resource


@resource(
    "foundry://themes/{name}/manifest", scope="read:themes", audit="themes.read", title="Theme manifest", output=ManifestSchema,
    example={"name": "default"}, complete={"name": themes},
    topics=lambda variables: [f"themes/{normalize('NFC', variables['name'])}"], isolated=True,
)
def theme_manifest(variables, call: Call):
    """A theme's manifest with its defaults filled in."""
    return call.site.themes.manifest(variables["name"], call.deadline)
