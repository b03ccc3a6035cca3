"""External assets of a theme and its CSP (F20)."""

from cmsmcp.capabilities._themes import SecurityReportSchema, ThemeInput
from cmsmcp.core.capability import Call, tool


@tool(
    scope="read:themes", audit="themes.security", title="Get theme security report", input=ThemeInput, output=SecurityReportSchema,
    example={"name": "default"}, isolated=True,
)
def get_theme_security_report(arguments, call: Call):
    """Read the external assets and requests found in a theme, against those it declares, and the resulting CSP."""
    return call.site.themes.security_report(arguments.get("name"), call.deadline)
