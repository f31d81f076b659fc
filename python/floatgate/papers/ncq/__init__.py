"""NCQ-aware write buffer (Kim and Kim, 2013)."""
