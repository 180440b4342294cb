// Compiled programs have the reference's bits, whatever was fused, planned and cut for threads.
#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using ir::Values;
using testing::expect_compiled_equals_reference;

Value* argument(Block& f, Shape shape, DType dtype = DType::f32) {
  return f.add_argument(Type(dtype, std::move(shape)));
}

TEST(Compile, ElementwiseChain) {
  for (Shape shape :
       {Shape{}, Shape{1}, Shape{17}, Shape{3, 5, 7}, Shape{100, 1000}, Shape{0, 4}}) {
    Block f;
    Value *x = argument(f, shape), *y = argument(f, shape);
    Builder b(f);
    Value* z = op::mul(b, op::add(b, x, y), op::full_like(b, x, 0.25));
    f.results = {op::sub(b, op::exp(b, z), y), z};
    expect_compiled_equals_reference(f);
  }
}

Value* softmax(Builder& b, Value* x) {
  int last = x->rank() - 1;
  ir::Ints kept;
  for (int i = 0; i < last; ++i) kept.push_back(i);
  Value* m = op::broadcast_in_dim(b, op::reduce_max(b, x, {last}), x->shape(), kept);
  Value* e = op::exp(b, op::sub(b, x, m));
  return op::div(b, e, op::broadcast_in_dim(b, op::reduce_sum(b, e, {last}), x->shape(), kept));
}

TEST(Compile, SoftmaxIsOneKernel) {
  for (Shape shape : {Shape{5}, Shape{4, 33}, Shape{2, 3, 300}, Shape{3, 5000}}) {
    Block f;
    Value* x = argument(f, shape);
    Builder b(f);
    f.results = {softmax(b, x)};
    EXPECT_EQ(make_plan(*prepare(f), {}, testing::v3()).kernels.size(), 1u) << explain(f).fusion;
    expect_compiled_equals_reference(f);
  }
}

// Else LLVM gets one function of all of it, whose time to compile grows faster than its length.
TEST(Compile, LongChainsAreSeveralKernels) {
  for (std::int64_t length : {50, 500}) {
    Block f;
    Value* x = argument(f, Shape{7, 9});
    Builder b(f);
    Value* y = x;
    for (std::int64_t i = 0; i < length; ++i) y = op::exp(b, op::neg(b, y));
    f.results = {y};
    const std::size_t kernels = make_plan(*prepare(f), {}, testing::v3()).kernels.size();
    if (length < 100)
      EXPECT_EQ(kernels, 1u);
    else
      EXPECT_GT(kernels, 1u);
    expect_compiled_equals_reference(f);
  }
}

// What is equal is built and compiled once, however often it stands there.
// As JAX 0.12 writes lgamma: a hundred values that several later ones read, of little arithmetic
// all together.
TEST(Compile, AFunctionOfManyStepsIsOneKernel) {
  ir::Block f;
  op::Builder b(f);
  op::Value* y = f.add_argument(Type(DType::f32, {300}));
  for (int i = 0; i < 150; ++i)
    y = op::sub(b, op::mul(b, y, op::full_like(b, y, 0.5)), op::mul(b, y, y));
  f.results = {y};
  EXPECT_EQ(make_plan(*prepare(f), {}, testing::v3()).kernels.size(), 1u) << explain(f).fusion;
  testing::expect_compiled_equals_reference(f);
}

TEST(Compile, EqualLayersHaveOneKernelOfEachKind) {
  Block f;
  Value *x = argument(f, {8, 8}), *w = argument(f, {8, 8});
  Builder b(f);
  for (int layer = 0; layer < 40; ++layer) {
    Value* y = op::tanh(b, op::add(b, op::dot_general(b, x, w, {{}, {}, {1}, {0}}), w));
    Value* norm = op::rsqrt(b, op::reduce_sum(b, op::mul(b, y, y), {1}));
    x = op::add(b, x, op::mul(b, y, op::broadcast_in_dim(b, norm, y->shape(), {0})));
  }
  f.results = {x};
  Plan plan = make_plan(*prepare(f), {}, testing::v3());
  EXPECT_EQ(plan.kernels.size(), 2u);
  EXPECT_EQ(launches(plan).size(), 80u);
  expect_compiled_equals_reference(f);
}

