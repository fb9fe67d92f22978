"""Paint rows of terminal cells: styles, text runs, glyphs and the compositor."""
