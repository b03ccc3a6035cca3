"""Plank's content types: their files, their fields, what an entry may hold."""
