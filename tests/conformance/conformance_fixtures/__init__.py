"""What the conformance suite expects a server to offer, as capabilities. Only tests/conformance loads them; they never ship."""
