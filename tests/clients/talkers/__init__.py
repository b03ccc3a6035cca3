"""Capabilities that ask and report, for the clients under test; none of ours needs an answer from its client."""
