// Finding the nodes of one backward, and those that the wanted inputs need.
#include "task.h"

namespace adjoint::engine {

size_t Task::slot_of(Node* n) const {
  const size_t mask = table_.size() - 1;
  size_t h = (reinterpret_cast<uintptr_t>(n) >> 4) * 0x9E3779B97F4A7C15ull >> 20;
  for (;; h++) {
    const size_t i = table_[h & mask];
    if (i == none || entries_[i].node == n) return h & mask;
  }
}

void Task::grow() {
  table_.assign(std::max<size_t>(8 * few, table_.size() * 4), none);
  for (size_t i = 0; i < entries_.size(); i++) table_[slot_of(entries_[i].node)] = i;
}

size_t Task::find(Node* n) const {
  if (!table_.empty()) return table_[slot_of(n)];
  for (size_t i = 0; i < entries_.size(); i++)
    if (entries_[i].node == n) return i;
  return none;
}

size_t Task::insert(Node* n) {
  if (entries_.size() >= few && entries_.size() * 2 >= table_.size()) grow();
  size_t* const slot = table_.empty() ? nullptr : &table_[slot_of(n)];
  if (const size_t i = slot ? *slot : find(n); i != none) return i;
  if (slot) *slot = entries_.size();
  if (entries_.empty()) entries_.reserve(few);
  entries_.push_back({n, 0, cotangents_.size(), n->outputs()});
  cotangents_.resize(cotangents_.size() + n->outputs());
  return entries_.size() - 1;
}

void Task::add_root(const Edge& e) {
  roots_.push_back(e.node);
  insert(e.node.get());
}

// Breadth first: entries are appended while they are visited.
void Task::discover() {
  for (size_t i = 0; i < entries_.size(); i++) {
    const Node* n = entries_[i].node;
    entries_[i].first_edge = targets_.size();
    for (const Edge& e : n->edges) {
      const size_t t = e.node ? insert(e.node.get()) : none;
      targets_.push_back(t);
    }
  }
}

void Task::count_pending() {
  for (const Entry& e : entries_) {
    if (!e.needed) continue;
    for (size_t k = 0; k < e.node->edges.size(); k++)
      if (const size_t t = target(e, k); t != none) entries_[t].pending++;
  }
}

std::vector<Node*> Task::order() const {
  std::vector<uint32_t> pending(entries_.size());
  for (const Entry& e : entries_)
    for (size_t k = 0; e.needed && k < e.node->edges.size(); k++)
      if (const size_t t = target(e, k); t != none) pending[t]++;
  ReadyQueue ready;
  for (size_t i = 0; i < entries_.size(); i++)
    if (!pending[i] && entries_[i].needed) ready.push({entries_[i].node->seq, i});
  std::vector<Node*> nodes;
  while (!ready.empty()) {
    const Entry& e = entries_[ready.top().entry];
    ready.pop();
    nodes.push_back(e.node);
    for (size_t k = 0; k < e.node->edges.size(); k++)
      if (const size_t t = target(e, k); t != none && entries_[t].needed && !--pending[t]) ready.push({entries_[t].node->seq, t});
  }
  return nodes;
}

// Are there hooks around its function?
static bool hooked(const Node& n) {
  const Hooks* h = n.hooks_or_null();
  return h && !(h->pre.empty() && h->post.empty());
}

// Keeps what leads to the inputs. A node whose cotangent is wanted runs only if something behind it is wanted too.
void Task::restrict_to(std::span<const Edge> inputs, bool accumulate) {
  for (size_t r = 0; r < inputs.size(); r++) {
    const size_t i = find(inputs[r].node.get());
    if (i == none) continue;
    captures_.push_back({i, inputs[r].nr, r});
    entries_[i].captured = true;
  }
  // Behind-first order: a depth-first walk with an explicit stack.
  Vector<std::pair<size_t, size_t>> stack;
  for (size_t root = 0; root < entries_.size(); root++) {
    if (entries_[root].seen) continue;
    stack.push_back({root, 0});
    entries_[root].seen = true;
    while (!stack.empty()) {
      auto& [i, k] = stack.back();
      Entry& e = entries_[i];
      if (k == e.node->edges.size()) {
        stack.pop_back();
        continue;
      }
      const size_t t = target(e, k);
      if (t != none && !entries_[t].seen) {
        entries_[t].seen = true;
        stack.push_back({t, 0});
        continue;   // come back to this edge when t is done
      }
      if (t != none && (entries_[t].captured || entries_[t].behind)) e.behind = true;
      k++;
    }
  }
  for (Entry& e : entries_) {
    e.needed = e.captured || e.behind;
    e.executed = e.behind || (accumulate && e.captured && (e.node->edges.empty() || hooked(*e.node)));
  }
}

}  // namespace adjoint::engine
