"""The human package of the agent under test."""
