// Factorisations of matrices: samples for the laws, what their results must multiply to, and what
// they refuse.
#include <cmath>

#include "strata/op/evaluate.h"
#include "strata/op/linalg/matrix.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

/// Far from singular: the diagonal is n, n + 2, ... or so.
Literal dominant(DType dtype, Shape shape, std::uint64_t seed) {
  Literal x = random_literal(Type(dtype, shape), seed, -1, 1), parts = real_view(x);
  const std::int64_t n = shape[shape.rank() - 1], m = shape[shape.rank() - 2],
                     width = is_complex(dtype) ? 2 : 1;
  for (std::int64_t i = 0; i < shape.count(); ++i)
    if (i / n % m == i % n)
      parts.set_number(i * width, parts.number(i * width) + static_cast<double>(n + 2 * (i % n)));
  return Literal(x.type(), parts.storage());
}

/// Of the shapes and types that all of them take.
void add_matrices(std::vector<Sample>& out, const Attrs& attrs, bool smooth, bool square,
                  bool narrow = true) {
  out.push_back({.what = "f64",
                 .operands = {dominant(DType::f64, {4, 4}, 1)},
                 .attrs = attrs,
                 .smooth = smooth});
  out.push_back({.what = "a batch of f32",
                 .operands = {dominant(DType::f32, {2, 3, 3}, 2)},
                 .attrs = attrs,
                 .smooth = smooth});
  out.push_back({.what = "c128",
                 .operands = {dominant(DType::c128, {3, 3}, 3)},
                 .attrs = attrs,
                 .smooth = false});
  out.push_back({.what = "c64",
                 .operands = {dominant(DType::c64, {2, 2}, 4)},
                 .attrs = attrs,
                 .smooth = false});
  if (narrow)
    out.push_back({.what = "bf16",
                   .operands = {dominant(DType::bf16, {3, 3}, 5)},
                   .attrs = attrs,
                   .smooth = false});
  out.push_back({.what = "one row",
                 .operands = {dominant(DType::f64, {1, 1}, 6)},
                 .attrs = attrs,
                 .smooth = smooth});
  out.push_back({.what = "no rows",
                 .operands = {dominant(DType::f32, {2, 0, 0}, 7)},
                 .attrs = attrs,
                 .smooth = false});
  if (square) return;
  out.push_back({.what = "tall",
                 .operands = {dominant(DType::f64, {5, 3}, 8)},
                 .attrs = attrs,
                 .smooth = smooth});
  out.push_back({.what = "wide, a batch",
                 .operands = {dominant(DType::f64, {2, 2, 4}, 9)},
                 .attrs = attrs,
                 .smooth = smooth});
}

bool add_all(const char* name, const Attrs& attrs, bool smooth, bool square, bool narrow = true) {
  return add_samples(
      name, [=](std::vector<Sample>& out) { add_matrices(out, attrs, smooth, square, narrow); });
}

const bool registered[] = {
    add_all("strata.lu", {}, true, false),
    add_all("strata.geqrf", {}, false, false),
    add_all("strata.geqp3", {}, false, false),
    add_all("strata.qr", {{"full_matrices", false}, {"pivoting", false}}, true, false),
    add_all("strata.qr", {{"full_matrices", true}, {"pivoting", true}}, true, false),
    add_all("strata.eigh", {}, true, true),
    add_all("strata.eig", {{"vector_derivatives", true}, {"vectors", std::string("both")}}, true,
            true, false),
    add_all("strata.eig", {{"vector_derivatives", true}, {"vectors", std::string("right")}}, true,
            true, false),
    add_all("strata.eig", {{"vector_derivatives", false}, {"vectors", std::string("none")}}, true,
            true, false),
    add_all("strata.hessenberg", {}, false, true),
    add_all("strata.schur", {}, false, true),
    add_all("strata.tridiagonal", {{"lower", true}}, false, true),
    add_all("strata.tridiagonal", {{"lower", false}}, false, true),
    add_all("strata.svd", {{"compute_uv", true}, {"full_matrices", false}}, true, false),
    add_all("strata.svd", {{"compute_uv", true}, {"full_matrices", true}}, false, false),
    add_all("strata.svd", {{"compute_uv", false}, {"full_matrices", true}}, true, false),
};

