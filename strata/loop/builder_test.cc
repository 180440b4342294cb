// What the Builder makes of what it is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/loop/interpreter.h"
#include "strata/loop/loop.h"

namespace strata::loop {
namespace {

struct Fixture : ::testing::Test {
  Kernel kernel{"k"};
  Builder b{kernel};
  Ref* x = b.parameter(DType::f32, 1000, Ref::Mode::in);
  Ref* n = b.parameter(DType::i32, 1000, Ref::Mode::in);
  Ref* y = b.parameter(DType::f32, 1000, Ref::Mode::inout);
  Inst* f(double value) { return b.constant(DType::f32, value); }
  Inst* i(std::int64_t value) { return b.constant_int(DType::i32, value); }
};
using Fold = Fixture;
using Share = Fixture;
using Control = Fixture;
using Misuse = Fixture;

TEST_F(Fold, ConstantsAreComputed) {
  EXPECT_EQ(b.binary(Opcode::add, f(2), f(3)), f(5));
  EXPECT_EQ(b.binary(Opcode::div, i(7), i(0)), i(-1));
  EXPECT_EQ(b.convert(DType::i32, f(-1e20)), i(INT32_MIN));
  EXPECT_EQ(b.convert(DType::f32, b.convert(DType::bf16, f(1.0 / 3)))->bits, 0x3eab0000u);
  EXPECT_EQ(b.compare(Compare::lt, f(2), f(3)), b.constant_int(DType::i1, 1));
}
TEST_F(Fold, ExactFloatIdentities) {
  Inst* v = b.load(x, 0);
  EXPECT_EQ(b.binary(Opcode::mul, v, f(1)), v);
  EXPECT_EQ(b.binary(Opcode::add, f(-0.0), v), v);
  EXPECT_EQ(b.binary(Opcode::sub, v, f(0)), v);
  EXPECT_EQ(b.unary(Opcode::neg, b.unary(Opcode::neg, v)), v);
  EXPECT_EQ(b.binary(Opcode::div, v, f(8)), b.binary(Opcode::mul, v, f(0.125)));
  EXPECT_EQ(b.fma(v, f(1), f(3)), b.binary(Opcode::add, v, f(3)));
}
TEST_F(Fold, InexactFloatIdentitiesStay) {
  Inst* v = b.load(x, 0);
  EXPECT_NE(b.binary(Opcode::add, v, f(0)), v);  // -0 + 0 is +0
  EXPECT_NE(b.binary(Opcode::mul, v, f(0)), f(0));
  EXPECT_NE(b.binary(Opcode::sub, v, v), f(0));
  EXPECT_EQ(b.binary(Opcode::div, v, f(3))->code, Opcode::div);
  EXPECT_EQ(b.binary(Opcode::div, v, f(1e-40))->code, Opcode::div);
}
TEST_F(Fold, IntegerIdentities) {
  Inst* v = b.load(n, 0);
  EXPECT_EQ(b.binary(Opcode::sub, v, v), i(0));
  EXPECT_EQ(b.binary(Opcode::and_, v, i(-1)), v);
  EXPECT_EQ(b.binary(Opcode::add, b.binary(Opcode::add, v, i(3)), i(4)),
            b.binary(Opcode::add, v, i(7)));
  EXPECT_EQ(b.convert(DType::i32, b.convert(DType::i64, v)), v);
  EXPECT_NE(b.convert(DType::i32, b.convert(DType::i8, v)), v);
}
TEST_F(Fold, HalvesConvertByWayOfF32) {
  Inst* v = b.convert(DType::bf16, b.load(n, 0));
  EXPECT_EQ(v->args[0]->type.dtype, DType::f32);
}

TEST_F(Share, EqualInstructionsAreOne) {
  Inst *v = b.load(x, 0), *w = b.load(x, 1);
  EXPECT_EQ(b.load(x, 0), v);
  EXPECT_EQ(b.binary(Opcode::mul, v, w), b.binary(Opcode::mul, w, v));
  EXPECT_NE(b.binary(Opcode::sub, v, w), b.binary(Opcode::sub, w, v));
}
TEST_F(Share, AStoreEndsWhatWasLoaded) {
  Inst *in = b.load(x, 0), *out = b.load(y, 0);
  EXPECT_EQ(b.load(y, 0), out);
  b.store(y, 1, in);
  EXPECT_NE(b.load(y, 0), out);
  EXPECT_EQ(b.load(x, 0), in);
}
TEST_F(Share, ALoopMayWriteWhatStandsBeforeIt) {
  Inst *local = b.local(f(0)), *outside = b.get(local), *inside = nullptr;
  b.for_(0, 10, 1, [&](Index) {
    inside = b.get(local);
    b.set(local, f(1));
  });
  EXPECT_NE(inside, outside);
}
TEST_F(Share, ScopesEnd) {
  Inst *v = b.load(x, 0), *inner = nullptr;
  b.for_(0, 10, 1, [&](Index) { inner = b.unary(Opcode::neg, v); });
  EXPECT_NE(b.unary(Opcode::neg, v), inner);
}
TEST_F(Share, LoadsUnderDifferentGuardsDiffer) {
  b.vector(0, 100, 8, [&](Index at) {
    Inst *first = nullptr, *second = nullptr, *plain = b.load(x, at);
    b.guarded(b.less(at, 13), [&] { return first = b.load(x, at); }, f(0));
    b.guarded(b.less(at, 13), [&] { return second = b.load(x, at); }, f(0));
    EXPECT_EQ(first, second);
    EXPECT_NE(first, plain);
    EXPECT_EQ(first->args.size(), 2u);
  });
}

TEST_F(Control, LoopsOfKnownLengthSimplify) {
  std::size_t before = kernel.arena.size();
  b.for_(5, 5, 1, [&](Index) { FAIL(); });
  b.vector(3, 3, 8, [&](Index) { FAIL(); });
  b.for_(5, 7, 2, [&](Index at) { EXPECT_EQ(at, Index(5)); });
  EXPECT_EQ(kernel.arena.size(), before);
}
TEST_F(Control, AStripOfItsOwnHasCounterZero) {
  b.vector(4, 9, 8, [&](Index at) {
    EXPECT_EQ(at.terms().size(), 1u);
    EXPECT_EQ(at.max(), 8);
  });
}
TEST_F(Control, StepsAreVisibleToDivision) {
  b.for_(0, 640, 64, [&](Index block) {
    EXPECT_EQ(b.mod(block, 64), Index(0));
    b.for_(block, block + 64, 1, [&](Index at) { EXPECT_EQ(b.div(at, 64), b.div(block, 64)); });
  });
}
TEST_F(Control, UniformGuardsBranchAroundLoads) {
  Inst* pred = b.compare(Compare::lt, b.load(n, 0), i(7));
  Inst* v = b.guarded(pred, [&] { return b.load(x, 999); }, f(4));
  EXPECT_EQ(v->code, Opcode::get);
  EXPECT_EQ(kernel.body.insts[kernel.body.insts.size() - 2]->code, Opcode::if_);
}
TEST_F(Control, UniformGuardsOfFreeValuesSelect) {
  Inst *pred = b.compare(Compare::lt, b.load(n, 0), i(7)), *w = b.load(x, 0);
  EXPECT_EQ(b.guarded(pred, [&] { return b.unary(Opcode::neg, w); }, f(4))->code, Opcode::select);
}
TEST_F(Control, DecidedGuardsEvaluateOneSide) {
  Inst* yes = b.constant_int(DType::i1, 1);
  EXPECT_EQ(b.guarded(b.less(3, 2), [&]() -> Inst* { throw 1; }, f(4)), f(4));
  Inst* v = b.guarded(yes, [&] { return b.load(x, 3); }, f(4));
  EXPECT_EQ(v->code, Opcode::load);
  EXPECT_TRUE(v->args.empty());
}
TEST_F(Control, GuardsNest) {
  b.vector(0, 100, 8, [&](Index at) {
    Inst *p = b.less(at, 13), *q = b.less(3, at), *loaded = nullptr;
    b.guarded(p, [&] { return b.guarded(q, [&] { return loaded = b.load(x, at); }, f(1)); }, f(2));
    EXPECT_EQ(loaded->args[0], b.binary(Opcode::and_, p, q));
  });
}

TEST_F(Misuse, FailsAChecK) {
  EXPECT_THROW(b.store(x, 0, f(1)), InternalError);
  EXPECT_THROW(b.binary(Opcode::add, f(1), i(1)), InternalError);
  EXPECT_THROW(b.unary(Opcode::sqrt, i(1)), InternalError);
  EXPECT_THROW(b.parameter(DType::c64, 1, Ref::Mode::in), InternalError);
  EXPECT_THROW(b.vector(0, 8, 3, [](Index) {}), InternalError);
  EXPECT_THROW(b.vector(0, 8, 4, [&](Index) { b.vector(0, 8, 4, [](Index) {}); }), InternalError);
}

}  // namespace
}  // namespace strata::loop
