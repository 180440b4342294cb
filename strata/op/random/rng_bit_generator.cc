// rng_bit_generator: uniform random bits, and the state from which the next call goes on.
//
// Contract (spec: rng_bit_generator): operand `initial_state`, ui64 of rank 1; attribute
// `rng_algorithm`: DEFAULT, THREE_FRY or PHILOX; results `output_state` and `output`, integers or
// floats of any shape.
//   (C1) the states have one type; (C2) THREE_FRY has 2 words of state, PHILOX 2 or 3; so has
//   DEFAULT, which is PHILOX as on XLA's CPU.
//
// The bits are XLA's: loop/kernel/random_bits.cc. Below 64 bits Threefry makes two elements at
// once, neighbours along the first dimension of even size, or else along the longest.
#include <algorithm>

#include "strata/ir/text/format.h"
#include "strata/loop/kernel/native.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr std::int64_t kBlocks = 1024;  // calls of the generator at a grid point

bool is_philox(const Op& op) { return op.attr<std::string>("rng_algorithm") != "THREE_FRY"; }

void verify(const Op& op) {
  const char* self = "rng_bit_generator";
  expect_operands(self, op.operands, 1);
  const auto& algorithm = expect_attr<std::string>(self, op.attrs, "rng_algorithm");
  if (algorithm != "DEFAULT" && algorithm != "THREE_FRY" && algorithm != "PHILOX")
    throw Error(self, "there is no algorithm {} (I1)", algorithm);
  if (op.num_results() != 2) throw Error(self, "has 2 results, got {}", op.num_results());
  const Type &state = op.operand(0)->type(), &next = op.result(0)->type(),
             &bits = op.result(1)->type();
  if (state.dtype() != DType::ui64 || state.rank() != 1)
    throw Error(self, "the state must be ui64 of rank 1, got {} (I2)", state.to_string());
  if (!next.is_tensor() || next.dtype() != state.dtype() || next.rank() != 1 ||
      !may_equal(next.shape(), state.shape()))
    throw Error(self, "the states must have one type, got {} and {} (C1)", state.to_string(),
                next.to_string());
  const Dim& words = state.shape().dim(0);
  if (words.is_static() && (words.size() < 2 || words.size() > (algorithm == "THREE_FRY" ? 2 : 3)))
    throw Error(self, "{} takes a state of {}, got {} (C2)", algorithm,
                algorithm == "THREE_FRY" ? "2 words" : "2 or 3 words", state.to_string());
  if (!bits.is_tensor() || !(is_integer(bits.dtype()) || is_float(bits.dtype())))
    throw Error(self, "(O2) the output must be integers or floats, got {}", bits.to_string());
}

std::vector<std::int64_t> params(const Op& op) {
  const Type& out = op.result(1)->type();
  std::vector<std::int64_t> sizes = out.shape().sizes();
  std::int64_t outer = 1, size = 1, inner = 1;
  if (!sizes.empty()) {
    auto cut = std::find_if(sizes.begin(), sizes.end(), [](std::int64_t n) { return n % 2 == 0; });
    if (cut == sizes.end()) cut = std::max_element(sizes.begin(), sizes.end());
    size = *cut;
    for (auto it = sizes.begin(); it != cut; ++it) outer *= *it;
    for (auto it = cut + 1; it != sizes.end(); ++it) inner *= *it;
  }
  return {is_philox(op),
          op.operand(0)->shape()[0],
          bit_width(out.dtype()),
          out.shape().count(),
          outer,
          size,
          inner};
}

/// Enough for either algorithm, which makes at least an element a call; at least one point, which
/// advances the state.
std::int64_t grid(const Op& op) {
  return std::max<std::int64_t>(1, (op.result(1)->shape().count() + kBlocks - 1) / kBlocks);
}

const char* symbol(const Op&) { return "strata_random_bits"; }

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal state(op.result(0)->type().with(operands[0].shape())), bits(op.result(1)->type());
  loop::run_native(
      symbol(op),
      {const_cast<std::byte*>(operands[0].data()), state.mutable_data(), bits.mutable_data()},
      params(op), grid(op));
  return {std::move(state), std::move(bits)};
}

/// Narrow integers are the low bits of a byte; floats below 16 bits have any of their patterns.
std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  Type bits = op.result(1)->type();
  Op& made = b.create(op.info(), {operands[0][0]}, op.attrs, {},
                      {op.result(0)->type(), part_types(bits)[0]});
  Value* low = made.result(1);
  if (bit_width(bits.dtype()) < 8) {
    Value* spare = full_like(b, low, 8 - bit_width(bits.dtype()));
    low = shift_left(b, low, spare);
    low = is_signed(bits.dtype()) ? shift_right_arithmetic(b, low, spare)
                                  : shift_right_logical(b, low, spare);
  }
  return {{made.result(0)}, {low}};
}

/// Each state in turn.
Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t size) {
  auto step = std::make_unique<Block>();
  Value* state = step->add_argument(op.operand(0)->type());
  Builder sb(*step);
  step->results =
      sb.create(op.info(), {state}, op.attrs, {}, {op.result(0)->type(), op.result(1)->type()})
          .results();
  return {scan(b, std::move(step), {}, {}, {operands[0]}, {size, false}), {true, true}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  int words = t.factor('n', op.operand(0)->shape().dim(0).bound());
  t.operand(0, 0, words);
  t.result(0, 0, words);
  for (int d = 0; d < op.result(1)->rank(); ++d)
    t.result(1, d, t.factor('n', op.result(1)->shape().dim(d).bound()));
  return t.take();
}

Work cost(const Op& op) {
  return {
      static_cast<double>(op.result(1)->shape().is_static() ? op.result(1)->shape().count() : 1) *
          40,
      bytes_moved(op)};
}

}  // namespace

const OpDef& rng_bit_generator_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.rng_bit_generator",
               .text = &ir::formats::rng_bit_generator,
               .verify = verify},
      .summary = "uniform random bits and the state from which to go on (spec: rng_bit_generator)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"its state is integers, which have no tangents"},
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Native{symbol, grid, params},
      .split = split,
  };
  return def;
}

}  // namespace strata::op