const bool product_registered =
    add_samples("strata.householder_product", [](std::vector<Sample>& out) {
      auto add = [&](const char* what, DType dtype, Shape a, Shape taus) {
        out.push_back(
            {.what = what,
             .operands = {random_literal(Type(dtype, a), 1), random_literal(Type(dtype, taus), 2)},
             .smooth = false});
      };
      add("f64", DType::f64, {4, 3}, {3});
      add("a batch of f32, fewer reflectors", DType::f32, {2, 3, 3}, {2, 2});
      add("c64", DType::c64, {3, 2}, {2});
      add("bf16", DType::bf16, {3, 2}, {2});
      add("no columns", DType::f32, {3, 0}, {0});
    });

const bool solve_registered = add_samples("strata.solve", [](std::vector<Sample>& out) {
  for (bool transpose : {false, true}) {
    auto add = [&](const char* what, DType dtype, Shape a, Shape b) {
      out.push_back({.what = what,
                     .operands = {dominant(dtype, a, 1), random_literal(Type(dtype, b), 2)},
                     .attrs = {{"transpose", transpose}}});
    };
    add("f64", DType::f64, {4, 4}, {4, 2});
    add("a batch of f32", DType::f32, {2, 3, 3}, {2, 3, 1});
    add("c128", DType::c128, {3, 3}, {3, 2});
    add("bf16", DType::bf16, {2, 2}, {2, 1});
    add("no right hand sides", DType::f32, {2, 2}, {2, 0});
  }
});

const bool tridiagonal_registered =
    add_samples("strata.tridiagonal_solve", [](std::vector<Sample>& out) {
      auto add = [&](const char* what, DType dtype, Shape line, Shape b) {
        out.push_back({.what = what,
                       .operands = {random_literal(Type(dtype, line), 1, -1, 1),
                                    random_literal(Type(dtype, line), 2, 3, 4),
                                    random_literal(Type(dtype, line), 3, -1, 1),
                                    random_literal(Type(dtype, b), 4)}});
      };
      add("f64", DType::f64, {5}, {5, 2});
      add("a batch of f32", DType::f32, {2, 3}, {2, 3, 1});
      add("c128", DType::c128, {4}, {4, 1});
      add("bf16", DType::bf16, {3}, {3, 1});
      add("one row", DType::f64, {1}, {1, 2});
      add("no rows", DType::f32, {0}, {0, 2});
    });

/// What an operation gives of matrices of random numbers, and what they are.
struct Factored {
  Literal a;
  Block block;
  Builder b{block};
  Value* operand;
  explicit Factored(DType dtype, Shape shape, std::uint64_t seed = 3)
      : a(random_literal(Type(dtype, std::move(shape)), seed)),
        operand(block.add_argument(a.type())) {}
  Values create(const char* name, Attrs attrs = {}) {
    return b.create(name, {operand}, std::move(attrs)).results();
  }
  /// The greatest element of x - y, by its greater part.
  double distance(Value* x, Value* y) {
    block.results = {sub(b, x, y)};
    const Literal difference = real_view(evaluate(block, std::vector<Literal>{a})[0]);
    double most = 0;
    for (std::int64_t i = 0; i < difference.count(); ++i)
      most = std::max(most, std::fabs(difference.number(i)));
    return most;
  }
  double distance_to_unitary(Value* q) {
    return distance(matmul(b, adjoint(b, q), q), identity_like(b, matmul(b, adjoint(b, q), q)));
  }
  Value* scaled_columns(Value* x, Value* s) {
    return mul(b, x, in_columns(b, convert(b, s, x->dtype()), x));
  }
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{1, 1}, {2, 2},   {5, 5},  {2, 7, 4},
                                         {3, 8}, {24, 24}, {40, 12}};
  return all;
}
bool is_square(const Shape& s) { return s[s.rank() - 1] == s[s.rank() - 2]; }

constexpr double kSmall = 1e-12;

