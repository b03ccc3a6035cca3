"""The `EntryStore`: entries by content type, from typed tables that the index fills; conditions, orders, pages, relations."""
