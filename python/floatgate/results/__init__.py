"""Results of simulations: typed documents, tables, statistics over seeds, numbers as text."""