TEST(factorisations, of_all_shapes_multiply_back) {
  for (DType dtype : {DType::f64, DType::c128})
    for (const Shape& shape : shapes()) {
      SCOPED_TRACE(Type(dtype, shape).to_string());
      Factored r(dtype, shape);
      const std::int64_t k = std::min(shape[shape.rank() - 2], shape[shape.rank() - 1]);
      Values qr = r.create("strata.qr", {{"full_matrices", false}, {"pivoting", false}});
      EXPECT_LT(r.distance(matmul(r.b, qr[0], qr[1]), r.operand), kSmall);
      EXPECT_LT(r.distance_to_unitary(qr[0]), kSmall);
      Values full = r.create("strata.qr", {{"full_matrices", true}, {"pivoting", false}});
      EXPECT_LT(r.distance(matmul(r.b, full[0], full[1]), r.operand), kSmall);
      EXPECT_LT(r.distance_to_unitary(full[0]), kSmall);
      Values svd = r.create("strata.svd", {{"compute_uv", true}, {"full_matrices", false}});
      EXPECT_LT(r.distance(matmul(r.b, r.scaled_columns(svd[1], svd[0]), svd[2]), r.operand),
                kSmall);
      EXPECT_LT(r.distance_to_unitary(svd[1]), kSmall);
      EXPECT_LT(r.distance_to_unitary(adjoint(r.b, svd[2])), kSmall);
      Values all = r.create("strata.svd", {{"compute_uv", true}, {"full_matrices", true}});
      EXPECT_LT(r.distance_to_unitary(all[1]), kSmall);
      EXPECT_LT(r.distance_to_unitary(all[2]), kSmall);
      EXPECT_LT(r.distance(all[0], r.create("strata.svd",
                                            {{"compute_uv", false}, {"full_matrices", true}})[0]),
                kSmall);
      Values lu = r.create("strata.lu");
      const int rank = shape.rank();
      Value* l = slice_dim(r.b, lu[0], rank - 1, 0, k);
      l = add(r.b, triangle(r.b, l, true, true), identity_like(r.b, l));
      EXPECT_LT(
          r.distance(matmul(r.b, l, triangle(r.b, slice_dim(r.b, lu[0], rank - 2, 0, k), false)),
                     rows_taken(r.b, r.operand, lu[2])),
          kSmall);
    }
}

TEST(factorisations, of_square_matrices_are_similar) {
  for (DType dtype : {DType::f64, DType::c128})
    for (const Shape& shape : shapes()) {
      if (!is_square(shape)) continue;
      SCOPED_TRACE(Type(dtype, shape).to_string());
      Factored r(dtype, shape);
      Values eigh = r.create("strata.eigh");
      EXPECT_LT(r.distance(matmul(r.b, hermitian(r.b, r.operand), eigh[0]),
                           r.scaled_columns(eigh[0], eigh[1])),
                20 * kSmall);
      EXPECT_LT(r.distance_to_unitary(eigh[0]), kSmall);
      Values schur = r.create("strata.schur");
      EXPECT_LT(r.distance(matmul(r.b, matmul(r.b, schur[1], schur[0]), adjoint(r.b, schur[1])),
                           r.operand),
                20 * kSmall);
      EXPECT_LT(r.distance_to_unitary(schur[1]), kSmall);
      Values eig =
          r.create("strata.eig", {{"vector_derivatives", false}, {"vectors", std::string("both")}});
      Value* a = convert(r.b, r.operand, DType::c128);
      EXPECT_LT(r.distance(matmul(r.b, a, eig[2]), r.scaled_columns(eig[2], eig[0])), 100 * kSmall);
      EXPECT_LT(r.distance(matmul(r.b, adjoint(r.b, a), eig[1]),
                           r.scaled_columns(eig[1], conj(r.b, eig[0]))),
                100 * kSmall);
    }
}

TEST(factorisations, of_singular_matrices) {
  for (DType dtype : {DType::f64, DType::c128}) {
    Factored r(dtype, {3, 2});
    // Of rank 2, and of none.
    for (Value* a : {matmul(r.b, r.operand, adjoint(r.b, r.operand)),
                     zeros_like(r.b, matmul(r.b, r.operand, adjoint(r.b, r.operand)))}) {
      Values svd =
          r.b.create("strata.svd", {a}, {{"compute_uv", true}, {"full_matrices", false}}).results();
      EXPECT_LT(r.distance(matmul(r.b, r.scaled_columns(svd[1], svd[0]), svd[2]), a), kSmall);
      EXPECT_LT(r.distance_to_unitary(svd[1]), kSmall);
      Values eigh = r.b.create("strata.eigh", {a}).results();
      EXPECT_LT(r.distance(matmul(r.b, a, eigh[0]), r.scaled_columns(eigh[0], eigh[1])), kSmall);
      Values eig = r.b.create("strata.eig", {a},
                              {{"vector_derivatives", false}, {"vectors", std::string("both")}})
                       .results();
      EXPECT_LT(r.distance(matmul(r.b, convert(r.b, a, DType::c128), eig[2]),
                           r.scaled_columns(eig[2], eig[0])),
                kSmall);
    }
  }
}

