"""The repository's own checks: what `make lint` verifies and no well-kept tool does."""
