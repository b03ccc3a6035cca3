"""A theme's manifest (F19)."""

from cmsmcp.capabilities._themes import ManifestSchema, ThemeInput
from cmsmcp.core.capability import Call, tool


@tool(
    scope="read:themes", audit="themes.read", title="Get theme manifest", input=ThemeInput, output=ManifestSchema,
    example={"name": "default"}, isolated=True,
)
def get_theme_manifest(arguments, call: Call):
    """Read a theme's manifest with its defaults filled in."""
    return call.site.themes.manifest(arguments.get("name"), call.deadline)
