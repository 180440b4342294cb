// How one kind of operation is written in text, beyond the generic form.
//
// `OpInfo::text` points to one of the formats below; null means MLIR's generic form with the
// attributes as they are:
//
//   %0 = "strata.scan"(%a, %b) <{length = 4 : i64}> ({ ... }) : (tensor<f32>, tensor<4xf32>) ->
//   tensor<f32>
//
// A format may say two independent things: a short form (`print`, `parse`), and how the dictionary
// and the regions of the generic form differ from ours (`from_generic`, `to_generic`: StableHLO
// packs gather's dimension numbers into one attribute, and writes the combiner of a reduction as a
// region). Formats are shared by operations of one spelling:
//
//   const OpDef kAdd{.info = {.name = "stablehlo.add", .infer = ..., .text =
//   &ir::formats::elementwise}, ...};
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
  /// Turns StableHLO's dictionary and regions into ours, and checks that the attributes the
  /// operation needs are there with the right kind; runs after `parse` too. Null: nothing to do.
  void (*from_generic)(TextParser&, Draft&) = nullptr;
  /// The inverse. Null: attributes and regions as they are.
  GenericForm (*to_generic)(const Op&) = nullptr;
  /// Name of a result (empty: a number), of an argument of its regions (null: "arg" and a number).
  std::string_view (*result_name)(const Op&, int result) = nullptr;
  std::string_view (*argument_name)(const Op&, int argument) = nullptr;
};

