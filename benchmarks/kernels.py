"""Large arrays, 4 M elements unless the row says otherwise, on one thread and on all."""

from _compare import ALL_THREADS, Table, main
from _kernel_rows import elementwise, indexing, norms, pooling, reductions, scans_and_sorts

if __name__ == "__main__":
    groups = (elementwise, reductions, norms, scans_and_sorts, indexing, pooling)
    rows = [row for group in groups for row in group()]
    main(Table("Large arrays", rows, together=2, threads=(1, ALL_THREADS)))
