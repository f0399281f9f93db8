"""Checks of the project's own rules, for which no well-kept tool exists. `make lint` runs them."""
