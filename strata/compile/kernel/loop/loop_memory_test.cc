// Loops whose carries share memory with what is made from them: the reference's bits, whatever is
// where.
#include <algorithm>
#include <functional>

#include "strata/compile/kernel/loop/loop_testing.h"

namespace strata::compile {
namespace {

using testing::counted;
using testing::expect_same;

// %w is wished into %m, where %u is until it is read backwards.
TEST(LoopMemory, AnUpdateStaysWhereAReaderOfItIsWrittenTo) {
  expect_same(R"(func.func @main(%a0: tensor<17xf32>, %a1: tensor<17xf32>) -> tensor<17xf32> {
)" +
              counted(8, "%m = %a0", "tensor<17xf32>", R"(
    %x = stablehlo.constant dense<-0.6> : tensor<1xf32>
    %u = stablehlo.dynamic_update_slice %m, %x, %i : (tensor<17xf32>, tensor<1xf32>, tensor<i32>) -> tensor<17xf32>
    %d = stablehlo.subtract %a1, %u : tensor<17xf32>
    %w = stablehlo.reverse %d, dims = [0] : tensor<17xf32>
)",
                      "%w") +
              R"(  return %r#1 : tensor<17xf32>
})");
}

// %v begins as the carry and is read by each iteration, too.
TEST(LoopMemory, AValueThatTheLoopReadsIsNotItsCarry) {
  expect_same(R"(func.func @main(%a0: tensor<30000xf32>) -> tensor<30000xf32> {
  %v = stablehlo.sine %a0 : tensor<30000xf32>
)" +
              counted(40, "%m = %v", "tensor<30000xf32>", R"(
    %x = stablehlo.dynamic_slice %v, %i, sizes = [20000] : (tensor<30000xf32>, tensor<i32>) -> tensor<20000xf32>
    %y = stablehlo.add %x, %x : tensor<20000xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %u = stablehlo.dynamic_update_slice %m, %y, %j : (tensor<30000xf32>, tensor<20000xf32>, tensor<i32>) -> tensor<30000xf32>
)",
                      "%u") +
              R"(  %out = stablehlo.multiply %r#1, %a0 : tensor<30000xf32>
  return %out : tensor<30000xf32>
})");
}

// %b is the same in each iteration, and changed in place in each.
TEST(LoopMemory, WhatIsChangedInPlaceIsMadeAnewInEachTurn) {
  expect_same(
      R"(func.func @main(%a0: tensor<30000xf32>, %a1: tensor<40x10xf32>) -> tensor<30000xf32> {
)" +
      counted(40, "%m = %a0", "tensor<30000xf32>", R"(
    %b = stablehlo.add %a0, %a0 : tensor<30000xf32>
    %s = stablehlo.dynamic_slice %a1, %i, %z, sizes = [1, 10] : (tensor<40x10xf32>, tensor<i32>, tensor<i32>) -> tensor<1x10xf32>
    %x = stablehlo.reshape %s : (tensor<1x10xf32>) -> tensor<10xf32>
    %u = stablehlo.dynamic_update_slice %b, %x, %i : (tensor<30000xf32>, tensor<10xf32>, tensor<i32>) -> tensor<30000xf32>
    %q = stablehlo.reverse %u, dims = [0] : tensor<30000xf32>
    %w = stablehlo.subtract %q, %m : tensor<30000xf32>
)",
              "%w") +
      R"(  return %r#1 : tensor<30000xf32>
})");
}

// The same of an inner loop that the driver runs.
TEST(LoopMemory, AnInnerLoopsCarryStays) {
  expect_same(R"(func.func @main(%a0: tensor<300xf32>, %a1: tensor<300xf32>) -> tensor<300xf32> {
)" +
              counted(19, "%m = %a0", "tensor<300xf32>", R"(
    %q:2 = stablehlo.while(%j = %z, %k = %m) : tensor<i32>, tensor<300xf32>
    cond {
      %n = stablehlo.constant dense<19> : tensor<i32>
      %c = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %o = stablehlo.constant dense<1> : tensor<i32>
      %s1 = stablehlo.slice %k [0:299] : (tensor<300xf32>) -> tensor<299xf32>
      %s2 = stablehlo.slice %k [299:300] : (tensor<300xf32>) -> tensor<1xf32>
      %kk0 = stablehlo.concatenate %s2, %s1, dim = 0 : (tensor<1xf32>, tensor<299xf32>) -> tensor<300xf32>
      %kk = stablehlo.multiply %kk0, %a1 : tensor<300xf32>
      %j2 = stablehlo.add %j, %o : tensor<i32>
      stablehlo.return %j2, %kk : tensor<i32>, tensor<300xf32>
    }
    %d = stablehlo.subtract %a1, %q#1 : tensor<300xf32>
    %w = stablehlo.reverse %d, dims = [0] : tensor<300xf32>
)",
                      "%w") +
              R"(  return %r#1 : tensor<300xf32>
})");
}

