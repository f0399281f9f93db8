"""The parts of the section on validation. Each module has a function ``build(data) -> Part``."""
