#include <gtest/gtest.h>

#include <cmath>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::build;
using testing::run;

Attrs dot_attrs(const DotDims& d) {
  return {{"lhs_batching_dimensions", d.lhs_batch},
          {"rhs_batching_dimensions", d.rhs_batch},
          {"lhs_contracting_dimensions", d.lhs_contract},
          {"rhs_contracting_dimensions", d.rhs_contract}};
}

const bool samples = add_samples("stablehlo.dot_general", [](std::vector<Sample>& out) {
  auto sample = [&](const char* what, const Type& lhs, const Type& rhs, const DotDims& d,
                    std::vector<Type> results = {}) {
    out.push_back({.what = what,
                   .operands = {random_literal(lhs, 1), random_literal(rhs, 2)},
                   .attrs = dot_attrs(d),
                   .results = std::move(results)});
  };
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i8,
                  DType::ui16, DType::i64})
    sample("matrices", Type(t, {3, 4}), Type(t, {4, 5}), {{}, {}, {1}, {0}});
  DType f = DType::f32;
  sample("matrix and vector", Type(f, {3, 4}), Type(f, {4}), {{}, {}, {1}, {0}});
  sample("inner product", Type(f, {4}), Type(f, {4}), {{}, {}, {0}, {0}});
  sample("outer product", Type(f, {3}), Type(f, {4}), {});
  sample("transposed operands", Type(f, {4, 3}), Type(f, {5, 4}), {{}, {}, {0}, {1}});
  sample("two contracting dimensions in other orders", Type(f, {2, 3, 4}), Type(f, {4, 5, 2}),
         {{}, {}, {0, 2}, {2, 0}});
  sample("batched", Type(f, {2, 3, 4}), Type(f, {2, 4, 5}), {{0}, {0}, {2}, {1}});
  sample("batching dimensions inside", Type(f, {3, 2, 4, 2}), Type(f, {2, 4, 5, 2}),
         {{1, 3}, {3, 0}, {2}, {1}});
  sample("batch alone", Type(f, {4}), Type(f, {4}), {{0}, {0}, {}, {}});
  sample("nothing to sum", Type(f, {3, 0}), Type(f, {0, 2}), {{}, {}, {1}, {0}});
  sample("wider result", Type(DType::bf16, {3, 4}), Type(DType::bf16, {4, 5}), {{}, {}, {1}, {0}},
         {Type(f, {3, 5})});
  sample("wider integer result", Type(DType::i8, {3, 4}), Type(DType::i8, {4, 5}),
         {{}, {}, {1}, {0}}, {Type(DType::i32, {3, 5})});
});

Literal product(const Literal& lhs, const Literal& rhs, const DotDims& dims) {
  return run({lhs, rhs}, [&](Builder& b, const Values& v) {
    return Values{dot_general(b, v[0], v[1], dims)};
  })[0];
}

TEST(DotGeneral, IsAChainOfFusedMultiplyAdds) {
  Literal x = random_literal(Type(DType::f32, {1, 100}), 3),
          y = random_literal(Type(DType::f32, {100, 1}), 4);
  float acc = 0;
  for (std::size_t k = 0; k < 100; ++k) acc = std::fma(x.span<float>()[k], y.span<float>()[k], acc);
  EXPECT_EQ(product(x, y, {{}, {}, {1}, {0}}).span<float>()[0], acc);
}

TEST(DotGeneral, ResultDimensionsAreBatchThenLeftThenRight) {
  Literal x = random_literal(Type(DType::f64, {3, 2, 4}), 5),
          y = random_literal(Type(DType::f64, {4, 5, 2}), 6);
  Literal z = product(x, y, {{1}, {2}, {2}, {0}});
  ASSERT_EQ(z.shape(), (Shape{2, 3, 5}));
  double expected = 0;  // element (1, 2, 3)
  for (int k = 0; k < 4; ++k)
    expected = std::fma(x.number((2 * 2 + 1) * 4 + k), y.number((k * 5 + 3) * 2 + 1), expected);
  EXPECT_EQ(z.number((1 * 3 + 2) * 5 + 3), expected);
}

TEST(DotGeneral, NarrowFloatsAccumulateInSinglePrecision) {
  Literal ones = Literal::full(Type(DType::bf16, {1, 1001}), 1);
  Literal z = run({ones}, [](Builder& b, const Values& v) {
    return Values{dot_general(b, v[0], v[0], {{}, {}, {1}, {1}}, DType::f32)};
  })[0];
  EXPECT_EQ(z.number(0), 1001);
  EXPECT_EQ(product(ones, ones, {{}, {}, {1}, {1}}).number(0),
            1000);  // bf16 steps by 8 there: to even
}

TEST(DotGeneral, IntegersWrap) {
  Literal x = Literal::of<std::int8_t>({2}, {100, 100});
  EXPECT_EQ(product(x, x, {{}, {}, {0}, {0}}).integer(0), static_cast<std::int8_t>(20000));
}

TEST(DotGeneral, TransposesHaveTheOperandsTypes) {
  // <dot(x, y), w> = <x, transpose(w)> in exact arithmetic on small integers.
  Literal x = random_literal(Type(DType::f32, {3, 2, 4, 2}), 7, -4, 4),
          y = random_literal(Type(DType::f32, {2, 4, 5, 2}), 8, -4, 4);
  for (Literal* v : {&x, &y})
    for (std::int64_t i = 0; i < v->count(); ++i) v->set_number(i, std::floor(v->number(i)));
  DotDims dims{{1, 3}, {3, 0}, {2}, {1}};
  Literal z = product(x, y, dims), w(z.type());
  for (std::int64_t i = 0; i < w.count(); ++i) w.set_number(i, static_cast<double>(i % 7 - 3));
  auto inner = [](const Literal& a, const Literal& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.count(); ++i) sum += a.number(i) * b.number(i);
    return sum;
  };
  for (int side : {0, 1}) {
    Literals ct = run({x, y, w}, [&](Builder& b, const Values& v) {
      Values args{v[0], v[1]};
      const Op& op = *dot_general(b, v[0], v[1], dims)->op();
      args[static_cast<std::size_t>(side)] = nullptr;
      Values cotangents{v[2]};
      return Values{(*def(op).transpose)(b, op, args, {side == 0, side == 1},
                                         cotangents)[static_cast<std::size_t>(side)]};
    });
    ASSERT_EQ(ct[0].type(), side == 0 ? x.type() : y.type());
    EXPECT_EQ(inner(ct[0], side == 0 ? x : y), inner(z, w));
  }
}

TEST(DotGeneral, RefusesBrokenConstraints) {
  auto with = [](const Type& lhs, const Type& rhs, const DotDims& dims) {
    build({lhs, rhs},
          [&](Builder& b, const Values& v) { return Values{dot_general(b, v[0], v[1], dims)}; });
  };
  Type a(DType::f32, {2, 3}), c(DType::f32, {3, 2});
  EXPECT_THROW(with(a, c, {{0}, {}, {1}, {0}}), Error);   // C1
  EXPECT_THROW(with(a, c, {{}, {}, {1}, {}}), Error);     // C2
  EXPECT_THROW(with(a, c, {{1}, {0}, {1}, {1}}), Error);  // C3
  EXPECT_THROW(with(a, c, {{}, {}, {2}, {0}}), Error);    // C6
  EXPECT_THROW(with(a, c, {{0}, {0}, {1}, {1}}), Error);  // C9
  EXPECT_THROW(with(a, c, {{}, {}, {1}, {1}}), Error);    // C10
}

}  // namespace
}  // namespace strata::op
