"""Rooms of `utils`, each imported when it is used."""
