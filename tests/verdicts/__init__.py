"""Evidence made by hand for every claim of every paper, with the verdict that its sentence has."""
