// The loop form: what every operation lowers to and what machine code is printed from.
//
// A `Kernel` works on buffers passed by reference (`Ref`s, flat, row-major, addressed in elements)
// and is run once for each point `%g` of a one-dimensional grid; points may run in any order and on
// any thread, and write disjoint elements. Its body is straight-line SSA instructions with
// structured control flow (for, vector, if, while).
//
// **Lanes.** Inside `vector` loops a value has `lanes` elements, one per iteration of a strip;
// values that do not depend on the lane have lanes = 1 ("uniform") and stretch where they meet
// wider ones. Lanes are virtual: a machine with narrower registers splits them, so reductions over
// lanes give the same bits everywhere. When the extent is no multiple of the lanes, the last strip
// runs under a mask: masked lanes load nothing, store nothing and leave locals as they were.
//
// **Arithmetic** is exactly IEEE on f32 and f64, one rounding per instruction (`fma` is one
// instruction, and nothing else is ever contracted); bf16 and f16 are only loaded, stored and
// converted. Integers wrap. All instructions are total: x/0 = -1 (all ones), x%0 = x, MIN/-1 = MIN,
// MIN%-1 = 0; shifts by the width or more give 0 (or the sign); float -> integer truncates and
// saturates, NaN gives 0. `min`/`max` propagate NaN and order -0 below +0. A NaN made by arithmetic
// has unspecified sign and payload; neg, abs, select, bitcast and memory keep all bits. Element
// types are i1, i8 .. i64, ui8 .. ui64, bf16, f16, f32, f64; which opcode takes which is `accepts`.
//
//   kernel @axpb(%0: in f32[1000], %1: out f32[1000]) grid 1 {
//     vector %2, %3 = 0 to 1000 lanes 16 {       // number of the strip, lane
//       %4 = load %0[16*%2 + %3] : f32x16
//       %5 = constant 2.0 : f32
//       %6 = mul %4, %5 : f32x16
//       store %1[16*%2 + %3], %6
//     }
//   }
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "strata/base/check.h"
#include "strata/base/result.h"
#include "strata/type/dtype.h"

namespace strata::loop {

enum class Opcode : std::uint8_t {
  constant,  // bits
  add,
  sub,
  mul,
  div,
  rem,
  min,
  max,  // float or integer by dtype (unsigned types: unsigned); rem of floats = C's fmod, exact
  and_,
  or_,
  xor_,
  shl,
  shr,  // shr: arithmetic for signed, logical for unsigned
  neg,
  abs,
  not_,
  sqrt,
  floor,
  ceil,
  trunc,
  rint,  // rint: nearest, ties to even
  popcnt,
  clz,
  fma,      // a * b + c, one rounding; f32, f64
  cmp,      // `compare`; result i1. Floats: ordered, except ne
  select,   // i1, a, b
  convert,  // to i1: x != 0. bf16 and f16 convert only from and to f32 (Builder::convert uses
            // way of f32, from f64 without rounding twice)
  bitcast,  // to a type of the same width
  index,  // an Index as an i64 value. (Loop variables carry this opcode too, with is_variable set;
          // no arg names one)
  load,   // args: [predicate, otherwise] or none. Lanes: the widest of index and predicate
  store,  // args: value, [predicate]. Of lanes that meet at one element the highest wins; the index
          // is the widest
  fetch,  // the element at `index` is read soon: a hint to bring it near meanwhile. It may be
          // outside of the buffer. One lane, no value
  local,  // args: initial value (stretched to `type`). A mutable variable of the block, set anew
          // each time this is executed; has no value itself
  get,
  set,  // get: `var`; set: `var`, args: value (stretched); a set of `lanes` lanes in a vector loop
        // is masked
  reduce,   // lanes -> 1 by a fixed halving tree: v[i] = v[i] op v[i + lanes/2] for i < lanes/2,
            // then the same for the lower half, until one is left. Combiners: add mul min max and_
            // or_ xor_. Not under a mask, but i1 by or_ ("any"): masked lanes count as false
  extract,  // lane `bits` of a vector value, uniform
  dot2,     // args: acc f32xL, a, b: i32xL holding bf16 pairs (low half first): fma(a.hi, b.hi,
         // fma(a.lo, b.lo, acc)); acc i32xL: i16 pairs, acc + a.lo * b.lo + a.hi * b.hi in 32 bits
  dot4,  // args: acc i32xL, a: i32xL holding four ui8, b: i32xL holding four i8: acc + the sum of
         // their four products, in 32 bits
  for_,
  vector,
  if_,
  while_,  // conditions of if_ and while_ are uniform; vector loops do not nest; an arm's values
           // end with it; while_: the condition body runs before each turn
  call,    // runtime function `callee` on uniform scalars; result of `type`
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

/// An affine expression of index variables: constant + sum of coefficient * variable. A variable is
/// an i64 instruction: a loop's counter, a strip's lane number, or an opaque i64 value
/// (`index_of`). Canonical: terms in order of the variables' ids, no zero coefficients, so equal
/// indices compare equal.
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
  /// The place of lane 0.
  Index at_first_lane() const;
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
  enum class Mode : std::uint8_t {
    in,
    out,
    inout,
    scratch
  };  // scratch: made for each grid point, zero cost to reuse
  int id = 0;
  DType dtype = DType::f32;
  std::int64_t size = 0;  // elements
  Mode mode = Mode::in;
};

/// One instruction. Which fields mean something is stated at its opcode.
class Inst {
 public:
  Opcode code;
  VType type;
  int id = 0;  // number in the kernel, in order of creation
  std::vector<Inst*> args;
  std::uint64_t bits = 0;  // constant: the value's bits (as of the dtype's storage); reduce: Opcode
                           // of the combiner; extract: lane
  Compare compare = Compare::eq;  // cmp
  Ref* ref = nullptr;             // load, store, fetch
  Index index;                    // index, load, store, fetch: element offset
  Inst* var = nullptr;            // get, set: the local
  Index begin, end;               // for_, vector: [begin, end); uniform
  std::int64_t step = 1;          // for_: > 0
  int lanes = 1;                  // vector: strip width, a power of two
  Inst* counter = nullptr;  // for_: the i64 counter, begin, begin + step ...; vector: number of the
                            // strip (i = begin + lanes * counter + lane)
  Inst* lane = nullptr;     // vector: 0 .. lanes-1, an i64 vector value
  std::vector<std::unique_ptr<Body>>
      bodies;                 // for_, vector: 1; if_: then, else; while_: condition, body
  Inst* condition = nullptr;  // while_: the i1 value at the end of the condition body
  std::string callee;         // call
  // Known range (inclusive) of an i64 value. For div and rem it lets a printer divide unsigned, or
  // in 32 bits. Under a mask it speaks of the lanes that are not masked. vector: `high` is the
  // largest lanes * counter + lane.
  std::int64_t low = INT64_MIN, high = INT64_MAX;
  bool streaming =
      false;  // store: the elements are not read again soon; a hint to write past the caches
  std::int64_t ahead = 0;  // load: those so many elements further on are read soon; a hint to fetch
                           // them meanwhile. 0: none
  bool is_variable = false;  // counter or lane of a loop, or the grid's index: stands in no body
  Inst* loop = nullptr;      // counter, lane: the loop they belong to

