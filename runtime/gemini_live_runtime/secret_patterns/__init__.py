"""Find credentials in text by their shape, and fields of them by their name."""
