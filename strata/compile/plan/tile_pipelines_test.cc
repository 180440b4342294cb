// TilePipelines of launches: found by what kernels touch, and with the bits of the launches one
// after another.
#include "strata/compile/plan/tile_pipelines.h"

#include <array>

#include "strata/compile/compile_testing.h"
#include "strata/compile/llvm/compile_plan.h"
#include "strata/compile/plan/grid_slices.h"
#include "strata/transform/vjp.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using ir::Values;

constexpr TilePipelineLimits kAlways{
    .min_slices = 2, .min_forwarded_bytes = 1, .max_slice_bytes = 1 << 30};

std::unique_ptr<Block> program(const std::vector<Type>& arguments,
                               const std::function<Values(Builder&, const Values&)>& f) {
  auto block = std::make_unique<Block>();
  Values v;
  for (const Type& t : arguments) v.push_back(block->add_argument(t));
  Builder b(*block);
  block->results = f(b, v);
  return block;
}

std::vector<const TilePipeline*> pipelines_of(const Steps& steps) {
  std::vector<const TilePipeline*> out;
  auto add = [&](const Steps& inner) {
    for (const TilePipeline* c : pipelines_of(inner)) out.push_back(c);
  };
  for (const Step& s : steps) {
    if (const auto* c = std::get_if<TilePipeline>(&s.what)) out.push_back(c);
    if (const auto* l = std::get_if<CountedLoop>(&s.what)) add(l->body);
  }
  return out;
}

/// Runs a plan by its walker or as machine code.
std::vector<Literal> run(Plan& plan, const std::vector<Literal>& arguments, bool code) {
  std::vector<void*> in, out, constants;
  std::vector<Literal> results;
  for (const Literal& a : arguments) in.push_back(const_cast<std::byte*>(a.data()));
  for (const Type& t : plan.result_types) results.emplace_back(t);
  for (Literal& r : results) out.push_back(r.mutable_data());
  for (Literal& c : plan.constants) constants.push_back(c.mutable_data());
  Literal arena(Type(DType::i8, Shape{plan.arena_bytes + 64}));
  RunContext context{in.data(), out.data(), constants.data(), arena.mutable_data()};
  if (code)
    run_driver(compile_plan(plan).run, context);
  else
    interpret(plan, context);
  return results;
}

/// The law: pipelines wherever they can be, by the walker and as machine code on 1, 2 and 3
/// threads, have the reference's bits.
void expect_pipelined_equals_reference(const Block& f, unsigned seed = 1) {
  std::vector<Literal> arguments = testing::arguments_of(f, seed),
                       want = op::evaluate(f, arguments);
  std::unique_ptr<Block> ready = prepare(f);
  Plan plan = make_plan(*ready, {}, testing::widest(), kAlways);
  testing::expect_same_bits(run(plan, arguments, false), want, "by the walker\n" + print(plan));
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    testing::expect_same_bits(run(plan, arguments, true), want,
                              fmt::format("machine code, {} threads\n{}", threads, print(plan)));
  }
  set_num_threads(0);
}

/// softmax(q kᵀ + bias) v for [batch, head, row, width].
Value* attention(Builder& b, Value* q, Value* k, Value* v, Value* bias) {
  Value* scores = op::dot_general(b, q, k, {{0, 1}, {0, 1}, {3}, {3}});
  const Shape shape = scores->shape();
  scores = op::add(b, scores, op::broadcast_in_dim(b, bias, shape, {2, 3}));
  Value* most =
      op::broadcast_in_dim(b, op::reduce(b, scores, {3}, op::Combiner::max), shape, {0, 1, 2});
  Value* e = op::exp(b, op::sub(b, scores, most));
  Value* p = op::div(
      b, e, op::broadcast_in_dim(b, op::reduce(b, e, {3}, op::Combiner::add), shape, {0, 1, 2}));
  return op::dot_general(b, p, v, {{0, 1}, {0, 1}, {3}, {2}});
}

std::unique_ptr<Block> attention_program(std::int64_t batch, std::int64_t heads, std::int64_t rows,
                                         std::int64_t width) {
  Type x(DType::f32, {batch, heads, rows, width}), bias(DType::f32, {rows, rows});
  return program({x, x, x, bias}, [](Builder& b, const Values& v) {
    return Values{attention(b, v[0], v[1], v[2], v[3])};
  });
}

