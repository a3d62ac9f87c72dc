"""Settings: schema, loading and secrets. The only room that reads the environment."""
