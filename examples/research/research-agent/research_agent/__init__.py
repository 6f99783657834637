"""The research agent: the part that people write."""
