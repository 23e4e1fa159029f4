"""The three trainings: supervised, reinforcement, and what they share."""
