// Loops that write a part of an array in each iteration. Compiled random loops give what the
// reference evaluator gives; the loops that users reported (conformance/loops, testdata/loops,
// written by tools/goldens/loops.py) cost four times as much at four times the length.
//
// STRATA_RANDOM_LOOPS sets how many random ones (default 40 of them, others each day); a failing
// one is made smaller before it is printed.
#include <cstdlib>
#include <filesystem>

#include "strata/base/file.h"
#include "strata/compile/kernel/loop/loop_testing.h"
#include "strata/compile/plan/launch_cost.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/op/index/indexing.h"

namespace strata::compile {
namespace {

using ir::Block;
using op::Builder;
using op::Value;
using op::Values;
using BlockPtr = std::unique_ptr<Block>;

// ---- random loops

constexpr std::int64_t kRows = 40, kColumns = 8, kTurns = 5;
const Type kArray(DType::f32, {kRows, kColumns}), kRow(DType::f32, {1, kColumns}),
    kIndex(DType::i32, {}), kPredicate(DType::i1, {});

/// One instruction of a body; its numbers choose among what is there.
struct Gene {
  unsigned kind, a, b, c;
};
struct RandomLoop {
  bool is_scan = false;
  std::vector<Gene> genes;
  unsigned first = 0, second = 0;  // which arrays become the carries
};

RandomLoop random_loop(unsigned seed) {
  std::mt19937 random(seed);
  RandomLoop out;
  out.is_scan = random() % 2 == 0;
  for (unsigned n = 3 + random() % 8; n > 0; --n) {
    const unsigned kind = random(), a = random(), b = random();
    out.genes.push_back({kind, a, b, static_cast<unsigned>(random())});
  }
  out.first = random();
  out.second = random();
  return out;
}

/// The body of a loop: arrays, rows and places that grow as genes are read.
class Body {
 public:
  Body(Block& block, Value* turn, Values arrays)
      : b_(block), arrays_(std::move(arrays)), places_{turn} {
    rows_.push_back(op::dynamic_slice(b_, arrays_[0], at(turn), {1, kColumns}));
  }

  void add(const Gene& g) {
    switch (g.kind % 14) {
      case 0:
      case 1:
        rows_.push_back(op::dynamic_slice(b_, array(g.a), at(place(g.b)), {1, kColumns}));
        break;
      case 2: rows_.push_back(op::add(b_, row(g.a), row(g.b))); break;
      case 3: rows_.push_back(op::mul(b_, row(g.a), op::full_like(b_, row(g.a), -0.5))); break;
      case 4:
      case 5: arrays_.push_back(written(b_, array(g.a), row(g.b), place(g.c))); break;
      case 6: arrays_.push_back(scattered(array(g.a), row(g.b), place(g.c), "add")); break;
      case 7: arrays_.push_back(scattered(array(g.a), row(g.b), place(g.c), "assign")); break;
      case 8: places_.push_back(next(place(g.a), g.b)); break;
      case 9: {  // chosen by a mask, as a branch under vmap
        Value* made = written(b_, array(g.a), row(g.b), place(g.c));
        arrays_.push_back(g.c % 2 ? op::select(b_, even(g.c), made, array(g.a))
                                  : op::select(b_, even(g.c), array(g.a), made));
        break;
      }
      case 10: arrays_.push_back(branch(g)); break;
      case 11:
        arrays_.push_back(
            op::add(b_, array(g.a), written(b_, op::zeros(b_, kArray), row(g.b), place(g.c))));
        break;
      case 12: arrays_.push_back(nested(g)); break;
      default:
        arrays_.push_back(g.b % 2 ? op::add(b_, array(g.a), array(g.c))
                                  : op::mul(b_, array(g.a), op::full_like(b_, array(g.a), 0.75)));
    }
  }
  Value* array(unsigned i) { return arrays_[arrays_.size() - 1 - i % arrays_.size()]; }
  Builder& builder() { return b_; }

