"""TLLLP (Yin et al., 2017)."""
