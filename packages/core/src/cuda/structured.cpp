// Kernels with arguments of their own: operands are laid out as the kernel wants them, then formulas give the arguments, constants
// and grid of each launch.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/cuda/kernel.h>
#include <adjoint/core/cuda/memory.h>
#include <adjoint/core/error.h>
#include <adjoint/core/linalg.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/tensor.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <deque>

#include "cuda/by_op.h"
#include "cuda/factors.h"
#include "cuda/formula.h"
#include "cuda/host.h"
#include "views.h"

namespace adjoint::cuda {

std::atomic<bool> allow_tf32{false};

namespace {

constexpr int64_t smallest_chunk = 8192, wanted_programs = 1024;   // of reductions

struct StructuredEntry { const Op* op; std::unique_ptr<StructuredKernel> kernel; };

ByOp<StructuredEntry>& structured_table() {
  static auto* t = new ByOp<StructuredEntry>;
  return *t;
}


// A call's operands as the kernel sees them, and what formulas may ask.
class LaunchOperands {
 public:
  LaunchOperands(const StructuredEntry& e, const Launch& l) : launch_(l), kernel_(*e.kernel) {
    if (e.op->fields) e.op->fields(&l.attrs, fields_);
    for (size_t i = 0; i < l.x.size(); i++) views_.push_back(l.numbers >> i & 1 ? uploaded(l.x[i]) : l.x[i]);
    check();
    if (kernel_.matching) match(static_cast<int>(fields_.field[kernel_.along].whole));
    if (kernel_.along >= 0) gather_dims(fields_.field[kernel_.along]);
    expect(count_ <= kernel_.longest, ErrorKind::not_implemented, launch_.op, ": no kernel for device cuda for more than ", kernel_.longest, " elements along a dimension, got ", count_);
    if (!kernel_.strided)
      for (View& v : views_)
        if (!v.contiguous()) v = copied(v);
    for (const View& y : l.y) views_.push_back(y);
    if (kernel_.linear && is_complex(views_[0].dtype)) take_parts();
    chunk_ = total_ = count_;
  }
  // An input, or for -1, -2, ... an output.
  const View& operator[](int64_t i) const {
    const size_t at = static_cast<size_t>(i < 0 ? static_cast<int64_t>(launch_.x.size()) + ~i : i);
    expect(at < views_.size(), launch_.op, ": its kernel asks for operand ", i, ", there are ", launch_.x.size(), " and ", launch_.y.size(), " results");
    return views_[at];
  }
  const FieldList& fields() const { return fields_; }

  // How many chunks a reduction of few rows goes in.
  int64_t parts() const {
    const int64_t rows = outer_ * inner_, wanted = rows < wanted_programs ? wanted_programs / std::max<int64_t>(rows, 1) : 1;
    return std::clamp<int64_t>(count_ / smallest_chunk, 1, wanted);
  }
  // The first pass of a split reduction writes here, (parts, rows), which the last pass reduces.
  void begin_split(int64_t parts) {
    const DType type = (*this)[-1].dtype;
    result_ = (*this)[-1];
    last_ = 0;
    chunk_ = (count_ + parts - 1) / parts;
    views_.back() = keep(empty({(count_ + chunk_ - 1) / chunk_, outer_ * inner_}, is_half(type) ? DType::float32 : type, launch_.device));
    known_ = 0;
  }
  void end_split() {
    views_[0] = views_.back();
    views_.back() = result_;
    inner_ *= outer_;
    outer_ = last_ = 1;
    count_ = chunk_ = views_[0].sizes[0];
    known_ = 0;
  }
  int64_t constants[Arguments::most_constants];
  int64_t round = 0, rounds = 1;