// Near misses: a constant, an attribute, the elements of a list, a type.
TEST(Compile, WhatDiffersInOnePlaceHasAKernelOfItsOwn) {
  using Part = std::function<Value*(Builder&, Value*)>;
  auto kernels = [](const Part& first, const Part& second) {
    Block f;
    Value *x = argument(f, {3, 4}), *y = argument(f, {3, 4});
    Builder b(f);
    f.results = {first(b, x), second(b, y)};
    expect_compiled_equals_reference(f);
    return make_plan(*prepare(f), {}, testing::v3()).kernels.size();
  };
  auto times = [](double factor) -> Part {
    return [=](Builder& b, Value* x) {
      return op::mul(b, op::exp(b, x), op::full_like(b, x, factor));
    };
  };
  auto row = [](std::int64_t i) -> Part {
    return [=](Builder& b, Value* x) { return op::exp(b, op::slice(b, x, {i, 0}, {i + 1, 4})); };
  };
  auto last = [](float z) -> Part {
    return [=](Builder& b, Value* x) {
      Value* list = op::constant(b, Literal::of<float>({4}, {1, 2, 3, z}));
      return op::mul(b, x,
                     op::broadcast_in_dim(b, op::reshape(b, op::slice(b, list, {3}, {4}), Shape{}),
                                          x->shape(), {}));
    };
  };
  auto as = [](DType dtype) -> Part {
    return [=](Builder& b, Value* x) { return op::convert(b, op::exp(b, x), dtype); };
  };
  EXPECT_EQ(kernels(times(2), times(2)), 1u);
  EXPECT_EQ(kernels(times(2), times(3)), 2u);
  EXPECT_EQ(kernels(row(1), row(1)), 1u);
  EXPECT_EQ(kernels(row(1), row(2)), 2u);
  EXPECT_EQ(kernels(last(4), last(4)), 1u);
  EXPECT_EQ(kernels(last(4), last(5)), 2u);
  EXPECT_EQ(kernels(as(DType::f64), as(DType::f64)), 1u);
  EXPECT_EQ(kernels(as(DType::f64), as(DType::bf16)), 2u);
}

// The transposed reader sees other elements than the writer has at hand: one kernel would read what
// is not there yet.
TEST(Compile, ReadersAtOtherPlacesWait) {
  Block f;
  Value* x = argument(f, {40, 40});
  Builder b(f);
  Value* y = op::exp(b, x);
  f.results = {y, op::tanh(b, op::add(b, op::transpose(b, y, {1, 0}), op::reverse(b, y, {0})))};
  expect_compiled_equals_reference(f);
}

TEST(Compile, ReversedReadersWait) {
  Block f;
  Value* x = argument(f, {4096});
  Builder b(f);
  Value* y = op::exp(b, x);
  f.results = {y, op::tanh(b, op::reverse(b, y, {0}))};
  expect_compiled_equals_reference(f);
}

// 24 rows of 10 and 6 rows of 40 over the same elements are different rows.
TEST(Compile, RowsOfDifferentLengthsOverTheSameElements) {
  Block f;
  Value* x = argument(f, {6, 4, 10});
  Builder b(f);
  Value* short_rows = op::broadcast_in_dim(b, op::reduce_sum(b, x, {2}), x->shape(), {0, 1});
  Value* y = op::mul(b, x, op::tanh(b, short_rows));
  Value* long_rows = op::broadcast_in_dim(b, op::reduce_sum(b, y, {1, 2}), x->shape(), {0});
  f.results = {op::sub(b, y, op::tanh(b, long_rows)), y};
  expect_compiled_equals_reference(f);
}

TEST(Compile, ReductionsOverAnyDimensions) {
  for (ir::Ints dims : {ir::Ints{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}})
    for (Shape shape : {Shape{3, 40, 70}, Shape{300, 2, 9}, Shape{2, 1, 1}}) {
      Block f;
      Value* x = argument(f, shape);
      Builder b(f);
      f.results = {op::reduce_sum(b, op::mul(b, x, x), dims), op::reduce_max(b, x, dims)};
      expect_compiled_equals_reference(f, 3, false);
    }
}

