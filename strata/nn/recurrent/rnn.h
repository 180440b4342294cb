// Recurrent cells along time.
//
//   nn::RNN rnn(nn::GRUCell(3, 4, rngs));
//   Array y = rnn(x);                                          // (B, T, 3) -> (B, T, 4)
//   auto [carry, y] = rnn.with_carry(x, {.seq_lengths = n});   // carries of the last steps
//   nn::Bidirectional both(nn::RNN(forward), nn::RNN(backward));
//   Array z = both(x);                                         // features side by side
#pragma once

#include <variant>

#include "strata/nn/compiled_visit.h"
#include "strata/nn/named_function.h"
#include "strata/nn/recurrent/gru.h"
#include "strata/nn/recurrent/lstm.h"
#include "strata/nn/recurrent/recurrent_cell.h"
#include "strata/nn/recurrent/simple_cell.h"
#include "strata/nn/transform/scan.h"

namespace strata::nn {

/// x backwards along time; with lengths (batch...) each sequence by itself, so that what is behind
/// its end stays there: step t is x[(T - 1 - t + length) mod T]. x is (batch..., T, features...),
/// or (T, batch..., features...) when `time_major`. Throws Error where lengths do not have the
/// batch's shape.
Array flip_sequences(const Array& x, const std::optional<Array>& seq_lengths,
                     std::int64_t num_batch_dims, bool time_major);

/// Where keys of a first carry come from: nothing, streams of which "carry" is taken, or a stream.
using CarryKeys = std::variant<std::monostate, Rngs*, RngStream*>;

struct RNNOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Time is axis 0, not the one before the features.
  bool time_major = false;
  /// From the last step to the first; and whether results are turned back.
  bool reverse = false, keep_order = false;
  /// So many steps of the cell are one step of the loop.
  std::int64_t unroll = 1;
  /// Streams of these tags in the cell give each step the same keys, those of one call; others go
  /// on from step to step.
  std::vector<std::string> broadcast_rngs = {};
  /// Whether it has a stream of its own for first carries, of seed 0.
  bool rngs = true;
};

/// What one call of a recurrent layer is told.
template <class Carry>
struct RNNCall {
  strata::internal::Named named = strata::internal::Named();
  /// In place of the cell's first carry.
  std::optional<Carry> initial_carry = std::nullopt;
  /// (batch...): how many steps of each sequence count. Results behind them are computed all the
  /// same; the carry that is returned is that of a sequence's last step.
  std::optional<Array> seq_lengths = std::nullopt;
  /// In place of the layer's own.
  std::optional<bool> time_major = std::nullopt, reverse = std::nullopt, keep_order = std::nullopt;
  CarryKeys rngs = {};
};

namespace detail {
/// The layout of an input, and the shape of one step of it. Throws Error for one without time, and
/// where lengths do not have the batch's shape.
struct Sequence {
  int time_axis = 0;
  std::int64_t batch_dims = 0;
  std::vector<std::int64_t> step_shape;
};
Sequence sequence(const Array& x, bool time_major, std::int64_t feature_axes,
                  const std::optional<Array>& seq_lengths);
/// Of carries (T, batch..., ...) those of the last step of each sequence.
Array last_of_each(const Array& stacked, const Array& seq_lengths);
/// The streams of a module that have one of these tags.
std::vector<RngStream*> streams_of(const std::function<void(tree::Visitor&)>& accept,
                                   const std::vector<std::string>& tags);

/// One step's result: the carry, where all of them are asked for, and the output.
struct StepResult {
  std::vector<Array> carry;
  Array output;
  STRATA_FIELDS(carry, output)
};
/// Results of steps along a new axis 0; stacked results of several loops along axis 0.
StepResult stacked(const std::vector<StepResult>& steps);
StepResult joined(const std::vector<StepResult>& parts);
}  // namespace detail

