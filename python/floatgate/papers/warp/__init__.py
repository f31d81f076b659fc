"""Placement handles on FDP drives and their emulator WARP (Song et al., FAST 2026)."""
