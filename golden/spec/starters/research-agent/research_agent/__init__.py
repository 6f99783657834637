"""Agent `research-agent`: its nodes and its policy."""
