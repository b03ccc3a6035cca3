"""Field types of content types as marshmallow fields: how a value is written out, what is accepted as one, its JSON Schema.

Values come checked from the store, so dumping passes them on as they are. Knows one field at a time, no types.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

MOMENT = r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}\.\d{3}Z)?$"
MIXED_KINDS = {"string": str, "number": int | float, "boolean": bool}


class Component(Schema):
    """Dumps what a mapping holds and nothing it can do (`dict.items`); refuses, when loading, what it does not know.

    `Meta.component` is its name in generated code: in `Meta`, because a field may have any name in small letters.
    """

    class Meta:
        register = False
        component = ""

    def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
        return obj.get(attr, default)


class Text(fields.String):
    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value


class Moment(Text):
    """A date, or a time in UTC with milliseconds."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(validate=validate.Regexp(MOMENT), **kwargs)


class Whole(fields.Integer):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strict=True, **kwargs)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value


class Number(fields.Float):
    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value


class Truth(fields.Boolean):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(truthy={True}, falsy={False}, **kwargs)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value


class Described(fields.Field[Any], ABC):
    """A field that says its JSON Schema itself."""

    @abstractmethod
    def described(self) -> dict[str, Any]:
        """With `$ref`s to the components it names."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value


class Mixed(Described):
    """`{kind, value}`, the value being of that kind."""

    def described(self) -> dict[str, Any]:
        return {"oneOf": [_pair(kind) for kind in MIXED_KINDS]}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        kind = MIXED_KINDS.get(str(value.get("kind"))) if isinstance(value, Mapping) and value.keys() == {"kind", "value"} else None
        if kind is None or not isinstance(value["value"], kind) or (kind is not bool and isinstance(value["value"], bool)):
            raise ValidationError("must be a map of kind (string, number or boolean) and a value of that kind")
        return value


class OrText(Described):
    """An object, or a text in its place: a relation (its target, or the slug or id), media (what is known of them, or the reference).

    `name` is the component of the object; `schema` gives it when it is needed, because types lead to each other and to themselves.
    """

    def __init__(self, name: str, schema: Callable[[], Schema], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target = name
        self.schema = schema

    def described(self) -> dict[str, Any]:
        nothing = [{"type": "null"}] if self.allow_none else []
        return {"anyOf": [{"type": "string"}, {"$ref": f"#/components/schemas/{self.target}"}, *nothing]}

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return self.schema().dump(value) if isinstance(value, Mapping) else value

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, Mapping):
            return self.schema().load(value)
        if not isinstance(value, str):
            raise ValidationError("must be a text or an object")
        return value


def _pair(kind: str) -> dict[str, Any]:
    properties = {"kind": {"type": "string", "enum": [kind]}, "value": {"type": kind}}
    return {"type": "object", "properties": properties, "required": ["kind", "value"]}
