"""From a URL as people write it to the ones a document may be kept under."""

from __future__ import annotations

from cmsmcp.site.model import SiteConfig
from cmsmcp.site.permalinks import detours
from cmsmcp.site.urls import normal_path, own_paths, split_url


def url_spellings(url: str, config: SiteConfig) -> list[str]:
    """The ways the catalog may spell `url`: without the site's own address, query and fragment, and with a document's last slash.

    What is spelled as the catalog spells it comes first. A URL of another place is returned as it is: no document has it.
    """
    paths = [normal_path(split_url(path)[0]) for path in reversed(own_paths(url, config.base_url))]
    paths += [other for path in paths for other in detours(config, path)]
    return list(dict.fromkeys(spelled for path in paths for spelled in (path, f"{path.rstrip('/')}/"))) or [url]
