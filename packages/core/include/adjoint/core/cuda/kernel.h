// Kernels for devices, written elsewhere (in Triton): core packs the arguments and launches, and asks a compiler only for variants it
// has not met. A variant is what the compiler may rely on: the type and a hint of each argument, and the values of the constants.
#pragma once
#include <adjoint/core/cuda/stream.h>
#include <adjoint/core/op.h>

#include <memory>
#include <string>
#include <vector>

namespace adjoint::cuda {

// What is known of an argument: one byte, the form above and the element type below.
enum Form : uint8_t {
  by_value = 0x00,            // a number
  multiple_of_16 = 0x10,      // an integer
  equal_to_one = 0x20,        // an integer; folded into the code
  pointer_to = 0x30,
  aligned_pointer_to = 0x40,  // to a multiple of 16 bytes
};
constexpr uint8_t spec(Form form, DType type) { return static_cast<uint8_t>(form | static_cast<uint8_t>(type)); }

// The arguments of one launch: eight bytes each, of which a kernel reads those that its type has.
struct Arguments {
  static constexpr int most = 64, most_constants = 16;
  uint64_t slot[most];
  uint8_t specs[most];
  int32_t constants[most_constants];
  int count = 0, constant_count = 0;

  void pointer(const void* p, DType type) {
    const auto address = reinterpret_cast<uint64_t>(p);
    add(address, spec(address % 16 ? pointer_to : aligned_pointer_to, type));
  }
  void integer(int64_t v) {
    const DType type = v == static_cast<int32_t>(v) ? DType::int32 : DType::int64;
    add(static_cast<uint64_t>(v), spec(v == 1 ? equal_to_one : v % 16 ? by_value : multiple_of_16, type));
  }
  void plain_integer(int64_t v, bool wide) { add(static_cast<uint64_t>(v), spec(by_value, wide ? DType::int64 : DType::int32)); }
  void number(double v, DType compute);               // as float64 where the kernel computes in that or in integers, else float32
  void value(const void* p, DType type);              // of half types, as float32; of complex ones, the two parts as two arguments
  void constant(int64_t v) { constants[constant_count++] = static_cast<int32_t>(v); }

 private:
  void add(uint64_t bits, uint8_t s) {
    slot[count] = bits;
    specs[count++] = s;
  }
};

// A compiled variant. `parameters`: which arguments it takes, in order, and of how many bytes; two pointers to scratch memory follow.
struct Image {
  struct Parameter { uint8_t slot, size; };
  std::string bytes, entry;
  uint32_t shared = 0, threads = 0, clusters = 1;
  bool cooperative = false, dependent = false;        // all blocks at once; may start before the kernel ahead of it is done
  uint64_t scratch = 0;                               // bytes for each block
  std::vector<Parameter> parameters;
};
struct Variant { int device; std::span<const uint8_t> specs; std::span<const int32_t> constants; };

class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual Image compile(const Variant& variant) = 0;  // any thread may call it
};

struct Plan;   // an image, loaded

// All variants of one kernel.
class ADJOINT_API DeviceKernel {
 public:
  DeviceKernel(std::string name, std::unique_ptr<Compiler> compiler);
  ~DeviceKernel();
  const std::string& name() const noexcept { return name_; }
  // On the current stream of `device`, which the thread has entered.
  void launch(const Arguments& a, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, int device);

