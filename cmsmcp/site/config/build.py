"""site.yaml's tree made into `SiteConfig`, with Foundry's defaults. Must not read files other than folder names."""

from __future__ import annotations

import os
from pathlib import Path

from cmsmcp.site.config.checks import check_config
from cmsmcp.site.config.languages import read_locales
from cmsmcp.site.config.layers import BASE, Layers, missing_environment
from cmsmcp.site.config.reader import ConfigReader
from cmsmcp.site.data.navigation import read_menus
from cmsmcp.site.model import ERROR, WARNING, Diagnostic, SiteConfig, Taxonomy
from cmsmcp.site.paths import composed, on_disk
from cmsmcp.site.permalinks import read_permalinks
from cmsmcp.site.yaml.loader import core_value, text

CONTENT_DIRS = ("pages", "posts", "images", "videos", "audio", "documents", "assets", "uploads")
# Folders below content/ that never hold documents; the rest may have language folders.
NO_DOCUMENTS = frozenset({"config", "types", "archetypes", *CONTENT_DIRS[2:]})
MAX_FOLDERS = 1_000


def build_config(root: Path, env: str | None, layers: Layers) -> SiteConfig:
    """The configuration in `layers` with every fault as a diagnostic; `root` is a real path."""
    read = ConfigReader(layers.tree)
    read.faults.extend(Diagnostic(ERROR, "config", f.file, f.message, f.line) for f in layers.faults)
    absent = missing_environment(root, env)
    if absent:
        read.faults.append(Diagnostic(WARNING, "config", BASE, absent))
    folders = {name: on_disk(root, read.folder(f"{name}_dir", name)) for name in ("content", "public", "themes", "data", "plugins")}
    named = {name: read.folder(f"content.{name}_dir", name, below=folders["content"]) for name in CONTENT_DIRS}
    content_dirs = {name: on_disk(root, folder) for name, folder in named.items()}
    sections = _language_candidates(root / folders["content"])
    locales, faults = read_locales(layers.tree.entries.get("locales"), read.text("default_lang", "").strip(), sections)
    read.faults.extend(faults)
    menus, faults = read_menus(read.node("menus"), layers.tree.file)
    read.faults.extend(faults)
    permalinks = read_permalinks(read)
    check_config(read)
    environment = (env or "").strip() or read.text("environment", "default")
    return SiteConfig(
        root=root, name=read.text("name", "foundry"), title=read.text("title", "Foundry CMS"), base_url=read.text("base_url", ""),
        theme=composed(read.component("theme", "default")), environment=environment, default_lang=locales.default,
        content_dir=folders["content"], public_dir=folders["public"], themes_dir=folders["themes"], data_dir=folders["data"],
        plugins_dir=folders["plugins"], content_dirs=content_dirs,
        default_layouts={kind: read.text(f"content.default_layout_{kind}", kind) for kind in ("page", "post")},
        locales=locales, taxonomies=_taxonomies(read), menus=menus,
        plugins_enabled=tuple(map(composed, read.components("plugins.enabled"))),
        feed_paths=(read.text("feed.rss_path", "/rss.xml"), read.text("feed.sitemap_path", "/sitemap.xml")),
        permalinks=permalinks,
        values=core_value(layers.tree), files=layers.files, diagnostics=tuple(dict.fromkeys(read.faults)),
    )


def _taxonomies(read: ConfigReader) -> dict[str, Taxonomy]:
    names = map(composed, read.texts("taxonomies.default_set", ("tags", "categories")))
    found = {name: Taxonomy(name, _titled(name)) for name in names}
    for given, node in read.map("taxonomies.definitions").items():
        name = composed(given)
        below = read.below(node, f"taxonomies.definitions.{name}.")
        words = {lang: below.convert(text, label, f"labels.{lang}", "") for lang, label in below.map("labels").items()}
        found[name] = Taxonomy(name, below.text("title", _titled(name)), {lang: word for lang, word in words.items() if word})
    return found


def _titled(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").capitalize()


def _language_candidates(content: Path) -> list[str]:
    """Names of the folders one below each section of content/: languages are found among them when `locales:` is absent."""
    names: list[str] = []
    for section in _folders(content):
        if section not in NO_DOCUMENTS:
            names.extend(_folders(content / section))
    return names


def _folders(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            found = [entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    except OSError:
        return []  # absent or unreadable: empty; the walk reports the rest
    return sorted(found)[:MAX_FOLDERS]
