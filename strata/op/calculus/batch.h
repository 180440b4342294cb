// Batching of blocks: the same program on many inputs at once.
//
//   Batched r = batch(b, f, {xs, y}, {true, false}, 32);   // f(xs[i], y) for each i
//
// A batched value carries one more dimension, in front. Operations on values that are not batched
// are copied.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// Emits `f` on `operands` into `b`. `outer` maps values that `f` uses from outside (not batched);
/// those it does not know stand for themselves.
Batched batch(Builder& b, const Block& f, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size, ir::ValueMap outer = {});

/// A block of its own: arguments and results as those of `f`, with a leading dimension where
/// batched.
struct BatchedBlock {
  std::unique_ptr<Block> block;
  std::vector<bool> batched;
};
/// `required`: results that are batched even where they are the same for all inputs (empty: none).
BatchedBlock batch(const Block& f, const std::vector<bool>& batched, std::int64_t size,
                   const std::vector<bool>& required = {});

/// The type without its first dimension.
Type without_leading(const Type& type);

}  // namespace strata::op