TEST(Compile, LongReductionInTwoPhases) {
  Block f;
  Value *x = argument(f, {300001}), *y = argument(f, {700, 130});
  Builder b(f);
  f.results = {op::reduce_sum(b, x, {0}), op::reduce_sum(b, y, {0}),
               op::reduce_sum(b, op::convert(b, x, DType::bf16), {0})};
  expect_compiled_equals_reference(f, 5, false);
}

TEST(Compile, ProductsOfAllForms) {
  struct Case {
    Shape l, r;
    op::DotDims dims;
  };
  for (const Case& c :
       {Case{{7, 9}, {9, 5}, {{}, {}, {1}, {0}}}, Case{{64, 96}, {96, 80}, {{}, {}, {1}, {0}}},
        Case{{33, 40}, {50, 40}, {{}, {}, {1}, {1}}}, Case{{40, 33}, {40, 50}, {{}, {}, {0}, {0}}},
        Case{{2, 3, 20, 8}, {2, 3, 30, 8}, {{0, 1}, {0, 1}, {3}, {3}}},
        Case{{2, 20, 3, 8}, {2, 30, 3, 8}, {{0, 2}, {0, 2}, {3}, {3}}},
        Case{{1, 600}, {600, 70}, {{}, {}, {1}, {0}}}, Case{{90, 700}, {700}, {{}, {}, {1}, {0}}},
        Case{{12, 1030}, {1030, 40}, {{}, {}, {1}, {0}}}, Case{{4, 5}, {5, 0}, {{}, {}, {1}, {0}}},
        Case{{4, 0}, {0, 3}, {{}, {}, {1}, {0}}}}) {
    Block f;
    Value *l = argument(f, c.l), *r = argument(f, c.r);
    Builder b(f);
    f.results = {op::dot_general(b, l, r, c.dims)};
    expect_compiled_equals_reference(f, 7);
  }
}

TEST(Compile, ProductsOfIntegersAndF64) {
  for (DType dtype : {DType::i32, DType::f64, DType::f16}) {
    Block f;
    Value *l = argument(f, {19, 23}, dtype), *r = argument(f, {23, 35}, dtype);
    Builder b(f);
    f.results = {op::dot_general(b, l, r, {{}, {}, {1}, {0}})};
    expect_compiled_equals_reference(f, 9);
  }
}

/// A right operand of which a kernel has one number for many lanes.
TEST(Compile, ProductsWithOneNumberSpreadAlongTheSum) {
  for (DType dtype : {DType::f32, DType::i32, DType::f16}) {
    Block f;
    Value *l = argument(f, {3, 16}, dtype), *z = argument(f, {}, dtype),
          *row = argument(f, {16}, dtype);
    Builder b(f);
    const op::DotDims along{{}, {}, {1}, {1}};
    f.results = {
        op::dot_general(b, l, op::broadcast_in_dim(b, z, {16, 16}, {}), along),
        op::dot_general(b, l, op::broadcast_in_dim(b, row, {16, 16}, {0}), along),
        op::dot_general(b, l,
                        op::pad(b, op::broadcast_in_dim(b, row, {2, 16}, {1}), z, {14, 0}, {16, 0}),
                        along)};
    expect_compiled_equals_reference(f, 3);
  }
}

/// Comparisons of f16 under masks and with many values at hand: LLVM 19 exchanged the sides of one
/// and kept its predicate.
TEST(Compile, FunctionsOfF16AtIntegers) {
  Block f;
  Value* x = argument(f, {17}, DType::f16);
  Builder b(f);
  f.results = {b.create("chlo.digamma", {x}).result()};
  Literal integers(x->type());
  for (std::int64_t i = 0; i < 17; ++i) integers.set_number(i, static_cast<double>(i - 8));
  const std::vector<Literal> arguments = {integers};
  testing::expect_same_bits(testing::run_compiled(f, arguments), op::evaluate(f, arguments),
                            "integers");
}

