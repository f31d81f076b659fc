"""ASA-FTL (Xie and Chen, CCGrid 2014)."""
