// What an operation is: one table whose fields cannot be forgotten.
//
// Every operation has a file `op/<name>.cc` that ends with its `OpDef`; `catalog.cc` lists each
// once. A rule that does not apply is `None{"why"}`; a rule that is left out does not compile,
// because `Rule` has no default. Operations that differ only in a scalar function are rows of one
// table (elementwise.cc).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/loop/loop.h"
#include "strata/type/literal.h"

namespace strata::op {

using ir::Attrs;
using ir::Block;
using ir::Builder;
using ir::Op;
using ir::Value;
using ir::Values;

/// Why a rule does not exist.
struct None {
  const char* reason;
};

/// A rule, or the stated reason for none. No default: forgetting one is a compile error.
template <class F>
class Rule {
 public:
  Rule(F f) : f_(f) {}                 // NOLINT
  Rule(None n) : reason_(n.reason) {}  // NOLINT
  template <class G>
    requires std::is_convertible_v<G, F>
  Rule(G g) : f_(static_cast<F>(g)) {}  // NOLINT: captureless lambdas
  explicit operator bool() const { return f_ != nullptr; }
  const char* reason() const { return reason_; }
  F operator*() const {
    STRATA_CHECK(f_ != nullptr, "no rule: {}", reason_);
    return f_;
  }

 private:
  F f_ = nullptr;
  const char* reason_ = "";
};

using Literals = std::vector<Literal>;

class Process;  // op/collective/world.h

/// Evaluates nested blocks for operations that have regions.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Runs a block on arguments; values of enclosing blocks resolve in the evaluation under way.
  virtual Literals run(const Block& block, std::span<const Literal> arguments) = 0;
  /// The process of a grid that this evaluation is; outside of a grid the only one of its own.
  virtual Process& process() = 0;
};
/// Reference evaluation: slow, obvious, and bit for bit what compiled code gives.
using Evaluate = Literals (*)(const Op&, std::span<const Literal> operands, Evaluator&);

/// Forward derivative. `operands` and `tangents` are already values of the new graph; a null
/// tangent is zero. Returns the results and their tangents (null = zero).
struct JvpResult {
  Values results, tangents;
};
using Jvp = JvpResult (*)(Builder&, const Op&, std::span<Value* const> operands,
                          std::span<Value* const> tangents);

/// Splits a call on `operands`, of which those with `active` true have tangents, into results that
/// are known now and a linear rest. Emits the known part into `b`. Only operations with regions
/// need it; without the rule the derivative is split by dependence on the tangents. `linear` emits
/// the linear part into a builder for tangents of the active operands (null = zero) and returns the
/// results' tangents; it may use any value emitted into `b` before.
struct Linearized {
  Values results;
  std::vector<bool> active;  // which results have tangents
  std::function<Values(Builder&, std::span<Value* const> tangents)> linear;
};
using Linearize = Linearized (*)(Builder&, const Op&, std::span<Value* const> operands,
                                 const std::vector<bool>& active);

/// Cotangents of the operands that are linear (`linear[i]`), from cotangents of the results (null =
/// zero). `operands` are values usable in the new graph; entries at linear operands are null.
/// Result: one entry per operand, null = zero.
using Transpose = Values (*)(Builder&, const Op&, std::span<Value* const> operands,
                             const std::vector<bool>& linear, std::span<Value* const> cotangents);

/// Batching: operand i carries an extra leading dimension of `size` where batched[i]. Returns the
/// results, each with whether it is batched (leading dimension too).
struct Batched {
  Values results;
  std::vector<bool> batched;
};
using Batch = Batched (*)(Builder&, const Op&, std::span<Value* const> operands,
                          const std::vector<bool>& batched, std::int64_t size);

/// Sharding factors, as Shardy's op sharding rules: for each operand and result, the factors of
/// each dimension. Factor kinds: 'p' pass-through, 'r' reduction, 'n' needs replication, 'm'
/// permutation.
struct Factors {
  std::vector<std::vector<std::vector<int>>> operands,
      results;        // [value][dimension] -> factor numbers, major first
  std::string kinds;  // one letter per factor
  std::vector<std::int64_t> sizes;
};
using Shard = Factors (*)(const Op&);

/// Arithmetic operations and bytes moved, for predictions.
struct Work {
  double flops = 0, bytes = 0;
};
using Cost = Work (*)(const Op&);

// ---- lowering to the loop form -----------------------------------------------------------------

/// What an elementwise lowering may ask for.
class LowerContext {
 public:
  explicit LowerContext(loop::Builder& builder) : b(builder) {}
  virtual ~LowerContext() = default;
  /// The element of operand i at an index (one entry per dimension), in its storage dtype.
  /// Of a complex operand (only of those that take complex memory) the part is one more index, the
  /// last.
  virtual loop::Inst* operand(const Op&, int i, std::span<const loop::Index> index) = 0;
  /// The same at a row-major offset.
  virtual loop::Inst* operand_at(const Op& op, int i, const loop::Index& offset);
  /// The element of any value in sight: for regions that use values from outside.
  virtual loop::Inst* at(const Value* v, std::span<const loop::Index> index);
  loop::Builder& b;
};

