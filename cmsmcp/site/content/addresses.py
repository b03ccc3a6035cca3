"""From a URL as people write it to the ones a document may be kept under."""

from __future__ import annotations

from cmsmcp.site.urls import is_absolute, normal_path, split_url


def url_spellings(url: str, base_url: str) -> list[str]:
    """The ways the catalog may spell `url`: without the site's own address, query and fragment, and with a document's last slash.

    A URL of another place is returned as it is: no document has it.
    """
    base = base_url.rstrip("/")
    if base and (url == base or url.startswith(f"{base}/")):
        url = url[len(base) :]
    if is_absolute(url):
        return [url]
    path = normal_path(split_url(url)[0])
    return list(dict.fromkeys((path, f"{path.rstrip('/')}/")))