 private:
  Value* row(unsigned i) { return rows_[rows_.size() - 1 - i % rows_.size()]; }
  Value* place(unsigned i) { return places_[i % places_.size()]; }
  Values at(Value* place) { return {place, op::scalar(b_, DType::i32, 0)}; }
  Value* next(Value* place, unsigned factor) {
    Value* moved = op::add(b_, op::mul(b_, place, op::scalar(b_, DType::i32, 1 + factor % 7)),
                           op::scalar(b_, DType::i32, factor % 11));
    return op::rem(b_, moved, op::scalar(b_, DType::i32, kRows));
  }
  Value* even(unsigned i) {
    Value* rest = op::rem(b_, place(i), op::scalar(b_, DType::i32, 2));
    return op::compare(b_, rest, op::scalar(b_, DType::i32, 0), "EQ");
  }
  static Value* written(Builder& b, Value* array, Value* row, Value* place) {
    return op::dynamic_update_slice(b, array, row, {place, op::scalar(b, DType::i32, 0)});
  }
  Value* scattered(Value* array, Value* row, Value* place, const char* combiner) {
    const op::IndexDims dims{.window = {0},
                             .dropped = {0},
                             .operand_batch = {},
                             .indices_batch = {},
                             .index_map = {0},
                             .index_vector = 0};
    return op::scatter(b_, array, op::reshape(b_, place, Shape{1}),
                       op::reshape(b_, row, Shape{kColumns}), dims, combiner, true);
  }
  Value* branch(const Gene& g) {
    Value *x = array(g.a), *y = array(g.c), *v = row(g.b), *i = place(g.b);
    Value* condition = even(g.c);
    auto yes = std::make_unique<Block>(), no = std::make_unique<Block>();
    Builder in_yes(*yes), in_no(*no);
    Value* made = written(in_yes, x, v, i);
    if (g.b % 3 == 0) made = written(in_yes, made, op::add(in_yes, v, v), places_[0]);
    yes->results = {made};
    no->results = {g.c % 3 == 0 ? written(in_no, x, op::neg(in_no, v), i) : g.c % 3 == 1 ? x : y};
    return op::if_(b_, condition, std::move(yes), std::move(no))[0];
  }
  /// A loop that goes on from an array.
  Value* nested(const Gene& g) {
    Value *v = row(g.b), *i = place(g.c);
    auto body = std::make_unique<Block>();
    Value *given = body->add_argument(kRow), *place = body->add_argument(kIndex),
          *x = body->add_argument(kArray);
    Builder in(*body);
    Value* last = op::rem(in, op::add(in, place, op::scalar(in, DType::i32, 3)),
                          op::scalar(in, DType::i32, kRows));
    Value* read = op::dynamic_slice(in, x, {place, op::scalar(in, DType::i32, 0)}, {1, kColumns});
    body->results = {last, written(in, x, op::add(in, read, given), last)};
    return op::scan(b_, std::move(body), {v}, {i, array(g.a)}, {}, {.length = 3})[1];
  }