TEST(Compile, NarrowProductsAreNearTheReference) {  // docs/exceptions.md
  for (op::DotDims dims : {op::DotDims{{}, {}, {1}, {0}}, {{}, {}, {1}, {1}}, {{}, {}, {0}, {0}}}) {
    Block f;
    Value *l = argument(f, {48, 48}, DType::bf16), *r = argument(f, {48, 48}, DType::bf16);
    Builder b(f);
    f.results = {op::dot_general(b, l, r, dims, DType::f32)};
    std::vector<Literal> arguments = testing::arguments_of(f);
    Literal want = op::evaluate(f, arguments)[0], got = testing::run_compiled(f, arguments)[0];
    for (std::int64_t i = 0; i < want.count(); ++i)
      EXPECT_NEAR(got.number(i), want.number(i), 1e-4) << i;
  }
}

TEST(Compile, ScanWithStacksAndInvariants) {
  for (bool reverse : {false, true}) {
    Block f;
    Value *w = argument(f, {6, 6}), *h = argument(f, {4, 6}), *xs = argument(f, {5, 4, 6});
    Builder b(f);
    auto body = std::make_unique<Block>();
    Value *bw = argument(*body, {6, 6}), *bh = argument(*body, {4, 6}),
          *bx = argument(*body, {4, 6});
    Builder inner(*body);
    Value* next =
        op::tanh(inner, op::add(inner, op::dot_general(inner, bh, bw, {{}, {}, {1}, {0}}), bx));
    body->results = {next, op::mul(inner, next, bh)};
    f.results = op::scan(b, std::move(body), {w}, {h}, {xs}, {.length = 5, .reverse = reverse});
    expect_compiled_equals_reference(f, 11);
  }
}

TEST(Compile, ScanCarriesMayTradePlaces) {
  Block f;
  Value *x = argument(f, {3}), *y = argument(f, {3});
  Builder b(f);
  auto body = std::make_unique<Block>();
  Value *p = argument(*body, {3}), *q = argument(*body, {3});
  Builder inner(*body);
  body->results = {q, op::add(inner, p, q), p};
  f.results = op::scan(b, std::move(body), {}, {x, y}, {}, {.length = 7});
  expect_compiled_equals_reference(f, 13);
}

// x[1:3] = x[0:2] * 2, again and again: the new elements are computed from the old array, so it may
// not change under them.
TEST(Compile, UpdatesComputedFromWhatTheyReplace) {
  Block f;
  Value* x = argument(f, {6});
  Builder b(f);
  auto body = std::make_unique<Block>();
  Value* c = argument(*body, {6});
  Builder inner(*body);
  Value* part = op::slice(inner, c, {0}, {4});
  body->results = {op::dynamic_update_slice(inner, c, op::add(inner, part, part),
                                            {op::scalar(inner, DType::i32, 1)})};
  f.results = op::scan(b, std::move(body), {}, {x}, {}, {.length = 3});
  expect_compiled_equals_reference(f);
}

// A constant that nothing else reads is still no memory to write to: the second run would begin
// with the first one's carry.
TEST(Compile, ConstantsSurviveLoopsThatStartFromThem) {
  Block f;
  Value* x = argument(f, {4});
  Builder b(f);
  Value* c = op::constant(b, Literal::of<float>({4}, {1, 2, 3, 4}));
  auto body = std::make_unique<Block>();
  Value *p = argument(*body, {4}), *q = argument(*body, {4});
  Builder inner(*body);
  body->results = {op::add(inner, p, q), op::mul(inner, q, q)};
  f.results = op::scan(b, std::move(body), {}, {c, x}, {}, {.length = 2});
  for (int run = 0; run < 2; ++run) expect_compiled_equals_reference(f);
}

