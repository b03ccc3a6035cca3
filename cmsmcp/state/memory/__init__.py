"""What the processes of a site share, for a site that one process serves alone: stdio without Redis, and the twin in contract tests."""
