"""One content file at a time: front matter, status, identity, URL. Knows no catalog."""