// And of one that is a kernel.
TEST(LoopMemory, AnInnerSmallLoopsCarryStays) {
  expect_same(R"(func.func @main(%a0: tensor<300xf32>, %a1: tensor<300xf32>) -> tensor<300xf32> {
)" +
              counted(19, "%m = %a0", "tensor<300xf32>", R"(
    %q:2 = stablehlo.while(%j = %z, %k = %m) : tensor<i32>, tensor<300xf32>
    cond {
      %n = stablehlo.constant dense<18> : tensor<i32>
      %c = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %o = stablehlo.constant dense<1> : tensor<i32>
      %x = stablehlo.constant dense<0.25> : tensor<1xf32>
      %kk = stablehlo.dynamic_update_slice %k, %x, %j : (tensor<300xf32>, tensor<1xf32>, tensor<i32>) -> tensor<300xf32>
      %j2 = stablehlo.add %j, %o : tensor<i32>
      stablehlo.return %j2, %kk : tensor<i32>, tensor<300xf32>
    }
    %d = stablehlo.subtract %a1, %q#1 : tensor<300xf32>
    %w = stablehlo.reverse %d, dims = [0] : tensor<300xf32>
)",
                      "%w") +
              R"(  return %r#1 : tensor<300xf32>
})");
}

/// %u changes a part of %a in place; %v is made of it and of the other carries. %a, %b and %c
/// become `carries`.
std::string three_carries(const std::string& carries) {
  return R"(func.func @main(%a0: tensor<300xf32>, %a1: tensor<300xf32>) -> (tensor<300xf32>, tensor<300xf32>, tensor<300xf32>) {
)" +
         counted(19, "%a = %a0, %b = %a1, %c = %a1",
                 "tensor<300xf32>, tensor<300xf32>, tensor<300xf32>", R"(
    %x = stablehlo.constant dense<0.25> : tensor<1xf32>
    %u = stablehlo.dynamic_update_slice %a, %x, %i : (tensor<300xf32>, tensor<1xf32>, tensor<i32>) -> tensor<300xf32>
    %v0 = stablehlo.reverse %b, dims = [0] : tensor<300xf32>
    %e = stablehlo.dynamic_slice %u, %one, sizes = [1] : (tensor<300xf32>, tensor<i32>) -> tensor<1xf32>
    %e1 = stablehlo.reshape %e : (tensor<1xf32>) -> tensor<f32>
    %e2 = stablehlo.broadcast_in_dim %e1, dims = [] : (tensor<f32>) -> tensor<300xf32>
    %v1 = stablehlo.multiply %v0, %e2 : tensor<300xf32>
    %v = stablehlo.add %v1, %c : tensor<300xf32>
)",
                 carries) +
         R"(  return %r#1, %r#2, %r#3 : tensor<300xf32>, tensor<300xf32>, tensor<300xf32>
})";
}

// %u is in the memory of %a and becomes %b, while %a becomes %v.
TEST(LoopMemory, AResultInPlaceMovesToAnotherCarry) { expect_same(three_carries("%v, %u, %v")); }

// %v is written to the memory of %a at once, if %u does not wait there.
TEST(LoopMemory, AResultInPlaceMovesWhileItsPlaceIsWritten) {
  expect_same(three_carries("%v, %u, %c"));
}

// No operand of the branch tells that the counter is needed.
TEST(LoopMemory, ABranchReturnsTheCounter) {
  expect_same(R"(func.func @main() -> (tensor<i32>, tensor<i32>) {
  %s0 = stablehlo.constant dense<3> : tensor<i32>
  %sb = stablehlo.optimization_barrier %s0 : tensor<i32>
)" +
              counted(50, "%acc = %sb", "tensor<i32>", R"(
    %two = stablehlo.constant dense<200> : tensor<i32>
    %p = stablehlo.compare LT, %acc, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = "stablehlo.if"(%p) ({
      stablehlo.return %i : tensor<i32>
    }, {
      %q = stablehlo.divide %acc, %two : tensor<i32>
      stablehlo.return %q : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    %a2 = stablehlo.add %acc, %t : tensor<i32>
)",
                      "%a2") +
              R"(  return %r#0, %r#1 : tensor<i32>, tensor<i32>
})");
}

