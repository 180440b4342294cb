// Laws of sharding factors: they fit the shapes, and a factor that passes through does so: what
// differs in the operands at one of its coordinates changes the results at that coordinate alone.
#include "strata/op/law_support.h"
#include "strata/op/rules.h"

namespace strata::op::laws {
namespace {

class ShardLaw : public Law {};

using Mapping = std::vector<std::vector<int>>;  // [dimension] -> factors, major first

/// Every dimension made of factors that keep their size has their product as its size.
void check_sizes(const Factors& t, const Mapping& mapping, const Value* v) {
  ASSERT_EQ(static_cast<int>(mapping.size()), v->rank());
  for (int d = 0; d < v->rank(); ++d) {
    std::int64_t product = 1;
    bool fits = !mapping[static_cast<std::size_t>(d)].empty();
    for (int f : mapping[static_cast<std::size_t>(d)]) {
      ASSERT_LT(static_cast<std::size_t>(f), t.kinds.size());
      fits = fits && t.kinds[static_cast<std::size_t>(f)] != 'm';
      product *= t.sizes[static_cast<std::size_t>(f)];
    }
    if (fits) {
      EXPECT_EQ(product, v->shape()[d]) << "dimension " << d << " of " << v->type().to_string();
    }
  }
}

/// The coordinate of an element along factor `f`; -1 when the value does not have it.
std::int64_t coordinate(const Factors& t, const Mapping& mapping,
                        std::span<const std::int64_t> index, int f) {
  for (std::size_t d = 0; d < mapping.size(); ++d) {
    std::int64_t rest = index[d];
    for (std::size_t k = mapping[d].size(); k-- > 0;) {
      std::int64_t size = t.sizes[static_cast<std::size_t>(mapping[d][k])];
      if (mapping[d][k] == f) return rest % size;
      rest /= size;
    }
  }
  return -1;
}

bool has(const Mapping& mapping, int f) {
  for (const auto& factors : mapping)
    if (std::count(factors.begin(), factors.end(), f) > 0) return true;
  return false;
}

/// Another value at all elements whose coordinate along `f` is 0.
Literal changed(const Factors& t, const Mapping& mapping, const Literal& x, int f) {
  Literal out = moved(x, x.type(), [&](std::span<const std::int64_t> index) {
    return linear_index(index, x.shape().strides());
  });
  for_each_index(x.shape(), [&](std::span<const std::int64_t> index, std::int64_t i) {
    if (coordinate(t, mapping, index, f) != 0) return;
    if (is_inexact(x.dtype()))
      out.set_number(i, x.number(i) * 0.5 + 1.25);  // complex: the real part
    else
      out.set_integer(i, is_bool(x.dtype()) ? 1 - x.integer(i) : x.integer(i) + 1);
  });
  return out;
}

void check_unchanged(const Factors& t, const Mapping& mapping, const Literal& before,
                     const Literal& after, int f) {
  std::size_t width = byte_width(before.dtype());
  for_each_index(before.shape(), [&](std::span<const std::int64_t> index, std::int64_t i) {
    if (coordinate(t, mapping, index, f) == 0) return;
    std::size_t at = static_cast<std::size_t>(i) * width;
    EXPECT_EQ(std::memcmp(before.data() + at, after.data() + at, width), 0)
        << "element " << i << " changed with another coordinate of factor " << f;
  });
}

TEST_P(ShardLaw, factors_fit_shapes) {
  if (!def().shard) return;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    const Op& op = *f->body.ops().back();
    Factors t = (*def().shard)(op);
    ASSERT_EQ(t.kinds.size(), t.sizes.size());
    ASSERT_EQ(t.kinds.find_first_not_of("prnm"), std::string::npos) << t.kinds;
    ASSERT_EQ(t.operands.size(), op.operands.size());
    ASSERT_EQ(static_cast<int>(t.results.size()), op.num_results());
    for (std::size_t i = 0; i < t.operands.size(); ++i)
      check_sizes(t, t.operands[i], op.operands[i]);
    for (std::size_t i = 0; i < t.results.size(); ++i)
      check_sizes(t, t.results[i], op.result(static_cast<int>(i)));
  }
}

void check_factor(const Factors& t, const Block& body, const Sample& sample, const Literals& before,
                  int f) {
  for (std::size_t i = 0; i < sample.operands.size(); ++i) {
    if (!has(t.operands[i], f)) continue;
    Literals operands = sample.operands;
    operands[i] = changed(t, t.operands[i], operands[i], f);
    Literals after = evaluate(body, operands);
    for (std::size_t r = 0; r < after.size(); ++r)
      if (has(t.results[r], f)) check_unchanged(t, t.results[r], before[r], after[r], f);
  }
}

TEST_P(ShardLaw, factors_pass_through) {
  if (!def().shard) return;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    if (!only_arrays(f->body)) continue;
    Factors t = (*def().shard)(*f->body.ops().back());
    Literals before = evaluate(f->body, sample.operands);
    for (std::size_t k = 0; k < t.kinds.size(); ++k)
      if (t.kinds[k] == 'p' && t.sizes[k] > 1)
        check_factor(t, f->body, sample, before, static_cast<int>(k));
  }
}

/// What passes through arrives: a factor of an operand that stands in no result is reduced, moved
/// or needed whole.
TEST_P(ShardLaw, passing_factors_stand_in_a_result) {
  if (!def().shard) return;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    Factors t = (*def().shard)(*f->body.ops().back());
    for (std::size_t k = 0; k < t.kinds.size(); ++k) {
      int factor = static_cast<int>(k);
      bool arrives = std::any_of(t.results.begin(), t.results.end(),
                                 [&](const Mapping& m) { return has(m, factor); });
      EXPECT_TRUE(arrives || t.kinds[k] != 'p' || t.sizes[k] <= 1) << "factor " << factor;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Op, ShardLaw, ::testing::ValuesIn(catalog()), test_name);

}  // namespace
}  // namespace strata::op::laws