TEST(Compile, ScalarLoopIsOneKernel) {
  Block f;
  Value* n = f.add_argument(Type::scalar(DType::i32));
  Builder b(f);
  Value *zero = op::scalar(b, DType::i32, 0), *c0 = op::scalar(b, DType::f32, 0.5);
  auto cond = std::make_unique<Block>(), body = std::make_unique<Block>();
  Value* i = cond->add_argument(Type::scalar(DType::i32));
  cond->add_argument(Type::scalar(DType::f32));
  Builder cb(*cond);
  cond->results = {op::compare(cb, i, n, "LT")};
  Value *j = body->add_argument(Type::scalar(DType::i32)),
        *c = body->add_argument(Type::scalar(DType::f32));
  Builder bb(*body);
  Value* next = op::rem(bb,
                        op::add(bb, op::mul(bb, c, op::scalar(bb, DType::f32, 1.5)),
                                op::scalar(bb, DType::f32, 0.25)),
                        op::scalar(bb, DType::f32, 3));
  body->results = {op::add(bb, j, op::scalar(bb, DType::i32, 1)), next};
  f.results = op::while_(b, std::move(cond), std::move(body), {zero, c0});
  EXPECT_EQ(make_plan(*prepare(f), {}, testing::v3()).kernels.size(), 1u);
  expect_compiled_equals_reference(f);
}

// As JAX writes its random numbers: five iterations over whole arrays, with rotations from two
// lists that trade places.
TEST(Compile, ShortLoopsAreOneKernelWithWhatIsAroundThem) {
  for (std::int64_t n : {7, 1000, 40000}) {
    Block f;
    Value* key = argument(f, {2}, DType::ui32);
    const Type vector(DType::ui32, {n}), list(DType::ui32, {4}), number = Type::scalar(DType::i32);
    auto element = [](Builder& b, Value* x, std::int64_t i) {
      return op::reshape(b, op::slice(b, x, {i}, {i + 1}), Shape{});
    };
    auto spread = [&](Builder& b, Value* x) {
      return op::broadcast_in_dim(b, x, vector.shape(), {});
    };
    Builder b(f);
    auto cond = std::make_unique<Block>(), body = std::make_unique<Block>();
    Builder cb(*cond), bb(*body);
    cond->results = {
        op::compare(cb, cond->add_argument(number), op::scalar(cb, DType::i32, 5), "LT")};
    for (const Type& type : {vector, vector, list, list}) cond->add_argument(type);
    Value *i = body->add_argument(number), *x = body->add_argument(vector),
          *y = body->add_argument(vector);
    Value *now = body->add_argument(list), *next = body->add_argument(list);
    for (int r = 0; r < 4; ++r) {
      Value *left = element(bb, now, r),
            *right = op::sub(bb, op::scalar(bb, DType::ui32, 32), left);
      x = op::add(bb, x, y);
      y = op::xor_(bb, x,
                   op::or_(bb, op::shift_left(bb, y, spread(bb, left)),
                           op::shift_right_logical(bb, y, spread(bb, right))));
    }
    y = op::add(bb, y, spread(bb, op::convert(bb, i, DType::ui32)));
    body->results = {op::add(bb, i, op::scalar(bb, DType::i32, 1)), x, y, next, now};
    Value* counted = op::convert(b, op::iota(b, Type(DType::ui64, {n}), 0), DType::ui32);
    Values out = op::while_(
        b, std::move(cond), std::move(body),
        {op::scalar(b, DType::i32, 0), op::add(b, counted, spread(b, element(b, key, 0))),
         op::add(b, counted, spread(b, element(b, key, 1))),
         op::constant(b, Literal::of<std::uint32_t>({4}, {13, 15, 26, 6})),
         op::constant(b, Literal::of<std::uint32_t>({4}, {17, 29, 16, 24}))});
    f.results = {op::xor_(b, out[1], out[2])};
    Plan plan = make_plan(*prepare(f), {}, testing::v3());
    EXPECT_EQ(plan.kernels.size(), 1u) << explain(f).fusion;
    EXPECT_EQ(plan.kernels[0]->grid > 1, n == 40000) << "parts of a long array go to threads";
    EXPECT_EQ(plan.kernels[0]->parameters().size(), 2u) << "rotations are code";
    expect_compiled_equals_reference(f);
  }
}

