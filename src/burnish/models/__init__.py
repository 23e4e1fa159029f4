"""Finding, loading, adapting and saving models."""
