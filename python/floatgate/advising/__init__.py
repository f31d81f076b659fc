"""`floatgate advise`: what a trace asks of a drive, on one page.

`sampled` finds steady write amplification from a sample of the pages, `streams` puts writes that
the host could tell apart into streams, `answers` has a line for each question and `advice` asks.
"""
