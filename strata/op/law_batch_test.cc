// Batching law of every operation: batched = stacked loop.
#include <fmt/format.h>

#include "strata/op/calculus/batch.h"
#include "strata/op/law_support.h"
#include "strata/op/rules.h"

namespace strata::op::laws {
namespace {

class BatchLaw : public Law {};

constexpr std::int64_t kSize = 3;

/// Another operand of the same type, made of the same elements where there are several, so that it
/// stays in the operation's domain.
Literal variant(const Literal& x, std::int64_t k) {
  Literal out(x.type());
  std::int64_t n = x.count();
  if (x.type().rank() > 0) {
    for (std::int64_t i = 0; i < n; ++i) copy_element(x, (i + k) % n, out, i);
    return out;
  }
  if (is_bool(x.dtype()))
    out.set_integer(0, (x.integer(0) + k) % 2);
  else if (is_integer(x.dtype()))
    out.set_integer(0, x.integer(0) + k);
  else if (is_float(x.dtype()))
    out.set_number(0, x.number(0) + 0.25 * static_cast<double>(k));
  else
    out = x;
  return out;
}

Literal stacked(const std::vector<Literal>& parts) {
  Literal out(with_leading(parts[0].type(), static_cast<std::int64_t>(parts.size())));
  std::size_t bytes = parts[0].bytes();
  for (std::size_t k = 0; k < parts.size() && bytes > 0; ++k)
    std::memcpy(out.mutable_data() + k * bytes, parts[k].data(), bytes);
  return out;
}

Literal part(const Literal& x, std::int64_t k) {
  Literal out(without_leading(x.type()));
  if (out.bytes() > 0)
    std::memcpy(out.mutable_data(), x.data() + static_cast<std::size_t>(k) * out.bytes(),
                out.bytes());
  return out;
}

std::vector<std::vector<bool>> choices(std::size_t operands) {
  std::vector<std::vector<bool>> out;
  if (operands > 0) out.emplace_back(operands, true);
  for (std::size_t i = 0; operands > 1 && i < operands; ++i) {
    out.emplace_back(operands, false);
    out.back()[i] = true;
  }
  return out;
}

void check(const OpDef& def, const Sample& sample, const std::vector<bool>& batched) {
  auto f = program_of(def, sample);
  if (!only_arrays(f->body)) return;
  std::vector<Literals> runs;
  for (std::int64_t k = 0; k < kSize; ++k) {
    Literals operands = sample.operands;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (batched[i]) operands[i] = variant(operands[i], k);
    runs.push_back(std::move(operands));
  }
  Block g;
  Literals inputs;
  for (std::size_t i = 0; i < batched.size(); ++i) {
    std::vector<Literal> parts;
    for (const Literals& run : runs) parts.push_back(run[i]);
    inputs.push_back(batched[i] ? stacked(parts) : parts[0]);
    g.add_argument(inputs.back().type());
  }
  Builder b(g);
  Batched r = batch(b, f->body, g.argument_values(), batched, kSize);
  g.results = r.results;
  Literals all = evaluate(g, inputs);
  // Sums and products may add in another order; what only computes element by element, or moves, is
  // equal in bits.
  bool exact = def.traits.elementwise || def.traits.moves_only;
  for (std::int64_t k = 0; k < kSize; ++k) {
    Literals want = evaluate(f->body, runs[static_cast<std::size_t>(k)]);
    for (std::size_t i = 0; i < want.size(); ++i) {
      Literal got = r.batched[i] ? part(all[i], k) : all[i];
      EXPECT_EQ(difference(got, want[i], exact ? 0 : 16 * epsilon(want[i].dtype())), "")
          << "result " << i << " of batch element " << k;
    }
  }
}

TEST_P(BatchLaw, batched_is_stacked_loop) {
  if (!def().batch) return;
  for (const Sample& sample : samples()) {
    if (!sample.batchable) continue;
    for (const auto& batched : choices(sample.operands.size())) {
      SCOPED_TRACE(fmt::format("{}, batched operands {}", sample.what, fmt::join(batched, " ")));
      check(def(), sample, batched);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Op, BatchLaw, ::testing::ValuesIn(catalog()), test_name);

}  // namespace
}  // namespace strata::op::laws
