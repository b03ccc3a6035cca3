"""What is public (docs/rules.md, Status, Odd places; C044). Nothing that cannot be understood makes a document public."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsmcp.site.documents.parse import parse_document
from cmsmcp.site.documents.status import status_at


def ms(iso: str) -> int:
    return int(datetime.fromisoformat(iso).replace(tzinfo=UTC).timestamp() * 1000)


NOW = ms("2026-06-01T12:00:00")


def status_of(site, head: str, now: int = NOW) -> str | None:
    """None: not served at all."""
    document = site.page(f"---\n{head}\n---\nb").document
    return status_at(document, now) if document else None


@pytest.mark.parametrize(("head", "status"), [
    ("title: T", "published"), ("draft: false", "published"), ("draft: no", "published"), ("draft:", "published"),
    ("draft: true", "draft"), ("draft: yes", "draft"), ("draft: On", "draft"), ("draft: y", "draft"),
    ("workflow: in_review", "in_review"), ("workflow: published", "published"), ("workflow: ' Archived '", "archived"),
    ("draft: false\nworkflow: in_review", "in_review"), ("draft: true\nworkflow: in_review", "in_review"),
    ("draft: true\nworkflow: published", "draft"), ("archived: true", "archived"), ("archived: false", "published"),
    ("workflow: in_review\narchived: true", "archived"),
    ("scheduled_publish_at: 2026-06-01T12:00:01Z", "scheduled"), ("scheduled_publish_at: 2026-06-01T12:00:00Z", "published"),
    ("scheduled_publish_at: 2026-06-02", "scheduled"), ("scheduled_publish_at: '2026-05-31 10:00'", "published"),
    ("scheduled_unpublish_at: 2026-06-01T11:59:59Z", "draft"), ("scheduled_unpublish_at: 2026-06-02", "published"),
    ("scheduled_publish_at: 2020-01-01\nscheduled_unpublish_at: 2021-01-01", "draft"),
    ("archived: true\nscheduled_unpublish_at: 2021-01-01", "draft"),
])
def test_the_status_in_foundrys_order(site, head: str, status: str) -> None:
    """docs/rules.md, Status; `draft: true` is never overruled into the open."""
    assert status_of(site, head) == status


@pytest.mark.parametrize("head", [
    "draft: \"true\"", "draft: 'false'", "draft: 1", "draft: 0", "draft: flase", "draft: [true]", "draft: maybe",
    "Draft: true", "DRAFT: true",
    "archived: \"true\"", "archived: 1", "workflow: in-reveiw", "workflow: [x]", "workflow: 3",
    "status: Draft", "status: ' draft '", "status: in-review", "status: In Review", "status: pending", "status: archived",
    "status: private",
    "status: pubished", "status: 7", "status: [published]", "status: false", "Status: draft",
    "published: false", 'published: "no"', "published: 0", "published: draft", "published: perhaps", "published: 2999-01-01",
    "publish_date: 2999-01-01", "publish_at: 2999-01-01T00:00:00Z", "publishDate: 2999-01-01", "publish-at: 2999-01-01", "publish_at: soon",
    "publish_date: [2020-01-01]", "expiry_date: 2001-01-01", "expiryDate: 2001-01-01", "unpublish_at: 2026-06-01 12:00",
    "expiry_date: never",
    "private: true", "private: yes", "private: 'true'", "private: 1", "private: perhaps", "private: [no]",
    "publish_at: 2020-01-01\npublish_date: 2999-01-01", "expiry_date: 2999-01-01\nunpublish_at: 2001-01-01",
])
def test_odd_or_foreign_spellings_hide(site, head: str) -> None:
    """docs/rules.md, Odd places: `status`, `published`, `publish_at`, … only hide; C044 v1–v9: odd spellings of draft fail closed."""
    assert status_of(site, head) not in ("published", None)


@pytest.mark.parametrize("head", [
    "status: published", "status: Public", "status: live", "published: true", "published: 'yes'", "published: 2020-01-01", "private: false",
    "private: 'no'", "publish_date: 2020-01-01", "expiry_date: 2999-01-01", "status:", "published: ~", "publish_at: ''", "private:",
])
def test_public_words_change_nothing(site, head: str) -> None:
    """docs/rules.md, Odd places: "published", "public", "live", true change nothing."""
    assert status_of(site, head) == "published"
    assert status_of(site, f"draft: true\n{head}") == "draft"


@pytest.mark.parametrize("head", [
    "scheduled_publish_at: soon", "scheduled_publish_at: 2026-13-45", "scheduled_unpublish_at: [2026-01-01]",
    "scheduled_unpublish_at: 12:30",
])
def test_an_unreadable_schedule_is_an_error_and_not_served(site, head: str) -> None:
    """docs/rules.md, Odd places: an unreadable `scheduled_*` hides the document and is an error."""
    result = site.page(f"---\ntitle: T\n{head}\n---\nb")
    assert result.document is None
    assert [(d.severity, d.check, d.line) for d in result.diagnostics] == [("error", "date", 3)]


def test_unknown_values_are_reported_with_line_and_key(site) -> None:
    result = site.page("---\ntitle: T\nstatus: pubished\ndraft: \"true\"\n---\nb")
    assert [(d.severity, d.line, "`" + d.message.split("`")[1] + "`") for d in result.diagnostics] == [
        ("error", 3, "`status`"), ("error", 4, "`draft`"),
    ]


def test_a_misspelled_key_is_a_warning_that_names_the_right_one(site) -> None:
    [fault] = site.page("---\nDraft: true\n---\nb").diagnostics
    assert (fault.severity, "`Draft`" in fault.message, "`draft`" in fault.message) == ("warning", True, True)


@pytest.mark.parametrize("head", ["draft: true\nscheduled_publish_at: 2020-01-01", "workflow: scheduled\nscheduled_publish_at: 2999-01-01"])
def test_a_draft_with_a_schedule_stays_hidden_with_a_warning(site, head: str) -> None:
    """docs/rules.md, Odd places."""
    result = site.page(f"---\n{head}\n---\nb")
    assert status_at(result.document, ms("3000-01-01T00:00:00")) in ("draft", "scheduled")
    assert [(d.severity, d.check, d.line) for d in result.diagnostics] == [("warning", "schedule", 3)]


def test_a_zoneless_schedule_is_utc_with_a_warning(site) -> None:
    """`2026-03-06T10:00:00` matched nothing in Foundry and was published at once."""
    result = site.page("---\nscheduled_publish_at: 2026-03-06T10:00:00\n---\nb")
    assert result.document.publish_at == ms("2026-03-06T10:00:00")
    assert [(d.severity, d.line) for d in result.diagnostics] == [("warning", 2)]
    bounds = (result.document.publish_at - 1, result.document.publish_at)
    assert [status_at(result.document, at) for at in bounds] == ["scheduled", "published"]


def test_toml_and_json_are_hidden_alike(site) -> None:
    """TOML and JSON lose workflow keys in Foundry."""
    for source in ('+++\nworkflow = "in_review"\n+++\n', '{"workflow": "in_review"}\n', '+++\ndraft = true\n+++\n', '{"draft": "true"}\n'):
        assert site.page(source).document.status != "published"


VALUES = "|true|false|yes|no|1|0|'true'|draft|published|in_review|pubished|2001-01-01|2999-01-01|soon|[a]"
KEYS = "draft workflow archived status published publish_at expiry_date private Draft scheduled_publish_at"
values, keys = st.sampled_from(VALUES.split("|")), st.sampled_from(KEYS.split())


@settings(max_examples=200)
@given(st.dictionaries(keys, values, max_size=4), st.sampled_from(["status", "published", "private", "publish_at", "expiry_date"]), values)
def test_a_foreign_key_never_makes_a_document_more_public(definitions, head: dict[str, str], key: str, value: str) -> None:
    """docs/rules.md, Odd places: they can only hide."""

    def public(entries: dict[str, str]) -> bool:
        source = "---\n" + "".join(f"{name}: {text}\n" for name, text in entries.items()) + "---\nb"
        document = parse_document("content/pages/x.md", source.encode(), *definitions).document
        return document is not None and status_at(document, NOW) == "published"

    head.pop(key, None)
    assert public(head) or not public({**head, key: value})
