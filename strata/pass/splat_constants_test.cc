#include "strata/pass/splat_constants.h"

#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/testing/run.h"

namespace strata::pass {
namespace {

using op::Builder;
using op::Value;
using op::Values;

/// Elements of the largest literal in a block.
std::int64_t largest(const op::Block& block) {
  std::int64_t out = 0;
  ir::walk(block, [&](const op::Op& op) {
    if (const ir::Attr* value = op.attrs.find("value"))
      out = std::max(out, std::get<Literal>(*value).count());
  });
  return out;
}

std::int64_t largest_after(const Type& type, const op::testing::Program& program) {
  auto f = op::testing::build({type}, program);
  Literal x(type);
  for (std::int64_t i = 0; i < x.count(); ++i) x.set_integer(i, i % 7);
  const Literal arguments[] = {x};
  op::Literals before = op::evaluate(*f, arguments);
  shrink_splat_constants(*f);
  EXPECT_TRUE(op::testing::same(op::evaluate(*f, arguments)[0], before[0]));
  return largest(*f);
}

TEST(Splats, large_ones_become_scalars) {
  for (DType dtype : {DType::f32, DType::bf16, DType::i64, DType::ui8}) {
    const Type type(dtype, {30, 40});
    EXPECT_EQ(
        largest_after(type,
                      [&](Builder& b, const Values& v) {
                        return Values{op::add(b, v[0], op::constant(b, Literal::full(type, 3)))};
                      }),
        1);
  }
}

TEST(Splats, small_ones_and_others_stay) {
  const Type few(DType::f32, {16}), many(DType::f32, {1000});
  EXPECT_EQ(largest_after(few,
                          [&](Builder& b, const Values& v) {
                            return Values{op::add(b, v[0], op::constant(b, Literal::full(few, 3)))};
                          }),
            16);
  Literal one_differs = Literal::full(many, 3);
  one_differs.set_number(999, -3);
  EXPECT_EQ(largest_after(many,
                          [&](Builder& b, const Values& v) {
                            return Values{op::add(b, v[0], op::constant(b, one_differs))};
                          }),
            1000);
}

// Zeros of either sign are equal numbers and other bits.
TEST(Splats, signs_of_zero_differ) {
  const Type many(DType::f32, {1000});
  Literal zeros = Literal::full(many, 0);
  zeros.set_number(500, -0.0);
  EXPECT_EQ(largest_after(many,
                          [&](Builder& b, const Values& v) {
                            return Values{op::mul(b, v[0], op::constant(b, zeros))};
                          }),
            1000);
}

}  // namespace
}  // namespace strata::pass
