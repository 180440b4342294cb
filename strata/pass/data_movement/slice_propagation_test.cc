// Slices of stacks that were computed with: which rise, and the same elements.
#include "strata/pass/data_movement/slice_propagation.h"

#include <gtest/gtest.h>

#include <functional>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/testing/run.h"
#include "strata/pass/simplify.h"

namespace strata::pass {
namespace {

using op::Builder;
using op::Value;
using op::Values;

Value* rows(Builder& b, Value* x, std::int64_t from, std::int64_t to) {
  return op::slice(b, x, {from, 0}, {to, x->shape()[1]});
}

struct Case {
  const char* name;
  std::function<Values(Builder&, const Values&)> make;  // of two arrays of 3 x 4 and one of 1 x 4
  bool rises;
};

const Case kCases[] = {
    {"a step",
     [](Builder& b, const Values& v) {
       Value* stacked = op::concatenate(b, {v[2], v[2], v[2]}, 0);
       Value* state = op::add(b, v[0], op::mul(b, stacked, op::full_like(b, stacked, 0.5)));
       return Values{op::mul(b, rows(b, state, 0, 1), rows(b, state, 1, 2)), rows(b, state, 2, 3)};
     },
     true},
    {"parts of pieces, others beside",
     [](Builder& b, const Values& v) {
       Value* joined = op::concatenate(b, {v[0], v[1]}, 0);
       Value* state = op::add(b, joined, op::concatenate(b, {v[1], v[0]}, 0));
       return Values{rows(b, state, 0, 2), rows(b, state, 4, 6)};
     },
     true},
    {"broadcast along the parts",
     [](Builder& b, const Values& v) {
       Value* joined = op::concatenate(b, {v[0], v[1]}, 0);
       Value* state = op::add(b, joined, op::broadcast_in_dim(b, v[2], joined->shape(), {0, 1}));
       return Values{rows(b, state, 0, 3), rows(b, state, 3, 6), rows(b, state, 3, 6)};
     },
     true},
    {"a part of two pieces",
     [](Builder& b, const Values& v) {
       Value* state = op::neg(b, op::concatenate(b, {v[0], v[1]}, 0));
       return Values{rows(b, state, 0, 2), rows(b, state, 2, 6)};
     },
     false},
    {"parts over each other",
     [](Builder& b, const Values& v) {
       Value* state = op::neg(b, op::concatenate(b, {v[0], v[1]}, 0));
       return Values{rows(b, state, 0, 2), rows(b, state, 1, 3)};
     },
     false},
    {"returned whole, too",
     [](Builder& b, const Values& v) {
       Value* state = op::neg(b, op::concatenate(b, {v[0], v[1]}, 0));
       return Values{rows(b, state, 0, 3), rows(b, state, 3, 6), state};
     },
     false},
    {"along another dimension",
     [](Builder& b, const Values& v) {
       Value* state = op::neg(b, op::concatenate(b, {v[0], v[1]}, 0));
       return Values{op::slice(b, state, {0, 0}, {6, 2}), op::slice(b, state, {0, 2}, {6, 4})};
     },
     false},
    {"nothing put together",
     [](Builder& b, const Values& v) {
       Value* state = op::add(b, v[0], v[1]);
       return Values{rows(b, state, 0, 1), rows(b, state, 1, 3)};
     },
     false},
};

TEST(RisenSlices, AreTheSameElements) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const Type large(DType::f32, {3, 4}), small(DType::f32, {1, 4});
    auto f = op::testing::build({large, large, small}, c.make);
    std::vector<Literal> arguments;
    for (const Type& type : {large, large, small}) {
      arguments.emplace_back(type);
      for (std::int64_t i = 0; i < type.shape().count(); ++i)
        arguments.back().set_number(
            i, static_cast<double>(i) * 1.25 - static_cast<double>(arguments.size()));
    }
    const std::vector<Literal> before = op::evaluate(*f, arguments);
    EXPECT_EQ(propagate_slices(*f), c.rises);
    simplify(*f);
    bool stacks = false;
    for (const auto& op : f->ops()) stacks |= op->name() == "stablehlo.concatenate";
    if (c.rises) EXPECT_FALSE(stacks);
    const std::vector<Literal> after = op::evaluate(*f, arguments);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(after[i].same_bits(before[i])) << i;
  }
}

}  // namespace
}  // namespace strata::pass
