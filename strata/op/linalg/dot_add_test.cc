#include <gtest/gtest.h>

#include <cstring>

#include "strata/base/error.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::build;
using testing::run;

const bool samples = add_samples("strata.dot_add", [](std::vector<Sample>& out) {
  auto sample = [&](const char* what, const Type& lhs, const Type& rhs, const Type& sums,
                    const DotDims& d) {
    out.push_back(
        {.what = what,
         .operands = {random_literal(lhs, 1), random_literal(rhs, 2), random_literal(sums, 3)},
         .attrs = {{"lhs_batching_dimensions", d.lhs_batch},
                   {"rhs_batching_dimensions", d.rhs_batch},
                   {"lhs_contracting_dimensions", d.lhs_contract},
                   {"rhs_contracting_dimensions", d.rhs_contract}},
         .smooth = false,
         .batchable = false});
  };
  for (auto [t, sums] : {std::pair(DType::f32, DType::f32), std::pair(DType::f64, DType::f64),
                         std::pair(DType::bf16, DType::f32), std::pair(DType::i32, DType::i32),
                         std::pair(DType::i8, DType::i32)})
    sample("matrices", Type(t, {3, 4}), Type(t, {4, 5}), Type(sums, {3, 5}), {{}, {}, {1}, {0}});
  DType f = DType::f32;
  sample("transposed operands", Type(f, {4, 3}), Type(f, {5, 4}), Type(f, {3, 5}),
         {{}, {}, {0}, {1}});
  sample("two contracting dimensions", Type(f, {2, 3, 4}), Type(f, {2, 3, 5}), Type(f, {4, 5}),
         {{}, {}, {0, 1}, {0, 1}});
  sample("batched", Type(f, {2, 3, 4}), Type(f, {2, 4, 5}), Type(f, {2, 3, 5}),
         {{0}, {0}, {2}, {1}});
  sample("inner product", Type(f, {4}), Type(f, {4}), Type(f, Shape{}), {{}, {}, {0}, {0}});
  sample("nothing to sum", Type(f, {3, 0}), Type(f, {0, 2}), Type(f, {3, 2}), {{}, {}, {1}, {0}});
});

TEST(DotAdd, PartsGoOnWhereOthersStopped) {
  constexpr std::int64_t kWhole = 96, kPart = 32;
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i32}) {
    DType sum = t == DType::bf16 ? DType::f32 : t;
    Literal x = random_literal(Type(t, {kWhole, 3}), 3),
            y = random_literal(Type(t, {kWhole, 5}), 4);
    DotDims dims{{}, {}, {0}, {0}};
    Literal whole = run({x, y}, [&](Builder& b, const Values& v) {
      return Values{dot_general(b, v[0], v[1], dims, sum)};
    })[0];
    Literal parts = run({x, y}, [&](Builder& b, const Values& v) {
      Value* sums = zeros(b, Type(sum, {3, 5}));
      for (std::int64_t k = 0; k < kWhole; k += kPart)
        sums = dot_add(b, slice_dim(b, v[0], 0, k, k + kPart), slice_dim(b, v[1], 0, k, k + kPart),
                       sums, dims);
      return Values{sums};
    })[0];
    EXPECT_EQ(std::memcmp(parts.data(), whole.data(), whole.bytes()), 0) << name(t);
  }
}

TEST(DotAdd, dot_add_c2_and_c3) {
  auto error = [](const Type& operand, const Type& sums) -> std::string {
    try {
      build({operand, sums}, [](Builder& b, const Values& v) {
        return Values{dot_add(b, v[0], v[0], v[1], {{}, {}, {1}, {1}})};
      });
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(error(Type(DType::f32, {3, 4}), Type(DType::f32, {3, 3})), "none");
  EXPECT_NE(error(Type(DType::f32, {3, 4}), Type(DType::f32, {3, 4})).find("(C1)"),
            std::string::npos);
  EXPECT_NE(error(Type(DType::bf16, {3, 4}), Type(DType::bf16, {3, 3})).find("(C2)"),
            std::string::npos);
  EXPECT_NE(error(Type(DType::i32, {3, 4}), Type(DType::f32, {3, 3})).find("(C2)"),
            std::string::npos);
}

}  // namespace
}  // namespace strata::op
