"""Which domain, level and index to train on next."""
