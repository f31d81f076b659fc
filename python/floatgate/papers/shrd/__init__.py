"""SHRD (Kim, Shin, Jeong and Kim, FAST 2017)."""
