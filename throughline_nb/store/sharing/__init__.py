"""Sharing a project through a git remote: addresses, transport, checks, merging, bundles."""
