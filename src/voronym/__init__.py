"""voronym publishes tables about people without exposing them."""
