"""Real clients for the applications, in name spaces of their own: tests and measurements."""
