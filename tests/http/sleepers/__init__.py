"""A capability that takes its time, for the tests of tasks."""
