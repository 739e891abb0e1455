"""Looks at finished runs, or prepares a set of them."""