// Or that the stack is read.
TEST(LoopMemory, ABranchReturnsAStack) {
  expect_same(R"(func.func @main() -> (tensor<5xf32>, tensor<f32>) {
  %zf = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = stablehlo.constant dense<[1.0,2.0,3.0,4.0,5.0]> : tensor<5xf32>
  %sb = stablehlo.optimization_barrier %s0 : tensor<5xf32>
)" +
              counted(5, "%s = %sb, %acc = %zf", "tensor<5xf32>, tensor<f32>", R"(
    %two = stablehlo.constant dense<2> : tensor<i32>
    %ones = stablehlo.constant dense<7.0> : tensor<5xf32>
    %p = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = "stablehlo.if"(%p) ({
      stablehlo.return %s : tensor<5xf32>
    }, {
      %q = stablehlo.cosine %ones : tensor<5xf32>
      stablehlo.return %q : tensor<5xf32>
    }) : (tensor<i1>) -> tensor<5xf32>
    %y = stablehlo.reduce(%t init: %zf) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    %y1 = stablehlo.reshape %y : (tensor<f32>) -> tensor<1xf32>
    %s2 = stablehlo.dynamic_update_slice %s, %y1, %i : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    %a2 = stablehlo.add %acc, %y : tensor<f32>
)",
                      "%s2, %a2") +
              R"(  return %r#1, %r#2 : tensor<5xf32>, tensor<f32>
})");
}

// What the condition writes is not what the body reads.
TEST(LoopMemory, AConditionChangesACarry) {
  expect_same(R"(func.func @main() -> (tensor<i32>, tensor<40xi32>, tensor<i32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %m0 = stablehlo.iota dim = 0 : tensor<40xi32>
  %m1 = stablehlo.optimization_barrier %m0 : tensor<40xi32>
  %k0 = stablehlo.constant dense<17> : tensor<i32>
  %k1 = stablehlo.optimization_barrier %k0 : tensor<i32>
  %r:3 = stablehlo.while(%i = %z, %m = %m1, %acc = %k1) : tensor<i32>, tensor<40xi32>, tensor<i32>
  cond {
    %n = stablehlo.constant dense<5> : tensor<1xi32>
    %u = stablehlo.dynamic_update_slice %m, %n, %i : (tensor<40xi32>, tensor<1xi32>, tensor<i32>) -> tensor<40xi32>
    %e = stablehlo.dynamic_slice %u, %acc, sizes = [1] : (tensor<40xi32>, tensor<i32>) -> tensor<1xi32>
    %e0 = stablehlo.reshape %e : (tensor<1xi32>) -> tensor<i32>
    %lim = stablehlo.constant dense<36> : tensor<i32>
    %c = stablehlo.compare LT, %e0, %lim : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %e = stablehlo.dynamic_slice %m, %acc, sizes = [1] : (tensor<40xi32>, tensor<i32>) -> tensor<1xi32>
    %e0 = stablehlo.reshape %e : (tensor<1xi32>) -> tensor<i32>
    %a2 = stablehlo.add %e0, %one : tensor<i32>
    %i2 = stablehlo.add %i, %one : tensor<i32>
    %x1 = stablehlo.reshape %a2 : (tensor<i32>) -> tensor<1xi32>
    %c9 = stablehlo.constant dense<39> : tensor<i32>
    %m2 = stablehlo.dynamic_update_slice %m, %x1, %c9 : (tensor<40xi32>, tensor<1xi32>, tensor<i32>) -> tensor<40xi32>
    stablehlo.return %i2, %m2, %a2 : tensor<i32>, tensor<40xi32>, tensor<i32>
  }
  return %r#0, %r#1, %r#2 : tensor<i32>, tensor<40xi32>, tensor<i32>
})");
}

using Body = std::function<op::Values(op::Builder&, op::Value* s, op::Value* t, op::Value* v)>;

/// A scan of two square carries, s and t, and rows v.
std::unique_ptr<ir::Block> squares(const Body& next) {
  constexpr std::int64_t n = 40;
  auto body = std::make_unique<ir::Block>(), f = std::make_unique<ir::Block>();
  const Type square(DType::f32, {n, n}), row(DType::f32, {n}), rows(DType::f32, {5, n});
  op::Value *s = body->add_argument(square), *t = body->add_argument(square),
            *v = body->add_argument(row);
  op::Builder in(*body), b(*f);
  body->results = next(in, s, t, v);
  op::Value *s0 = f->add_argument(square), *t0 = f->add_argument(square),
            *vs = f->add_argument(rows);
  f->results = op::scan(b, std::move(body), {}, {s0, t0}, {vs}, {.length = 5});
  return f;
}

