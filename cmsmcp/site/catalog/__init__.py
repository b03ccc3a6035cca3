"""What was read from the files, in SQLite: disposable, rebuilt at any time. Knows no file."""
