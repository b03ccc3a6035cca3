"""The tools of the peers: the arguments that the bench sends, and the constant result whatever they are."""

from typing import Any

from constant import RESULT


def get_document(slug: str = "", id: str = "") -> dict[str, Any]:
    """One document."""
    return RESULT


def list_documents(limit: int = 20, lang: str = "", updated_after: str = "") -> dict[str, Any]:
    """A page of documents."""
    return RESULT


def search_content(query: str) -> dict[str, Any]:
    """A page of hits."""
    return RESULT


TOOLS = (get_document, list_documents, search_content)
