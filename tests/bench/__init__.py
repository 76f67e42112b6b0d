"""``make bench``: speed and memory, each figure a ratio to a floor or peer of the same run."""
