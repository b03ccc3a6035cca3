"""The fixtures are capabilities, whatever their names; pytest leaves them alone."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

collect_ignore = ["conformance_fixtures"]


@pytest.fixture(scope="session")
def runner() -> ModuleType:
    """The module run.py."""
    spec = importlib.util.spec_from_file_location("conformance_run", Path(__file__).with_name("run.py"))
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
