// Products of one term: the bits before and after, zeros of both signs, infinities and what is no
// number among them.
#include "strata/pass/dot/degenerate_dots.h"

#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::pass {
namespace {

struct Case {
  Shape left, right;
  op::DotDims dims;
};

const Case kCases[] = {{{5, 1}, {1, 7}, {{}, {}, {1}, {0}}},
                       {{5}, {7}, {{}, {}, {}, {}}},
                       {{1, 5}, {7, 1}, {{}, {}, {0}, {1}}},
                       {{3, 2, 5}, {2, 3}, {{0, 1}, {1, 0}, {}, {}}},
                       {{3, 2, 5, 1}, {4, 1, 2, 6}, {{1}, {2}, {3}, {1}}},
                       {{4, 1, 1}, {1, 1}, {{}, {}, {1, 2}, {1, 0}}}};

std::unique_ptr<ir::Block> product(const Case& c, DType dtype, DType result) {
  return op::testing::build({Type(dtype, c.left), Type(dtype, c.right)},
                            [&](op::Builder& b, const op::Values& v) {
                              return op::Values{op::dot_general(b, v[0], v[1], c.dims, result)};
                            });
}

Literal with_edges(const Type& type, int step) {
  Literal out = op::random_literal(type, static_cast<unsigned>(step)),
          edges = op::edge_literal(type.dtype());
  for (std::int64_t i = 0; i < out.count(); ++i)
    op::copy_element(edges, i * step % edges.count(), out, i);
  return out;
}

TEST(SingleTerms, HaveTheBitsOfTheProduct) {
  for (const Case& c : kCases)
    for (auto [dtype, result] : {std::pair{DType::f32, DType::f32},
                                 {DType::f64, DType::f64},
                                 {DType::bf16, DType::f32},
                                 {DType::bf16, DType::bf16},
                                 {DType::f16, DType::f16},
                                 {DType::i8, DType::i32},
                                 {DType::i32, DType::i32}}) {
      SCOPED_TRACE(c.left.to_string() + " " + c.right.to_string() + " " + std::string(name(dtype)));
      auto f = product(c, dtype, result);
      const op::Literals arguments{with_edges(Type(dtype, c.left), 3),
                                   with_edges(Type(dtype, c.right), 5)};
      const op::Literals before = op::evaluate(*f, arguments);
      EXPECT_TRUE(convert_degenerate_dots(*f));
      ir::remove_dead(*f);
      for (const auto& op : f->ops()) EXPECT_NE(op->name(), "stablehlo.dot_general");
      const Literal after = op::evaluate(*f, arguments)[0];
      EXPECT_TRUE(op::testing::same(after, before[0]))
          << op::testing::to_text(after) << " instead of " << op::testing::to_text(before[0]);
    }
}

TEST(SingleTerms, OthersStay) {
  for (const Case& c :
       {Case{{5, 2}, {2, 7}, {{}, {}, {1}, {0}}}, Case{{0, 5}, {0, 3}, {{}, {}, {0}, {0}}}})
    EXPECT_FALSE(convert_degenerate_dots(*product(c, DType::f32, DType::f32)));
  EXPECT_FALSE(convert_degenerate_dots(*product(kCases[0], DType::c64, DType::c64)));
}

}  // namespace
}  // namespace strata::pass
