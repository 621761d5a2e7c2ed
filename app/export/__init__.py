"""Films, pictures and heights out of a session."""
