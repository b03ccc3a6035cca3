"""The fixtures are capabilities, whatever their names; pytest leaves them alone."""

collect_ignore = ["conformance_fixtures"]
