"""The exact results of the theme reports, as they go out. Plain data: no reading, no rules.

Keys stand in the order they are written in. Every path is relative to the site folder. `line` counts from 1, None where
a fault has no line (a missing file, say). Severity is "error" or "warning". `Diagnostic` and `FieldDefinition` are in `site.manifest`.
"""

from __future__ import annotations

from typing import TypedDict

from cmsmcp.site.manifest import Diagnostic, FieldDefinition


class ContractTarget(TypedDict):
    """`scope` is "document" or "shared" (`page` and `global` are older words for them), or what was written if neither."""

    scope: str
    types: list[str]
    layouts: list[str]
    slugs: list[str]
    key: str


class FieldContract(TypedDict):
    key: str
    title: str
    description: str
    target: ContractTarget
    fields: list[FieldDefinition]


class ExternalAssets(TypedDict):
    """Sources are sorted, without repeats, and cut to `scheme://host` when they are URLs."""

    allowed: bool
    scripts: list[str]
    styles: list[str]
    fonts: list[str]
    images: list[str]
    media: list[str]


class FrontendRequests(TypedDict):
    allowed: bool
    origins: list[str]
    methods: list[str]


class TemplateContext(TypedDict):
    allow_site_params: bool
    allow_content_fields: bool
    allow_shared_fields: bool
    allow_runtime_state: bool
    allow_admin_state: bool
    allow_raw_config: bool


class Security(TypedDict):
    external_assets: ExternalAssets
    frontend_requests: FrontendRequests
    template_context: TemplateContext


class ThemeManifest(TypedDict):
    """theme.yaml with its defaults filled in. `layouts` and `supported_layouts` both hold the layouts the theme must have.

    `diagnostics` say what could not be read; whatever could be is still there.
    """

    name: str
    title: str
    version: str
    description: str
    author: str
    license: str
    repo: str
    min_foundry_version: str
    sdk_version: str
    compatibility_version: str
    layouts: list[str]
    supported_layouts: list[str]
    slots: list[str]
    screenshots: list[str]
    config_schema: list[FieldDefinition]
    field_contracts: list[FieldContract]
    security: Security
    path: str
    active: bool
    diagnostics: list[Diagnostic]


class Reference(TypedDict):
    """A remote URL in a theme's file. `kind` is "html", "css" or "js"; `status` is "declared" or "undeclared"."""

    kind: str
    url: str
    path: str
    line: int
    status: str


class SecurityReport(TypedDict):
    """`mismatches` are the differences between what theme.yaml declares and what the files do, plus faults in the declaration."""

    name: str
    active: bool
    declared: Security
    declared_summary: list[str]
    detected_assets: list[Reference]
    detected_requests: list[Reference]
    mismatches: list[Diagnostic]
    generated_csp: str
    csp_summary: list[str]


class Validation(TypedDict):
    """`valid` is False as soon as one diagnostic is an error. Sorted by severity, path, line, message."""

    name: str
    active: bool
    valid: bool
    diagnostics: list[Diagnostic]
