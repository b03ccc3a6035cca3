"""The Redis adapters. The only room that imports redis."""
