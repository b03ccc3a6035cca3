"""From a URL as people write it to the ones a document may be kept under."""

from __future__ import annotations

from cmsmcp.site.urls import normal_path, own_path, split_url


def url_spellings(url: str, base_url: str) -> list[str]:
    """The ways the catalog may spell `url`: without the site's own address, query and fragment, and with a document's last slash.

    A URL of another place is returned as it is: no document has it.
    """
    path = own_path(url, base_url)
    if path is None:
        return [url]
    path = normal_path(split_url(path)[0])
    return list(dict.fromkeys((path, f"{path.rstrip('/')}/")))
