// Samples of operations whose derivatives follow from what their results solve.
#include "strata/op/build.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::build;
using testing::Program;
using BlockPtr = std::unique_ptr<Block>;

const Type kVector(DType::f64, {3});

template <class... Programs>
std::vector<BlockPtr> regions(const std::vector<Type>& arguments, const Programs&... programs) {
  std::vector<BlockPtr> out;
  (out.push_back(build(arguments, programs)), ...);
  return out;
}

const Program kQuotient = [](Builder& b, const Values& v) { return Values{div(b, v[0], v[1])}; };
const Program kProduct = [](Builder& b, const Values& v) { return Values{mul(b, v[0], v[1])}; };

/// (x + p y, y): not symmetric.
const Program kShear = [](Builder& b, const Values& v) {
  return Values{add(b, v[0], mul(b, v[2], v[1])), v[1]};
};
const Program kShearBack = [](Builder& b, const Values& v) {
  return Values{sub(b, v[0], mul(b, v[2], v[1])), v[1]};
};
const Program kAcross = [](Builder& b, const Values& v) {
  return Values{v[0], add(b, v[1], mul(b, v[2], v[0]))};
};
const Program kAcrossBack = [](Builder& b, const Values& v) {
  return Values{v[0], sub(b, v[1], mul(b, v[2], v[0]))};
};

const bool linear_solve_samples =
    add_samples("strata.custom_linear_solve", [](std::vector<Sample>& out) {
      const Literals operands{random_literal(kVector, 1), random_literal(kVector, 2, 1, 2)};
      out.push_back({.what = "quotient",
                     .operands = operands,
                     .attrs = {{"count", std::int64_t{1}}},
                     .regions = [] {
                       return regions({kVector, kVector}, kQuotient, kProduct, kQuotient, kProduct);
                     }});
      out.push_back({.what = "shear",
                     .operands = {random_literal(kVector, 3), random_literal(kVector, 4),
                                  random_literal(kVector, 5)},
                     .attrs = {{"count", std::int64_t{2}}},
                     .regions = [] {
                       return regions({kVector, kVector, kVector}, kShearBack, kShear, kAcrossBack,
                                      kAcross);
                     }});
    });

const Program kRoot = [](Builder& b, const Values& v) { return Values{sqrt(b, v[1])}; };
const Program kError = [](Builder& b, const Values& v) {
  return Values{sub(b, mul(b, v[0], v[0]), v[1])};
};

const bool root_samples = add_samples("strata.custom_root", [](std::vector<Sample>& out) {
  out.push_back({.what = "square root",
                 .operands = {random_literal(kVector, 6), random_literal(kVector, 7, 1, 2)},
                 .attrs = {{"count", std::int64_t{1}}},
                 .regions = [] {
                   auto out = regions({kVector, kVector}, kRoot, kError);
                   out.push_back(
                       build({kVector, kVector, kVector}, [](Builder& b, const Values& v) {
                         return Values{div(b, v[1], add(b, v[0], v[0]))};
                       }));
                   return out;
                 }});
});

}  // namespace
}  // namespace strata::op
