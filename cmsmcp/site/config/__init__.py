"""site.yaml: its layers, its languages, its faults. Knows no document."""
