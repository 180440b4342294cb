// Functions of a batch, worked off in parts whose results are joined.
//
//   auto f = optim::microbatching::microbatch(loss_of, {1}, 8, {.accumulator =
//   Accumulation::mean}); Tree y = f({params, batch});
//
// Part i of n holds rows i, i + n, i + 2n, ...: as upstream, which so keeps a batch's sharding; the
// results of `concat` are in the batch's order again. Source: Optax's microbatching.
#pragma once

#include "strata/optim/math/trees.h"

namespace strata::optim::microbatching {

/// A function of trees, each an argument.
using Function = std::function<Tree(const std::vector<Tree>& arguments)>;
/// How results are joined: their mean, their sum, the mean of those that there really were, or side
/// by side along axis 0.
enum class Accumulation { mean, sum, running_mean, concat };
/// A way of one's own to join results, leaf by leaf: carry = init(like), for each part carry =
/// update(carry, value, index), and the result is finalize(carry). The carry's shape and dtype
/// stay.
struct Accumulator {
  std::function<Array(const Array& like)> init;
  std::function<Array(const Array& carry, const Array& value, const Array& index)> update;
  std::function<Array(const Array& carry)> finalize;
  /// One value of those of the rows along axis 0: `micro_vmap` asks for it.
  std::function<Array(const Array& rows)> aggregate = {};
};
/// How a leaf is joined.
using Joined = std::variant<Accumulation, Accumulator>;
/// One for each leaf of the result by its path's first element, or one for all.
struct MicrobatchOptions {
  strata::internal::Named named = strata::internal::Named();
  Joined accumulator = Accumulation::sum;
  /// Leaves below these paths are joined otherwise.
  std::vector<std::pair<std::string, Joined>> by_path = {};
  /// The batch's axis in every argument that is cut.
  std::int64_t axis = 0;
  /// How many parts are worked off; none: all. May be traced.
  std::optional<Array> num_real_microbatches = std::nullopt;
};

/// (..., batch, ...) as (..., parts, microbatch_size, ...), of which [i] is part i.
Tree reshape_batch_axis(const Tree& tree, std::int64_t microbatch_size, std::int64_t axis = 0);

/// `fun` over parts of the arguments `argnums`; itself without a size. Throws Error where sizes
/// differ or do not divide.
Function microbatch(Function fun, std::vector<std::size_t> argnums,
                    std::optional<std::int64_t> microbatch_size, MicrobatchOptions options = {});
/// `fun` of single rows of the arguments `argnums`, over the batch in parts of rows that are worked
/// off together. Usual for `accumulator` is concat.
Function micro_vmap(Function fun, std::vector<std::size_t> argnums,
                    std::optional<std::int64_t> microbatch_size,
                    MicrobatchOptions options = {.accumulator = Accumulation::concat});

/// Gradients of single rows, joined, and what else there is of each.
struct MicroGrads {
  Tree grads;
  /// The loss of each row, and what `metrics_fn` made of its gradient.
  Array values;
  Tree metrics;
};
struct MicroGradOptions {
  strata::internal::Named named = strata::internal::Named();
  std::optional<std::int64_t> microbatch_size = std::nullopt;
  Joined accumulator = Accumulation::sum;
  /// Whether a row is given as a batch of one.
  bool keep_batch_dim = true;
  /// Of each row's gradient: what is joined, and what is kept.
  std::function<Tree(const Tree&)> transform_fn = {}, metrics_fn = {};
  std::optional<Array> num_real_microbatches = std::nullopt;
};
/// Gradients of `fun` by its first argument, a tree, row by row of the second.
std::function<MicroGrads(const Tree& params, const Tree& batch)> micro_grad(
    std::function<Array(const Tree& params, const Tree& batch)> fun, MicroGradOptions options = {});

}  // namespace strata::optim::microbatching
