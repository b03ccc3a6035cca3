"""Real servers, started as in `tests/http`."""

from tests.http.conftest import new_place, start  # noqa: F401 - fixtures
