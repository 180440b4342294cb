// Permutations of dimensions and their inverses.
#include "strata/type/permutation.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(Permutation, InversesLeadBack) {
  const std::vector<std::int64_t> permutation{2, 0, 1}, inverse = inverse_permutation(permutation);
  EXPECT_EQ(inverse, (std::vector<std::int64_t>{1, 2, 0}));
  EXPECT_EQ(inverse_permutation(inverse), permutation);
  const Type type(DType::f32, {2, 3, 5});
  EXPECT_EQ(permuted(type, permutation), Type(DType::f32, {5, 2, 3}));
  EXPECT_EQ(permuted(permuted(type, permutation), inverse), type);
}

}  // namespace
}  // namespace strata
