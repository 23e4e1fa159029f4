"""Programs that run inside jails; read as text and never imported by the trainer."""
