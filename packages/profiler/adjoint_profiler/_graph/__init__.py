"""The graph drawn: captured as plain data (capture), folded by scope (fold), laid out (layers, order, places), written (svg, text)."""
