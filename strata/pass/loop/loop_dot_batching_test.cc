// Products of all iterations at once: which leave a scan, and the same bits whatever leaves.
#include "strata/pass/loop/loop_dot_batching.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/testing/run.h"
#include "strata/pass/loop/accumulating_scan.h"

namespace strata::pass {
namespace {

using op::Builder;
using op::Value;
using op::Values;

constexpr std::int64_t kTurns = 9, kSize = 8;  // all arrays are squares

/// One turn: what it gives of a constant, the carries and the slices. The carries' next values
/// first.
struct Turn {
  std::size_t carries, slices;
  std::function<Values(Builder&, Value* constant, const Values& carries, const Values& slices)>
      body;
};

std::unique_ptr<op::Block> program(const Turn& turn, bool reverse, std::int64_t turns = kTurns) {
  auto f = std::make_unique<op::Block>();
  const Type square(DType::f32, {kSize, kSize});
  auto body = std::make_unique<op::Block>();
  Values in, of_body;
  for (std::size_t i = 0; i < 1 + turn.carries + turn.slices; ++i) {
    of_body.push_back(body->add_argument(square));
    in.push_back(
        f->add_argument(i <= turn.carries ? square : Type(DType::f32, {turns, kSize, kSize})));
  }
  auto part = [&](const Values& all, std::size_t from, std::size_t n) {
    return Values(all.begin() + static_cast<std::ptrdiff_t>(from),
                  all.begin() + static_cast<std::ptrdiff_t>(from + n));
  };
  Builder inside(*body), b(*f);
  body->results = turn.body(inside, of_body[0], part(of_body, 1, turn.carries),
                            part(of_body, 1 + turn.carries, turn.slices));
  f->results =
      op::scan(b, std::move(body), part(in, 0, 1), part(in, 1, turn.carries),
               part(in, 1 + turn.carries, turn.slices), {.length = turns, .reverse = reverse});
  return f;
}

Value* dot(Builder& b, Value* x, Value* y, std::int64_t of_x = 1, std::int64_t of_y = 0) {
  return op::dot_general(b, x, y, {{}, {}, {of_x}, {of_y}});
}

std::vector<Literal> arguments_of(const op::Block& f, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<Literal> out;
  for (const auto& a : f.arguments()) {
    out.emplace_back(a->type());
    for (std::int64_t i = 0; i < out.back().count(); ++i)
      out.back().set_number(i, static_cast<double>(generator()) / 4294967296.0 - 0.5);
  }
  return out;
}

/// Whether anything changed; the results stay.
bool changes(op::Block& f, unsigned seed = 1) {
  const std::vector<Literal> given = arguments_of(f, seed), before = op::evaluate(f, given);
  const bool changed = batch_dots_across_iterations(f);
  EXPECT_TRUE(ir::verify(f).ok()) << ir::verify(f).message();
  const std::vector<Literal> after = op::evaluate(f, given);
  EXPECT_EQ(after.size(), before.size());
  for (std::size_t r = 0; r < before.size(); ++r)
    EXPECT_TRUE(op::testing::same(after[r], before[r])) << "result " << r;
  return changed;
}

/// Products in scans that do more than add them up, scans that do no more, and products outside.
struct Counts {
  int inside = 0, sums = 0, outside = 0;
  bool operator==(const Counts&) const = default;
};
Counts count(const op::Block& f) {
  Counts out;
  for (const auto& op : f.ops()) {
    out.outside += op::is_contraction(*op);
    if (AccumulatingScan::of(*op)) {
      ++out.sums;
      continue;
    }
    for (const auto& region : op->regions)
      ir::walk(*region, [&](const ir::Op& inner) { out.inside += op::is_contraction(inner); });
  }
  return out;
}
void PrintTo(const Counts& c, std::ostream* out) {
  *out << c.inside << " inside, " << c.sums << " sums, " << c.outside << " outside";
}

struct Case {
  const char* name;
  Turn turn;
  Counts expected;
};
const Case kCases[] = {
    {"a recurrent network",
     {1, 1,
      [](Builder& b, Value* w, const Values& h, const Values& x) {
        Value* next = op::tanh(b, op::add(b, dot(b, h[0], w), dot(b, x[0], w)));
        return Values{next, next};
      }},
     {1, 0, 1}},
    {"its gradient: weights and inputs",
     {2, 2,
      [](Builder& b, Value* w, const Values& c, const Values& x) {
        Value* d = op::mul(b, op::add(b, c[0], x[0]), x[1]);
        return Values{dot(b, d, w, 1, 1), op::add(b, c[1], dot(b, x[1], d, 0, 0)), dot(b, d, w)};
      }},
     {1, 1, 1}},
    {"a sum with the carry last",
     {1, 2,
      [](Builder& b, Value*, const Values& c, const Values& x) {
        return Values{op::add(b, dot(b, x[0], x[1]), c[0])};
      }},
     {0, 1, 0}},
    {"a product with itself, transposed",
     {1, 1,
      [](Builder& b, Value*, const Values& c, const Values& x) {
        return Values{op::add(b, c[0], dot(b, op::transpose(b, x[0], {1, 0}), x[0]))};
      }},
     {0, 1, 0}},
    {"the carry that was",
     {2, 1,
      [](Builder& b, Value* w, const Values& c, const Values& x) {
        return Values{op::add(b, dot(b, c[0], w), x[0]),
                      op::add(b, c[1], dot(b, c[0], x[0], 0, 0))};
      }},
     {1, 1, 0}},
    {"a product of two stacks is stacked",
     {1, 2,
      [](Builder& b, Value* w, const Values& c, const Values& x) {
        return Values{dot(b, c[0], w), dot(b, x[0], op::add(b, x[1], c[0]))};
      }},
     {2, 0, 0}},
    {"a sum that is asked for",
     {2, 2,
      [](Builder& b, Value*, const Values& c, const Values& x) {
        return Values{op::mul(b, c[0], c[1]), op::add(b, c[1], dot(b, c[0], x[0], 0, 0)), x[1]};
      }},
     {1, 0, 0}},
    {"a sum that is stacked",
     {2, 1,
      [](Builder& b, Value*, const Values& c, const Values& x) {
        Value* sum = op::add(b, c[1], dot(b, c[0], x[0], 0, 0));
        return Values{op::neg(b, c[0]), sum, sum};
      }},
     {1, 0, 0}},
    {"a product that is added and stacked",
     {2, 1,
      [](Builder& b, Value*, const Values& c, const Values& x) {
        Value* product = dot(b, c[0], x[0], 0, 0);
        return Values{op::neg(b, c[0]), op::add(b, c[1], product), product};
      }},
     {1, 0, 0}},
};

TEST(AllTurns, LeaveTheScan) {
  for (const Case& c : kCases)
    for (const bool reverse : {false, true}) {
      SCOPED_TRACE(c.name);
      auto f = program(c.turn, reverse);
      const Counts before = count(*f);
      EXPECT_EQ(changes(*f), !(c.expected == before));
      EXPECT_EQ(count(*f), c.expected);
    }
}

TEST(AllTurns, FewTurnsAndLargeProductsStay) {
  auto f = program(kCases[0].turn, false, 4);
  EXPECT_FALSE(changes(*f));
  op::Block large;
  Builder b(large);
  auto body = std::make_unique<op::Block>();
  Value *w = body->add_argument(Type(DType::f32, {512, 512})),
        *h = body->add_argument(Type(DType::f32, {64, 512})),
        *x = body->add_argument(Type(DType::f32, {64, 512}));
  Builder in(*body);
  body->results = {op::add(in, h, dot(in, x, w))};
  const Values values{large.add_argument(w->type()), large.add_argument(h->type()),
                      large.add_argument(Type(DType::f32, {9, 64, 512}))};
  large.results =
      op::scan(b, std::move(body), {values[0]}, {values[1]}, {values[2]}, {.length = 9});
  EXPECT_FALSE(batch_dots_across_iterations(large));
}

// Turns of random products, sums and maps of what there is: whatever leaves the scan, no bit
// changes.
TEST(AllTurns, RandomTurnsKeepTheirBits) {
  int changed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    const std::size_t carries = 1 + below(3), slices = 1 + below(2), stacks = below(3);
    Turn turn{carries, slices, [&](Builder& b, Value* w, const Values& c, const Values& x) {
                Values all{w}, results;
                for (const Values* some : {&c, &x})
                  all.insert(all.end(), some->begin(), some->end());
                auto any = [&] { return all[below(all.size())]; };
                auto product = [&] {
                  return dot(b, any(), any(), static_cast<std::int64_t>(below(2)),
                             static_cast<std::int64_t>(below(2)));
                };
                for (std::size_t i = 0, n = 1 + below(5); i < n; ++i) {
                  const std::size_t kind = below(4);
                  all.push_back(kind == 0   ? op::tanh(b, any())
                                : kind == 1 ? op::add(b, any(), any())
                                : kind == 2 ? op::mul(b, any(), any())
                                            : product());
                }
                for (Value* carry : c)
                  results.push_back(below(2) ? op::add(b, carry, product()) : op::tanh(b, any()));
                for (std::size_t i = 0; i < stacks; ++i)
                  results.push_back(below(2) ? product() : any());
                return results;
              }};
    changed += changes(*program(turn, below(2) == 0), seed);
  }
  EXPECT_GT(changed, 60);
}

}  // namespace
}  // namespace strata::pass
