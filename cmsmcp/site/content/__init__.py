"""The `Content` port: lists, search, look-ups, navigation, answered from catalog and search."""
