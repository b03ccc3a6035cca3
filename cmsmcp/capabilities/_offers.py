"""The capabilities of this folder before any of them is imported: what the handshake announces follows from it. By name.

A test holds it against the files: a new capability is one file, and its row here.
"""

from __future__ import annotations

from cmsmcp.core.announced import Offer

OFFERS = (
    Offer("audit_page", "prompt", "read:content", completes=True),
    Offer("content_collection", "resource", "read:content", completes=True),
    Offer("content_page", "resource", "read:content", completes=True),
    Offer("content_type_schema", "resource", "read:schema", completes=True),
    Offer("content_types", "resource", "read:schema"),
    Offer("describe_content_type", "prompt", "read:content", completes=True),
    Offer("docs_file", "resource", "read:docs", completes=True),
    Offer("export_schema", "tool", "read:content"),
    Offer("get_api_documentation", "tool", "read:docs"),
    Offer("get_document", "tool", "read:content"),
    Offer("get_navigation", "tool", "read:content"),
    Offer("get_plugin_status", "tool", "read:plugins"),
    Offer("get_project_documentation", "tool", "read:docs"),
    Offer("get_runtime_health", "tool", "read:ops"),
    Offer("get_theme_manifest", "tool", "read:themes"),
    Offer("get_theme_security_report", "tool", "read:themes"),
    Offer("list_documents", "tool", "read:content"),
    Offer("list_plugins", "tool", "read:plugins"),
    Offer("locale_gaps", "prompt", "read:content", completes=True),
    Offer("locales", "resource", "read:schema"),
    Offer("plugin_status", "resource", "read:plugins", completes=True),
    Offer("plugins", "resource", "read:plugins"),
    Offer("runtime_health", "resource", "read:ops"),
    Offer("search_content", "tool", "read:content"),
    Offer("summarize_changes", "prompt", "read:content", completes=True),
    Offer("theme_manifest", "resource", "read:themes", completes=True),
    Offer("theme_security_report", "resource", "read:themes", completes=True),
    Offer("validate_configuration", "tool", "read:ops"),
    Offer("validate_theme", "tool", "read:themes"),
)