// Elements at places that stay, and at others, from which a long vector is made in parts.
TEST(Compile, LongVectorsAreMadeInParts) {
  const std::int64_t n = 1 << 16;
  Block f;
  Value* x = argument(f, {n});
  Builder b(f);
  Value* first =
      op::broadcast_in_dim(b, op::reshape(b, op::slice(b, x, {3}, {4}), Shape{}), x->shape(), {});
  f.results = {op::add(b, x, first), op::sub(b, op::reverse(b, x, {0}), x)};
  Plan plan = make_plan(*prepare(f), {}, testing::v3());
  for (const auto& kernel : plan.kernels) EXPECT_GT(kernel->grid, 1);
  expect_compiled_equals_reference(f);
  const std::vector<Literal> arguments = testing::arguments_of(f);
  testing::expect_same_bits(testing::run_donated(f, arguments, {true}), op::evaluate(f, arguments),
                            "donated");
}

TEST(Compile, WhileAndBranchesWithArrays) {
  Block f;
  Value *x = argument(f, {40}), *limit = f.add_argument(Type::scalar(DType::f32));
  Builder b(f);
  auto cond = std::make_unique<Block>(), body = std::make_unique<Block>();
  Value* cx = argument(*cond, {40});
  Builder cb(*cond);
  cond->results = {op::compare(cb, op::reduce_sum(cb, op::mul(cb, cx, cx), {0}),
                               op::add(cb, limit, op::scalar(cb, DType::f32, 5)), "GT")};
  Value* bx = argument(*body, {40});
  Builder bb(*body);
  body->results = {op::mul(bb, bx, op::full_like(bb, bx, 0.75))};
  Value* small = op::while_(b, std::move(cond), std::move(body), {x})[0];
  auto yes = std::make_unique<Block>(), no = std::make_unique<Block>();
  Builder yb(*yes), nb(*no);
  yes->results = {op::add(yb, small, x)};
  no->results = {x};
  f.results = op::if_(b, op::compare(b, limit, op::scalar(b, DType::f32, 0), "LT"), std::move(yes),
                      std::move(no));
  for (unsigned seed : {1u, 2u, 3u, 4u}) expect_compiled_equals_reference(f, seed);
}

TEST(Compile, DonatedMemoryIsReused) {
  register_cpu();
  Block f;
  Value *p = argument(f, {1000}), *g = argument(f, {1000});
  Builder b(f);
  f.results = {op::sub(b, p, op::mul(b, g, op::full_like(b, g, 0.1)))};
  auto executable =
      runtime::default_client().compile(f, {.donated = {true, false}, .name = "step"});
  std::vector<Literal> arguments = testing::arguments_of(f);
  Literal want = op::evaluate(f, arguments)[0];
  std::vector<runtime::Buffer> buffers(arguments.begin(), arguments.end());
  arguments.clear();
  const std::byte* place = buffers[0].data();
  auto results = executable->run(std::move(buffers));
  EXPECT_EQ(results[0].data(), place);
  EXPECT_TRUE(results[0].literal().same_bits(want));
}

// Two results that are one value, and two arguments that are given away for them.
TEST(Compile, AResultReturnedTwiceIsWrittenTwice) {
  Block f;
  Value *x = argument(f, {1000}), *y = argument(f, {1000});
  Builder b(f);
  Value* sum = op::add(b, x, y);
  f.results = {sum, sum};
  const std::vector<Literal> arguments = testing::arguments_of(f);
  testing::expect_same_bits(testing::run_donated(f, arguments, {true, true}),
                            op::evaluate(f, arguments), "donated");
}

TEST(Compile, UpdateInPlaceKeepsTheArgument) {
  Block f;
  Value *x = argument(f, {10, 4}), *u = argument(f, {2, 4});
  Builder b(f);
  Value *at = op::scalar(b, DType::i32, 3), *zero = op::scalar(b, DType::i32, 0);
  Value* y = op::dynamic_update_slice(b, x, u, {at, zero});
  Value* z = op::dynamic_update_slice(b, op::add(b, x, x), u, {at, zero});
  f.results = {y, z, op::dynamic_slice(b, y, {at, zero}, {3, 4})};
  expect_compiled_equals_reference(f);
}

