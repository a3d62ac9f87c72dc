"""Events out, nothing in."""
