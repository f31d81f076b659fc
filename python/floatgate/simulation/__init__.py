"""Simulations: configs of drives, requests, options, and the pool that runs them.

Nothing is imported here, so that the command line can print its help without the engine.
"""
