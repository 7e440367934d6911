// Writing down what runs: one struct an event, appended to a list of this log's own thread.
#include <adjoint/engine/event_log.h>

#include <algorithm>
#include <utility>

namespace adjoint::engine {

namespace {

uint32_t this_thread() noexcept {
  static std::atomic<uint32_t> last{0};
  static thread_local const uint32_t number = ++last;
  return number;
}

bool is_node(Span::Kind k) { return k == Span::Kind::node || k == Span::Kind::evaluation; }
bool is_call(Span::Kind k) { return k == Span::Kind::op || k == Span::Kind::in_place; }

}  // namespace

void EventLog::start() {
  expect(!running_, "EventLog: it is running already");
  if (options_.device) device_.start();
  add_observer(*this);
  thread_ = this_thread();
  running_ = true;
}

bool EventLog::stop() noexcept {
  if (!remove_observer(*this)) return false;
  running_ = false;
  const int64_t t = now();
  for (const Open& o : open_) events_[o.event].end = t;
  open_.clear();
  device_.finish();
  return true;
}

uint32_t EventLog::intern(std::string name) {
  const auto [it, fresh] = ids_.try_emplace(std::move(name), static_cast<uint32_t>(names_.size()));
  if (fresh) names_.push_back(it->first);
  return it->second;
}

uint32_t EventLog::describe(Tensors x, uint32_t& count) {
  const uint32_t first = static_cast<uint32_t>(detail_.size());
  for (const Tensor& t : x) {
    if (!t) detail_.push_back({{}, {}, DType::float32, {}});
    else detail_.push_back({t->sizes, t->strides, t->dtype, t->flags & flag_wrapped && t->storage ? std::optional(item(t)) : std::nullopt});
  }
  count = static_cast<uint32_t>(x.size());
  return first;
}

void EventLog::begin(const Span& s) noexcept {
  Event e{s.kind};
  e.parent = current();
  e.op = s.op;
  if (is_node(s.kind)) {
    const Node& n = *static_cast<const Node*>(s.node);
    const bool known = s.kind == Span::Kind::node && !open_.empty() && open_.back().span->node == s.node;
    e.name = known ? events_[open_.back().event].name : intern(n.name());
    e.made_node = n.seq != ~uint64_t(0);   // a leaf's has none
    e.sequence = n.seq;
    e.site = n.site;
    e.node = &n;
  } else {
    if (s.name) e.name = intern(s.name);
    if (const Node* n = static_cast<const Node*>(s.node)) e.sequence = n->seq, e.node = n, e.made_node = true;
    if (s.args) e.args = intern(s.args);
    for (size_t i = 0; i < std::min<size_t>(2, s.x.size()); i++)
      if (s.x[i]) e.rank[i] = static_cast<int8_t>(s.x[i].dim());
    if (options_.sites && python_hooks.site) e.site = python_hooks.site();
  }
  if (options_.shapes && s.kind != Span::Kind::evaluation) e.operands = describe(s.x, e.operand_count);
  if (options_.shapes && s.attrs && s.op->fields) {
    e.attrs = static_cast<uint32_t>(attrs_.size());
    attrs_.push_back(*s.attrs);
  }
  open_.push_back({&s, static_cast<uint32_t>(events_.size()), peek_sequence()});
  events_.push_back(e);
  events_.back().start = now();   // last: what precedes is the cost of watching
}

// Also ends what began inside of it and never ended: the range of a generator that was left.
EventLog::Event* EventLog::close(const Span& s, int64_t t) noexcept {
  size_t i = open_.size();
  while (i > 0 && open_[i - 1].span != &s) i--;
  if (i == 0) return nullptr;
  for (size_t k = i - 1; k < open_.size(); k++) events_[open_[k].event].end = t;
  Event& e = events_[open_[i - 1].event];
  if (is_call(s.kind)) e.sequence = open_[i - 1].sequence;
  open_.resize(i - 1);
  return &e;
}

void EventLog::end(const Span& s, Tensors y) {
  const int64_t t = now();
  Event* e = close(s, t);
  if (!e) return;
  // The node of a call is the first that it made, unless levels below made theirs before: then it is the result's.
  if (is_call(s.kind) && !y.empty() && y[0] && y[0]->grad_fn) {
    const uint64_t made = node(y[0])->seq;
    e->made_node = made >= e->sequence && peek_sequence() > e->sequence;
    if (s.kind == Span::Kind::op && e->made_node) e->sequence = made, e->node = node(y[0]);
  }
  if (options_.shapes && s.kind != Span::Kind::evaluation) e->results = describe(y, e->result_count);
}

void EventLog::fail(const Span& s) noexcept {
  if (Event* e = close(s, now())) e->failed = s.kind != Span::Kind::function && s.kind != Span::Kind::custom;   // those end without results
}

void EventLog::memory(const void*, int64_t bytes, Device where) noexcept {
  if (options_.memory) memory_.push_back({now(), bytes, current(), where});
}

void EventLog::work(const cuda::Work& w, bool put) noexcept {
  if (!options_.device) return;
  if (put) device_.end(w.stream);
  else device_.begin(w, intern(w.name), current());
}

}  // namespace adjoint::engine
