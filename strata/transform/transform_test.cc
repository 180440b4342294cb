// Each transform on one small program, and its errors. Compositions: random_test.cc.
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/testing/run.h"
#include "strata/transform/jvp.h"
#include "strata/transform/linearize.h"
#include "strata/transform/remat.h"
#include "strata/transform/vjp.h"
#include "strata/transform/vmap.h"

namespace strata::transform {
namespace {

using op::Builder;
using op::Literals;
using op::Values;
using op::testing::build;

const Type kScalar = Type::scalar(DType::f64);

Literal number(double x) { return Literal::scalar<double>(x); }

/// x y and y.
std::unique_ptr<ir::Block> product() {
  return build({kScalar, kScalar},
               [](Builder& b, const Values& v) { return Values{op::mul(b, v[0], v[1]), v[1]}; });
}

template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Jvp, results_then_tangents) {
  auto d = jvp(*product(), {true, false});
  Literals out = op::evaluate(*d, std::vector{number(3), number(5), number(1)});
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0].number(0), 15);
  EXPECT_EQ(out[2].number(0), 5);
  EXPECT_EQ(out[3].number(0), 0) << "zeros are written out";
}

TEST(Vjp, results_then_cotangents) {
  auto d = vjp(*product(), {true, true});
  Literals out = op::evaluate(*d, std::vector{number(3), number(5), number(2), number(7)});
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[2].number(0), 10);
  EXPECT_EQ(out[3].number(0), 13);
}

TEST(Vjp, a_result_returned_twice_takes_both_cotangents) {
  auto f = build({kScalar}, [](Builder& b, const Values& v) {
    ir::Value* y = op::mul(b, v[0], v[0]);
    return Values{y, y};
  });
  Literals out = op::evaluate(*vjp(*f, {true}), std::vector{number(3), number(2), number(7)});
  EXPECT_EQ(out.back().number(0), 6 * (2 + 7));
}

TEST(Vjp, only_seeded_results_take_cotangents) {
  auto d = vjp(*product(), {false, true}, {false, true});
  Literals out = op::evaluate(*d, std::vector{number(3), number(5), number(7)});
  EXPECT_EQ(out[2].number(0), 7);
}

TEST(ValueAndGrad, of_a_scalar) {
  auto d = value_and_grad(*product(), {true, true});
  Literals out = op::evaluate(*d, std::vector{number(3), number(5)});
  EXPECT_EQ(out[0].number(0), 15);
  EXPECT_EQ(out[2].number(0), 5);
  EXPECT_EQ(out[3].number(0), 3);
}

TEST(ValueAndGrad, refuses_what_is_no_scalar) {
  auto f = build({Type(DType::f64, {3})}, [](Builder&, const Values& v) { return v; });
  EXPECT_NE(message([&] { value_and_grad(*f, {true}); }).find("tensor<3xf64>"), std::string::npos);
}

TEST(Linearize, linear_part_runs_on_residuals) {
  Linear l = linearize(*product(), {true, true});
  Literals known = op::evaluate(*l.known, std::vector{number(3), number(5)});
  Literals in(known.begin() + 2, known.end());
  EXPECT_EQ(static_cast<int>(in.size()), l.num_residuals);
  in.push_back(number(1));
  in.push_back(number(10));
  Literals out = op::evaluate(*l.linear, in);
  EXPECT_EQ(out[0].number(0), 35);
  EXPECT_EQ(out[1].number(0), 10);
  auto t = transpose(*l.linear, {false, false, true, true});
  in.resize(2);
  in.push_back(number(2));
  in.push_back(number(7));
  Literals back = op::evaluate(*t, in);
  EXPECT_EQ(back[0].number(0), 10);
  EXPECT_EQ(back[1].number(0), 13);
}

TEST(Transpose, refuses_what_is_not_linear) {
  auto f = build({kScalar}, [](Builder& b, const Values& v) { return Values{op::sin(b, v[0])}; });
  EXPECT_NE(message([&] { transpose(*f, {true}); }), "no error");
}

TEST(Vmap, all_results_are_batched) {
  auto d = vmap(*product(), {true, false}, 2);
  Literals out = op::evaluate(*d, std::vector{Literal::of<double>({2}, {3, 4}), number(5)});
  EXPECT_EQ(out[0].number(1), 20);
  EXPECT_EQ(out[1].shape().count(), 2);
}

TEST(Vmap, result_without_an_axis) {
  EXPECT_EQ(vmap(*product(), {true, false}, 2, {true, false})->results[1]->rank(), 0);
  EXPECT_NE(message([] { vmap(*product(), {false, true}, 2, {true, false}); }).find("result 1"),
            std::string::npos);
}

TEST(Vmap, counts_flags) {
  EXPECT_NE(message([] { vmap(*product(), {true}, 2); }).find("1 flags for 2 arguments"),
            std::string::npos);
}

TEST(Remat, expands_to_the_program) {
  auto r = remat(*product());
  ASSERT_EQ(r->ops().size(), 1u);
  expand(*r);
  ASSERT_EQ(r->ops().size(), 1u);
  EXPECT_EQ(r->ops()[0]->name(), "stablehlo.multiply");
}

TEST(Remat, recomputation_waits_behind_a_barrier) {
  auto f = build({kScalar},
                 [](Builder& b, const Values& v) { return Values{op::exp(b, op::sin(b, v[0]))}; });
  auto d = vjp(*remat(*f), {true});
  expand(*d);
  int sines = 0, barriers = 0;
  ir::walk(*d, [&](const ir::Op& op) {
    sines += op.name() == "stablehlo.sine";
    barriers += op.name() == "stablehlo.optimization_barrier";
  });
  EXPECT_EQ(sines, 2);
  EXPECT_EQ(barriers, 1);
}

std::unique_ptr<ir::Block> with_custom_vjp() {
  return build({kScalar}, [](Builder& b, const Values& v) {
    auto primal =
        build({kScalar}, [](Builder& pb, const Values& a) { return Values{op::sin(pb, a[0])}; });
    auto forward = build({kScalar}, [](Builder& fb, const Values& a) {
      return Values{op::sin(fb, a[0]), op::cos(fb, a[0])};
    });
    auto backward = build({kScalar, kScalar}, [](Builder& wb, const Values& a) {
      return Values{op::mul(wb, a[0], a[1])};
    });
    return op::custom_vjp(b, std::move(primal), std::move(forward), std::move(backward), v, {0});
  });
}

TEST(CustomVjp, forward_mode_is_refused) {
  EXPECT_NE(message([] { jvp(*with_custom_vjp(), {true}); }).find("custom_vjp"), std::string::npos);
}

TEST(CustomVjp, second_derivative_goes_through_bwd) {
  auto second = vjp(*vjp(*with_custom_vjp(), {true}), {true, false}, {false, true});
  Literals out = op::evaluate(*second, std::vector{number(0.5), number(1), number(1)});
  EXPECT_NEAR(out.back().number(0), -std::sin(0.5), 1e-12);
}

}  // namespace
}  // namespace strata::transform
