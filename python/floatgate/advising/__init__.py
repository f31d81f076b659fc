"""`floatgate advise`: the demands of a trace on a drive, on one page.

`sampled` finds steady write amplification from a sample of the pages. `streams` sorts writes into
streams that the host could name. `answers` writes a line for each question, and `advice` asks the
questions.
"""
