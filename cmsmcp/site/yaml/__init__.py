"""YAML without guesses: scalars stay text until a declared type converts them. Knows no site."""
