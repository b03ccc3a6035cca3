"""The `Themes` port: manifest, security report and validation of each theme folder. `shapes` has the exact results.

Results are kept until something in the theme's folder changes; they are shared, so callers must not alter them.
"""

from __future__ import annotations

from cmsmcp.core.deadline import Deadline
from cmsmcp.protocol.errors import NotFound
from cmsmcp.site.folder import Folder, Kept, names_in, scan
from cmsmcp.site.manifest import open_manifest
from cmsmcp.site.model import SiteConfig
from cmsmcp.site.paths import composed
from cmsmcp.site.themes.analysis import SKIPPED, analyse
from cmsmcp.site.themes.manifest import FILE, theme_manifest
from cmsmcp.site.themes.security import security_report
from cmsmcp.site.themes.shapes import SecurityReport, ThemeManifest, Validation
from cmsmcp.site.themes.validation import Theme, validate

ADMIN_THEMES = "admin-themes"
MAX_NAMES_SHOWN = 20


def uses_themes(config: SiteConfig) -> bool:
    """Whether the site names a theme or has one. Without either the default one is not missed: something else renders the site."""
    return bool(config.values.get("theme")) or bool(ThemeReports(config).names())


class ThemeReports:
    """Themes of one configuration. `name=None` is the active theme; an unknown name raises NotFound with the names there are."""

    def __init__(self, config: SiteConfig) -> None:
        self._config = config
        self._kept = Kept()

    def names(self) -> list[str]:
        """Folder names, sorted. `admin-themes` holds themes of the admin and is none itself."""
        return [name for name in names_in(self._config.root, self._config.themes_dir) if name != ADMIN_THEMES]

    def manifest(self, name: str | None, deadline: Deadline) -> ThemeManifest:
        """A theme.yaml that is missing or cannot be read gives the defaults, and says so in `diagnostics`."""
        folder_name, folder = self._folder(name, deadline)
        return self._manifest(folder_name, folder)

    def security_report(self, name: str | None, deadline: Deadline) -> SecurityReport:
        folder_name, folder = self._folder(name, deadline)

        def build() -> SecurityReport:
            theme = self._theme(folder_name, folder, deadline)
            return security_report(folder_name, theme.opened, theme.manifest, theme.analysis)

        return self._kept.get("security", folder, build)

    def validate(self, name: str | None, deadline: Deadline) -> Validation:
        folder_name, folder = self._folder(name, deadline)
        return self._kept.get("validation", folder, lambda: validate(self._theme(folder_name, folder, deadline)))

    def _folder(self, name: str | None, deadline: Deadline) -> tuple[str, Folder]:
        wanted = self._config.theme if name is None else composed(name)
        names = self.names()
        if wanted not in names:
            shown = ", ".join(names[:MAX_NAMES_SHOWN]) + (", …" if len(names) > MAX_NAMES_SHOWN else "")
            raise NotFound("theme", wanted, known=names, hint=f"Themes: {shown}." if names else "The site has no themes.")
        return wanted, scan(self._config.root, f"{self._config.themes_dir}/{wanted}", SKIPPED, deadline)

    def _manifest(self, folder_name: str, folder: Folder) -> ThemeManifest:
        def build() -> ThemeManifest:
            opened = open_manifest(self._config.root, folder, FILE)
            return theme_manifest(opened, folder_name, folder_name == self._config.theme)

        return self._kept.get("manifest", folder, build)

    def _theme(self, folder_name: str, folder: Folder, deadline: Deadline) -> Theme:
        """Everything about one theme. The manifest is read afresh, because a check may add to what its reader found."""
        root = self._config.root
        opened = open_manifest(root, folder, FILE)
        manifest = theme_manifest(opened, folder_name, folder_name == self._config.theme)
        analysis = self._kept.get("analysis", folder, lambda: analyse(root, folder, deadline))
        return Theme(folder_name, folder, opened, manifest, analysis)
