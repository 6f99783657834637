"""The implementation of the agent of bench.proto."""
