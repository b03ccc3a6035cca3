"""The middle: takes bytes and a caller, returns bytes. Does I/O only through the ports handed to it."""
