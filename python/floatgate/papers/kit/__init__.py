"""Kit of a reproduction: claims, their domains and verdicts, and the pages that show them."""
