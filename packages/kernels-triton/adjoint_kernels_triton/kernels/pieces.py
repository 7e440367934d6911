"""Reductions of few, long rows in two launches: programs beside each other reduce a piece of each row, then a few what the pieces came to.

Where the rows alone keep a device busy, or are short, there is one piece, and no second launch.
"""

# How many elements of a row a program takes at a time, how many rows, and how many programs that makes.
BLOCK = "min(1024, max(32, 2048 // next_pow2(inner)))"
_PROGRAMS = "cdiv(outer * inner, min(next_pow2(inner), 64))"


def in_pieces(block: str, programs: str) -> tuple[str, str]:
    """Formulas for elements of a row in a piece, whole blocks, so that loads are of 16 bytes, and for how many pieces there are."""
    wanted = f"max(1, min(n // (4 * {block}) * min(1, n // (16 * {block})), 2048 // {programs}))"
    chunk = f"max(1, cdiv(n, {wanted} * {block})) * {block}"
    return chunk, f"max(1, cdiv(n, {chunk}))"


CHUNK, COUNT = in_pieces(BLOCK, _PROGRAMS)
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
