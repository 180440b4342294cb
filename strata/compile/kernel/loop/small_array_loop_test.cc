// Loops over arrays of a few elements: one kernel each, with the reference's bits; what does not
// fit one runs as before.
#include "strata/compile/compile_testing.h"
#include "strata/ir/text/parser.h"

namespace strata::compile {
namespace {

/// A program in text, run in three ways, and how the driver runs it.
Plan expect_same(const std::string& text) {
  auto module = ir::parse(text);
  EXPECT_TRUE(module.ok()) << module.status().message() << "\n" << text;
  if (!module.ok()) return {};
  const ir::Block& f = (*module)->entry()->body;
  for (unsigned seed : {1u, 2u}) testing::expect_compiled_equals_reference(f, seed);
  return make_plan(*prepare(f), {}, testing::v3());
}

bool runs_loops(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& s) {
    return std::holds_alternative<WhileLoop>(s.what) || std::holds_alternative<CountedLoop>(s.what);
  });
}

/// main(%x: [3], %m: [3,3], %t: [40], %s: [20,3]) of a loop that counts %i from 0 to `turns` and
/// carries %x, %t and %s as %a, %b and %c. The body says the new ones as %p, %q and %r.
std::string program(const std::string& body, int turns = 7) {
  const char* const types = "tensor<i32>, tensor<3xf32>, tensor<40xf32>, tensor<20x3xf32>";
  return std::string(
             "func.func @main(%x: tensor<3xf32>, %m: tensor<3x3xf32>, %t: tensor<40xf32>, %s: "
             "tensor<20x3xf32>) -> (") +
         types + R"() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %f0 = stablehlo.constant dense<0.0> : tensor<f32>
  %turns = stablehlo.constant dense<)" +
         std::to_string(turns) + R"(> : tensor<i32>
  %w:4 = stablehlo.while(%i = %zero, %a = %x, %b = %t, %c = %s) : )" +
         types + R"(
  cond {
    %go = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
)" + body +
         R"(
    stablehlo.return %j, %p, %q, %r : )" +
         types + R"(
  }
  return %w#0, %w#1, %w#2, %w#3 : )" +
         types + "\n}";
}
/// The same of the new %p alone; the arrays change whole.
std::string of_three(const std::string& body, int turns = 7) {
  return program(body +
                     "\n    %q = stablehlo.negate %b : tensor<40xf32>\n    %r = stablehlo.negate "
                     "%c : tensor<20x3xf32>",
                 turns);
}

const char* const kKeep = R"(
    %k0 = stablehlo.dynamic_slice %b, %i, sizes = [1] : (tensor<40xf32>, tensor<i32>) -> tensor<1xf32>
    %q = stablehlo.dynamic_update_slice %b, %k0, %j : (tensor<40xf32>, tensor<1xf32>, tensor<i32>) -> tensor<40xf32>
    %k1 = stablehlo.reshape %p : (tensor<3xf32>) -> tensor<1x3xf32>
    %r = stablehlo.dynamic_update_slice %c, %k1, %i, %zero : (tensor<20x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<20x3xf32>)";

const char* const kStep = R"(
    %d = stablehlo.dot_general %m, %a, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %p = stablehlo.tanh %d : tensor<3xf32>)";

TEST(SmallArrayLoop, StacksInPlaceAndCarriesInRegisters) {
  for (int turns : {0, 1, 7, 30})
    EXPECT_FALSE(runs_loops(expect_same(program(std::string(kStep) + kKeep, turns))));
}

TEST(SmallArrayLoop, LongSidesOfChoicesAreBranches) {
  std::string step = kStep;
  step.replace(step.find("stablehlo.tanh %d : tensor<3xf32>"), std::string::npos,
               "chlo.erf_inv %d : tensor<3xf32> -> tensor<3xf32>");
  Plan plan = expect_same(program(step + kKeep));
  const loop::Kernel& kernel = *plan.kernels.back();
  auto count = [&](loop::Opcode code) {
    return std::count_if(kernel.arena.begin(), kernel.arena.end(),
                         [&](const loop::Inst& i) { return i.code == code; });
  };
  EXPECT_EQ(count(loop::Opcode::if_), 6) << loop::print(
      kernel);  // of erf_inv: a long polynomial near 0, another one behind a root beyond
}

