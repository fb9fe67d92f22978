"""Words of English: normal forms, numbers, contractions, clauses."""
