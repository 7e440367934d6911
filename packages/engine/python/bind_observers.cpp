// Observers for Python: the log that profiles are made of, callbacks, and named ranges.
#include <adjoint/engine/event_log.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "callable.h"
#include "fields.h"

namespace adjoint::engine::python {

namespace {

const char* kind_name(Span::Kind k) {
  static constexpr const char* names[] = {"op", "in_place", "function", "custom", "backward", "evaluation", "node", "range"};
  return names[static_cast<int>(k)];
}

nb::object text_or_none(const EventLog& log, uint32_t id) { return id == EventLog::none ? nb::none() : nb::cast(log.name(id)); }
nb::object id_or_none(uint32_t id) { return id == EventLog::none ? nb::none() : nb::cast(id); }

// (sizes, strides, dtype, number or None) of each
nb::object operands(const EventLog& log, uint32_t first, uint32_t count) {
  if (first == EventLog::none) return nb::none();
  nb::list all;
  for (uint32_t i = first; i < first + count; i++) {
    const EventLog::Operand& o = log.detail()[i];
    all.append(nb::make_tuple(o.sizes, o.strides, o.dtype, o.number ? nb::cast(*o.number) : nb::none()));
  }
  return all;
}


nb::list events(const EventLog& self) {
  nb::list all;
  for (const EventLog::Event& e : self.events())
    all.append(nb::make_tuple(kind_name(e.kind), e.op ? e.op->name : e.name == EventLog::none ? "" : self.name(e.name).c_str(), e.start, e.end, id_or_none(e.parent),
                              e.made_node ? nb::cast(e.sequence) : nb::none(), e.site, e.failed, e.rank[0], e.rank[1], text_or_none(self, e.args), reinterpret_cast<uintptr_t>(e.node), operands(self, e.operands, e.operand_count), operands(self, e.results, e.result_count),
                              e.attrs == EventLog::none ? nb::dict() : attributes(*e.op, self.attrs(e.attrs))));
  return all;
}

// (time, bytes, event or None, index of the GPU or -1)
nb::list memory(const EventLog& self) {
  nb::list all;
  for (const EventLog::Memory& m : self.memory()) all.append(nb::make_tuple(m.time, m.bytes, id_or_none(m.event), m.where.type == DeviceType::cpu ? -1 : int(m.where.index)));
  return all;
}

// (kind, name, event or None, device, stream, when it was put there, start, end, bytes, grid, threads, shared memory)
nb::list device_work(const EventLog& self) {
  static constexpr const char* kinds[] = {"kernel", "gpu_memcpy", "gpu_memset"};
  nb::list all;
  for (const DeviceLog::Piece& p : self.device().pieces())
    all.append(nb::make_tuple(kinds[static_cast<int>(p.kind)], self.name(p.name), id_or_none(p.event), p.device, p.stream, p.put, p.start, p.end, p.bytes,
                              nb::make_tuple(p.grid[0], p.grid[1], p.grid[2]), p.threads, p.shared));
  return all;
}

// Python functions that are told of every span: begin(kind, name, ranks of two operands, sequence, shapes) and end(). What they raise is dropped.
class Callbacks final : public Observer {
 public:
  Callbacks(nb::object begin, nb::object end) : begin_(begin), end_(end) {}
  void begin(const Span& s) noexcept override {
    nb::gil_scoped_acquire gil;
    quietly([&] {
      const Node* n = static_cast<const Node*>(s.node);
      nb::list shapes;
      for (const Tensor& t : s.x) shapes.append(t ? nb::cast(t.sizes()) : nb::none());
      nb::object sequence = n ? (n->seq == ~uint64_t(0) ? nb::none() : nb::cast(n->seq)) : s.op && grad_enabled() ? nb::cast(peek_sequence()) : nb::none();
      const auto rank = [&](size_t i) { return i < s.x.size() && s.x[i] ? s.x[i].dim() : -1; };
      begin_(kind_name(s.kind), s.name ? std::string(s.name) : s.op ? std::string(s.op->name) : n ? n->name() : std::string(), nb::make_tuple(rank(0), rank(1)), sequence, shapes);
    });
  }
  void end(const Span&, Tensors) override { finish(); }
  void fail(const Span&) noexcept override { finish(); }

 private:
  template <class F> static void quietly(F f) noexcept {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    try { f(); }
    catch (nb::python_error& e) { e.discard_as_unraisable("an observer"); }
    PyErr_Restore(type, value, trace);
  }
  void finish() noexcept {
    nb::gil_scoped_acquire gil;
    quietly([&] { end_(); });
  }
  Callable begin_, end_;
};

struct Range {
  Range(std::string n, std::optional<std::string> a) : name(std::move(n)), args(std::move(a)), watch({.kind = Span::Kind::range, .name = name.c_str(), .args = args ? args->c_str() : nullptr}) {}
  const std::string name;
  const std::optional<std::string> args;
  Watch watch;
};

}  // namespace

// What watches must not go: it holds itself while it does.
void bind_observers(nb::module_& m) {
  nb::class_<EventLog>(m, "EventLog")
      .def("__init__", [](EventLog* p, bool shapes, bool memory, bool sites, bool device) { new (p) EventLog({shapes, memory, sites, device}); }, nb::arg("shapes"), nb::arg("memory"), nb::arg("sites"), nb::arg("device") = false)
      .def("start", [](nb::handle_t<EventLog> self) {
        nb::inst_ptr<EventLog>(self)->start();
        self.inc_ref();
      })
      .def("stop", [](nb::handle_t<EventLog> self) {
        if (nb::inst_ptr<EventLog>(self)->stop()) self.dec_ref();
      })
      .def("events", events)
      .def("memory", memory)
      .def("device_work", device_work)
      .def_prop_ro("device_fault", [](const EventLog& self) { return self.device().fault(); })
      .def_prop_ro("thread", [](const EventLog& self) { return self.thread(); });
  nb::class_<Callbacks>(m, "Callbacks")
      .def(nb::init<nb::object, nb::object>(), nb::arg("begin"), nb::arg("end"))
      .def("start", [](nb::handle_t<Callbacks> self) {
        add_observer(*nb::inst_ptr<Callbacks>(self));
        self.inc_ref();
      })
      .def("stop", [](nb::handle_t<Callbacks> self) {
        if (remove_observer(*nb::inst_ptr<Callbacks>(self))) self.dec_ref();
      });
  nb::class_<Range>(m, "Range").def(nb::init<std::string, std::optional<std::string>>(), nb::arg("name"), nb::arg("args").none() = nb::none()).def("end", [](Range& r) { r.watch.end(); });
}

}  // namespace adjoint::engine::python
