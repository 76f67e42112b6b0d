"""Thin faces of the engine: they translate and show, and decide nothing."""
