"""LM Studio: its conversation files, and the installation of our plugin in it."""