/// Calls a cell step by step along time: a scan, whose carry is the cell's and its state. x
/// (batch..., T, features), result (batch..., T, hidden). Throws Error for inputs without time, for
/// lengths of another shape, and where a first carry needs keys and nobody has them. Source: Flax
/// NNX's RNN. Deviations: the method that is called decides whether the carry is returned;
/// lengths may have any number of batch axes; `state_axes` are left out, all state of the cell is
/// carried.
template <RNNCellBase Cell>
struct RNN {
  Cell cell;
  std::optional<RngStream> rngs;
  bool time_major = false, reverse = false, keep_order = false;
  std::int64_t unroll = 1;
  std::vector<std::string> broadcast_rngs;
  STRATA_FIELDS(cell, rngs, time_major, reverse, keep_order, unroll, broadcast_rngs)

  /// The carry of the cell.
  using Carry = typename Cell::Carry;
  /// Options of a call.
  using Call = RNNCall<Carry>;

  RNN() = default;
  explicit RNN(Cell step, const RNNOptions& options = {}) : RNN(std::move(step), nullptr, options) {
    if (options.rngs) rngs = RngStream(0, "carry");
  }
  /// Forks the stream "carry".
  RNN(Cell step, Rngs& streams, const RNNOptions& options = {})
      : RNN(std::move(step), nullptr, options) {
    rngs = streams["carry"].fork();
  }

  /// The outputs of all steps.
  Array operator()(const Array& x, const Call& call = {}) { return run(x, call, false).second; }
  /// The last carry (of each sequence, given lengths), and the outputs.
  std::pair<Carry, Array> with_carry(const Array& x, const Call& call = {}) {
    return run(x, call, true);
  }

 private:
  RNN(Cell step, std::nullptr_t, const RNNOptions& o)
      : cell(std::move(step)),
        time_major(o.time_major),
        reverse(o.reverse),
        keep_order(o.keep_order),
        unroll(o.unroll),
        broadcast_rngs(o.broadcast_rngs) {
    if (unroll < 1) strata::internal::fail("RNN", "unroll is {}, not a number of steps", unroll);
  }

  std::pair<Carry, Array> run(const Array& inputs, const Call& call, bool return_carry);

  Carry first_carry(const Call& call, const detail::Sequence& along) {
    RngStream forked;
    if (Rngs* const* streams = std::get_if<Rngs*>(&call.rngs)) forked = (**streams)["carry"].fork();
    if (call.initial_carry) return *call.initial_carry;
    RngStream* stream = rngs ? &*rngs : nullptr;
    if (std::holds_alternative<Rngs*>(call.rngs)) stream = &forked;
    if (RngStream* const* given = std::get_if<RngStream*>(&call.rngs)) stream = *given;
    if (!stream)
      strata::internal::fail("RNN",
                             "the first carry needs keys: give the layer or the call streams, or "
                             "the call an initial_carry");
    return cell.initialize_carry(along.step_shape, *stream, initializers::zeros);
  }

  /// One step with the cell's broadcast streams as they were before.
  detail::StepResult step(Cell& of, Carry& carry, const Array& x, bool every) const {
    const std::vector<RngStream*> streams =
        detail::streams_of([&](tree::Visitor& v) { tree::accept(of, v); }, broadcast_rngs);
    std::vector<RngStream> before;
    for (const RngStream* stream : streams) before.push_back(*stream);
    auto [next, y] = of(carry, x);
    for (std::size_t i = 0; i < streams.size(); ++i) *streams[i] = before[i];
    carry = std::move(next);
    return {every ? tree::leaves<Array>(carry) : std::vector<Array>(), std::move(y)};
  }

  std::pair<Carry, detail::StepResult> scan_steps(const Carry& first, const Array& xs, bool every) {
    // Streams that are the same at each step: the keys of one call, which the stream counts.
    const std::vector<RngStream*> streams =
        detail::streams_of([&](tree::Visitor& v) { tree::accept(cell, v); }, broadcast_rngs);
    std::vector<RngStream> after;
    for (RngStream* stream : streams) {
      const RngStream one = stream->split(1);
      after.push_back(*stream);
      stream->key = RngKey(one.key[0], stream->key.metadata());
      stream->count = numpy::zeros_like(one.count[0]);
    }
    auto out = scan_chunks(first, xs, every);
    for (std::size_t i = 0; i < streams.size(); ++i) *streams[i] = after[i];
    return out;
  }