 private:
  struct Table;
  const Plan& find(const Arguments& a, int device);
  const Plan& compile(const Arguments& a, int device);
  std::string name_;
  std::unique_ptr<Compiler> compiler_;
  std::atomic<Table*> table_;
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

// op(x...) element by element; `fields`: which attributes follow the operands. One program works on `block` elements.
struct ElementwiseKernel {
  DeviceKernel kernel;
  std::vector<int> fields;
  int block;
};
ADJOINT_API void register_elementwise(const char* op, std::unique_ptr<ElementwiseKernel> kernel);

// A sum over sizes and attributes of a call, in postfix code: numbers, and operations on a stack.
struct Formula {
  enum Code : int64_t {
    number, field, constant,              // followed by their value or position
    size, stride, numel, dims, itemsize,  // of an operand: followed by its position (-1, -2, ...: an output); size and stride take a dimension
    parts, floating,                      // 2 for an operand of complex numbers; 1 for one of real numbers, not whole ones
    named,                                // a formula of the kernel's `names`, by its position; evaluated once for a call
    element,                              // one of an attribute's values: takes its position; 0 if there are fewer
    outer, count, inner,                  // elements before, in and after the dimensions that the kernel works along
    inputs,                               // how many there are: a kernel gets null for those that are absent
    chunk, last, total,                   // of a split reduction: elements for a program, whether this is the last pass, `count` of the first
    kept, behind,                         // elements in the last run of dimensions that it does not work along, and behind that
    tf32,                                 // whether products of float32 may be of 10-bit mantissas: `allow_tf32`
    round, rounds,                        // of a sequence of launches: which one this is, and how many there are
    add, subtract, multiply, divide, modulo, divide_up, minimum, maximum, shift_left, shift_right, less, equal,
    factor, span,                         // of a length, the factor that a position names and the product of those before it: see cuda/factors.h
    next_power, log2, factors, choose,    // the least power of two that is not less; the exponent of the greatest that is not more; how many factors
  };
  std::vector<int64_t> code;
};

// An operation as kernels with arguments of their own: one launch, or several in order, which may run in rounds and hand each other
// memory. Operands are made contiguous first, unless it takes strides.
struct StructuredKernel {
  enum Kind : uint8_t { operand, integer, number, workspace };   // a pointer; a formula; an attribute; a pointer to memory of the call's own
  struct Argument { Kind kind; int index; Formula formula; };   // operands: -1, -2, ... are the outputs; formulas: 1, if its value makes no variants
  struct Step {
    DeviceKernel kernel;
    std::vector<Argument> arguments;
    std::vector<Formula> constants;
    Formula grid[3];
    Formula when;          // without code: always; else 0 leaves it out
  };
  struct Workspace {            // memory for the time of the call
    enum Type : uint8_t { fixed, same, widened };   // an element type, an operand's, or that in which the operand's numbers are summed up
    Type type;
    int index;             // the element type, or the operand
    Formula count;
  };
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<Workspace> workspaces;
  std::vector<Formula> names;   // what other formulas name, each after those that it names itself; the same in all launches of a call
  static constexpr size_t most_names = 64;
  Formula rounds;          // without code: one
  std::vector<Argument> info;   // at most one: LAPACK's numbers of failures, which the host reads and raises where the attribute `check` is set
  int along = -1;          // the attribute that names the dimensions of input 0 it works along: they are made neighbours
  bool strided = false;    // operands come as they are
  bool split = false;      // a reduction that may go in two passes, the first one over chunks
  bool copied = false;     // output 0 starts as input 0
  bool matching = false;   // inputs have input 0's sizes but along the dimension: where they are smaller, input 0 is cut down or positions are filled up
  bool apart = false;      // the dimensions it works along need not be neighbours: they stay where they are
  bool linear = false;     // complex numbers are pairs of real ones behind the last dimension; of the others it need not know
  bool wide = false;       // output 0 is computed as float32 where it is of a half type
  int dims = Dims::max;    // at most
  int64_t longest = INT64_MAX;   // elements along the dimensions it works along, at most
  Formula suits;                 // 0: the host computes the call; none: never
};
ADJOINT_API void register_structured(const char* op, std::unique_ptr<StructuredKernel> kernel);

// An operation for which no kernel of a GPU makes sense, for a reason that its users are told: the host's kernel computes it, between
// copies. A kernel that is registered goes before. `warn`: told once for each operation.
ADJOINT_API void register_on_host(const char* op, std::string why, void (*warn)(const std::string&));

ADJOINT_API extern std::atomic<bool> allow_tf32;   // off at first, as in PyTorch

// Packages of kernels set it; called once, when the first operation finds none.
ADJOINT_API extern void (*kernel_loader)();
void load_kernels();
ADJOINT_API extern const char* const no_kernel;   // of errors, after what has none
ADJOINT_API Kernel find_kernel(const Op& op);   // an error where there is none
ADJOINT_API void copy_kernel(const Launch& l);  // of to_dtype, clone, contiguous and copy: the driver's where it can

}  // namespace adjoint::cuda
