"""theme.yaml with its defaults filled in (docs/rules.md, Themes). Says what was declared, not whether it is right: that is `validation`."""

from __future__ import annotations

from cmsmcp.site.config.reader import ConfigReader
from cmsmcp.site.manifest import Manifest, field_definitions, flag, rows, words
from cmsmcp.site.paths import composed
from cmsmcp.site.themes.shapes import ExternalAssets, FieldContract, FrontendRequests, Security, TemplateContext, ThemeManifest
from cmsmcp.site.themes.sources import normalise

FILE = "theme.yaml"
SDK_VERSION = "v1"
COMPATIBILITY_VERSION = "v1"
LAYOUTS = ("base", "index", "page", "post", "list")
_SCOPES = {"": "document", "document": "document", "page": "document", "shared": "shared", "global": "shared"}


def theme_manifest(opened: Manifest, folder_name: str, active: bool) -> ThemeManifest:
    """The normalised manifest; the folder's name stands in for a missing `name`, the name for a missing `title`."""
    read = opened.reader
    name = composed(words(read, "name", folder_name))
    layouts = _names(read, "supported_layouts") or _names(read, "layouts") or list(LAYOUTS)
    found: ThemeManifest = {
        "name": name,
        "title": words(read, "title", name),
        "version": words(read, "version", "0.0.0"),
        "description": words(read, "description"),
        "author": words(read, "author"),
        "license": words(read, "license"),
        "repo": words(read, "repo"),
        "min_foundry_version": words(read, "min_foundry_version"),
        "sdk_version": words(read, "sdk_version", SDK_VERSION),
        "compatibility_version": words(read, "compatibility_version", COMPATIBILITY_VERSION),
        "layouts": layouts,
        "supported_layouts": layouts,
        "slots": _names(read, "slots"),
        "screenshots": _names(read, "screenshots"),
        "config_schema": field_definitions(read, "config_schema"),
        "field_contracts": [_contract(row) for row in rows(read, "field_contracts")],
        "security": _security(read),
        "path": opened.path,
        "active": active,
        "diagnostics": [],
    }
    found["diagnostics"] = opened.diagnostics()
    return found


def contract_scope(written: str) -> str:
    """"document" or "shared", or the lower-cased word when it is neither."""
    word = written.strip().lower()
    return _SCOPES.get(word, word)


def _names(read: ConfigReader, path: str) -> list[str]:
    return list(dict.fromkeys(item.strip() for item in read.texts(path, ())))


def _contract(read: ConfigReader) -> FieldContract:
    return {
        "key": words(read, "key"),
        "title": words(read, "title"),
        "description": words(read, "description"),
        "target": {
            "scope": contract_scope(words(read, "target.scope")),
            "types": _names(read, "target.types"),
            "layouts": _names(read, "target.layouts"),
            "slugs": _names(read, "target.slugs"),
            "key": words(read, "target.key"),
        },
        "fields": field_definitions(read, "fields"),
    }


def _security(read: ConfigReader) -> Security:
    assets, requests, context = "security.external_assets", "security.frontend_requests", "security.template_context"
    methods = sorted({method.strip().upper() for method in read.texts(f"{requests}.methods", ())})
    external: ExternalAssets = {
        "allowed": flag(read, f"{assets}.allowed"),
        "scripts": normalise(read.texts(f"{assets}.scripts", ())),
        "styles": normalise(read.texts(f"{assets}.styles", ())),
        "fonts": normalise(read.texts(f"{assets}.fonts", ())),
        "images": normalise(read.texts(f"{assets}.images", ())),
        "media": normalise(read.texts(f"{assets}.media", ())),
    }
    frontend: FrontendRequests = {
        "allowed": flag(read, f"{requests}.allowed"),
        "origins": normalise(read.texts(f"{requests}.origins", ())),
        "methods": methods or ["GET"],
    }
    template: TemplateContext = {
        "allow_site_params": flag(read, f"{context}.allow_site_params", True),
        "allow_content_fields": flag(read, f"{context}.allow_content_fields", True),
        "allow_shared_fields": flag(read, f"{context}.allow_shared_fields", True),
        "allow_runtime_state": flag(read, f"{context}.allow_runtime_state"),
        "allow_admin_state": flag(read, f"{context}.allow_admin_state"),
        "allow_raw_config": flag(read, f"{context}.allow_raw_config"),
    }
    return {"external_assets": external, "frontend_requests": frontend, "template_context": template}
