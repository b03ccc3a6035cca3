"""The published OpenAPI file, held against the server that publishes it: nobody can send what it does not foresee, or get it back."""

from __future__ import annotations

from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

EXAMPLES = 4
"""Of each operation and mode."""
NAMES = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "unsupported_method", "ignored_auth",
)  # fmt: skip
REAL = {
    "authors": "jonas-hofer", "content-types": "event", "event": "mirror-making-weekend", "instrument": "en:instrument:sun-room",
    "observation": "andromeda-october", "page": "about", "person": "jonas-hofer", "post": "en:post:2026/dome-reopens",
    "sky-object": "albireo", "vault": "first",
}  # fmt: skip
"""What a request for one thing asks for, by the first word of its path; names made up are not found."""
PROJECTIONS = ("fields", "select", "exclude")

load_all_checks()


def made_sensible(case: Case) -> None:
    """What OpenAPI cannot say: parameters that contradict each other, cursors nobody was given, more filters than are read. Nor what
    stands between the commas of a filter, which is told by the refusal alone."""
    for name in case.path_parameters:
        case.path_parameters[name] = REAL[case.operation.path.split("/")[2]]
    query = case.query
    chosen = next((name for name in PROJECTIONS if name in query), None)
    filters = [name for name in query if name.startswith("filters[")]
    dropped = {name for name in PROJECTIONS if name != chosen} | set(filters[4:]) | {"cursor"}
    if chosen is not None:
        dropped.add("populate")
    if "locale" not in query:
        dropped.add("fallback")
    signed = [str(one).removeprefix("-") for one in query.get("sort", ())]
    if len(set(signed)) < len(signed):
        dropped.add("sort")
    if len(signed) != 1 or query["sort"][0].startswith("-") or "sort" in dropped:
        dropped.add("order")
    if any(name.startswith("filters[author]") for name in filters):
        dropped.add("author")
    for name in dropped & query.keys():
        del query[name]


@pytest.mark.parametrize("mode", GenerationMode)
def test_every_reply_is_one_that_the_published_file_describes(server, mode: GenerationMode) -> None:
    """docs/api.md, OpenAPI: no fault of the server, no status, header or body that is not documented; what contradicts it is refused."""
    headers = {"Authorization": f"Bearer {server.token()}"}
    schema = schemathesis.openapi.from_dict(server.get("/api/openapi.json", server.token()).json)
    checks = [CHECKS.get_one(name) for name in NAMES]
    statuses: Counter[tuple[str, int]] = Counter()

    def ask(case: Case) -> None:
        if mode is GenerationMode.POSITIVE:
            made_sensible(case)
        reply = case.call(base_url=f"http://127.0.0.1:{server.port}", headers=headers)
        statuses[case.operation.label, reply.status_code] += 1
        case.validate_response(reply, checks=checks, headers=headers)
        if mode is GenerationMode.POSITIVE:
            listed = reply.status_code == 400 and reply.json()["argument"].endswith(("[in]", "[nin]"))
            assert reply.status_code in (200, 403, 404) or listed, (case.query, reply.text)

    for result in schema.get_all_operations():
        operation = result.ok()
        limited = settings(
            max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        )
        seed(5)(limited(given(case=operation.as_strategy(mode))(ask)))()
    answered = {label for label, status in statuses if status == (200 if mode is GenerationMode.POSITIVE else 400)}
    never = {label for label, _ in statuses} - answered
    assert not never if mode is GenerationMode.POSITIVE else len(answered) > 10, statuses
