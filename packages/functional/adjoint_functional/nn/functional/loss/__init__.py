"""Losses: of classes, of numbers, of orders and distances, of sequences of labels."""