TEST(SmallArrayLoop, CostlyElementsKeepTheirLanes) {
  for (int n : {4, 16}) {
    std::string t = fmt::format("tensor<{}xf32>", n),
                text = R"(func.func @main(%x: T, %n: tensor<i32>) -> T {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %l:2 = stablehlo.while(%i = %n, %a = %x) : tensor<i32>, T
  cond {
    %go = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %b = stablehlo.tanh %a : T
    %p = stablehlo.add %b, %x : T
    stablehlo.return %j, %p : tensor<i32>, T
  }
  return %l#1 : T
})";
    for (std::size_t at = text.find(" T"); at != std::string::npos; at = text.find(" T", at))
      text.replace(at + 1, 1, t);
    EXPECT_EQ(runs_loops(expect_same(text)), n == 16);
  }
}

TEST(SmallArrayLoop, ArraysThatChangeWholeRunAsBefore) {
  EXPECT_TRUE(runs_loops(expect_same(of_three(kStep))));
}

// The old array is read after its update, or two arrays trade places: what is in memory would be
// gone.
TEST(SmallArrayLoop, OldArraysStayWhole) {
  EXPECT_TRUE(runs_loops(expect_same(program(std::string(kStep) + R"(
    %k1 = stablehlo.reshape %p : (tensor<3xf32>) -> tensor<1x3xf32>
    %r = stablehlo.dynamic_update_slice %c, %k1, %i, %zero : (tensor<20x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<20x3xf32>
    %k2 = stablehlo.dynamic_slice %c, %i, %one, sizes = [1, 1] : (tensor<20x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
    %k3 = stablehlo.reshape %k2 : (tensor<1x1xf32>) -> tensor<1xf32>
    %q = stablehlo.dynamic_update_slice %b, %k3, %j : (tensor<40xf32>, tensor<1xf32>, tensor<i32>) -> tensor<40xf32>)"))));
  std::string trade =
      R"(func.func @main(%x: tensor<20xf32>, %y: tensor<20xf32>) -> (tensor<20xf32>, tensor<20xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %w:3 = stablehlo.while(%i = %zero, %a = %x, %b = %y) : tensor<i32>, tensor<20xf32>, tensor<20xf32>
  cond {
    %go = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = stablehlo.dynamic_slice %a, %j, sizes = [1] : (tensor<20xf32>, tensor<i32>) -> tensor<1xf32>
    %u = stablehlo.dynamic_update_slice %b, %e, %i : (tensor<20xf32>, tensor<1xf32>, tensor<i32>) -> tensor<20xf32>
    stablehlo.return %j, %u, %a : tensor<i32>, tensor<20xf32>, tensor<20xf32>
  }
  return %w#1, %w#2 : tensor<20xf32>, tensor<20xf32>
})";
  EXPECT_TRUE(runs_loops(expect_same(trade)));
}

// The new array is read and updated again.
TEST(SmallArrayLoop, UpdatesFollowOneAnother) {
  EXPECT_FALSE(runs_loops(expect_same(program(std::string(kStep) + R"(
    %k1 = stablehlo.slice %p [1:3] : (tensor<3xf32>) -> tensor<2xf32>
    %q0 = stablehlo.dynamic_update_slice %b, %k1, %i : (tensor<40xf32>, tensor<2xf32>, tensor<i32>) -> tensor<40xf32>
    %k2 = stablehlo.dynamic_slice %q0, %j, sizes = [2] : (tensor<40xf32>, tensor<i32>) -> tensor<2xf32>
    %k3 = stablehlo.sine %k2 : tensor<2xf32>
    %q = stablehlo.dynamic_update_slice %q0, %k3, %one : (tensor<40xf32>, tensor<2xf32>, tensor<i32>) -> tensor<40xf32>
    %k4 = stablehlo.broadcast_in_dim %k3, dims = [0] : (tensor<2xf32>) -> tensor<2x2xf32>
    %r = stablehlo.dynamic_update_slice %c, %k4, %i, %j : (tensor<20x3xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<20x3xf32>)"))));
}

// Elements of a small array at places known only at run time; a scatter that adds.
TEST(SmallArrayLoop, PlacesInSmallArrays) {
  EXPECT_FALSE(runs_loops(expect_same(program(R"(
    %two = stablehlo.constant dense<2> : tensor<i32>
    %k = stablehlo.remainder %i, %two : tensor<i32>
    %e = stablehlo.dynamic_slice %a, %k, sizes = [1] : (tensor<3xf32>, tensor<i32>) -> tensor<1xf32>
    %d = stablehlo.cosine %e : tensor<1xf32>
    %p0 = stablehlo.dynamic_update_slice %a, %d, %i : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
    %ki = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
    %kd = stablehlo.reshape %d : (tensor<1xf32>) -> tensor<f32>
    %p = "stablehlo.scatter"(%p0, %ki, %kd) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%u: tensor<f32>, %v: tensor<f32>):
      %uv = stablehlo.add %u, %v : tensor<f32>
      stablehlo.return %uv : tensor<f32>
    }) : (tensor<3xf32>, tensor<1xi32>, tensor<f32>) -> tensor<3xf32>)" +
                                              std::string(kKeep)))));
}

TEST(SmallArrayLoop, LoopsAndBranchesInside) {
  EXPECT_FALSE(runs_loops(expect_same(program(R"(
    %two = stablehlo.constant dense<2> : tensor<i32>
    %n:2 = stablehlo.while(%k = %zero, %y = %a) : tensor<i32>, tensor<3xf32>
    cond {
      %go = stablehlo.compare LT, %k, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %l = stablehlo.add %k, %two : tensor<i32>
      %z = stablehlo.reverse %y, dims = [0] : tensor<3xf32>
      %z1 = stablehlo.sine %z : tensor<3xf32>
      stablehlo.return %l, %z1 : tensor<i32>, tensor<3xf32>
    }
    %p = "stablehlo.case"(%n#0) ({
      stablehlo.return %a : tensor<3xf32>
    }, {
      %e = stablehlo.exponential %n#1 : tensor<3xf32>
      stablehlo.return %e : tensor<3xf32>
    }, {
      %e = stablehlo.multiply %n#1, %a : tensor<3xf32>
      stablehlo.return %e : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>)" + std::string(kKeep)))));
}

TEST(SmallArrayLoop, Reductions) {
  EXPECT_FALSE(runs_loops(expect_same(program(R"(
    %k = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xf32>) -> tensor<5x3xf32>
    %it = stablehlo.iota dim = 0 : tensor<5x3xf32>
    %y = stablehlo.multiply %k, %it : tensor<5x3xf32>
    %rows = stablehlo.reduce(%y init: %f0) applies stablehlo.add across dimensions = [1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %most = stablehlo.reduce(%y init: %f0) applies stablehlo.maximum across dimensions = [0] : (tensor<5x3xf32>, tensor<f32>) -> tensor<3xf32>
    %h = stablehlo.convert %y : (tensor<5x3xf32>) -> tensor<5x3xbf16>
    %hz = stablehlo.constant dense<1.0> : tensor<bf16>
    %halves = stablehlo.reduce(%h init: %hz) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<5x3xbf16>, tensor<bf16>) -> tensor<bf16>
    %all = stablehlo.reduce(%rows init: %f0) across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
     reducer(%u: tensor<f32>, %v: tensor<f32>) {
      %uv = stablehlo.subtract %v, %u : tensor<f32>
      stablehlo.return %uv : tensor<f32>
    }
    %half = stablehlo.convert %halves : (tensor<bf16>) -> tensor<f32>
    %s1 = stablehlo.add %all, %half : tensor<f32>
    %s2 = stablehlo.broadcast_in_dim %s1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %s3 = stablehlo.add %s2, %most : tensor<3xf32>
    %p = stablehlo.cosine %s3 : tensor<3xf32>)" +
                                              std::string(kKeep)))));
}

TEST(SmallArrayLoop, ScansOverSmallSlices) {
  for (bool reverse : {false, true}) {
    ir::Block f;
    auto argument = [](ir::Block& block, Shape shape) {
      return block.add_argument(Type(DType::f32, std::move(shape)));
    };
    ir::Value *table = argument(f, {30}), *x = argument(f, {2}), *memory = argument(f, {6, 4}),
              *xs = argument(f, {5, 2, 2});
    ir::Builder b(f);
    auto body = std::make_unique<ir::Block>();
    ir::Value *bt = argument(*body, {30}), *bx = argument(*body, {2}),
              *bm = argument(*body, {6, 4}), *slice = argument(*body, {2, 2});
    ir::Builder in(*body);
    ir::Value* next = op::tanh(in, op::dot_general(in, slice, bx, {{}, {}, {1}, {0}}));
    ir::Value* at = op::convert(
        in, op::mul(in, op::reduce_sum(in, bx, {0}), op::scalar(in, DType::f32, 3)), DType::i32);
    ir::Value* is_gather = op::dynamic_slice(in, bt, {at}, {2});
    ir::Value* kept = op::dynamic_update_slice(in, bm, op::transpose(in, slice, {1, 0}),
                                               {at, op::scalar(in, DType::i32, 1)});
    body->results = {op::add(in, next, is_gather), kept, op::reshape(in, slice, {4}), next};
    f.results =
        op::scan(b, std::move(body), {table}, {x, memory}, {xs}, {.length = 5, .reverse = reverse});
    EXPECT_FALSE(runs_loops(make_plan(*prepare(f), {}, testing::v3())));
    testing::expect_compiled_equals_reference(f, 3);
  }
}

}  // namespace
}  // namespace strata::compile
