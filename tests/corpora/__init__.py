"""Ledgers as real Markdown editors save them: inputs, tools, and what they made of them."""
