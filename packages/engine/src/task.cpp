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
  table_.assign(std::max<size_t>(64, table_.size() * 4), none);
  for (size_t i = 0; i < entries_.size(); i++) table_[slot_of(entries_[i].node)] = i;
}

size_t Task::find(Node* n) const { return table_.empty() ? none : table_[slot_of(n)]; }

size_t Task::insert(Node* n) {
  if (entries_.size() * 2 >= table_.size()) grow();
  size_t& i = table_[slot_of(n)];
  if (i != none) return i;
  i = entries_.size();
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
  count_pending();
}

void Task::count_pending() {
  for (Entry& e : entries_) e.pending = 0;
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
  std::vector<char> wanted(entries_.size(), 0);
  for (size_t r = 0; r < inputs.size(); r++) {
    const size_t i = find(inputs[r].node.get());
    if (i == none) continue;
    captures_.push_back({i, inputs[r].nr, r});
    entries_[i].captured = true;
    wanted[i] = 1;
  }
  // Behind-first order: a depth-first walk with an explicit stack.
  std::vector<char> state(entries_.size(), 0), behind(entries_.size(), 0);
  std::vector<std::pair<size_t, size_t>> stack;
  for (size_t root = 0; root < entries_.size(); root++) {
    if (state[root]) continue;
    stack.push_back({root, 0});
    state[root] = 1;
    while (!stack.empty()) {
      auto& [i, k] = stack.back();
      if (k == entries_[i].node->edges.size()) {
        stack.pop_back();
        continue;
      }
      const size_t t = target(entries_[i], k);
      if (t != none && !state[t]) {
        state[t] = 1;
        stack.push_back({t, 0});
        continue;   // come back to this edge when t is done
      }
      if (t != none && (wanted[t] || behind[t])) behind[i] = 1;
      k++;
    }
  }
  for (size_t i = 0; i < entries_.size(); i++) {
    entries_[i].needed = wanted[i] || behind[i];
    entries_[i].executed = behind[i] || (accumulate && wanted[i] && (entries_[i].node->edges.empty() || hooked(*entries_[i].node)));
  }
  count_pending();
}

}  // namespace adjoint::engine
