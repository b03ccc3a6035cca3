"""Questions to the client and messages beside a reply, in the way of each era. Capabilities see `core.dialogue` alone."""
