// The part of the graph that one backward visits, as arrays.
#pragma once
#include <adjoint/engine/autograd.h>

namespace adjoint::engine {

class Task {
 public:
  static constexpr size_t none = ~size_t(0);
  struct Capture { uint32_t nr; size_t result; };
  struct Entry {
    Ref<Node> node;
    size_t index, first_edge;
    uint32_t pending = 0;              // edges into it that have not delivered yet
    bool needed = true;                // on a path that is wanted
    bool executed = true;              // its function runs (else only its cotangent is captured)
    std::vector<Tensor> cotangents;
    std::vector<Capture> captures;
  };

  void add_root(const Edge& e) { insert(e.node.get()); }
  void discover();
  void restrict_to(std::span<const Edge> inputs, bool accumulate);
  size_t find(Node* n) const;
  size_t size() const { return entries_.size(); }
  Entry& operator[](size_t i) { return entries_[i]; }
  size_t target(size_t i, size_t edge) const { return targets_[entries_[i].first_edge + edge]; }

 private:
  size_t insert(Node* n);
  void grow();
  size_t slot_of(Node* n) const;
  void count_pending();

  std::vector<Entry> entries_;
  std::vector<size_t> targets_;        // per entry: the entry behind each edge
  std::vector<size_t> table_;          // open addressing: node -> entry
};

}  // namespace adjoint::engine