  std::pair<Carry, detail::StepResult> scan_chunks(const Carry& first, const Array& xs,
                                                   bool every) {
    const ScanOptions axes{.in_axes = {std::nullopt, nn::Carry, 0}, .out_axes = {nn::Carry, 0}};
    if (unroll == 1 || xs.shape(0) == 0)
      return nn::scan(
          [&](Cell& of, const Carry& carry, const Array& x) {
            Carry now = carry;
            detail::StepResult result = step(of, now, x, every);
            return std::pair(std::move(now), std::move(result));
          },
          axes)(cell, std::as_const(first), xs);
    const auto several = [&](Cell& of, const Carry& carry, const Array& chunk) {
      Carry now = carry;
      std::vector<detail::StepResult> results;
      for (std::int64_t i = 0; i < chunk.shape(0); ++i)
        results.push_back(step(of, now, chunk[i], every));
      return std::pair(std::move(now), detail::stacked(results));
    };
    const std::int64_t steps = xs.shape(0), whole = steps / unroll * unroll;
    std::vector<detail::StepResult> parts;
    Carry carry = first;
    if (whole > 0) {
      std::vector<std::int64_t> shape = xs.shape().sizes();
      shape[0] = unroll;
      shape.insert(shape.begin(), steps / unroll);
      auto [last, chunks] =
          nn::scan(several, axes)(cell, std::as_const(carry), xs[slice(0, whole)].reshape(shape));
      carry = std::move(last);
      tree::for_each(chunks, [&](Array& y) {
        std::vector<std::int64_t> flat = y.shape().sizes();
        flat[0] *= flat[1];
        flat.erase(flat.begin() + 1);
        y = y.reshape(flat);
      });
      parts.push_back(std::move(chunks));
    }
    if (whole < steps) {
      auto [last, rest] = several(cell, carry, xs[slice(whole, steps)]);
      carry = std::move(last);
      parts.push_back(std::move(rest));
    }
    return {std::move(carry), detail::joined(parts)};
  }
};

// Not inline, so that what is compiled in rnn.cc is not compiled again.
template <RNNCellBase Cell>
auto RNN<Cell>::run(const Array& inputs, const Call& call, bool return_carry)
    -> std::pair<Carry, Array> {
  const ModuleScope scope(*this, "RNN");
  const bool by_time = call.time_major.value_or(time_major);
  const bool backwards = call.reverse.value_or(reverse);
  const detail::Sequence along =
      detail::sequence(inputs, by_time, Cell::num_feature_axes, call.seq_lengths);
  const auto flipped = [&](const Array& x) {
    return backwards ? flip_sequences(x, call.seq_lengths, along.batch_dims, by_time) : x;
  };
  const Array xs = numpy::moveaxis(flipped(inputs), along.time_axis, 0);
  Carry first = first_carry(call, along);
  const bool every = call.seq_lengths && return_carry;
  auto [carry, steps] = scan_steps(first, xs, every);
  if (every) {
    for (Array& part : steps.carry) part = detail::last_of_each(part, *call.seq_lengths);
    carry = tree::unflatten<Array>(carry, steps.carry);
  }
  Array outputs = numpy::moveaxis(steps.output, 0, along.time_axis);
  if (call.keep_order.value_or(keep_order)) outputs = flipped(outputs);
  return scope.returns(std::pair(std::move(carry), std::move(outputs)), inputs);
}

/// How Bidirectional puts two outputs together: `{"add", [](const Array& a, const Array& b)
/// {...}}`.
using MergeFunction = NamedFunction<const Array&, const Array&>;
/// Side by side along the last axis.
MergeFunction concatenated_features();