namespace formats {

// Beside each: what it looks like, the operations, (the attributes, under upstream's names, and
// their kinds where they are no plain ones). Kinds: "number" is std::int64_t, "list" is Ints,
// "word" is a std::string without its #stablehlo<...>. Attributes that a program leaves out are
// absent here too: rules ask with `get_or`. Operations without a row have the generic form alone
// and no packed attributes (case, if, map's `dimensions`, infeed's strings ...): `.text` stays
// null.

// ---- one type when all are equal, else (operands) -> results
extern const TextFormat elementwise;      // %a, %b : T: add, exp, convert, clamp, and, real, imag,
                                          // uniform_quantize, after_all ...
extern const TextFormat result_accuracy;  // the same with `result_accuracy` (default dropped):
                                          // exponential, log, sine ...
extern const TextFormat
    chlo_elementwise;  // %a, %b : T, T -> T: chlo.erf, next_after, zeta, polygamma, mulhi ...
extern const TextFormat
    compare;  // LT, %a, %b, FLOAT : (T, T) -> T (comparison_direction, compare_type: words)
extern const TextFormat select;   // %p, %a, %b : P, T
extern const TextFormat complex;  // complex %re, %im : tensor<complex<f32>>
extern const TextFormat
    reduce_precision;  // %a, format = e8m7 : T   (exponent_bits, mantissa_bits: numbers)
extern const TextFormat
    typed_result;  // : T                     create_token, partition_id, replica_id
extern const TextFormat get_tuple_element;  // %a[0] : (T) -> T        (index: number)
extern const TextFormat tuple;              // %a, %b : tuple<T, T>
// ---- shapes
extern const TextFormat constant;      // dense<...> : T          (value: Literal) chlo.constant too
extern const TextFormat iota;          // dim = 0 : T             (iota_dimension)
extern const TextFormat dynamic_iota;  // %shape, dim = 0 : (T) -> T (iota_dimension)
extern const TextFormat
    functional;  // %a, %b : (T, T) -> T    reshape, bitcast_convert, dynamic_update_slice,
                 // dynamic_reshape, dynamic_pad,
                 //                         real_dynamic_slice, chlo.broadcast_* but compare
extern const TextFormat broadcast;  // %a, sizes = [2] : (T) -> T (broadcast_sizes: list)
extern const TextFormat
    broadcast_in_dim;  // %a, dims = [0] : (T) -> T   (broadcast_dimensions: list)
extern const TextFormat
    dynamic_broadcast_in_dim;       // %a, %shape, dims = [0] : (T, S) -> T (the same,
                                    // known_expanding_dimensions, known_nonexpanding_dimensions)
extern const TextFormat transpose;  // %a, dims = [1, 0] : (T) -> T (permutation)
extern const TextFormat reverse;    // %a, dims = [0] : T       (dimensions)
extern const TextFormat
    slice;                    // %a [0:4:2, 1:3] : (T) -> T (start_indices, limit_indices, strides)
extern const TextFormat pad;  // %a, %v, low = [0], high = [1], interior = [0] : (T, T) -> T
extern const TextFormat concatenate;           // %a, %b, dim = 0 : (T, T) -> T (dimension)
extern const TextFormat dynamic_slice;         // %a, %i, sizes = [1] : (T, I) -> T (slice_sizes)
extern const TextFormat dynamic_update_slice;  // functional
extern const TextFormat get_dimension_size;    // %a, dim = 0 : (T) -> tensor<i32> (dimension)
extern const TextFormat set_dimension_size;    // %a, %size, dim = 0 : (T, S) -> T (dimension)
extern const TextFormat optimization_barrier;  // %a, %b : T, T
// ---- products, reductions, indexing
extern const TextFormat dot_general;  // %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x
                                      // [1], precision = [..]
extern const TextFormat dot;  // %a, %b, precision = [..] : (T, T) -> T (precision_config: Strings)
extern const TextFormat
    einsum;  // %a, %b, config = "ab,bc->ac" : (T, T) -> T (einsum_config: string) unary_einsum too
extern const TextFormat
    ragged_dot;  // generic; lhs_ and rhs_ batching_dimensions and contracting_dimensions,
                 // lhs_ragged_dimensions, rhs_group_dimensions: lists; precision_config: Strings
/// (%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 1]],
/// ...} {...} : (T, T) -> T numbers: {input,output}_{batch,feature}_dimension,
/// kernel_{input,output}_feature_dimension, feature_group_count, batch_group_count (may be absent);
/// lists: {input,kernel,output}_spatial_dimensions, and, where stated, window_strides,
/// lhs_dilation, rhs_dilation, window_reversal (0 or 1), padding (low and high of each dimension in
/// turn: 2n numbers); precision_config: Strings.
extern const TextFormat convolution;
extern const TextFormat dynamic_conv;  // the same in the generic form
extern const TextFormat reduce;  // (%a init: %z) applies stablehlo.add across dimensions = [1] :
                                 // ... (dimensions, combiner)
/// Generic. window_dimensions, and where stated window_strides, base_dilations, window_dilations:
/// lists; padding as in convolution; `combiner` as in reduce: a word and no region ("add" ...), or
/// "region" with it.
extern const TextFormat reduce_window;
/// Generic. window_dimensions, window_strides, padding as in reduce_window. `select` ("GE" "GT"
/// "LE" "LT") and `combiner`
/// ("add" ...) without regions where both regions are plain and compare and combine the scalars of
/// operand 0's dtype in order; else both are "region", with the two regions.
extern const TextFormat select_and_scatter;
extern const TextFormat
    gather;  // generic with #stablehlo.gather<...>; dynamic_gather is `dynamic_gather`
extern const TextFormat dynamic_gather;  // the same without slice_sizes, which are an operand
extern const TextFormat scatter;  // generic with #stablehlo.scatter<...> and the combiner as region
extern const TextFormat sort;     // generic; dimension i64, is_stable bool
extern const TextFormat top_k;    // (%a, k = 2) : T -> (T, I)  (k: number; is_stable: bool)
extern const TextFormat chlo_compare;   // chlo.broadcast_compare %a, %b {...} : (T, T) -> T
                                        // (comparison_direction, compare_type: words)
extern const TextFormat constant_like;  // generic; value: a Literal of rank 0
/// (%xs) inits (%c) dimension=0 attributes {...} {^bb0...} : (..) -> (..)
/// dimension, num_carries, scan_dim_size (may be absent): numbers; is_reverse, is_associative (may
/// be absent): bools. Operands are inputs, then num_carries inits; results outputs, then
/// num_carries carries.
extern const TextFormat chlo_scan;
// ---- linear algebra, transforms, random numbers
extern const TextFormat cholesky;          // %a, lower = true : T     (lower: bool)
extern const TextFormat triangular_solve;  // generic; left_side, lower, unit_diagonal: bools;
                                           // transpose_a: word NO_TRANSPOSE TRANSPOSE ADJOINT
extern const TextFormat
    fft;  // %a, type = FFT, length = [8] : (T) -> T (fft_type: word; fft_length: list)
extern const TextFormat
    rng;  // %a, %b, %shape, distribution = UNIFORM : (T, T, S) -> T (rng_distribution: word)
extern const TextFormat
    rng_bit_generator;  // %a, algorithm = DEFAULT : (T) -> (T, T) (rng_algorithm)
extern const TextFormat
    batch_norm;  // generic; epsilon: double; feature_index: number (all three operations)
extern const TextFormat torch_index_select;  // generic; dim, batch_dims: numbers
// ---- control
extern const TextFormat while_;       // (%iterArg = %a) : T cond {...} do {...}
extern const TextFormat call;         // @f(%a) : (T) -> T        (callee)
extern const TextFormat custom_call;  // @target(%a) {...} : (T) -> T (call_target_name ...)
extern const TextFormat composite;    // "name" %a {...} : (T) -> T (name, decomposition, ...)
// ---- several processes
/// Generic. channel_handle becomes channel_id and channel_type (numbers, absent without it),
/// use_global_device_ids and has_dynamic_root bools (absent when false), replica_groups and
/// source_target_pairs Literals of i64 [groups, size] and [pairs, 2] (-1 where a group is shorter;
/// replica_groups may be Opaque: mesh axes); all_gather_dim, split_dimension ... numbers.
/// all_gather, all_to_all, collective_broadcast, collective_permute, send, recv, cross-replica-sum.
extern const TextFormat collective;
extern const TextFormat
    collective_reduce;  // the same with `combiner` as in reduce: all_reduce, reduce_scatter

}  // namespace formats
}  // namespace strata::ir
