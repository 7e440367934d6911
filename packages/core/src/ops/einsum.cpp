// einsum: the equation is read into labels, and operands are contracted in pairs by permute, reshape and matmul.
#include <adjoint/core/observer.h>
#include <adjoint/core/ops.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <string>

namespace adjoint {

namespace {

// A label is a letter; dimensions under an ellipsis are numbered from 256 on, the last one lowest, so that they align right.
constexpr int ellipsis = 256;
using Labels = std::vector<int>;
struct Term { Tensor x; Labels labels; bool summed = false; };

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
int place(const Labels& labels, int label) { return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin()); }
std::string name(int label) { return label < ellipsis ? std::string(1, static_cast<char>(label)) : "..."; }

struct Equation {
  std::vector<Labels> inputs{{}};   // `ellipsis` itself stands for "..."
  Labels output;
  bool has_output = false;
};

Equation parse(const std::string& text) {
  Equation e;
  for (size_t i = 0; i < text.size(); i++) {
    Labels& labels = e.has_output ? e.output : e.inputs.back();
    const size_t operand = e.inputs.size() - 1;
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (e.has_output) {
        expect(!has(labels, ellipsis), "einsum(): found '.' for output but an ellipsis (...) was already found");
        expect(text.compare(i, 3, "...") == 0, "einsum(): found '.' for output that is not part of any ellipsis (...)");
      } else {
        expect(!has(labels, ellipsis), "einsum(): found '.' for operand ", operand, " for which an ellipsis was already found");
        expect(text.compare(i, 3, "...") == 0, "einsum(): found '.' for operand ", operand, " that is not part of any ellipsis");
      }
      labels.push_back(ellipsis);
      i += 2;
    } else if (c == ',' && !e.has_output) {
      e.inputs.emplace_back();
    } else if (c == '-' && !e.has_output && text.compare(i, 2, "->") == 0) {
      e.has_output = true;
      i++;
    } else {
      expect(std::isalpha(static_cast<unsigned char>(c)), "einsum(): invalid subscript given at index ", i, " in the equation string, subscripts must be in [a-zA-Z]");
      expect(!e.has_output || !has(labels, c), "einsum(): output subscript ", c, " appears more than once in the output");
      labels.push_back(c);
    }
  }
  return e;
}

// "..." replaced by one label for each of `n` dimensions.
Labels spelled_out(const Labels& labels, int n) {
  Labels r;
  for (int l : labels) {
    if (l != ellipsis) { r.push_back(l); continue; }
    for (int k = n; k-- > 0;) r.push_back(ellipsis + k);
  }
  return r;
}

int hidden_dims(const Labels& labels, const Tensor& x, size_t operand) {
  const int given = static_cast<int>(labels.size()), ndim = x.dim();
  if (has(labels, ellipsis)) {
    expect(given - 1 <= ndim, ErrorKind::shape, "einsum(): the number of subscripts in the equation (", given - 1, ") is more than the number of dimensions (", ndim, ") for operand ", operand);
    return ndim - (given - 1);
  }
  expect(given == ndim, ErrorKind::shape, "einsum(): the number of subscripts in the equation (", given, ") does not match the number of dimensions (", ndim, ") for operand ", operand,
         " and no ellipsis was given");
  return 0;
}

// A label that one operand repeats names a diagonal.
Term repeats_joined(Term t, size_t operand) {
  for (size_t i = 0; i < t.labels.size(); i++) {
    for (size_t j = i + 1; j < t.labels.size();) {
      if (t.labels[i] != t.labels[j]) { j++; continue; }
      const int a = static_cast<int>(i), b = static_cast<int>(j);
      expect(t.x.size(a) == t.x.size(b), ErrorKind::shape, "einsum(): subscript ", name(t.labels[i]), " is repeated for operand ", operand, " but the sizes don't match, ", t.x.size(b), " != ", t.x.size(a));
      t.x = movedim(diagonal(t.x, 0, a, b), -1, a);
      t.labels.erase(t.labels.begin() + b);
    }
  }
  return t;
}

void check_sizes(const std::vector<Term>& terms) {
  std::map<int, int64_t> seen;
  for (size_t k = 0; k < terms.size(); k++)
    for (size_t i = 0; i < terms[k].labels.size(); i++) {
      const int64_t n = terms[k].x.size(static_cast<int>(i));
      int64_t& known = seen.try_emplace(terms[k].labels[i], 1).first->second;
      expect(n == known || n == 1 || known == 1, ErrorKind::shape, "einsum(): subscript ", name(terms[k].labels[i]), " has size ", n, " for operand ", k, " which does not broadcast with previously seen size ", known);
      if (n != 1) known = n;
    }
}

// Without "->": the ellipsis, then every letter that occurs once, in alphabetical order.
Labels implicit_output(const std::vector<Labels>& inputs, int hidden) {
  std::map<int, int> count;
  for (const Labels& labels : inputs)
    for (int l : labels) count[l]++;
  Labels r = spelled_out({ellipsis}, hidden);
  for (auto [label, n] : count)
    if (label < ellipsis && n == 1) r.push_back(label);
  return r;
}

// t summed over every label that is not wanted any more.
Term reduced(Term t, const Labels& wanted) {
  Dims gone;
  Labels left;
  for (size_t i = 0; i < t.labels.size(); i++) {
    if (has(wanted, t.labels[i])) left.push_back(t.labels[i]);
    else gone.push_back(static_cast<int64_t>(i));
  }
  return gone.empty() ? t : Term{sum(t.x, gone, false), left, true};
}