  void make_workspaces() {
    for (const StructuredKernel::Workspace& r : kernel_.workspaces) {
      const int64_t count = evaluate(r.count);
      expect(count >= 0 && count < int64_t(1) << 48, ErrorKind::not_implemented, launch_.op, ": too large for cuda: a workspace of ", count, " elements");
      workspaces_.push_back(empty({count}, type_of(r), launch_.device));
    }
  }
  const TensorImpl& workspace(int i) const { return *workspaces_[static_cast<size_t>(i)]; }

  int64_t evaluate(const Formula& f) const {
    int64_t stack[deepest];
    int top = -1;
    for (size_t i = 0; i < f.code.size(); i++) {
      const auto op = static_cast<Formula::Code>(f.code[i]);
      if (op <= Formula::element) top = operand(op, f.code[++i], stack, top);
      else if (op <= Formula::rounds) stack[++top] = fact(op);
      else top = operate(op, stack, top);
    }
    return stack[0];
  }

 private:
  DType type_of(const StructuredKernel::Workspace& r) const {
    if (r.type == StructuredKernel::Workspace::fixed) return static_cast<DType>(r.index);
    const DType t = (*this)[r.index].dtype;
    return r.type == StructuredKernel::Workspace::widened && is_half(t) ? DType::float32 : t;
  }
  Tensor fresh(const View& v) { return empty(dims_of(v), v.dtype, launch_.device); }
  View keep(Tensor t) {
    made_.push_back(std::move(t));
    return view_of(*made_.back());
  }
  View copied(const View& v) {
    const View to = keep(fresh(v));
    copy_kernel({{&v, 1}, {&to, 1}, launch_.attrs, launch_.op, false, launch_.device});
    return to;
  }
  // A value on the host, spread over its shape.
  View uploaded(const View& v) {
    const View to = keep(fresh(v));
    fill(to.data, static_cast<size_t>(to.numel), static_cast<size_t>(itemsize(v.dtype)), v.data, launch_.device.index);
    return to;
  }
  void check() const {
    for (const View& v : views_) {
      expect(v.ndim <= kernel_.dims, ErrorKind::not_implemented, launch_.op, ": no kernel for device cuda for more than ", kernel_.dims, " dimensions, got ", v.ndim);
    }
  }
  // Positions may have fewer lines than the tensor. Where the result has the positions' sizes, the tensor is cut down to them; where it has
  // the tensor's, they are filled up with positions that are outside of it.
  void match(int along) {
    View& x = views_[0];
    Dims lines = dims_of(views_[1]);
    if (!kernel_.copied) {
      if (along < x.ndim) lines[along] = x.sizes[along];
      x = cut(x, lines);
      return;
    }
    if (along >= x.ndim) return;
    const int64_t n = lines[along];
    lines = dims_of(x);
    lines[along] = n;
    for (size_t i = 1; i < views_.size(); i++) views_[i] = filled_up(views_[i], lines);
  }
  void take_parts() {
    inner_ *= 2;
    for (View& v : views_) {
      if (!is_complex(v.dtype)) continue;   // positions
      v.dtype = real_of(v.dtype);
      v.numel *= 2;
    }
  }
  View cut(const View& v, const Dims& sizes) {
    sizes_.push_back(sizes);
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    return {v.data, sizes_.back().data(), v.strides, v.ndim, v.dtype, n};
  }
  View filled_up(const View& v, const Dims& sizes) {
    if (sizes == dims_of(v)) return v;
    constexpr unsigned char outside = 0x80;   // eight of them: a very negative position
    const View all = keep(empty(sizes, v.dtype, launch_.device));
    fill(all.data, static_cast<size_t>(all.numel * itemsize(v.dtype)), 1, &outside, launch_.device.index);
    const View part = cut(all, dims_of(v));
    copy_kernel({{&v, 1}, {&part, 1}, launch_.attrs, launch_.op, false, launch_.device});
    return all;
  }
  void gather_dims(const Field& f) {
    View& x = views_[0];
    Dims dims;
    if (f.dims) dims = *f.dims;
    else if (x.ndim) dims.push_back(f.whole);
    const bool neighbours = dims.empty() || dims[dims.size() - 1] - dims[0] == dims.size() - 1;
    outer_ = count_ = inner_ = kept_ = behind_ = 1;
    if (kernel_.apart) return keep_apart(dims);
    if (neighbours) {
      for (int d = 0; d < x.ndim; d++) (dims.empty() || (d >= dims[0] && d <= dims[dims.size() - 1]) ? count_ : d < dims[0] ? outer_ : inner_) *= x.sizes[d];
      return;
    }
    expect(!kernel_.copied, ErrorKind::not_implemented, launch_.op, ": no kernel for device cuda for dimensions that are not neighbours: ", dims);
    Dims sizes, strides;   // the dimensions kept, then those worked along
    for (bool along : {false, true})
      for (int d = 0; d < x.ndim; d++) {
        if ((std::find(dims.begin(), dims.end(), d) != dims.end()) != along) continue;
        sizes.push_back(x.sizes[d]);
        strides.push_back(x.strides[d]);
        (along ? count_ : outer_) *= x.sizes[d];
      }
    x = copied({x.data, sizes.data(), strides.data(), x.ndim, x.dtype, x.numel});
  }
  // Elements are (outer / kept, count / behind, kept, behind), of which the second and the last are worked along.
  void keep_apart(const Dims& dims) {
    const View& x = views_[0];
    int d = x.ndim - 1;
    for (; d >= 0 && dims.contains(d); d--) behind_ *= x.sizes[d];
    for (; d >= 0 && !dims.contains(d); d--) kept_ *= x.sizes[d];
    for (d = 0; d < x.ndim; d++) (dims.contains(d) ? count_ : outer_) *= x.sizes[d];
  }
  int64_t fact(Formula::Code which) const {
    switch (which) {
      case Formula::outer: return outer_;
      case Formula::count: return count_;
      case Formula::inner: return inner_;
      case Formula::inputs: return static_cast<int64_t>(launch_.x.size());
      case Formula::chunk: return chunk_;
      case Formula::last: return last_;
      case Formula::total: return total_;
      case Formula::kept: return kept_;
      case Formula::behind: return behind_;
      case Formula::round: return round;
      case Formula::rounds: return rounds;
      default: return allow_tf32;
    }
  }
  int operand(Formula::Code op, int64_t which, int64_t* stack, int top) const {
    switch (op) {
      case Formula::number: stack[++top] = which; break;
      case Formula::field: stack[++top] = fields_.field[which].whole; break;
      case Formula::constant: stack[++top] = constants[which]; break;
      case Formula::numel: stack[++top] = (*this)[which].numel; break;
      case Formula::itemsize: stack[++top] = itemsize((*this)[which].dtype); break;
      case Formula::dims: stack[++top] = (*this)[which].ndim; break;
      case Formula::parts: stack[++top] = is_complex((*this)[which].dtype) ? 2 : 1; break;
      case Formula::named: stack[++top] = value_of(static_cast<size_t>(which)); break;
      case Formula::floating: stack[++top] = is_floating((*this)[which].dtype); break;
      case Formula::element: stack[top] = value_at(fields_.field[which], stack[top]); break;
      default: {   // size, stride: of a dimension that is not there, 1 and 0
        const View& v = (*this)[which];
        const int64_t d = stack[top] < 0 ? stack[top] + v.ndim : stack[top];
        const bool there = d >= 0 && d < v.ndim;
        stack[top] = op == Formula::size ? (there ? v.sizes[d] : 1) : there && v.sizes[d] != 1 ? v.strides[d] : 0;
      }
    }
    return top;
  }
  int64_t value_of(size_t name) const {
    if (!(known_ >> name & 1)) {
      values_[name] = evaluate(kernel_.names[name]);
      known_ |= uint64_t(1) << name;
    }
    return values_[name];
  }
  // 0 where there are fewer.
  static int64_t value_at(const Field& f, int64_t i) {
    const int64_t n = f.dims ? f.dims->size() : 1, at = i < 0 ? i + n : i;
    if (at < 0 || at >= n) return 0;
    return f.dims ? (*f.dims)[static_cast<int>(at)] : f.whole;
  }
  static int operate(Formula::Code op, int64_t* stack, int top) {
    if (op == Formula::next_power || op == Formula::log2) {
      const auto v = static_cast<uint64_t>(std::clamp<int64_t>(stack[top], 1, int64_t(1) << 62));
      stack[top] = op == Formula::log2 ? std::bit_width(v) - 1 : static_cast<int64_t>(std::bit_ceil(v));
      return top;
    }
    if (op == Formula::factors) {
      stack[top] = factor_of(stack[top], 0).count;
      return top;
    }
    if (op == Formula::choose) {   // condition, then, else
      stack[top - 2] = stack[top - 2] ? stack[top - 1] : stack[top];
      return top - 2;
    }
    int64_t &a = stack[top - 1], b = stack[top];
    switch (op) {
      case Formula::add: a += b; break;
      case Formula::subtract: a -= b; break;
      case Formula::multiply: a *= b; break;
      case Formula::divide: a = b > 0 ? a / b : 0; break;   // nothing here is less than nothing
      case Formula::modulo: a = b > 0 ? a % b : 0; break;
      case Formula::divide_up: a = b > 0 ? (a + b - 1) / b : 0; break;
      case Formula::minimum: a = std::min(a, b); break;
      case Formula::maximum: a = std::max(a, b); break;
      case Formula::shift_left: a = b >= 0 && b < 63 ? static_cast<int64_t>(static_cast<uint64_t>(a) << b) : 0; break;
      case Formula::shift_right: a = a >> std::clamp<int64_t>(b, 0, 63); break;
      case Formula::factor: a = factor_of(a, b).at; break;
      case Formula::span: a = factor_of(a, b).before; break;
      case Formula::less: a = a < b; break;
      default: a = a == b;
    }
    return top - 1;
  }

