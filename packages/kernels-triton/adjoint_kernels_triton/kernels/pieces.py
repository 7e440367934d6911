"""Reductions of few, long rows in two launches: programs beside each other reduce a piece of each row, then a few what the pieces came to.

Where the rows alone keep a device busy, or are short, there is one piece, and no second launch.
"""

# As in TILE: how many elements of a row a program takes at a time, and for how many rows.
_BLOCK = "(1024 if inner == 1 else max(32, 2048 // next_pow2(inner)))"
_PROGRAMS = "max(1, outer if inner == 1 else cdiv(outer * inner, min(next_pow2(inner), 64)))"
_WANTED = f"(max(1, min(n // (4 * {_BLOCK}), 2048 // {_PROGRAMS})) if 16 * {_BLOCK} < n + 1 else 1)"

# Elements of a row in a piece, and how many pieces there are.
CHUNK = f"max(1, cdiv(n, {_WANTED}))"
COUNT = f"max(1, cdiv(n, {CHUNK}))"
PIECES = {"chunk": CHUNK, "pieces": COUNT}

# What the pieces came to is (pieces, rows), of which a program reduces a few columns.
JOINED = {
    "grid": "cdiv(outer * inner, ROWS)",
    "constants": {"ROWS": "min(next_pow2(outer * inner), 8)", "BLOCK": f"min(next_pow2({COUNT}), 2048 // ROWS)"},
    "values": {"rows": "outer * inner", "pieces": COUNT},
    "when": f"1 < {COUNT}",
}


def room(each: str | int = 1) -> str:
    """The formula for a workspace of `each` elements for each piece of each row; none where there is one piece."""
    return f"{each} * outer * inner * {COUNT} if 1 < {COUNT} else 0"
