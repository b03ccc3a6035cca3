"""The doors: everything that knows a wire (HTTP, stdio), and nothing else."""
