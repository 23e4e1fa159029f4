"""Measuring this machine and what runs on it; nothing here is needed for training."""
