// What simplify rewrites, and what it must leave alone because bits would change.
#include "strata/pass/simplify.h"

#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/reduce/combiner.h"
#include "strata/op/samples.h"
#include "strata/op/sort/sort.h"
#include "strata/op/sort/sort_key.h"
#include "strata/op/testing/run.h"

namespace strata::pass {
namespace {

using op::Builder;
using op::Value;
using op::Values;
using op::testing::Program;

const Type kVector(DType::f32, {3});
const Type kWhole(DType::i32, {3});

/// How many operations stay.
std::size_t left(const Type& type, const Program& program) {
  auto f = op::testing::build({type, type}, program);
  simplify(*f);
  return f->ops().size();
}

/// Whether the program is its first argument.
bool becomes_argument(const Type& type, const Program& program) {
  auto f = op::testing::build({type, type}, program);
  simplify(*f);
  return f->ops().empty() && f->results[0] == f->argument(0);
}

TEST(Simplify, neutral_elements_go) {
  EXPECT_TRUE(becomes_argument(kVector, [](Builder& b, const Values& v) {
    return Values{op::mul(b, v[0], op::full_like(b, v[0], 1))};
  }));
  EXPECT_TRUE(becomes_argument(kVector, [](Builder& b, const Values& v) {
    return Values{op::div(b, v[0], op::full_like(b, v[0], 1))};
  }));
  EXPECT_TRUE(becomes_argument(kVector, [](Builder& b, const Values& v) {
    return Values{op::sub(b, v[0], op::full_like(b, v[0], 0))};
  }));
  EXPECT_TRUE(becomes_argument(kVector, [](Builder& b, const Values& v) {
    return Values{op::add(b, op::full_like(b, v[0], -0.0), v[0])};
  }));
  EXPECT_TRUE(becomes_argument(kWhole, [](Builder& b, const Values& v) {
    return Values{op::add(b, v[0], op::full_like(b, v[0], 0))};
  }));
}

TEST(Simplify, what_would_change_bits_stays) {
  EXPECT_EQ(left(kVector,
                 [](Builder& b, const Values& v) {
                   return Values{op::add(b, v[0], op::full_like(b, v[0], 0))};
                 }),
            3u)
      << "-0 + 0 is 0";
  EXPECT_EQ(left(kVector,
                 [](Builder& b, const Values& v) {
                   return Values{op::mul(b, v[0], op::full_like(b, v[0], 0))};
                 }),
            3u)
      << "0 * -1 is -0";
  EXPECT_EQ(left(kVector,
                 [](Builder& b, const Values& v) {
                   return Values{op::sub(b, v[0], op::full_like(b, v[0], -0.0))};
                 }),
            3u);
  EXPECT_EQ(left(kVector,
                 [](Builder& b, const Values& v) {
                   return Values{op::convert(b, op::convert(b, v[0], DType::bf16), DType::f32)};
                 }),
            2u)
      << "bf16 rounds";
}

TEST(Simplify, wide_detours_go) {
  EXPECT_TRUE(becomes_argument(Type(DType::bf16, {3}), [](Builder& b, const Values& v) {
    return Values{op::convert(b, op::convert(b, v[0], DType::f32), DType::bf16)};
  }));
}

TEST(Simplify, moves_compose) {
  Type matrix(DType::f32, {2, 3});
  EXPECT_TRUE(becomes_argument(matrix, [](Builder& b, const Values& v) {
    return Values{op::transpose(b, op::transpose(b, v[0], {1, 0}), {1, 0})};
  }));
  EXPECT_TRUE(becomes_argument(matrix, [](Builder& b, const Values& v) {
    return Values{op::reshape(b, op::reshape(b, v[0], {6}), {2, 3})};
  }));
  EXPECT_TRUE(becomes_argument(matrix, [](Builder& b, const Values& v) {
    return Values{op::reshape(b, op::broadcast_in_dim(b, v[0], {1, 2, 1, 3}, {1, 3}), {2, 3})};
  }));
  for (const auto& [wide, dims] : {std::pair{Shape{3, 2}, ir::Ints{1, 0}},
                                   {Shape{2, 2, 3}, ir::Ints{1, 2}}})  // another order; repeated
    EXPECT_EQ(left(matrix,
                   [&](Builder& b, const Values& v) {
                     return Values{
                         op::reshape(b, op::broadcast_in_dim(b, v[0], wide, dims), {wide.count()})};
                   }),
              2u);
  EXPECT_EQ(left(kVector,
                 [](Builder& b, const Values& v) {
                   return Values{op::broadcast_in_dim(b, op::broadcast_in_dim(b, v[0], {2, 3}, {1}),
                                                      {4, 2, 3}, {1, 2})};
                 }),
            1u);
}

/// Between two reshapes, dimensions that stay beside each other are one, and those of one element
/// none.
TEST(Simplify, transpositions_join_dimensions) {
  struct Case {
    Shape apart;
    ir::Ints order;
    Shape joined;  // what is transposed then; no dimensions: nothing is
  };
  for (const Case& c : {Case{{2, 3, 4, 5, 2, 3}, {0, 1, 3, 2, 4, 5}, {6, 4, 5, 6}},
                        {{2, 3, 4}, {2, 0, 1}, {6, 4}},
                        {{1, 4, 5, 1, 6}, {0, 2, 3, 1, 4}, {4, 5, 6}},
                        {{4, 1, 5}, {1, 0, 2}, {}},
                        {{3, 4, 5}, {2, 1, 0}, {3, 4, 5}}}) {
    SCOPED_TRACE(c.apart.to_string());
    const std::int64_t count = c.apart.count();
    auto f = op::testing::build({Type(DType::i32, {count})}, [&](Builder& b, const Values& v) {
      return Values{
          op::reshape(b, op::transpose(b, op::reshape(b, v[0], c.apart), c.order), {count})};
    });
    Literal numbers(Type(DType::i32, {count}));
    for (std::int64_t i = 0; i < count; ++i) numbers.set_integer(i, i);
    const std::vector<Literal> arguments{numbers}, before = op::evaluate(*f, arguments);
    simplify(*f);
    Shape joined;
    for (const auto& op : f->ops())
      if (op->name() == "stablehlo.transpose") joined = op->operand(0)->shape();
    EXPECT_EQ(joined, c.joined);
    EXPECT_TRUE(op::evaluate(*f, arguments)[0].same_bits(before[0]));
  }
}

/// Where the order of the sums stays what it is, or is nobody's concern.
TEST(Simplify, reductions_pass_transpositions) {
  struct Case {
    Shape array;
    ir::Ints order, over;
    op::Combiner combiner;
    bool passes;  // then no more than what is left is transposed
  };
  using op::Combiner;
  for (const Case& c : {Case{{5, 40, 9, 6}, {0, 3, 2, 1}, {0, 2}, Combiner::add, true},
                        {{5, 40, 9, 6}, {3, 1, 2, 0}, {1, 2}, Combiner::mul, true},
                        {{5, 40, 9}, {1, 0, 2}, {0}, Combiner::add, true},
                        {{5, 40, 9, 6}, {2, 3, 0, 1}, {0, 2}, Combiner::add, false},
                        {{50, 40}, {1, 0}, {0}, Combiner::add, false},
                        {{50, 40}, {1, 0}, {1}, Combiner::add, false},
                        {{50, 40}, {1, 0}, {0, 1}, Combiner::add, false},
                        {{50, 40}, {1, 0}, {0, 1}, Combiner::max, true},
                        {{50, 40}, {1, 0}, {1}, Combiner::max, false}}) {
    SCOPED_TRACE(c.array.to_string() + " over " + std::to_string(c.over[0]));
    const Type type(DType::f32, c.array);
    auto f = op::testing::build({type}, [&](Builder& b, const Values& v) {
      return Values{op::reduce(b, op::transpose(b, v[0], c.order), c.over, c.combiner)};
    });
    const std::vector<Literal> arguments{op::random_literal(type, 3)},
        before = op::evaluate(*f, arguments);
    simplify(*f);
    bool whole = false;
    for (const auto& op : f->ops())
      whole |=
          op->name() == "stablehlo.transpose" && op->operand(0)->shape().count() == c.array.count();
    EXPECT_EQ(!whole, c.passes);
    EXPECT_TRUE(op::evaluate(*f, arguments)[0].same_bits(before[0]));
  }
}

TEST(Simplify, equal_operations_are_merged_and_unused_ones_dropped) {
  EXPECT_EQ(left(kVector,
                 [](Builder& b, const Values& v) {
                   op::exp(b, v[1]);
                   return Values{op::add(b, op::sin(b, v[0]), op::sin(b, v[0]))};
                 }),
            2u);
}

TEST(Simplify, reductions_of_one_element_are_maps) {
  auto f = op::testing::build({Type(DType::f32, {4, 1})}, [](Builder& b, const Values& v) {
    return Values{op::exp(b, op::reduce_max(b, v[0], {1})), op::reduce_sum(b, v[0], {0})};
  });
  simplify(*f);
  int reductions = 0;
  for (const auto& op : f->ops()) reductions += op->name() == "stablehlo.reduce";
  EXPECT_EQ(reductions, 1);
}

TEST(Simplify, constant_choices_are_made) {
  EXPECT_TRUE(becomes_argument(kVector, [](Builder& b, const Values& v) {
    std::vector<op::BlockPtr> branches;
    branches.push_back(op::testing::build(
        {}, [&](Builder& cb, const Values&) { return Values{op::exp(cb, v[1])}; }));
    branches.push_back(
        op::testing::build({}, [&](Builder&, const Values&) { return Values{v[0]}; }));
    return op::case_(b, op::scalar(b, DType::i32, 1), std::move(branches));
  }));
  EXPECT_TRUE(becomes_argument(kVector, [](Builder& b, const Values& v) {
    return Values{op::select(b, op::compare(b, v[0], v[0], "EQ"), v[0], v[0])};
  }));
  EXPECT_TRUE(becomes_argument(Type(DType::i1, {3}), [](Builder& b, const Values& v) {
    return Values{op::select(b, v[0], op::constant(b, Type(DType::i1, {3}), 1),
                             op::constant(b, Type(DType::i1, {3}), 0))};
  }));
}

// What a slice reads of joined arrays does not depend on them; joined again they are joined once.
TEST(Simplify, slices_of_joined_arrays) {
  const Type rows(DType::f32, {3, 4});
  EXPECT_TRUE(becomes_argument(rows, [](Builder& b, const Values& v) {
    return Values{op::slice(b, op::concatenate(b, {v[1], v[0]}, 0), {3, 0}, {6, 4})};
  }));
  EXPECT_TRUE(becomes_argument(rows, [](Builder& b, const Values& v) {
    return Values{op::slice(b, op::concatenate(b, {v[1], op::concatenate(b, {v[0], v[1]}, 0)}, 0),
                            {3, 0}, {6, 4})};
  }));
  auto few_columns = [](Builder& b, const Values& v) {
    return Values{op::slice(b, op::concatenate(b, {v[1], v[0]}, 0), {0, 1}, {6, 2})};
  };
  auto f = op::testing::build({rows, rows}, few_columns);
  simplify(*f);
  EXPECT_EQ(f->ops().back()->name(), "stablehlo.concatenate");
  auto most = [](Builder& b, const Values& v) {
    return Values{op::slice(b, op::concatenate(b, {v[1], v[0]}, 0), {1, 0}, {6, 4})};
  };
  EXPECT_EQ(left(rows, most), 2u) << "most of it is read where it is";
}

// jnp.pad(mode="edge") joins a slice at each end, of no elements where nothing is padded: what the
// slice is of need not be computed.
TEST(Simplify, nothing_is_computed_for_arrays_without_elements) {
  const Type rows(DType::f32, {3, 4});
  EXPECT_TRUE(becomes_argument(rows, [](Builder& b, const Values& v) {
    Value* none = op::slice(b, op::exp(b, v[0]), {1, 0}, {1, 4});
    return Values{op::concatenate(b, {none, v[0], none}, 0)};
  }));
  EXPECT_EQ(left(rows,
                 [](Builder& b, const Values& v) {
                   Value* none = op::slice(b, v[0], {1, 0}, {1, 4});
                   return Values{op::concatenate(b, {v[0], none, v[1]}, 0)};
                 }),
            1u);
  auto f = op::testing::build({rows}, [](Builder& b, const Values& v) {
    return Values{op::tanh(b, op::slice(b, op::exp(b, v[0]), {1, 0}, {1, 4}))};
  });
  simplify(*f);
  ASSERT_EQ(f->ops().size(), 1u);
  EXPECT_EQ(f->ops()[0]->name(), "stablehlo.constant");
  EXPECT_EQ(f->results[0]->type(), Type(DType::f32, {0, 4}));
}

TEST(Simplify, sorted_lines_of_one_element_are_what_they_were) {
  auto sorted = [](std::int64_t dim) {
    return [dim](Builder& b, const Values& v) {
      return op::sort(b, {v[0], v[1]}, dim,
                      op::comparator_of({DType::f32, DType::f32}, "total", false));
    };
  };
  const Type columns(DType::f32, {5, 1});
  auto f = op::testing::build({columns, columns}, sorted(1));
  simplify(*f);
  EXPECT_TRUE(f->ops().empty());
  EXPECT_EQ(f->results, f->argument_values());
  f = op::testing::build({columns, columns}, sorted(0));
  simplify(*f);
  EXPECT_FALSE(f->ops().empty());
}

TEST(Simplify, works_inside_regions) {
  auto f = op::testing::build({kVector}, [](Builder& b, const Values& v) {
    auto body = op::testing::build({kVector}, [](Builder& sb, const Values& a) {
      return Values{op::mul(sb, op::neg(sb, op::neg(sb, a[0])), op::full_like(sb, a[0], 1))};
    });
    return op::scan(b, std::move(body), {}, v, {}, {.length = 3});
  });
  simplify(*f);
  ASSERT_EQ(f->ops().size(), 1u);
  EXPECT_TRUE(f->ops()[0]->region(0).ops().empty());
}

TEST(Simplify, names_go) {
  EXPECT_TRUE(becomes_argument(
      kVector, [](Builder& b, const Values& v) { return Values{op::name(b, v[0], "x")}; }));
}

}  // namespace
}  // namespace strata::pass
