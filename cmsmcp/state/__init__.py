"""What processes share: adapters of the governance ports, in process (`memory`) and in Redis (`redis`)."""
