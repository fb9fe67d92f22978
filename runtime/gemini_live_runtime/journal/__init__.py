"""The journal: append, read, fold, snapshot, replay, retention."""
