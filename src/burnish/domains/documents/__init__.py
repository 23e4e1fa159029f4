"""Questions about documents that are written for them, from a hundred tokens to two thousand."""
