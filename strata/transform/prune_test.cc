// What nobody uses leaves loops and branches too.
#include "strata/transform/prune.h"

#include <gtest/gtest.h>

#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/testing/run.h"

namespace strata::transform {
namespace {

using op::Builder;
using op::Values;
using op::testing::build;

const Type kScalar = Type::scalar(DType::f64);
const Type kVector(DType::f64, {4});

TEST(Prune, scan_keeps_carries_that_matter) {
  // (a, b, c) <- (a + b, b + x, c + a): a needs b, and nobody reads c.
  auto f = build({kScalar, kVector}, [](Builder& b, const Values& v) {
    auto body = build({kScalar, kScalar, kScalar, kScalar}, [](Builder& sb, const Values& s) {
      return Values{op::add(sb, s[0], s[1]), op::add(sb, s[1], s[3]), op::add(sb, s[2], s[0]),
                    op::exp(sb, s[3])};
    });
    return Values{op::scan(b, std::move(body), {}, {v[0], v[0], v[0]}, {v[1]}, {4})[0]};
  });
  prune(*f);
  ASSERT_TRUE(ir::verify(*f).ok());
  ASSERT_EQ(f->ops().size(), 1u);
  EXPECT_EQ(f->ops()[0]->num_results(), 2);
  EXPECT_EQ(f->ops()[0]->region(0).ops().size(), 2u);
}

TEST(Prune, unused_xs_go) {
  auto f = build({kScalar, kVector}, [](Builder& b, const Values& v) {
    auto body = build({kScalar, kScalar},
                      [](Builder& sb, const Values& s) { return Values{op::sin(sb, s[0]), s[1]}; });
    return Values{op::scan(b, std::move(body), {}, {v[0]}, {op::exp(b, v[1])}, {4})[0]};
  });
  prune(*f);
  ASSERT_EQ(f->ops().size(), 1u) << "the exponential was only scanned over";
}

TEST(Prune, while_keeps_what_its_condition_reads) {
  Type index = Type::scalar(DType::i32);
  auto f = build({index, kScalar}, [&](Builder& b, const Values& v) {
    auto cond = build({index, kScalar, kScalar}, [](Builder& wb, const Values& s) {
      return Values{op::compare(wb, s[0], op::scalar(wb, DType::i32, 3), "LT")};
    });
    auto body = build({index, kScalar, kScalar}, [](Builder& wb, const Values& s) {
      return Values{op::add(wb, s[0], op::scalar(wb, DType::i32, 1)), op::sin(wb, s[1]),
                    op::cos(wb, s[2])};
    });
    return Values{op::while_(b, std::move(cond), std::move(body), {v[0], v[1], v[1]})[1]};
  });
  prune(*f);
  ASSERT_TRUE(ir::verify(*f).ok());
  EXPECT_EQ(f->ops()[0]->num_results(), 2);
}

TEST(Prune, branches_lose_results) {
  auto f = build({Type::scalar(DType::i1), kScalar}, [&](Builder& b, const Values& v) {
    auto branch = [&] {
      return build({}, [&](Builder& cb, const Values&) {
        return Values{op::sin(cb, v[1]), op::cos(cb, v[1])};
      });
    };
    return Values{op::if_(b, v[0], branch(), branch())[1]};
  });
  prune(*f);
  ASSERT_TRUE(ir::verify(*f).ok());
  EXPECT_EQ(f->ops()[0]->num_results(), 1);
  EXPECT_EQ(f->ops()[0]->region(0).ops().size(), 1u);
}

}  // namespace
}  // namespace strata::transform