  const Launch& launch_;
  const StructuredKernel& kernel_;
  FieldList fields_;
  std::vector<View> views_;
  Vector<Tensor> made_, workspaces_;
  std::deque<Dims> sizes_;   // of views that are cut: where they lie must not change
  int64_t outer_ = 1, count_ = 1, inner_ = 1, chunk_ = 1, last_ = 1, total_ = 1, kept_ = 1, behind_ = 1;
  View result_{};
  mutable int64_t values_[StructuredKernel::most_names];   // of names, where `known_` has their bits
  mutable uint64_t known_ = 0;
};

void launch_step(StructuredKernel::Step& k, const Launch& l, LaunchOperands& operands) {
  Arguments a;
  for (const Formula& f : k.constants) {
    const int64_t v = operands.evaluate(f);
    operands.constants[a.constant_count] = v;
    a.constant(v);
  }
  for (const StructuredKernel::Argument& p : k.arguments) {
    if (p.kind == StructuredKernel::operand) {
      if (p.index >= static_cast<int>(l.x.size())) { a.pointer(nullptr, l.x[0].dtype); continue; }
      const View& v = operands[p.index];
      a.pointer(v.data, v.dtype);
    } else if (p.kind == StructuredKernel::integer) {
      const int64_t v = operands.evaluate(p.formula);
      if (p.index) a.plain_integer(v, true);
      else a.integer(v);
    } else if (p.kind == StructuredKernel::workspace) {
      a.pointer(operands.workspace(p.index).data, operands.workspace(p.index).dtype);
    } else {
      a.number(operands.fields().field[p.index].number, real_of(l.y[0].dtype));
    }
  }
  uint32_t grid[3];
  for (int i = 0; i < 3; i++) {
    const int64_t n = operands.evaluate(k.grid[i]);
    expect(n >= 0 && n <= (i ? 65535 : INT_MAX), ErrorKind::not_implemented, l.op, ": too large for cuda: a grid of ", n);
    grid[i] = static_cast<uint32_t>(n);
  }
  k.kernel.launch(a, grid[0], grid[1], grid[2], l.device.index);
}

// Whether the host reads how it went. Where the call asks for that, a capture is refused; an operation that has no such choice is then not checked.
bool reads_info(const StructuredKernel& k, const Launch& l, const LaunchOperands& operands) {
  if (k.info.empty()) return false;
  const FieldList& fields = operands.fields();
  const Field* const end = fields.field + fields.count;
  const Field* check = std::find_if(fields.field, end, [](const Field& f) { return std::string_view(f.name) == "check"; });
  const bool captured = capturing(current_stream(l.device.index));
  if (check == end) return !captured;
  if (check->whole && captured)
    fail_capturing((std::string(l.op) + ": with check, the host reads whether it succeeded, which nobody knows before the replay").c_str());
  return check->whole;
}

// An error where a matrix of the batch could not be factored.
void check_factors(const StructuredKernel& k, const Launch& l, const LaunchOperands& operands) {
  const StructuredKernel::Argument& at = k.info[0];
  const View info = at.kind == StructuredKernel::workspace ? view_of(operands.workspace(at.index)) : operands[at.index];
  std::vector<int32_t> found(static_cast<size_t>(info.numel));
  read(found.data(), info.data, found.size() * sizeof(int32_t), l.device.index);
  check_info(l.op, found, l.x[0].ndim > 2);
}

void launch_passes(const StructuredEntry& e, const Launch& l) {
  LaunchOperands operands(e, l);
  if (!e.kernel->suits.code.empty() && !operands.evaluate(e.kernel->suits)) {
    const Kernel host = host_kernel(*e.op);
    expect(host, ErrorKind::not_implemented, l.op, ": no kernel for device cuda for operands like these");
    return host(l);
  }
  const bool checked = reads_info(*e.kernel, l, operands);
  if (e.kernel->copied) copy_kernel({l.x.first(1), l.y.first(1), l.attrs, l.op, false, l.device});
  const int64_t parts = e.kernel->split ? operands.parts() : 1;
  if (parts > 1) {
    operands.begin_split(parts);
    launch_step(*e.kernel->steps[0], l, operands);
    operands.end_split();
  }
  operands.make_workspaces();
  if (!e.kernel->rounds.code.empty()) operands.rounds = operands.evaluate(e.kernel->rounds);
  for (operands.round = 0; operands.round < operands.rounds; operands.round++)
    for (const auto& step : e.kernel->steps)
      if (step->when.code.empty() || operands.evaluate(step->when)) launch_step(*step, l, operands);
  if (checked) check_factors(*e.kernel, l, operands);
}

// With output 0 in float32, rounded at the end.
void launch_wide(const StructuredEntry& e, const Launch& l) {
  const View& y = l.y[0];
  const Tensor sum = empty(dims_of(y), DType::float32, l.device);
  const View view = view_of(*sum);
  launch_passes(e, {l.x, {&view, 1}, l.attrs, l.op, false, l.device, l.numbers});
  copy_kernel({{&view, 1}, l.y, l.attrs, l.op, false, l.device});
}

void launch_structured(const Launch& l) {
  const StructuredEntry& e = *structured_table().find(l.op);
  if (e.kernel->wide && is_half(l.y[0].dtype)) launch_wide(e, l);
  else launch_passes(e, l);
}

}  // namespace

void register_structured(const char* name, std::unique_ptr<StructuredKernel> kernel) {
  const Op* op = find_op(name);
  expect(op, ErrorKind::value, "register_structured: no record named '", name, "'");
  check_formulas(*op, *kernel);
  structured_table().set(*op, new StructuredEntry{op, std::move(kernel)});
  register_kernel(op->name, DeviceType::cuda, launch_structured);
}

}  // namespace adjoint::cuda