TEST(TilePipelines, ScoresOfAttentionAreNeverInMemory) {
  Plan plan = make_plan(*prepare(*attention_program(4, 8, 128, 32)), {}, testing::v3());
  std::vector<const TilePipeline*> pipelines = pipelines_of(plan.steps);
  ASSERT_EQ(pipelines.size(), 1u) << print(plan);
  EXPECT_EQ(pipelines[0]->launches.size(), 3u) << print(plan);
  EXPECT_EQ(pipelines[0]->slices, 32);
  EXPECT_EQ(plan.arena_bytes, 0) << print(plan);
  EXPECT_LE(pipelines[0]->scratch_bytes, 2 * 128 * 128 * 4);
}

TEST(TilePipelines, ABlockOfFewHeadsOrOfLittleDataIsNone) {
  EXPECT_TRUE(
      pipelines_of(make_plan(*prepare(*attention_program(1, 2, 64, 16)), {}, testing::v3()).steps)
          .empty());
  EXPECT_TRUE(
      pipelines_of(make_plan(*prepare(*attention_program(2, 8, 16, 16)), {}, testing::v3()).steps)
          .empty());
}

/// Scores of one head that are too many use blocks of rows.
TEST(TilePipelines, LongSequencesGoByRows) {
  for (std::int64_t rows : {1024, 2048, 4096}) {
    Plan plan = make_plan(*prepare(*attention_program(1, 2, rows, 64)), {}, testing::v3());
    std::vector<const TilePipeline*> pipelines = pipelines_of(plan.steps);
    ASSERT_EQ(pipelines.size(), 1u) << print(plan);
    EXPECT_EQ(pipelines[0]->launches.size(), 3u) << print(plan);
    EXPECT_LE(pipelines[0]->scratch_bytes, 2 << 20);
    EXPECT_EQ(plan.arena_bytes, 0) << print(plan);
  }
}

/// Products cut rows as maps do, where both could: a radial kernel of 2000 x 1500 by four vectors.
TEST(TilePipelines, RowsThatNoUsualBlockDivides) {
  auto f = program(
      {Type(DType::f32, {2000, 16}), Type(DType::f32, {1500, 16}), Type(DType::f32, {1500}),
       Type(DType::f32, {1500, 4})},
      [](Builder& b, const Values& v) {
        Value* scores = op::dot_general(b, v[0], v[1], {{}, {}, {1}, {1}});
        return Values{op::dot_general(
            b, op::exp(b, op::sub(b, scores, op::broadcast_in_dim(b, v[2], scores->shape(), {1}))),
            v[3], {{}, {}, {1}, {0}})};
      });
  Plan plan = make_plan(*prepare(*f), {}, testing::v3());
  std::vector<const TilePipeline*> pipelines = pipelines_of(plan.steps);
  ASSERT_EQ(pipelines.size(), 1u) << print(plan);
  EXPECT_EQ(pipelines[0]->launches.size(), 3u) << print(plan);
}

TEST(TilePipelines, AttentionForwardAndBackward) {
  for (auto [batch, heads, rows, width] :
       {std::array{2, 2, 48, 16}, std::array{3, 4, 33, 8}, std::array{1, 6, 7, 5}}) {
    std::unique_ptr<Block> f = attention_program(batch, heads, rows, width);
    expect_pipelined_equals_reference(*f);
    expect_pipelined_equals_reference(*transform::vjp(*f, {true, true, true, true}));
  }
}

/// What comes next reads across parts, or nothing of what was made: it moves aside or ends the
/// pipeline.
TEST(TilePipelines, ReadersOfOtherPartsStayBehind) {
  Type x(DType::f32, {8, 40, 40});
  expect_pipelined_equals_reference(*program({x, x}, [](Builder& b, const Values& v) {
    Value* first = op::dot_general(b, v[0], v[1], {{0}, {0}, {2}, {1}});
    Value* across = op::dot_general(b, first, v[1], {{}, {}, {0, 2}, {0, 2}});
    Value* beside = op::dot_general(b, v[1], v[1], {{0}, {0}, {1}, {1}});
    Value* second = op::dot_general(b, op::tanh(b, first), beside, {{0}, {0}, {2}, {2}});
    return Values{across, second, op::reduce(b, second, {0}, op::Combiner::add),
                  op::reverse(b, first, {0})};
  }));
}

