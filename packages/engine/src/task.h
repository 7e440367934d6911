// The part of the graph that one backward visits, as arrays.
#pragma once
#include <adjoint/engine/autograd.h>

#include <queue>

namespace adjoint::engine {

// Nodes whose cotangents have all arrived: the newest comes first, and leaves, all as new, as the heap has them.
struct Ready {
  uint64_t seq;
  size_t entry;
  bool operator<(const Ready& other) const { return seq < other.seq; }
};
using ReadyQueue = std::priority_queue<Ready, Vector<Ready>>;

class Task {
 public:
  static constexpr size_t none = ~size_t(0);
  struct Entry {
    Node* node;                        // kept alive by the roots
    size_t first_edge, first_cotangent;
    uint32_t outputs;
    uint32_t pending = 0;              // edges into it that have not delivered yet
    bool needed = true;                // on a path that is wanted
    bool executed = true;              // its function runs (else only its cotangent is captured)
    bool captured = false;             // its cotangents are results
    bool seen = false, behind = false; // while it is found out: something behind it is wanted
  };
  struct Capture { size_t entry; uint32_t nr; size_t result; };

  void add_root(const Edge& e);
  void discover();
  void restrict_to(std::span<const Edge> inputs, bool accumulate);
  void count_pending();                // when it is known which are needed
  std::vector<Node*> order() const;    // in which a backward without hooks runs them
  size_t find(Node* n) const;
  bool is_lone_root(size_t i) const { return i == 0 && roots_.size() == 1; }   // its hooks see the cotangent, whatever is wanted behind it
  size_t size() const { return entries_.size(); }
  Entry& operator[](size_t i) { return entries_[i]; }
  size_t target(const Entry& e, size_t edge) const { return targets_[e.first_edge + edge]; }
  std::span<Tensor> cotangents(const Entry& e) { return {cotangents_.data() + e.first_cotangent, e.outputs}; }
  std::span<const Capture> captures() const { return captures_; }

 private:
  size_t insert(Node* n);
  void grow();
  size_t slot_of(Node* n) const;

  static constexpr size_t few = 8;     // entries that are looked through, without a table
  Vector<Ref<Node>> roots_;
  Vector<Entry> entries_;
  Vector<size_t> targets_;             // per entry: the entry behind each edge
  Vector<Tensor> cotangents_;          // per entry: one per output of its node
  Vector<Capture> captures_;
  Vector<size_t> table_;               // open addressing: node -> entry
};

}  // namespace adjoint::engine
