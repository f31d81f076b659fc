"""Files: read to their end, written completely or not at all, digests of their rows."""
