"""The killable child: work that may be long runs in a process of its own, ended at its deadline. Knows bytes, not what they ask."""
