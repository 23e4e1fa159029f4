"""Instructions whose observance a program can decide, one at a time and combined."""
