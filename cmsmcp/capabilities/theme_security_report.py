"""External assets of a theme and its CSP (F28)."""

from unicodedata import normalize

from cmsmcp.capabilities._completion import themes
from cmsmcp.capabilities._themes import SecurityReportSchema
from cmsmcp.core.capability import Call, resource


@resource(
    "foundry://themes/{name}/security-report", scope="read:themes", audit="themes.security", title="Theme security report",
    output=SecurityReportSchema, example={"name": "default"}, complete={"name": themes},
    topics=lambda variables: [f"themes/{normalize('NFC', variables['name'])}"], isolated=True,
)
def theme_security_report(variables, call: Call):
    """The external assets and requests found in a theme, against those it declares, and the resulting CSP."""
    return call.site.themes.security_report(variables["name"], call.deadline)
