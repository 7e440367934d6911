// Formulas are run on a stack of depths, before they are ever run on numbers.
#include "cuda/formula.h"

#include <adjoint/core/error.h>
#include <adjoint/core/op_fields.h>

namespace adjoint::cuda {

namespace {

constexpr int64_t most_inputs = 8, most_results = 3;

class Check {
 public:
  explicit Check(const Op& op) : op_(op) {
    if (op.fields) op.fields(nullptr, fields_);
  }
  int fields() const { return fields_.count; }
  void name(const Formula& f) {   // those before it are known
    formula(f, 0);
    names_++;
  }
  void require(bool holds, const char* what, int64_t got) const {
    expect(holds, ErrorKind::value, "register_structured: ", op_.name, ": ", what, ", got ", got);
  }
  void operand(int64_t i) const { require(i >= -most_results && i < most_inputs, "operands are 0 to 7, and -1 to -3 for results", i); }
  void field(int64_t i) const { require(i >= 0 && i < fields_.count, "there is no such attribute", i); }

  // `constants`: how many a formula may read.
  void formula(const Formula& f, size_t constants) const {
    int depth = 0;
    for (size_t i = 0; i < f.code.size(); i++) {
      const int64_t code = f.code[i];
      require(code >= Formula::number && code <= Formula::choose, "there is no such code in formulas", code);
      if (code <= Formula::element) {
        require(++i < f.code.size(), "a formula ends in its middle, after code", code);
        value(static_cast<Formula::Code>(code), f.code[i], constants);
        depth += code == Formula::size || code == Formula::stride || code == Formula::element ? need(depth, 1) : 1;
      } else if (code <= Formula::rounds) {
        depth++;
      } else {
        depth += code == Formula::next_power || code == Formula::log2 || code == Formula::factors ? need(depth, 1) : code == Formula::choose ? need(depth, 3) : need(depth, 2);
      }
      require(depth <= deepest, "a formula keeps too many values at once", depth);
    }
    require(depth == 1, "a formula must leave one value", depth);
  }

 private:
  // Takes `n` values and leaves one.
  int need(int depth, int n) const {
    require(depth >= n, "a formula takes more values than there are", n);
    return 1 - n;
  }
  void value(Formula::Code code, int64_t v, size_t constants) const {
    if (code == Formula::number) return;
    if (code == Formula::named) return require(v >= 0 && v < names_, "a formula reads a name that is not known yet", v);
    if (code == Formula::field || code == Formula::element) return field(v);
    if (code != Formula::constant) return operand(v);
    require(v >= 0 && v < static_cast<int64_t>(constants), "a formula reads a constant that is not known yet", v);
  }
  const Op& op_;
  FieldList fields_;
  int64_t names_ = 0;
};

void check_argument(const Check& check, const StructuredKernel::Argument& a, size_t constants, int64_t workspaces) {
  check.require(a.kind <= StructuredKernel::workspace, "arguments are of kind 0 to 3", a.kind);
  if (a.kind == StructuredKernel::operand) check.operand(a.index);
  else if (a.kind == StructuredKernel::number) check.field(a.index);
  else if (a.kind == StructuredKernel::workspace) check.require(a.index >= 0 && a.index < workspaces, "there is no such workspace", a.index);
  else check.formula(a.formula, constants);
}
void check_step(const Check& check, const StructuredKernel::Step& step, int64_t workspaces) {
  for (size_t i = 0; i < step.constants.size(); i++) check.formula(step.constants[i], i);
  for (const Formula& side : step.grid) check.formula(side, step.constants.size());
  if (!step.when.code.empty()) check.formula(step.when, 0);
  for (const StructuredKernel::Argument& a : step.arguments) check_argument(check, a, step.constants.size(), workspaces);
}

}  // namespace

void check_formulas(const Op& op, const StructuredKernel& k) {
  Check check(op);
  check.require(k.names.size() <= StructuredKernel::most_names, "there are too many names", static_cast<int64_t>(k.names.size()));
  for (const Formula& f : k.names) check.name(f);
  check.require(k.along < check.fields(), "there is no such attribute", k.along);
  check.require(k.along >= 0 || !(k.matching || k.split || k.apart), "matching, split and apart need a dimension to work along", k.along);
  check.require(!k.steps.empty() && (!k.split || k.steps.size() == 1), "there must be a step, and split takes no more than one", static_cast<int64_t>(k.steps.size()));
  if (!k.rounds.code.empty()) check.formula(k.rounds, 0);
  if (!k.suits.code.empty()) check.formula(k.suits, 0);
  for (const StructuredKernel::Workspace& r : k.workspaces) {
    check.require(r.type <= StructuredKernel::Workspace::widened, "workspaces are of kind 0, 1 or 2", r.type);
    if (r.type == StructuredKernel::Workspace::fixed) check.require(r.index >= 0 && r.index < dtype_count, "there is no such element type", r.index);
    else check.operand(r.index);
    check.formula(r.count, 0);
  }
  const auto workspaces = static_cast<int64_t>(k.workspaces.size());
  for (const StructuredKernel::Argument& a : k.info) {
    check.require(a.kind == StructuredKernel::operand || a.kind == StructuredKernel::workspace, "info is an operand or a workspace", a.kind);
    check_argument(check, a, 0, workspaces);
  }
  for (const auto& step : k.steps) check_step(check, *step, workspaces);
}

}  // namespace adjoint::cuda
