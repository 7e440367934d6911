// The books of the allocator of device memory, under PyTorch's names.
#pragma once
#include <adjoint/core/cuda/stream.h>

#include <algorithm>
#include <vector>

namespace adjoint::cuda {

// Of bytes or pieces: how many there are, were at most, and came and went in all.
struct Count {
  int64_t current = 0, peak = 0, in = 0, out = 0;
  void add(int64_t n) {
    current += n;
    if (n < 0) { out -= n; return; }
    in += n;
    peak = std::max(peak, current);
  }
};

// Small pieces, of segments of 2 MiB, are counted apart.
struct Counts {
  Count all, small, large;
  void add(int64_t n, bool is_small) {
    all.add(n);
    (is_small ? small : large).add(n);
  }
};

struct Statistics {
  Counts allocations, requested_bytes, allocated_bytes;   // what tensors hold: as asked for, and rounded up
  Counts active, active_bytes;                            // these, and released pieces that wait for another stream
  Counts segments, reserved_bytes;                        // taken from the driver
  Counts split, split_bytes;                              // free pieces of segments of which others are in use
  int64_t retries = 0, failures = 0;                      // the driver had no memory: at first, and after what was kept went back
  int64_t driver_allocations = 0, driver_frees = 0;

  template <class F> void each(F&& f) {
    f("allocation", allocations);
    f("requested_bytes", requested_bytes);
    f("allocated_bytes", allocated_bytes);
    f("active", active);
    f("active_bytes", active_bytes);
    f("segment", segments);
    f("reserved_bytes", reserved_bytes);
    f("inactive_split", split);
    f("inactive_split_bytes", split_bytes);
  }
};
ADJOINT_API Statistics statistics(int device);
ADJOINT_API void reset_peaks(int device);
ADJOINT_API void reset_totals(int device);              // what came and went

// A piece of a segment, and a segment taken from the driver.
struct Piece {
  enum State : uint8_t { in_use, waiting, free };
  Pointer data;
  size_t size, requested;
  State state;
};
struct Segment {
  Stream stream;
  uint64_t pool;              // of graphs; 0: none
  bool small;
  std::vector<Piece> pieces;   // all of it, in order
};
ADJOINT_API std::vector<Segment> snapshot(int device);

}  // namespace adjoint::cuda