  explicit Inst(Opcode c, VType t) : code(c), type(t) {}
};

/// Instructions in order. They belong to the kernel; bodies point at them.
struct Body {
  std::vector<Inst*> insts;
};

class Kernel {
 public:
  explicit Kernel(std::string name);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  std::string name;
  std::int64_t grid = 1;       // number of grid points
  Inst* grid_index = nullptr;  // %g, set by the Builder
  std::vector<std::unique_ptr<Ref>>
      refs;  // parameters in order of creation; scratch refs among them are no parameters
  Body body;
  std::deque<Inst> arena;  // all instructions, by id
  std::vector<Ref*> parameters() const;
};

/// Whether `code` computes on operands of this type (select, load, local ... take every type of the
/// loop form).
bool accepts(Opcode code, DType dtype);
/// The element types of the loop form.
bool is_loop_dtype(DType dtype);
/// Lanes of an instruction over these arguments: the widest; a check fails if two wide ones differ.
int join_lanes(const std::vector<Inst*>& args);

/// What a Builder does to what it is told; the plain twin (both off) is for tests: it gives the
/// same bits.
struct BuilderOptions {
  bool fold = true;   // constants, identities, indices by ranges
  bool share = true;  // equal pure instructions within a scope
};

/// Appends instructions to a kernel. Folds constants, shares equal pure instructions within a scope
/// (so lowerings may recompute freely), and simplifies indices by the ranges of their variables.
class Builder {
 public:
  explicit Builder(Kernel& kernel, BuilderOptions options = {});
  Kernel& kernel() const { return kernel_; }

  // ---- buffers
  Ref* parameter(DType dtype, std::int64_t size, Ref::Mode mode);
  Ref* scratch(DType dtype, std::int64_t size);

  // ---- the grid
  /// The grid's index, after `kernel.grid` was set.
  Index grid();

  // ---- values
  Inst* constant(DType dtype, double value);  // floats and integers, rounded to dtype
  Inst* constant_bits(DType dtype, std::uint64_t bits);
  Inst* constant_int(DType dtype, std::int64_t value);
  Inst* unary(Opcode code, Inst* a);
  Inst* binary(Opcode code, Inst* a, Inst* b);
  Inst* fma(Inst* a, Inst* b, Inst* c);
  Inst* dot2(Inst* acc, Inst* a, Inst* b);
  Inst* dot4(Inst* acc, Inst* a, Inst* b);
  Inst* compare(Compare c, Inst* a, Inst* b);
  Inst* select(Inst* pred, Inst* a, Inst* b);
  Inst* convert(DType to, Inst* a);
  Inst* bitcast(DType to, Inst* a);
  /// Over the lanes of `a`; a uniform value is its own. (Folding may make a value uniform: reduce
  /// what `get` gives.)
  Inst* reduce(Opcode combiner, Inst* a);
  Inst* extract(Inst* a, int lane);
  Inst* call(std::string callee, VType result, std::vector<Inst*> args);

