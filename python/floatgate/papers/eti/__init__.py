"""ETI (Shafaei, Desnoyers and Fitzpatrick, HotStorage 2016)."""
