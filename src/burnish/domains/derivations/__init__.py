"""Tasks that are solved line by line, every line checked exactly."""
