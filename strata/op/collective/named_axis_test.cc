// What batching makes of operations over named axes, beside one process for each place; their
// derivatives beside inner products; samples.
#include "strata/op/collective/named_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"
#include "strata/op/rules.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::build;
using ::testing::HasSubstr;
using testing::run;
using testing::same;
using testing::to_text;

const Type kPlace = Type::scalar(DType::i32);

// Of an axis of one place, which needs no batching: the laws of all operations run on these.
const bool samples = [] {
  for (const char* name : {"strata.axis_reduce", "strata.axis_gather", "strata.axis_exchange",
                           "strata.axis_permute", "strata.axis_vary"})
    add_samples(name, [name = std::string(name)](std::vector<Sample>& out) {
      auto sample = [&](const char* what, Literal x, const char* combiner = "add") {
        Attrs attrs{{"axis", std::string("i")}, {"axis_size", std::int64_t{1}}};
        if (name == "strata.axis_reduce") attrs.set("combiner", std::string(combiner));
        if (name == "strata.axis_permute")
          attrs.set("source_target_pairs", Literal::of<std::int64_t>({1, 2}, {0, 0}));
        out.push_back({.what = what,
                       .operands = {std::move(x), Literal::scalar(std::int32_t{0})},
                       .attrs = attrs,
                       .smooth = std::string(combiner) == "add",
                       .batchable = false});
      };
      sample("a matrix", random_literal(Type(DType::f64, {1, 3}), 1));
      sample("integers", random_literal(Type(DType::i32, {1, 2, 2}), 2, -9, 9),
             name == "strata.axis_reduce" ? "min" : "add");
      sample("half floats", random_literal(Type(DType::bf16, {1, 4}), 3),
             name == "strata.axis_reduce" ? "max" : "add");
      sample("empty", Literal(Type(DType::f32, {1, 0})));
    });
  add_samples("strata.axis_permute", [](std::vector<Sample>& out) {
    out.push_back(
        {.what = "nobody's target",
         .operands = {random_literal(Type(DType::f64, {3}), 4), Literal::scalar(std::int32_t{0})},
         .attrs = {{"axis", std::string("i")},
                   {"axis_size", std::int64_t{1}},
                   {"source_target_pairs", Literal(Type(DType::i64, {0, 2}))}},
         .batchable = false});
  });
  return true;
}();

/// A function of x within an axis.
struct Case {
  const char* what;
  Value* (*f)(Builder&, Value* x, const NamedAxis& axis);
  bool linear;
};
const Case kCases[] = {
    {"sum",
     [](Builder& b, Value* x, const NamedAxis& axis) {
       return axis_reduce(b, x, axis, Combiner::add);
     },
     true},
    {"min",
     [](Builder& b, Value* x, const NamedAxis& axis) {
       return axis_reduce(b, x, axis, Combiner::min);
     },
     false},
    {"max",
     [](Builder& b, Value* x, const NamedAxis& axis) {
       return axis_reduce(b, x, axis, Combiner::max);
     },
     false},
    {"gather", [](Builder& b, Value* x, const NamedAxis& axis) { return axis_gather(b, x, axis); },
     true},
    {"exchange",
     [](Builder& b, Value* x, const NamedAxis& axis) { return axis_exchange(b, x, axis); }, true},
    {"rotation",
     [](Builder& b, Value* x, const NamedAxis& axis) {
       return axis_permute(b, x, axis, {{0, 1}, {1, 2}, {2, 0}});
     },
     true},
    {"one to one",
     [](Builder& b, Value* x, const NamedAxis& axis) { return axis_permute(b, x, axis, {{0, 2}}); },
     true},
    {"no pairs",
     [](Builder& b, Value* x, const NamedAxis& axis) { return axis_permute(b, x, axis, {}); },
     true},
};

constexpr std::int64_t kPlaces = 3;

std::unique_ptr<Block> function_of(const Case& c, const Type& x) {
  return build({x, kPlace}, [&](Builder& b, const Values& v) {
    return Values{c.f(b, v[0], {"i", kPlaces, v[1]})};
  });
}
Literal row(const Literal& x, std::int64_t k) {
  Literal out(without_leading(x.type()));
  if (out.bytes() > 0)
    std::memcpy(out.mutable_data(), x.data() + static_cast<std::size_t>(k) * out.bytes(),
                out.bytes());
  return out;
}
Literal stacked(const std::vector<Literal>& rows) {
  Literal out(with_leading(rows[0].type(), static_cast<std::int64_t>(rows.size())));
  for (std::size_t k = 0; k < rows.size() && rows[0].bytes() > 0; ++k)
    std::memcpy(out.mutable_data() + k * rows[0].bytes(), rows[k].data(), rows[0].bytes());
  return out;
}
Literal places() { return Literal::of<std::int32_t>({kPlaces}, {0, 1, 2}); }

