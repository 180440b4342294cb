// Loops that do two iterations at a time: what they were, bit for bit, and nothing copied.
#include "strata/compile/plan/double_buffer.h"

#include <gmock/gmock.h>

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using ir::Values;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kLength = 300;  // more than a kilobyte

/// A scan's body: what it makes of its arguments.
op::BlockPtr body(const std::vector<Type>& arguments,
                  const std::function<Values(Builder&, const Values&)>& f) {
  auto out = std::make_unique<Block>();
  Values in;
  for (const Type& t : arguments) in.push_back(out->add_argument(t));
  Builder b(*out);
  out->results = f(b, in);
  return out;
}

struct Program {
  const char* name;
  std::size_t carries;
  bool slices;  // one array of slices in
  std::function<Values(Builder&, const Values&)> body;
};

/// Next values that need all of the old ones: made beside them.
Value* turned(Builder& b, Value* x, Value* y) { return op::sub(b, y, op::reverse(b, x, {0})); }

std::vector<Program> programs() {
  return {
      {"one", 1, false, [](Builder& b, const Values& v) { return Values{turned(b, v[0], v[1])}; }},
      {"two that change places", 2, false,
       [](Builder& b, const Values& v) {
         return Values{v[1], turned(b, v[0], turned(b, v[1], v[2]))};
       }},
      {"two apart", 2, false,
       [](Builder& b, const Values& v) {
         return Values{turned(b, v[0], v[2]), turned(b, v[1], v[0])};
       }},
      {"slices in and out", 1, true,
       [](Builder& b, const Values& v) { return Values{turned(b, v[1], v[2]), v[1]}; }},
      {"what is made goes out", 1, true,
       [](Builder& b, const Values& v) {
         Value* next = turned(b, v[1], op::add(b, v[0], v[2]));
         return Values{next, next};
       }},
  };
}

/// The program with its one constant array, `length` turns.
void build(Block& block, const Program& p, std::int64_t length, bool reverse) {
  const Type array(DType::f32, Shape{kLength});
  Values carries;
  for (std::size_t i = 0; i < p.carries; ++i) carries.push_back(block.add_argument(array));
  Value* constant = block.add_argument(array);
  Values xs;
  if (p.slices) xs.push_back(block.add_argument(Type(DType::f32, Shape{length, kLength})));
  Builder b(block);
  // A body's order: constants, carries, slices. Those above want their carries first where nothing
  // is sliced.
  auto made = body(std::vector<Type>(1 + p.carries + xs.size(), array),
                   [&](Builder& inner, const Values& v) {
                     if (p.slices) return p.body(inner, v);
                     Values in(v.begin() + 1, v.end());
                     in.push_back(v[0]);
                     return p.body(inner, in);
                   });
  block.results = op::scan(b, std::move(made), {constant}, carries, xs, {length, reverse});
}

TEST(DoubleBuffer, LoopsAreWhatTheyWere) {
  for (const Program& p : programs())
    for (std::int64_t length : {1, 3, 4, 5, 8, 9})
      for (bool reverse : {false, true}) {
        SCOPED_TRACE(fmt::format("{}, {} turns{}", p.name, length, reverse ? " backwards" : ""));
        Block block;
        build(block, p, length, reverse);
        testing::expect_compiled_equals_reference(block);
      }
}

/// Loops in loops: the inner one is doubled, and the outer one where it may be.
TEST(DoubleBuffer, LoopsInLoopsAreWhatTheyWere) {
  const Type array(DType::f32, Shape{kLength});
  for (std::int64_t outer : {3, 4, 7})
    for (std::int64_t inner : {4, 5}) {
      Block block;
      Values carries{block.add_argument(array), block.add_argument(array)};
      Builder b(block);
      auto turns = body({array, array}, [&](Builder& o, const Values& v) {
        auto once = body({array, array}, [&](Builder& i, const Values& w) {
          return Values{turned(i, w[1], w[0])};
        });
        Value* x = op::scan(o, std::move(once), {v[1]}, {v[0]}, {}, {inner})[0];
        return Values{turned(o, v[1], x), x};
      });
      block.results = op::scan(b, std::move(turns), {}, carries, {}, {outer});
      testing::expect_compiled_equals_reference(block);
    }
}

std::string plan_of(const Program& p, std::int64_t length) {
  Block block;
  build(block, p, length, false);
  return print(make_plan(*prepare(block), {}, testing::v3()));
}

TEST(DoubleBuffer, NothingIsCopiedInTheLoop) {
  const std::string even = plan_of(programs()[0], 1000), odd = plan_of(programs()[0], 1001);
  EXPECT_THAT(even, HasSubstr("for i0 to 500\n"));
  EXPECT_THAT(even.substr(even.find("for i0")), Not(HasSubstr("copy")));
  EXPECT_THAT(odd, HasSubstr("for i0 to 500\n"));
  EXPECT_THAT(odd.substr(odd.find("for i0")), HasSubstr("copy")) << "the last turn";
}

}  // namespace
}  // namespace strata::compile
