// The loop form: what every operation lowers to and what machine code is printed from.
//
// A `Kernel` works on buffers passed by reference (`Ref`s, flat, row-major, addressed in elements) and is run once
// for each point `%g` of a one-dimensional grid; points may run in any order and on any thread, and write disjoint
// elements. Its body is straight-line SSA instructions with structured control flow (for, vector, if, while).
//
// **Lanes.** Inside `vector` loops a value has `lanes` elements, one per iteration of a strip; values that do not
// depend on the lane have lanes = 1 ("uniform") and stretch where they meet wider ones. Lanes are virtual: a
// machine with narrower registers splits them, so reductions over lanes give the same bits everywhere. When the
// extent is no multiple of the lanes, the last strip runs under a mask: masked lanes load nothing, store nothing
// and leave locals as they were.
//
// **Arithmetic** is exactly IEEE on f32 and f64, one rounding per instruction (`fma` is one instruction, and nothing
// else is ever contracted); bf16 and f16 are only loaded, stored and converted. Integers wrap. All instructions are
// total: x/0 = -1 (all ones), x%0 = x, MIN/-1 = MIN, MIN%-1 = 0; shifts by the width or more give 0 (or the sign);
// float -> integer truncates and saturates, NaN gives 0. `min`/`max` propagate NaN and order -0 below +0.
//
//   kernel @axpb(%0: in f32[1000], %1: out f32[1000]) grid 1 {
//     vector %i = 0 to 1000 lanes 16 {
//       %2 = load %0[%i] : f32x16
//       %3 = constant 2.0 : f32
//       %4 = mul %2, %3 : f32x16
//       store %1[%i], %4
//     }
//   }
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "strata/type/dtype.h"
#include "strata/base/check.h"

namespace strata::loop {

enum class Opcode : std::uint8_t {
  constant,  // bits
  add, sub, mul, div, rem, min, max,             // float or integer by dtype (unsigned types: unsigned); rem of floats = C's fmod, exact
  and_, or_, xor_, shl, shr,                     // shr: arithmetic for signed, logical for unsigned
  neg, abs, not_, sqrt, floor, ceil, trunc, rint,  // rint: nearest, ties to even
  popcnt, clz,
  fma,      // a * b + c, one rounding; f32, f64
  cmp,      // `compare`; result i1. Floats: ordered, except ne
  select,   // i1, a, b
  convert, bitcast,
  index,    // an Index as an i64 value
  load,     // args: [predicate, otherwise] or none
  store,    // args: value, [predicate]
  local,    // args: initial value. A mutable variable of the block; has no value itself
  get, set,  // get: `var`; set: `var`, args: value
  reduce,   // lanes -> 1 by a fixed halving tree: v[i] = v[i] op v[i + lanes/2], lanes/2 times
  extract,  // lane `bits` of a vector value, uniform
  dot2,     // args: acc f32xL, a, b: i32xL holding bf16 pairs (low half first): acc + a.lo*b.lo + a.hi*b.hi
  for_, vector, if_, while_,
  call,     // runtime function `callee` on uniform scalars; result of `type`
};
enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge };

/// dtype x lanes of a value.
struct VType {
  DType dtype = DType::f32;
  int lanes = 1;
  bool operator==(const VType&) const = default;
};

class Inst;
struct Body;

/// An affine expression of index variables: constant + sum of coefficient * variable. A variable is an i64
/// instruction: a loop's counter, a strip's lane number, or an opaque i64 value (`index_of`). Canonical: terms in
/// order of the variables' ids, no zero coefficients, so equal indices compare equal.
class Index {
 public:
  struct Term {
    Inst* variable;
    std::int64_t coefficient;
    bool operator==(const Term&) const = default;
  };
  Index(std::int64_t constant = 0) : constant_(constant) {}  // NOLINT
  static Index of(Inst* variable);
  std::int64_t constant() const { return constant_; }
  const std::vector<Term>& terms() const { return terms_; }
  bool is_constant() const { return terms_.empty(); }
  /// 1, or the lanes of the widest variable.
  int lanes() const;
  /// Smallest and largest value (inclusive) from the variables' ranges.
  std::int64_t min() const;
  std::int64_t max() const;
  Index operator+(const Index& other) const;
  Index operator-(const Index& other) const;
  Index operator*(std::int64_t factor) const;
  bool operator==(const Index&) const = default;

 private:
  std::int64_t constant_ = 0;
  std::vector<Term> terms_;
};

/// A buffer the kernel sees.
struct Ref {
  enum class Mode : std::uint8_t { in, out, inout, scratch };  // scratch: made for each grid point, zero cost to reuse
  int id = 0;
  DType dtype = DType::f32;
  std::int64_t size = 0;  // elements
  Mode mode = Mode::in;
};

