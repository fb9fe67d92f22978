"""Data of the session that the console shows: the link, the fold, the cursor and what is derived from them."""