// t with its dimensions in this order; labels that it lacks become dimensions of size 1.
Tensor arranged(const Term& t, const Labels& order) {
  Dims dims;
  for (int l : order)
    if (has(t.labels, l)) dims.push_back(place(t.labels, l));
  Tensor x = std::is_sorted(dims.begin(), dims.end()) ? t.x : permute(t.x, dims);
  for (size_t i = 0; i < order.size(); i++)
    if (!has(t.labels, order[i])) x = unsqueeze(x, static_cast<int64_t>(i));
  return x;
}

// t without the labels of size 1 along which it broadcasts against `other`, or over which there is nothing to sum.
Term without_units(Term t, const Term& other, const Labels& wanted) {
  for (size_t i = t.labels.size(); i-- > 0;) {
    const int l = t.labels[i], d = static_cast<int>(i);
    const bool broadcasts = has(other.labels, l) && other.x.size(place(other.labels, l)) != 1;
    if (t.x.size(d) != 1 || (has(wanted, l) && !broadcasts)) continue;
    t.x = squeeze(t.x, Dims{d});
    t.labels.erase(t.labels.begin() + d);
  }
  return t;
}

Labels joined(std::initializer_list<Labels> parts) {
  Labels r;
  for (const Labels& p : parts) r.insert(r.end(), p.begin(), p.end());
  return r;
}
int64_t extent(const Term& t, const Labels& labels) {
  int64_t n = 1;
  for (int l : labels) n *= t.x.size(place(t.labels, l));
  return n;
}

// Sums of whole numbers are int64: a term beside one follows, as a product of matrices takes one type.
void meet(Term& a, Term& b) {
  if (!(a.summed || b.summed) || !is_integral(a.x.dtype()) || !is_integral(b.x.dtype())) return;
  a.x = to_dtype(a.x, DType::int64);
  b.x = to_dtype(b.x, DType::int64);
}

// The product of two terms, summed over the labels that are not wanted any more: first over those that only one of them has.
Term contract(const Term& first, const Term& second, const Labels& wanted) {
  Term a = without_units(first, second, wanted), b = without_units(second, a, wanted);
  a = reduced(a, joined({wanted, b.labels}));
  b = reduced(b, joined({wanted, a.labels}));
  meet(a, b);
  Labels batch, inner, rows, columns;
  for (int l : a.labels) (!has(b.labels, l) ? rows : has(wanted, l) ? batch : inner).push_back(l);
  for (int l : b.labels)
    if (!has(a.labels, l)) columns.push_back(l);
  const Labels result = joined({batch, rows, columns});
  const bool summed = a.summed || b.summed;
  if (inner.empty()) return {mul(arranged(a, result), arranged(b, result)), result, summed};
  Dims sizes;
  for (int l : result) sizes.push_back(has(a.labels, l) ? a.x.size(place(a.labels, l)) : b.x.size(place(b.labels, l)));
  const int64_t n = extent(a, batch), k = extent(a, inner);
  Dims left{n, extent(a, rows), k}, right{n, k, extent(b, columns)};
  if (batch.empty()) { left.erase(0); right.erase(0); }
  const Tensor product = matmul(reshape(arranged(a, joined({batch, rows, inner})), left), reshape(arranged(b, joined({batch, inner, columns})), right));
  return {reshape(product, sizes), result, summed};
}

// Whether the result comes without gaps where the second term's dimensions are in front.
bool second_leads(const Term& a, const Term& b, const Labels& output) {
  for (int l : output)
    if (has(a.labels, l) != has(b.labels, l)) return has(b.labels, l);
  return false;
}

}  // namespace

Tensor einsum(const char* equation, Tensors x) {
  const Named named("einsum");
  expect(!x.empty(), "einsum(): must provide at least one operand");
  Equation e = parse(equation);
  expect(e.inputs.size() >= x.size(), "einsum(): more operands were provided than specified in the equation");
  expect(e.inputs.size() <= x.size(), "einsum(): fewer operands were provided than specified in the equation");
  int hidden = 0;
  std::vector<Term> terms;
  for (size_t k = 0; k < x.size(); k++) {
    const int own = hidden_dims(e.inputs[k], x[k], k);
    hidden = std::max(hidden, own);
    terms.push_back(repeats_joined({x[k], spelled_out(e.inputs[k], own)}, k));
  }
  check_sizes(terms);
  const Labels output = e.has_output ? spelled_out(e.output, hidden) : implicit_output(e.inputs, hidden);
  for (int l : output)
    expect(l >= ellipsis || std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return has(t.labels, l); }), "einsum(): output subscript ", name(l),
           " does not appear in the equation for any input operand");
  Term result = terms[0];
  for (size_t k = 1; k < terms.size(); k++) {
    Labels wanted = output;
    for (size_t later = k + 1; later < terms.size(); later++) wanted = joined({wanted, terms[later].labels});
    result = terms.size() == 2 && second_leads(result, terms[k], output) ? contract(terms[k], result, wanted) : contract(result, terms[k], wanted);
  }
  const Tensor y = arranged(reduced(result, output), output);
  return y.is(x[0]) ? alias(y) : y;
}

}  // namespace adjoint