struct BidirectionalOptions {
  strata::internal::Named named = strata::internal::Named();
  MergeFunction merge_fn = concatenated_features();
  /// Time is axis 0 of both, not the one before the features.
  bool time_major = false;
  /// Whether it has a stream of its own for first carries, of seed 0.
  bool rngs = true;
};

/// Two recurrent layers, one from the first step on and one from the last, and their outputs merged
/// in the order of time. Its stream gives both their first carries. Carries are a pair. Throws
/// Errors as RNN. Source: Schuster and Paliwal (1997); Flax NNX's Bidirectional. Deviation: whether
/// the carries are returned depends on the method that is called.
template <class Forward, class Backward>
struct Bidirectional {
  Forward forward_rnn;
  Backward backward_rnn;
  std::optional<RngStream> rngs;
  MergeFunction merge_fn = concatenated_features();
  bool time_major = false;
  STRATA_FIELDS(forward_rnn, backward_rnn, rngs, merge_fn, time_major)

  /// The carries of both, that of the forward layer first.
  using Carry = std::pair<typename Forward::Carry, typename Backward::Carry>;
  /// Options of a call; those on direction and order are not read.
  using Call = RNNCall<Carry>;

  Bidirectional() = default;
  Bidirectional(Forward forward, Backward backward, const BidirectionalOptions& o = {})
      : forward_rnn(std::move(forward)),
        backward_rnn(std::move(backward)),
        merge_fn(o.merge_fn),
        time_major(o.time_major) {
    if (o.rngs) rngs = RngStream(0, "carry");
  }
  /// Forks the stream "carry".
  Bidirectional(Forward forward, Backward backward, Rngs& streams,
                const BidirectionalOptions& o = {})
      : Bidirectional(std::move(forward), std::move(backward), o) {
    rngs = streams["carry"].fork();
  }

  Array operator()(const Array& x, const Call& call = {}) { return run(x, call).second; }
  /// The last carries of both, and the merged outputs.
  std::pair<Carry, Array> with_carry(const Array& x, const Call& call = {}) { return run(x, call); }

 private:
  std::pair<Carry, Array> run(const Array& x, const Call& call) {
    const ModuleScope scope(*this, "Bidirectional");
    CarryKeys keys = call.rngs;
    if (Rngs* const* streams = std::get_if<Rngs*>(&call.rngs))
      keys = &(**streams)["carry"];
    else if (std::holds_alternative<std::monostate>(keys) && rngs)
      keys = &*rngs;
    typename Forward::Call ahead{.seq_lengths = call.seq_lengths,
                                 .time_major = call.time_major.value_or(time_major),
                                 .reverse = false,
                                 .rngs = keys};
    typename Backward::Call back{.seq_lengths = call.seq_lengths,
                                 .time_major = call.time_major.value_or(time_major),
                                 .reverse = true,
                                 .keep_order = true,
                                 .rngs = keys};
    if (call.initial_carry) {
      ahead.initial_carry = call.initial_carry->first;
      back.initial_carry = call.initial_carry->second;
    }
    auto [forward_carry, forward] = forward_rnn.with_carry(x, ahead);
    auto [backward_carry, backward] = backward_rnn.with_carry(x, back);
    return scope.returns(std::pair(Carry(std::move(forward_carry), std::move(backward_carry)),
                                   merge_fn(forward, backward)),
                         x);
  }
};

// Compiled once, in rnn.cc: the loops over time of the library's cells.
extern template struct RNN<LSTMCell>;
extern template struct RNN<OptimizedLSTMCell>;
extern template struct RNN<GRUCell>;
extern template struct RNN<SimpleCell>;

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::RNN<strata::nn::LSTMCell>)
STRATA_COMPILED_VISIT(strata::nn::RNN<strata::nn::OptimizedLSTMCell>)
STRATA_COMPILED_VISIT(strata::nn::RNN<strata::nn::GRUCell>)
STRATA_COMPILED_VISIT(strata::nn::RNN<strata::nn::SimpleCell>)
