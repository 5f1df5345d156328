"""Hooks for agents of other libraries: one module each, with the extra of the same name."""
