// How one kind of operation is written in text, beyond the generic form.
//
// `OpInfo::text` points to one of the formats below; null means MLIR's generic form with the attributes as they are:
//
//   %0 = "strata.scan"(%a, %b) <{length = 4 : i64}> ({ ... }) : (tensor<f32>, tensor<4xf32>) -> tensor<f32>
//
// A format may say two independent things: a short form (`print`, `parse`), and how the dictionary and the regions
// of the generic form differ from ours (`from_generic`, `to_generic`: StableHLO packs gather's dimension numbers
// into one attribute, and writes the combiner of a reduction as a region). Formats are shared by operations of one
// spelling:
//
//   const OpDef kAdd{.info = {.name = "stablehlo.add", .infer = ..., .text = &ir::formats::elementwise}, ...};
//
// Source of the spellings: StableHLO's ODS `assemblyFormat`s and hlo::print* functions.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::ir {

class TextPrinter;  // text/printer.h
class TextParser;   // text/parser.h

/// An operation as it is being read, before it is made.
struct Draft {
  const OpInfo* info = nullptr;
  Values operands;
  Attrs attrs;
  std::vector<std::unique_ptr<Block>> regions;
  std::vector<Type> results;
};

/// What the generic form of an operation shows. `regions` point into the operation or into `owned`.
struct GenericForm {
  Attrs attrs;
  std::vector<const Block*> regions;
  std::vector<std::unique_ptr<Block>> owned;
};

struct TextFormat {
  /// Writes what follows the operation's name. Null: the generic form is the only one.
  void (*print)(TextPrinter&, const Op&) = nullptr;
  /// Reads it: operands, attributes, regions and result types of the draft.
  void (*parse)(TextParser&, Draft&) = nullptr;
  /// Turns StableHLO's dictionary and regions into ours, and checks that the attributes the operation needs are there
  /// with the right kind; runs after `parse` too. Null: nothing to do.
  void (*from_generic)(TextParser&, Draft&) = nullptr;
  /// The inverse. Null: attributes and regions as they are.
  GenericForm (*to_generic)(const Op&) = nullptr;
  /// Name of a result (empty: a number), of the arguments of regions (null: "arg").
  std::string_view (*result_name)(const Op&, int result) = nullptr;
  const char* argument_name = nullptr;
};

namespace formats {

// ---- one type when all are equal, else (operands) -> results
extern const TextFormat elementwise;          // add, exp, convert, clamp, and, real, imag ...: `%a, %b : T`
extern const TextFormat result_accuracy;      // the same with `result_accuracy` (default dropped): exponential, log, sine ...
extern const TextFormat chlo_elementwise;     // chlo.erf %a : T -> T
extern const TextFormat compare;              // LT, %a, %b, FLOAT : (T, T) -> T
extern const TextFormat select;               // %p, %a, %b : P, T
extern const TextFormat complex;              // complex %re, %im : tensor<complex<f32>>
extern const TextFormat reduce_precision;     // %a, format = e8m7 : T   (exponent_bits, mantissa_bits)
// ---- shapes
extern const TextFormat constant;             // dense<...> : T          (value)
extern const TextFormat iota;                 // dim = 0 : T             (iota_dimension)
extern const TextFormat functional;           // %a, %b : (T, T) -> T    reshape, bitcast_convert, dynamic_update_slice ...
extern const TextFormat broadcast_in_dim;     // %a, dims = [0] : (T) -> T   (broadcast_dimensions)
extern const TextFormat transpose;            // %a, dims = [1, 0] : (T) -> T (permutation)
extern const TextFormat reverse;              // %a, dims = [0] : T       (dimensions)
extern const TextFormat slice;                // %a [0:4:2, 1:3] : (T) -> T (start_indices, limit_indices, strides)
extern const TextFormat pad;                  // %a, %v, low = [0], high = [1], interior = [0] : (T, T) -> T
extern const TextFormat concatenate;          // %a, %b, dim = 0 : (T, T) -> T (dimension)
extern const TextFormat dynamic_slice;        // %a, %i, sizes = [1] : (T, I) -> T (slice_sizes)
extern const TextFormat dynamic_update_slice; // functional
extern const TextFormat get_dimension_size;   // %a, dim = 0 : (T) -> tensor<i32> (dimension)
extern const TextFormat optimization_barrier; // %a, %b : T, T
// ---- products, reductions, indexing
extern const TextFormat dot_general;          // %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [..]
extern const TextFormat reduce;               // (%a init: %z) applies stablehlo.add across dimensions = [1] : ... (dimensions, combiner)
extern const TextFormat gather;               // generic with #stablehlo.gather<...>
extern const TextFormat scatter;              // generic with #stablehlo.scatter<...> and the combiner as region
extern const TextFormat sort;                 // generic; dimension i64, is_stable bool
// ---- control
extern const TextFormat while_;               // (%iterArg = %a) : T cond {...} do {...}
extern const TextFormat call;                 // @f(%a) : (T) -> T        (callee)
extern const TextFormat custom_call;          // @target(%a) {...} : (T) -> T (call_target_name ...)
extern const TextFormat composite;            // "name" %a {...} : (T) -> T (name, decomposition, ...)
extern const TextFormat rng_bit_generator;    // %a, algorithm = DEFAULT : (T) -> (T, T) (rng_algorithm)

}  // namespace formats
}  // namespace strata::ir