TEST(factorisations, of_what_is_not_finite_are_nan) {
  for (const char* name : {"strata.eigh", "strata.schur"}) {
    Block block;
    Builder b(block);
    block.results = b.create(name, {block.add_argument(Type(DType::f32, {2, 2}))}).results();
    for (const Literal& x :
         evaluate(block, std::vector<Literal>{Literal::full(Type(DType::f32, {2, 2}), INFINITY)}))
      for (std::int64_t i = 0; i < x.count(); ++i) EXPECT_TRUE(std::isnan(x.number(i))) << name;
  }
}

TEST(solve, factors_one_matrix_once_for_a_batch_of_right_hand_sides) {
  Block single, block;
  Builder one(single), b(block);
  const Type matrix(DType::f64, {2, 3, 3});
  const Op& op =
      *solve(one, single.add_argument(matrix), single.add_argument(Type(DType::f64, {2, 3, 4})))
           ->op();
  Value *a = block.add_argument(matrix), *rhs = block.add_argument(Type(DType::f64, {5, 2, 3, 4}));
  const Values operands{a, rhs};
  const Batched out = (*def(op).batch)(b, op, operands, {false, true}, 5);
  EXPECT_EQ(out.results[0]->type(), rhs->type());
  int solved = 0;
  for (const auto& each : block.ops())
    if (each->info().name == std::string("strata.solve")) {
      ++solved;
      EXPECT_EQ(each->operand(0), a);
      EXPECT_EQ(each->result()->type(), Type(DType::f64, {2, 3, 20}));
    }
  EXPECT_EQ(solved, 1);
}

using factorisations_ = testing::Constraint;
TEST_F(factorisations_, refuse) {
  for (const char* name : {"strata.lu", "strata.geqrf", "strata.geqp3", "strata.eigh",
                           "strata.schur", "strata.hessenberg"}) {
    EXPECT_REFUSED(create(name, {f32({2})}, {}), "takes matrices, got tensor<2xf32>");
    EXPECT_REFUSED(create(name, {i32({2, 2})}, {}), "is not supported");
  }
  for (const char* name : {"strata.eigh", "strata.schur", "strata.hessenberg"})
    EXPECT_REFUSED(create(name, {f32({2, 3})}, {}), "the matrices must be square");
  EXPECT_REFUSED(create("strata.eig", {array(DType::bf16, {2, 2})},
                        {{"vector_derivatives", false}, {"vectors", std::string("both")}}),
                 "eig: dtype bf16 is not supported");
  EXPECT_REFUSED(create("strata.eig", {f32({2, 2})},
                        {{"vector_derivatives", false}, {"vectors", std::string("left")}}),
                 "there is no vectors \"left\"");
  EXPECT_REFUSED(create("strata.qr", {f32({2, 2})}, {{"full_matrices", false}}),
                 "qr: attribute pivoting is missing");
  EXPECT_REFUSED(create("strata.solve", {f32({2, 2}), f32({3, 1})}, {{"transpose", false}}),
                 "solve: dimension 0 differs");
  EXPECT_REFUSED(
      create("strata.solve", {f32({2, 2}), array(DType::f64, {2, 1})}, {{"transpose", false}}),
      "solve: the operands must have one element type");
  EXPECT_REFUSED(create("strata.householder_product", {f32({2, 3}), f32({2})}, {}),
                 "2 reflectors and 3 columns of 2 rows");
  EXPECT_REFUSED(
      create("strata.tridiagonal_solve", {f32({2}), f32({2}), f32({3}), f32({2, 1})}, {}),
      "tridiagonal_solve: diagonals of");
}

}  // namespace
}  // namespace strata::op