  // ---- indices
  /// An index as an i64 value.
  Inst* value(const Index& index);
  /// An integer value as an index variable, known to be in [low, high] (the caller clamped it).
  Index index_of(Inst* value, std::int64_t low, std::int64_t high);
  /// Quotient and remainder by a positive constant of an index that is never negative.
  Index div(const Index& index, std::int64_t divisor);
  Index mod(const Index& index, std::int64_t divisor);
  /// a < b, decided or made uniform where the ranges allow.
  Inst* less(const Index& a, const Index& b);

  // ---- memory. Inside `guarded`, loads carry the predicate and give zero where it is false.
  Inst* load(Ref* ref, const Index& index);
  void store(Ref* ref, const Index& index, Inst* value);
  /// A hint: what is there is read soon.
  void fetch(Ref* ref, const Index& index);

  // ---- locals
  Inst* local(Inst* initial, int lanes = 1);
  Inst* get(Inst* local);
  void set(Inst* local, Inst* value);

  // ---- control
  void for_(const Index& begin, const Index& end, std::int64_t step,
            const std::function<void(Index)>& body);
  /// Strips of `lanes`; the body sees the index of its lane.
  void vector(const Index& begin, const Index& end, int lanes,
              const std::function<void(Index)>& body);
  void if_(Inst* pred, const std::function<void()>& then,
           const std::function<void()>& otherwise = nullptr);
  void while_(const std::function<Inst*()>& condition, const std::function<void()>& body);
  /// `value()` where `pred`, else `otherwise`; loads inside value() are made only where pred holds.
  Inst* guarded(Inst* pred, const std::function<Inst*()>& value, Inst* otherwise);

 public:
  // ---- scopes, for callers that remember values
  /// The body that new instructions go to.
  const Body* current() const { return bodies_.back(); }
  /// Whether a body is still being written, so that its values may be used.
  bool is_open(const Body* body) const {
    for (const Body* b : bodies_)
      if (b == body) return true;
    return false;
  }
  /// Predicates of the `guarded` calls under way; a value computed under them holds only there.
  const std::vector<Inst*>& guards() const { return guards_; }

 private:
  struct Entry {
    Inst* inst;
    std::uint64_t epoch;  // when its memory was last written
  };
  using Scope =
      std::unordered_map<std::uint64_t, std::vector<Entry>>;  // by hash; looked up, never walked

  Inst* add(Inst inst);     // to the arena only
  Inst* emit(Inst inst);    // and to the open body
  Inst* shared(Inst inst);  // emit unless an equal pure instruction is in scope
  Inst* find_shared(const Inst& inst, std::uint64_t hash, std::uint64_t epoch) const;
  void remember(Inst* inst);
  Inst* fold(const Inst& inst);  // a simpler equal value, or null
  Inst* fold_unary(const Inst& inst);
  Inst* fold_binary(const Inst& inst);
  Inst* fold_integer(const Inst& inst);
  Inst* fold_float(const Inst& inst);
  Inst* fold_compare(Compare c, Inst* a, Inst* b);
  Inst* i64_op(Opcode code, const Index& index, std::int64_t divisor);
  std::optional<Index> as_index(Inst* value, int depth = 8) const;
  Inst* not_negative(const Index& index);  // index >= 0
  Inst* guard();                           // conjunction of the open guards, or null
  Inst* uniform_guarded(Inst* pred, const std::function<Inst*()>& value, Inst* otherwise);
  Inst* variable(int lanes, Inst* loop);
  void in_body(Body& body, const std::function<void()>& f);
  void wrote(Ref* ref);
  void wrote(Inst* local);
  void forget_memory();  // anything may have been written
  std::uint64_t epoch_of(const Inst& inst) const;

  Kernel& kernel_;
  BuilderOptions options_;
  std::vector<Body*> bodies_;
  std::vector<Scope> scopes_;  // pure instructions emitted, by open body
  std::vector<Inst*> guards_;
  int vector_depth_ = 0;
  std::uint64_t clock_ = 0, barrier_ = 0;
  std::vector<std::uint64_t> ref_epochs_;
  std::unordered_map<int, std::uint64_t> local_epochs_;
};

std::string_view name(Opcode);
std::string_view name(Compare);
std::optional<Opcode> parse_opcode(std::string_view);
std::optional<Compare> parse_compare(std::string_view);

/// Drops the hints about what is in a buffer: it is near already.
void drop_fetches(Kernel& kernel, const Ref& ref);
/// Gives the counter and lane of a for_ or vector loop the ranges that follow from its bounds.
void set_ranges(Inst& loop);
/// Whether a vector loop's extent is known to be a multiple of its lanes, so that no strip is
/// masked.
bool has_whole_strips(const Inst& loop);

/// The text form. Values are numbered as they appear, so kernels that differ only in the order in
/// which their instructions were created print the same; parse(print(k)) prints the same.
std::string print(const Kernel&);
/// A verified kernel, or Code::corrupt with the line and what was expected there. Takes any bytes.
/// `//` begins a comment.
Result<std::unique_ptr<Kernel>> parse(std::string_view text);

}  // namespace strata::loop
