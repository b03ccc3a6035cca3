"""Plank's locales (P18, P21)."""

from marshmallow import Schema, fields

from cmsmcp.core.capability import Call, resource


class Output(Schema):
    defaultLocale = fields.String(required=True)
    locales = fields.List(fields.String(), required=True)


def listing(_call: Call):
    yield {
        "uri": "plank://locales",
        "name": "locales",
        "title": "Locales",
        "description": "Lists the enabled locales and the default locale for this Plank instance.",
    }


@resource(
    "plank://locales", scope="read:schema", audit="schema.read", title="Locales", output=Output, indent=True, listing=listing,
    topics=lambda _variables: ["config"],
)
def locales(_variables, call: Call):
    """Lists the enabled locales and the default locale for this Plank instance."""
    return call.site.types.locales()