/// The element of result `r` at `index`, computed from elements of the operands. The compiler
/// composes these, so everything that has this lowering fuses with everything else.
struct Elementwise {
  loop::Inst* (*element)(LowerContext&, const Op&, int r, std::span<const loop::Index> index);
};

/// What is recognised about a combiner: a plain operation, or `region`.
enum class Combiner : std::uint8_t { add, mul, min, max, and_, or_, xor_, region };

/// A reduction of the first half of the operands over `dims`, the second half being initial values.
/// Order of combination: op/reduce/reduce_order.h.
struct Reduction {
  std::vector<int> dims;
  Combiner combiner;
};
/// A product summed over contracting dimensions. Result dimensions: batch, lhs free, rhs free.
struct Contraction {
  std::vector<int> lhs_batch, rhs_batch, lhs_contract, rhs_contract;
};
/// Result r = operand r with some elements replaced or combined; done in place when the buffer plan
/// allows. `emit` writes the updates for grid points [0, grid(op)) into `targets`, one for each
/// result, which already hold the operands.
struct Update {
  std::int64_t (*grid)(const Op&);
  void (*emit)(LowerContext&, const Op&, std::span<loop::Ref* const> targets,
               const loop::Index& point);
};
/// Run by the driver: loops, branches, calls of nested blocks.
struct Structured {
  enum class Kind : std::uint8_t { while_, case_, scan, call } kind;
};
/// Writes its own kernel: grid points [0, grid(op)) may run in any order and on any thread.
/// Operands are asked of the context (elements) or read as `operands` (buffers, for loops over
/// them); `results` are written whole.
struct CustomKernel {
  std::int64_t (*grid)(const Op&);
  void (*emit)(LowerContext&, const Op&, std::span<loop::Ref* const> operands,
               std::span<loop::Ref* const> results, const loop::Index& point);
};
/// A C++ kernel of strata/loop/kernel (native.h), which the reference evaluator calls too: on the
/// buffers of the operands, of the results, and `params`; grid points in any order, on any thread.
/// A complex value is its parts side by side in memory.
struct Native {
  const char* (*symbol)(const Op&);
  std::int64_t (*grid)(const Op&);
  std::vector<std::int64_t> (*params)(const Op&);
};
/// Describes itself to the compiler.
using Lowering = std::variant<Elementwise, Reduction (*)(const Op&), Contraction (*)(const Op&),
                              Update, Structured, CustomKernel, Native, None>;

/// The operation said by others, for the compiler where there is no lowering, and for export as
/// plain StableHLO.
using Decompose = Values (*)(Builder&, const Op&, std::span<Value* const> operands);

/// A value of a type that kernels do not know, as values that they do: op/legalize.h.
using Parts = Values;
/// The operation on the parts of its operands; returns the parts of each result, or nothing where
/// the default will do.
using Split = std::vector<Parts> (*)(Builder&, const Op&, std::span<const Parts> operands);

/// Facts that passes ask for instead of names.
struct Traits {
  bool elementwise = false;  // result element i depends on operand elements i alone; all shapes
                             // equal, but for scalar operands of select and clamp
  bool commutative = false;
  bool cheap = false;  // may be computed again by each consumer (index moves, casts, a few flops)
  bool moves_only = false;  // no arithmetic: result elements are operand elements (or constants)
  bool barrier = false;     // no pass merges it with an equal one or looks past it
  bool takes_complex =
      false;  // its kernel and its evaluation know complex values as they are in memory
  bool takes_quantized = false;  // the same for quantised values, as movers do; others see the
                                 // numbers they stand for (op/quantized/quantized.h)
};

/// Whether an assertion, of whose operands the literals are known (null: unknown), is known to
/// hold: then refinement drops it. Throws strata::Error with the program's own words where it is
/// known not to.
using Holds = bool (*)(const Op&, std::span<const Literal* const> known);

struct OpDef {
  ir::OpInfo info;      // name, infer, effect
  const char* summary;  // one sentence, and the specification's section
  Traits traits;
  Evaluate evaluate;
  Rule<Jvp> jvp;
  Rule<Linearize> linearize;
  Rule<Transpose> transpose;
  Rule<Batch> batch;
  Rule<Shard> shard;
  Cost cost;
  Lowering lowering;
  Decompose decompose = nullptr;  // null: `lowering` says it, or its reason for none
  Split split = nullptr;          // null: the default of op/legalize.h
  Holds holds = nullptr;          // only of what asserts
};

/// The definition of a graph operation (fails for an operation that is not in the catalog).
const OpDef& def(const Op& op);
const OpDef& def(std::string_view name);
/// All definitions in the order of their names.
const std::vector<const OpDef*>& catalog();

}  // namespace strata::op
