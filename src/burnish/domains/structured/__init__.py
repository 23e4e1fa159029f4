"""Answers with an exact structure: JSON, SQL, regular expressions."""