/// More than a megabyte, which all threads copy.
TEST(Compile, UpdateOfALargeArgument) {
  Block f;
  Value *x = argument(f, {601, 703}), *u = argument(f, {2, 4});
  Builder b(f);
  f.results = {op::dynamic_update_slice(
      b, x, u, {op::scalar(b, DType::i32, 300), op::scalar(b, DType::i32, 0)})};
  expect_compiled_equals_reference(f);
}

/// Zeros to which two updates are made on the way to a result are where it is, and nothing is
/// copied; where the first update is a result, too, it stays.
TEST(Compile, WhatIsUpdatedIsMadeWhereTheResultLies) {
  for (bool both : {false, true}) {
    Block f;
    Value *u = argument(f, {2, 4}), *w = argument(f, {3, 4});
    Builder b(f);
    Value *at = op::scalar(b, DType::i32, 3), *zero = op::scalar(b, DType::i32, 0);
    Value* zeros = op::broadcast_in_dim(b, op::scalar(b, DType::f32, 0), Shape{10, 4}, {});
    Value* y = op::dynamic_update_slice(b, zeros, u, {at, zero});
    f.results = {op::dynamic_update_slice(b, y, w, {zero, zero})};
    if (both) f.results.push_back(y);
    expect_compiled_equals_reference(f);
    Plan plan = make_plan(*prepare(f), {}, testing::v3());
    const auto copies = std::count_if(plan.steps.begin(), plan.steps.end(), [](const Step& s) {
      return std::holds_alternative<Copy>(s.what);
    });
    EXPECT_EQ(copies, both ? 1 : 0);
    EXPECT_EQ(plan.arena_bytes, 0);
  }
}

std::int64_t large_temporaries(const Block& f) {
  std::int64_t out = 0;
  for (const PlanBuffer& buffer : make_plan(*prepare(f), {}, testing::v3()).buffers)
    out += buffer.kind == PlanBuffer::Kind::temporary &&
           buffer.bytes >= static_cast<std::int64_t>(f.arguments()[0]->type().bytes());
  return out;
}

/// Softmax over the first dimension: what is summed by columns is computed for the sums and for the
/// quotients, and is nowhere; with more arithmetic, or of a small array, it is made once.
TEST(Compile, ALargeExponentialBesideItsColumnSumsIsNotStored) {
  enum class Which { large, small, heavy, result };
  for (Which which : {Which::large, Which::small, Which::heavy, Which::result}) {
    const std::int64_t side = which == Which::small ? 32 : 1040;
    Block f;
    Value* x = argument(f, {side, 1030});
    Builder b(f);
    Value* e = op::exp(b, x);
    if (which == Which::heavy) e = op::tanh(b, op::sin(b, e));
    f.results = {
        op::div(b, e, op::broadcast_in_dim(b, op::reduce_sum(b, e, {0}), x->shape(), {1}))};
    if (which == Which::result) f.results.push_back(e);
    expect_compiled_equals_reference(f);
    EXPECT_EQ(large_temporaries(f), which == Which::small || which == Which::heavy ? 1 : 0);
  }
}

/// Batch normalisation: x - mean, of which both the variance and the result are computed, is
/// computed twice and is nowhere; a small one, or one that is a result, is made once.
TEST(Compile, ALargeArrayBesideItsMeanIsNotStored) {
  enum class Which { large, small, result };
  for (Which which : {Which::large, Which::small, Which::result}) {
    const std::int64_t side = which == Which::small ? 32 : 1040;
    Block f;
    Value* x = argument(f, {side, 1030});
    Builder b(f);
    auto spread = [&](Value* row) { return op::broadcast_in_dim(b, row, x->shape(), {1}); };
    Value *mean = op::reduce(b, x, {0}, op::Combiner::add), *shifted = op::sub(b, x, spread(mean));
    Value* variance = op::reduce(b, op::mul(b, shifted, shifted), {0}, op::Combiner::add);
    f.results = {op::mul(b, shifted, spread(op::rsqrt(b, variance)))};
    if (which == Which::result) f.results.push_back(shifted);
    expect_compiled_equals_reference(f);
    EXPECT_EQ(large_temporaries(f), which == Which::small ? 1 : 0)
        << print(make_plan(*prepare(f), {}, testing::v3()));
  }
}

}  // namespace
}  // namespace strata::compile