/// Copies within the loop.
std::ptrdiff_t copies(const ir::Block& f) {
  std::string text = print(make_plan(*prepare(f), {}, testing::v3()));
  text = text.substr(std::min(text.size(), text.find("for ")));
  std::ptrdiff_t n = 0;
  for (std::size_t at = text.find("copy"); at != std::string::npos; at = text.find("copy", at + 1))
    ++n;
  return n;
}

op::Value* spread(op::Builder& b, op::Value* v, op::Value* like, int dim) {
  return op::broadcast_in_dim(b, v, like->shape(), {dim});
}
op::Value* outer(op::Builder& b, op::Value* v, op::Value* like) {
  return op::mul(b, spread(b, v, like, 0), spread(b, v, like, 1));
}

// As state-space models do: a state and the product of two rows are added, element by element of
// the state.
TEST(LoopMemory, AStateIsChangedWhereItLies) {
  auto f = squares([](op::Builder& b, op::Value* s, op::Value* t, op::Value* v) {
    return op::Values{op::add(b, op::mul(b, s, op::full_like(b, s, 0.9)), outer(b, v, s)), t};
  });
  EXPECT_EQ(copies(*f), 0);
  testing::expect_compiled_equals_reference(*f);
}

// A number of a block around the loop, as JAX writes its constants, is no array that must stay:
// results of several roots are in their carries' places.
TEST(LoopMemory, CarriesAreChangedWhereTheyLieByNumbersFromOutside) {
  auto module =
      ir::parse(R"(func.func @main(%a0: tensor<300xi32>) -> (tensor<300xi32>, tensor<300xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %n = stablehlo.constant dense<0> : tensor<300xi32>
  %r:2 = stablehlo.while(%m = %a0, %k = %n) : tensor<300xi32>, tensor<300xi32>
  cond {
    %none = stablehlo.constant dense<false> : tensor<i1>
    %least = stablehlo.broadcast_in_dim %two, dims = [] : (tensor<i32>) -> tensor<300xi32>
    %goes = stablehlo.compare GT, %m, %least : (tensor<300xi32>, tensor<300xi32>) -> tensor<300xi1>
    %any = stablehlo.reduce(%goes init: %none) applies stablehlo.or across dimensions = [0] : (tensor<300xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %any : tensor<i1>
  } do {
    %d = stablehlo.broadcast_in_dim %two, dims = [] : (tensor<i32>) -> tensor<300xi32>
    %t = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<i32>) -> tensor<300xi32>
    %half = stablehlo.divide %m, %d : tensor<300xi32>
    %rest = stablehlo.remainder %m, %t : tensor<300xi32>
    %c = stablehlo.compare EQ, %rest, %d : (tensor<300xi32>, tensor<300xi32>) -> tensor<300xi1>
    %m2 = stablehlo.select %c, %m, %half : tensor<300xi1>, tensor<300xi32>
    %m3 = stablehlo.subtract %m2, %rest : tensor<300xi32>
    %k2 = stablehlo.add %k, %rest : tensor<300xi32>
    stablehlo.return %m3, %k2 : tensor<300xi32>, tensor<300xi32>
  }
  return %r#0, %r#1 : tensor<300xi32>, tensor<300xi32>
})");
  ASSERT_TRUE(module.ok()) << module.status().message();
  const ir::Block& f = (*module)->entry()->body;
  const std::string plan = print(make_plan(*prepare(f), {}, testing::v3()));
  EXPECT_EQ(plan.substr(plan.find("while ")).find("copy"), std::string::npos) << plan;
  testing::expect_compiled_equals_reference(f);
}

// Where other elements are read too, or the old state by others, it must stay until they are done.
TEST(LoopMemory, AStateThatIsReadElsewhereStays) {
  for (const Body& next :
       {Body([](op::Builder& b, op::Value* s, op::Value* t, op::Value* v) {
          return op::Values{op::add(b, op::add(b, s, op::transpose(b, s, {1, 0})), outer(b, v, s)),
                            t};
        }),
        Body([](op::Builder& b, op::Value* s, op::Value* t, op::Value* v) {
          return op::Values{op::add(b, s, outer(b, v, s)),
                            op::add(b, op::mul(b, t, s), spread(b, v, s, 1))};
        }),
        Body([](op::Builder& b, op::Value* s, op::Value* t, op::Value* v) {
          return op::Values{op::add(b, t, outer(b, v, s)), op::sub(b, s, spread(b, v, s, 0))};
        })})
    testing::expect_compiled_equals_reference(*squares(next));
}

}  // namespace
}  // namespace strata::compile
