"""What a model is trained on: domains, their registry, and tasks made ahead."""