/// One instruction. Which fields mean something is said at its opcode.
class Inst {
 public:
  Opcode code;
  VType type;
  int id = 0;                       // number in the kernel, in order of creation
  std::vector<Inst*> args;
  std::uint64_t bits = 0;           // constant: the value's bits (as of the dtype's storage); reduce: Opcode of the combiner; extract: lane
  Compare compare = Compare::eq;    // cmp
  Ref* ref = nullptr;               // load, store
  Index index;                      // index, load, store: element offset
  Inst* var = nullptr;              // get, set: the local
  Index begin, end;                 // for_, vector: [begin, end); uniform
  std::int64_t step = 1;            // for_: > 0
  int lanes = 1;                    // vector: strip width, a power of two
  Inst* counter = nullptr;          // for_: the i64 counter; vector: number of the strip (i = begin + lanes * counter + lane)
  Inst* lane = nullptr;             // vector: 0 .. lanes-1, an i64 vector value
  std::vector<std::unique_ptr<Body>> bodies;  // for_, vector: 1; if_: then, else; while_: condition, body
  Inst* condition = nullptr;        // while_: the i1 value at the end of the condition body
  std::string callee;               // call
  std::int64_t low = INT64_MIN, high = INT64_MAX;  // known range (inclusive) of an i64 value used as an index variable
  bool is_variable = false;         // counter or lane of a loop: owned by it, stands in no body

  explicit Inst(Opcode c, VType t) : code(c), type(t) {}
};

/// Instructions in order. They belong to the kernel; bodies point at them.
struct Body {
  std::vector<Inst*> insts;
};

class Kernel {
 public:
  explicit Kernel(std::string name) : name(std::move(name)) {}
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  std::string name;
  std::int64_t grid = 1;            // number of grid points
  Inst* grid_index = nullptr;       // %g, set by the Builder
  std::vector<std::unique_ptr<Ref>> refs;   // parameters in order of creation; scratch refs among them are no parameters
  Body body;
  std::deque<Inst> arena;           // all instructions, by id
  std::vector<Ref*> parameters() const;
};

/// Appends instructions to a kernel. Folds constants, shares equal pure instructions within a scope (so lowerings
/// may recompute freely), and simplifies indices by the ranges of their variables.
class Builder {
 public:
  explicit Builder(Kernel& kernel);
  Kernel& kernel() const { return kernel_; }

  // ---- buffers
  Ref* parameter(DType dtype, std::int64_t size, Ref::Mode mode);
  Ref* scratch(DType dtype, std::int64_t size);

  // ---- the grid
  /// The grid's index, after `kernel.grid` was set.
  Index grid();

  // ---- values
  Inst* constant(DType dtype, double value);        // floats and integers, rounded to dtype
  Inst* constant_bits(DType dtype, std::uint64_t bits);
  Inst* constant_int(DType dtype, std::int64_t value);
  Inst* unary(Opcode code, Inst* a);
  Inst* binary(Opcode code, Inst* a, Inst* b);
  Inst* fma(Inst* a, Inst* b, Inst* c);
  Inst* dot2(Inst* acc, Inst* a, Inst* b);
  Inst* compare(Compare c, Inst* a, Inst* b);
  Inst* select(Inst* pred, Inst* a, Inst* b);
  Inst* convert(DType to, Inst* a);
  Inst* bitcast(DType to, Inst* a);
  Inst* reduce(Opcode combiner, Inst* a);
  Inst* extract(Inst* a, int lane);
  Inst* call(std::string callee, VType result, std::vector<Inst*> args);

  // ---- indices
  /// An index as an i64 value.
  Inst* value(const Index& index);
  /// An integer value as an index variable, known to lie in [low, high] (the caller clamped it).
  Index index_of(Inst* value, std::int64_t low, std::int64_t high);
  /// Quotient and remainder by a positive constant of an index that is never negative.
  Index div(const Index& index, std::int64_t divisor);
  Index mod(const Index& index, std::int64_t divisor);
  /// a < b, decided or made uniform where the ranges allow.
  Inst* less(const Index& a, const Index& b);

  // ---- memory. Inside `guarded`, loads carry the predicate and give zero where it is false.
  Inst* load(Ref* ref, const Index& index);
  void store(Ref* ref, const Index& index, Inst* value);

  // ---- locals
  Inst* local(Inst* initial, int lanes = 1);
  Inst* get(Inst* local);
  void set(Inst* local, Inst* value);

  // ---- control
  void for_(const Index& begin, const Index& end, std::int64_t step, const std::function<void(Index)>& body);
  /// Strips of `lanes`; the body sees the index of its lane.
  void vector(const Index& begin, const Index& end, int lanes, const std::function<void(Index)>& body);
  void if_(Inst* pred, const std::function<void()>& then, const std::function<void()>& otherwise = nullptr);
  void while_(const std::function<Inst*()>& condition, const std::function<void()>& body);
  /// `value()` where `pred`, else `otherwise`; loads inside value() are made only where pred holds.
  Inst* guarded(Inst* pred, const std::function<Inst*()>& value, Inst* otherwise);

 private:
  struct Scope;
  Inst* emit(Inst inst);
  Inst* fold(const Inst& inst);
  Inst* shared(Inst inst);  // emit unless an equal pure instruction is in scope
  void in_body(Body& body, const std::function<void()>& f);

  Kernel& kernel_;
  std::vector<Body*> bodies_;
  std::vector<std::vector<Inst*>> scopes_;  // pure instructions emitted, by open body
  std::vector<Inst*> guards_;
};

std::string_view name(Opcode);
std::string_view name(Compare);
/// The text form; parse(print(k)) prints the same.
std::string print(const Kernel&);

}  // namespace strata::loop