  Builder b_;
  Values arrays_, rows_, places_;
};

/// main(x, y) -> the carries of the loop, and the third array that it only reads.
BlockPtr build(const RandomLoop& loop) {
  auto f = std::make_unique<Block>();
  Value *x = f->add_argument(kArray), *y = f->add_argument(kArray), *z = f->add_argument(kArray);
  Builder b(*f);
  Value* zero = op::scalar(b, DType::i32, 0);
  auto run = [&](Block& block, Value* turn, Value* first, Value* second, Value* third) -> Values {
    Body body(block, turn, {third, second, first});
    for (const Gene& g : loop.genes) body.add(g);
    Value* next = op::add(body.builder(), turn, op::scalar(body.builder(), DType::i32, 1));
    return {next, body.array(loop.first), body.array(loop.second)};
  };
  auto body = std::make_unique<Block>();
  if (loop.is_scan) {
    Value* third = body->add_argument(kArray);
    Value *turn = body->add_argument(kIndex), *first = body->add_argument(kArray),
          *second = body->add_argument(kArray);
    body->results = run(*body, turn, first, second, third);
    f->results = op::scan(b, std::move(body), {z}, {zero, x, y}, {}, {.length = kTurns});
    return f;
  }
  auto condition = std::make_unique<Block>();
  for (Block* block : {condition.get(), body.get()})
    block->add_argument(kIndex), block->add_argument(kArray), block->add_argument(kArray);
  Builder in(*condition);
  condition->results = {
      op::compare(in, condition->argument(0), op::scalar(in, DType::i32, kTurns), "LT")};
  body->results = run(*body, body->argument(0), body->argument(1), body->argument(2), z);
  f->results = op::while_(b, std::move(condition), std::move(body), {zero, x, y});
  return f;
}

/// What differs from the reference, or nothing.
std::string difference(const RandomLoop& loop, unsigned seed, bool code) {
  try {
    const BlockPtr f = build(loop);
    std::vector<Literal> arguments = testing::arguments_of(*f, seed);
    for (Literal& a : arguments)  // some zeros, of both signs
      for (std::int64_t i = 0; i < a.count(); i += 3) a.set_number(i, i % 2 ? -0.0 : 0.0);
    const std::vector<Literal> want = op::evaluate(*f, arguments),
                               got = code ? testing::run_compiled(*f, arguments)
                                          : testing::run_plan(*f, arguments);
    for (std::size_t r = 0; r < want.size(); ++r) {
      std::int64_t at = 0;
      if (std::int64_t n = testing::differences(got[r], want[r], &at))
        return fmt::format("result {}: {} elements differ, first {}: got {}, want {}", r, n, at,
                           got[r].number(at), want[r].number(at));
    }
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

std::string text(const Block& block) {
  ir::Function f("main");
  Values arguments;
  for (const auto& a : block.arguments()) arguments.push_back(f.body.add_argument(a->type()));
  Builder b(f.body);
  f.body.results = ir::inline_block(b, block, arguments);
  return ir::print(f);
}

RandomLoop without(RandomLoop loop, std::size_t gene) {
  loop.genes.erase(loop.genes.begin() + static_cast<std::ptrdiff_t>(gene));
  return loop;
}

TEST(LoopsInPlace, RandomOnesHaveTheReferencesBits) {
  const char *count = std::getenv("STRATA_RANDOM_LOOPS"), *day = std::getenv("STRATA_SAMPLE");
  const unsigned loops = count ? static_cast<unsigned>(std::atoi(count)) : 40;
  const unsigned first = day ? static_cast<unsigned>(std::atoi(day)) * loops : 0;
  for (unsigned seed = first + 1; seed <= first + loops; ++seed) {
    const bool code = seed % 2 == 0;
    RandomLoop loop = random_loop(seed);
    std::string what = difference(loop, seed, code);
    if (what.empty()) continue;
    for (std::size_t g = 0; g < loop.genes.size();) {
      const std::string still = difference(without(loop, g), seed, code);
      if (still.empty()) {
        ++g;
        continue;
      }
      loop = without(loop, g);
      what = still;
    }
    const BlockPtr f = build(loop);
    ADD_FAILURE() << "seed " << seed << (code ? " as machine code: " : " by the interpreter: ")
                  << what << "\n"
                  << print(make_plan(*prepare(*f), {}, testing::v3())) << text(*f);
    return;
  }
}

// ---- loops of the field

/// Estimates what running the steps costs: the lanes that kernels work on and the words that copies
/// move. Counts a while loop as `turns` turns.
double cost(const Plan& plan, const Steps& steps, double turns) {
  double out = 0;
  auto launch = [&](const Launch& l) {
    const loop::Kernel& kernel = *plan.kernels[static_cast<std::size_t>(l.kernel)];
    out += cost_of(kernel).slots + static_cast<double>(kernel.grid);
  };
  for (const Step& step : steps) {
    if (const auto* l = std::get_if<Launch>(&step.what)) launch(*l);
    if (const auto* c = std::get_if<TilePipeline>(&step.what))
      for (const Launch& l : c->launches) launch(l);
    if (const auto* c = std::get_if<Copy>(&step.what)) out += static_cast<double>(c->bytes) / 4;
    if (const auto* f = std::get_if<CountedLoop>(&step.what))
      out += static_cast<double>(f->count) * cost(plan, f->body, turns);
    if (const auto* w = std::get_if<WhileLoop>(&step.what))
      out += turns * (cost(plan, w->condition, turns) + cost(plan, w->body, turns));
    if (const auto* b = std::get_if<Branch>(&step.what))
      for (const Steps& arm : b->branches) out += cost(plan, arm, turns);
  }
  return out;
}

Plan plan_of(const std::filesystem::path& file) {
  Result<std::string> text = read_file(file.string());
  STRATA_CHECK(text.ok(), "{}", text.status().message());
  auto module = ir::parse(*text);
  STRATA_CHECK(module.ok(), "{}: {}", file.string(), module.status().message());
  ir::inline_calls(**module);
  return make_plan(*prepare((*module)->entry()->body), {}, testing::v3());
}

TEST(LoopsInPlace, CostThePartThatTheyWrite) {
  const std::filesystem::path
      room = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path(),
      once = room.parent_path().parent_path() / "conformance/loops",
      four_times = room / "testdata/loops";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(four_times))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_GE(names.size(), 14u);
  for (const std::string& name : names) {
    const Plan few = plan_of(once / name), many = plan_of(four_times / name);
    // Of a table both sides grow.
    EXPECT_LT(cost(many, many.steps, 1200) / cost(few, few.steps, 300),
              name == "table.mlir" ? 17.0 : 4.5)
        << name << "\n"
        << print(many);
  }
}

// A copy that an iteration makes says what it is for.
TEST(LoopsInPlace, ACopyIsExplained) {
  const std::string text = "func.func @main(%x: tensor<600xf32>) -> tensor<600xf32> {\n" +
                           testing::counted(5, "%m = %x", "tensor<600xf32>", R"(
    %v = stablehlo.dynamic_slice %m, %i, sizes = [1] : (tensor<600xf32>, tensor<i32>) -> tensor<1xf32>
    %u = stablehlo.dynamic_update_slice %m, %v, %one : (tensor<600xf32>, tensor<1xf32>, tensor<i32>) -> tensor<600xf32>
    %t = stablehlo.reverse %u, dims = [0] : tensor<600xf32>
    %s = stablehlo.add %t, %m : tensor<600xf32>
)",
                                            "%s") +
                           "  return %r#1 : tensor<600xf32>\n}";
  auto module = ir::parse(text);
  ASSERT_TRUE(module.ok()) << module.status().message();
  const std::string plan = print(make_plan(*prepare((*module)->entry()->body), {}, testing::v3()));
  EXPECT_NE(plan.find("stablehlo.add reads the old value after stablehlo.dynamic_update_slice has "
                      "made the new one"),
            std::string::npos)
      << plan;
}

// The array belongs to the loop around the branch, which reads it afterwards.
TEST(LoopsInPlace, ABranchLeavesWhatItsLoopReads) {
  testing::expect_same(
      "func.func @main(%x: tensor<600xf32>, %p: tensor<i1>) -> (tensor<600xf32>, tensor<f32>) {\n"
      "  %f = stablehlo.constant dense<0.0> : tensor<f32>\n" +
      testing::counted(5, "%m = %x, %acc = %f", "tensor<600xf32>, tensor<f32>", R"(
    %v = stablehlo.constant dense<7.0> : tensor<1xf32>
    %s = "stablehlo.if"(%p) ({
      %u = stablehlo.dynamic_update_slice %m, %v, %i : (tensor<600xf32>, tensor<1xf32>, tensor<i32>) -> tensor<600xf32>
      %t = stablehlo.reduce(%u init: %f) applies stablehlo.add across dimensions = [0] : (tensor<600xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %t : tensor<f32>
    }, {
      stablehlo.return %f : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %acc2 = stablehlo.add %acc, %s : tensor<f32>
    %m2 = stablehlo.reverse %m, dims = [0] : tensor<600xf32>
)",
                       "%m2, %acc2") +
      "  return %r#1, %r#2 : tensor<600xf32>, tensor<f32>\n}");
}

/// A loop of five iterations over arrays of so many elements, whose type the body calls T: %m and
/// %k become %m2 and %k2.
void expect_same(int elements, std::string body) {
  const std::string type = fmt::format("tensor<{}xf32>", elements), both = type + ", " + type;
  for (std::size_t at; (at = body.find(" T")) != std::string::npos;) body.replace(at + 1, 1, type);
  testing::expect_same("func.func @main(%x: " + type + ", %y: " + type + ", %p: tensor<i1>) -> (" +
                       both + ") {\n" +
                       testing::counted(5, "%m = %x, %k = %y", both, "\n" + body, "%m2, %k2") +
                       "  return %r#1, %r#2 : " + both + "\n}");
}

// Of an array that costs less to copy than a kernel to start, other places are read as it is
// changed.
TEST(LoopsInPlace, FewElementsAreReadWhileTheyAreChanged) {
  expect_same(
      40,
      R"(    %s = stablehlo.dynamic_slice %m, %i, sizes = [30] : ( T, tensor<i32>) -> tensor<30xf32>
    %v = stablehlo.reverse %s, dims = [0] : tensor<30xf32>
    %m2 = stablehlo.dynamic_update_slice %m, %v, %one : ( T, tensor<30xf32>, tensor<i32>) -> T
    %k2 = stablehlo.negate %k : T
)");
}

// Where a branch takes one array and gives another on, that one is copied before it is written
// over.
TEST(LoopsInPlace, ABranchGivesOnWhatItWritesOver) {
  expect_same(600, R"(    %e = stablehlo.add %k, %y : T
    %b:2 = "stablehlo.if"(%p) ({
      stablehlo.return %e, %m : T, T
    }, {
      %v = stablehlo.constant dense<7.0> : tensor<1xf32>
      %u = stablehlo.dynamic_update_slice %m, %v, %i : ( T, tensor<1xf32>, tensor<i32>) -> T
      stablehlo.return %u, %k : T, T
    }) : (tensor<i1>) -> ( T, T)
    %m2 = stablehlo.reverse %b#0, dims = [0] : T
    %k2 = stablehlo.negate %b#1 : T
)");
  expect_same(600, R"(    %b:2 = "stablehlo.if"(%p) ({
      stablehlo.return %y, %m : T, T
    }, {
      %v = stablehlo.constant dense<7.0> : tensor<1xf32>
      %u = stablehlo.dynamic_update_slice %m, %v, %i : ( T, tensor<1xf32>, tensor<i32>) -> T
      stablehlo.return %u, %k : T, T
    }) : (tensor<i1>) -> ( T, T)
    %m2 = stablehlo.add %b#0, %y : T
    %k2 = stablehlo.negate %b#1 : T
)");
}

}  // namespace
}  // namespace strata::compile
