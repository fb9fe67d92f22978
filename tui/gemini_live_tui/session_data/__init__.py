"""Keep the session's data for the console: link, fold, cursor, derived values."""
