// Pieces of device memory, and the lists of those that are free.
#pragma once
#include <adjoint/core/cuda/stream.h>

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

namespace adjoint::cuda {

struct FreePieces;

struct Block {
  Pointer data;
  size_t size, requested;
  Stream stream;
  FreePieces* home;            // of its stream
  Block *before, *after;       // neighbours in the segment
  Block *next, **link;         // in a free list, and what points here
  bool small, used;
  uint32_t pending;            // events it waits for
  uint64_t serial;             // of the last allocation
  std::vector<Stream> users;   // other streams
};

// The free pieces of one stream, and of one pool. Pieces of up to 1 MiB lie in lists by size, larger ones in a tree. Bin i holds pieces of
// (i + 1) units; the last one of small segments holds all above the limit too.
struct FreePieces {
  static constexpr size_t unit = 512, small_limit = size_t(1) << 20, bins = small_limit / unit;
  struct BySize {
    using is_transparent = void;
    bool operator()(const Block* a, const Block* b) const { return a->size != b->size ? a->size < b->size : a->data < b->data; }
    bool operator()(const Block* a, size_t size) const { return a->size < size; }
    bool operator()(size_t size, const Block* b) const { return size < b->size; }
  };

  uint64_t pool;
  size_t segments = 0;   // whose pieces call this their home
  Block* bin[bins + 1] = {};
  uint64_t filled[(bins + 64) / 64] = {};
  std::set<Block*, BySize> large;

  explicit FreePieces(uint64_t of_pool) : pool(of_pool) {}
  static size_t bin_of(size_t size) { return std::min(size / unit - 1, bins); }
  void put(Block* b) {
    if (!b->small) { large.insert(b); return; }
    const size_t i = bin_of(b->size);
    b->next = bin[i];
    b->link = &bin[i];
    if (b->next) b->next->link = &b->next;
    bin[i] = b;
    filled[i / 64] |= uint64_t(1) << i % 64;
  }
  void remove(Block* b) {
    if (!b->small) { large.erase(b); return; }
    *b->link = b->next;
    if (b->next) b->next->link = b->link;
    const size_t i = bin_of(b->size);
    if (!bin[i]) filled[i / 64] &= ~(uint64_t(1) << i % 64);
  }
  Block* smallest(size_t size, bool small) {
    if (!small) {
      auto it = large.lower_bound(size);
      return it == large.end() ? nullptr : *it;
    }
    size_t word = bin_of(size) / 64;
    uint64_t bits = filled[word] & ~uint64_t(0) << bin_of(size) % 64;
    while (!bits && ++word < std::size(filled)) bits = filled[word];
    return bits ? bin[word * 64 + static_cast<size_t>(std::countr_zero(bits))] : nullptr;
  }
};

}  // namespace adjoint::cuda
