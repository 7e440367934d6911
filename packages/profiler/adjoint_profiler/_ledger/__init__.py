"""What is kept in memory: rows (what, by whom, from where), everything Python reaches, the peak to come, tables."""