/// What each place gets, from a process for each; `x` has a row for each, or is the same for all.
Literal by_processes(const Block& f, const Literal& x, bool batched) {
  std::vector<Literal> out(kPlaces);
  World world;
  run_grid(world, kPlaces, 1, [&](Process& p) {
    const std::int64_t at = p.id().replica;
    out[static_cast<std::size_t>(at)] = evaluate(
        f, Literals{batched ? row(x, at) : x, Literal::scalar(static_cast<std::int32_t>(at))},
        p)[0];
  });
  return stacked(out);
}
/// The function of all places as one program.
Values over_axis(Builder& b, const Block& f, Value* x, bool batched, Value* all_places) {
  const Batched r = batch(b, f, Values{x, all_places}, {batched, true}, kPlaces);
  return {batched_operand(b, r.results[0], r.batched[0], kPlaces)};
}
Literal by_batching(const Block& f, const Literal& x, bool batched) {
  return run({x, places()},
             [&](Builder& b, const Values& v) { return over_axis(b, f, v[0], batched, v[1]); })[0];
}

TEST(NamedAxis, a_batch_is_a_process_for_each_place) {
  for (const Case& c : kCases)
    for (DType t : {DType::f32, DType::i32, DType::bf16, DType::ui8})
      for (std::int64_t width : {0, 2})
        for (bool batched : {true, false}) {
          const Type type(t, {kPlaces, width});
          const Literal x = random_literal(batched ? with_leading(type, kPlaces) : type, 5, 0, 9);
          const auto f = function_of(c, type);
          const Literal got = by_batching(*f, x, batched), want = by_processes(*f, x, batched);
          EXPECT_TRUE(same(got, want)) << c.what << (batched ? " of each: " : " of all: ")
                                       << to_text(got) << " instead of " << to_text(want);
        }
}

TEST(NamedAxis, another_batch_passes_by) {
  constexpr std::int64_t kOthers = 2;
  for (const Case& c : kCases) {
    const Type type(DType::f32, {kPlaces, 2});
    const Literal x = random_literal(Type(DType::f32, {kOthers, kPlaces, kPlaces, 2}), 6);
    const auto f = function_of(c, type);
    auto others = build({with_leading(type, kOthers), kPlace}, [&](Builder& b, const Values& v) {
      return batch(b, *f, v, {true, false}, kOthers).results;
    });
    const Literal got = run({x, places()}, [&](Builder& b, const Values& v) {
      return Values{
          move_dim(b, over_axis(b, *others, move_dim(b, v[0], 1, 0), true, v[1])[0], 1, 0)};
    })[0];
    std::vector<Literal> want;
    for (std::int64_t k = 0; k < kOthers; ++k) want.push_back(by_batching(*f, row(x, k), true));
    EXPECT_TRUE(same(got, stacked(want))) << c.what << ": " << to_text(got);
  }
}

double inner(const Literal& x, const Literal& y) {
  double out = 0;
  for (std::int64_t i = 0; i < x.count(); ++i) out += x.number(i) * y.number(i);
  return out;
}

/// <y, f(x)> = <transpose of f (y), x> over all places together, whichever of batching and
/// transposition comes first.
TEST(NamedAxis, transposes_have_the_same_inner_product) {
  for (const Case& c : kCases) {
    if (!c.linear) continue;
    const Type type(DType::f64, {kPlaces, 2});
    const auto f = function_of(c, type);
    const Type result = f->results[0]->type();
    auto transposed = build({result, kPlace}, [&](Builder& b, const Values& v) {
      return Values{transpose(b, *f, Values{nullptr, v[1]}, {true, false}, Values{v[0]})[0]};
    });
    const Literal x = random_literal(with_leading(type, kPlaces), 7),
                  y = random_literal(with_leading(result, kPlaces), 8);
    const Literal inside = by_batching(*transposed, y, true);
    const Literal outside = run({y, places()}, [&](Builder& b, const Values& v) {
      auto whole = build({x.type(), places().type()}, [&](Builder& wb, const Values& w) {
        return over_axis(wb, *f, w[0], true, w[1]);
      });
      Value* back = transpose(b, *whole, Values{nullptr, v[1]}, {true, false}, Values{v[0]})[0];
      return Values{or_zeros(b, back, constant(b, x))};
    })[0];
    EXPECT_NEAR(inner(y, by_batching(*f, x, true)), inner(inside, x), 1e-12) << c.what;
    for (std::int64_t i = 0; i < x.count(); ++i)
      EXPECT_NEAR(inside.number(i), outside.number(i), 1e-12) << c.what;
  }
}

TEST(NamedAxis, tangents_go_the_way_of_values) {
  for (const Case& c : kCases) {
    const Type type(DType::f64, {kPlaces, 2});
    const auto f = function_of(c, type);
    auto derivative = [&] {
      return build({type, kPlace}, [&](Builder& b, const Values& v) {
        return jvp(b, *f, v, Values{v[0], nullptr}).tangents;
      });
    };
    const Literal x = random_literal(with_leading(type, kPlaces), 9);
    if (c.linear)
      EXPECT_TRUE(same(by_batching(*derivative(), x, true), by_batching(*f, x, true))) << c.what;
    else
      EXPECT_THROW(derivative(), Error) << c.what;
  }
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(NamedAxis, an_axis_is_as_long_as_its_batch_and_its_grid) {
  const auto f = function_of(kCases[0], Type(DType::f32, {2}));
  EXPECT_THAT(error_of([&] { batch(*f, {true, true}, 4); }),
              HasSubstr("axis i has 3 places, not 4"));
  EXPECT_THAT(error_of([&] {
                evaluate(
                    *f, Literals{Literal(Type(DType::f32, {2})), Literal::scalar(std::int32_t{0})});
              }),
              HasSubstr("axis i has 3 places, but there are 1 processes"));
}

}  // namespace
}  // namespace strata::op
