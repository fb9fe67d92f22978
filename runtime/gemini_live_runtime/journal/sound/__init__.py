"""The sound of a recorded session on its clock."""