/// Squares in eight layers: products, maps, sums, within a layer and across.
Value* random_step(Builder& b, Value* x, Value* y, unsigned choice) {
  const Shape shape = x->shape();
  switch (choice % 8) {
    case 0: return op::dot_general(b, x, y, {{0}, {0}, {2}, {1}});
    case 1: return op::dot_general(b, x, y, {{0}, {0}, {1}, {1}});
    case 2: return op::dot_general(b, x, y, {{0}, {0}, {2}, {2}});
    case 3: return op::tanh(b, op::add(b, x, y));
    case 4:
      return op::sub(
          b, y, op::broadcast_in_dim(b, op::reduce(b, x, {2}, op::Combiner::max), shape, {0, 1}));
    case 5:
      return op::sub(
          b, y, op::broadcast_in_dim(b, op::reduce(b, x, {0}, op::Combiner::add), shape, {1, 2}));
    case 6: return op::transpose(b, x, {0, 2, 1});
    default: return op::reverse(b, op::add(b, x, y), {0});
  }
}

TEST(TilePipelines, RandomPrograms) {
  std::size_t found = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Type x(DType::f32, {8, 40, 40});
    std::mt19937 random(seed);
    auto f = program({x, x}, [&](Builder& b, const Values& arguments) {
      Values all = arguments;
      auto any = [&] {
        return all[all.size() - 1 - random() % std::min<std::size_t>(3, all.size())];
      };
      for (int i = 0; i < 9; ++i) {
        Value *left = any(), *right = any();
        all.push_back(random_step(b, left, right, random()));
      }
      return Values{all.back(), all[5]};
    });
    found += pipelines_of(make_plan(*prepare(*f), {}, testing::v3(), kAlways).steps).size();
    expect_pipelined_equals_reference(*f, seed);
  }
  EXPECT_GT(found, 4u);
}

// ---- parts

std::unique_ptr<loop::Kernel> kernel_of(
    std::int64_t grid, std::int64_t size,
    const std::function<void(loop::Builder&, loop::Ref*, loop::Ref*)>& body) {
  auto kernel = std::make_unique<loop::Kernel>("moves");
  kernel->grid = grid;
  loop::Builder b(*kernel);
  loop::Ref* x = b.parameter(DType::f32, size, loop::Ref::Mode::in);
  loop::Ref* y = b.parameter(DType::f32, size, loop::Ref::Mode::out);
  body(b, x, y);
  return kernel;
}

TEST(Parts, OfAffinePlaces) {
  auto kernel = kernel_of(12, 120, [](loop::Builder& b, loop::Ref* x, loop::Ref* y) {
    b.vector(0, 10, 8, [&](loop::Index i) {
      b.store(y, b.grid() * 10 + i, b.load(x, loop::Index(119) - b.grid() * 10 - i));
    });
  });
  for (std::int64_t slices : {2, 3, 4, 6, 12})
    EXPECT_EQ(accesses_own_slice(*kernel, slices), (std::vector<bool>{false, true})) << slices;
  EXPECT_EQ(accesses_own_slice(*kernel, 5), (std::vector<bool>{false, false}));
  EXPECT_EQ(accesses_own_slice(*kernel, 24), (std::vector<bool>{false, false}));
}

/// Twelve points: three rows of four; each has its row of x, turned, and one neighbour too many.
TEST(Parts, OfQuotientsAndRemainders) {
  auto kernel = kernel_of(12, 120, [](loop::Builder& b, loop::Ref* x, loop::Ref* y) {
    loop::Index row = b.div(b.grid(), 4), column = b.mod(b.grid(), 4);
    b.for_(0, 10, 1, [&](loop::Index i) {
      b.store(y, row * 40 + i * 4 + column, b.load(x, row * 40 + column * 10 + i));
    });
  });
  EXPECT_EQ(accesses_own_slice(*kernel, 3), (std::vector<bool>{true, true}));
  EXPECT_EQ(accesses_own_slice(*kernel, 12)[1], false);
  auto beyond = kernel_of(12, 120, [](loop::Builder& b, loop::Ref* x, loop::Ref* y) {
    loop::Index row = b.div(b.grid(), 4), column = b.mod(b.grid(), 4);
    b.for_(0, 10, 1, [&](loop::Index i) {
      b.store(y, row * 40 + column * 10 + i, b.load(x, b.mod(row * 40 + column * 10 + i + 1, 120)));
    });
  });
  EXPECT_EQ(accesses_own_slice(*beyond, 3), (std::vector<bool>{false, true}));
}

}  // namespace
}  // namespace strata::compile
