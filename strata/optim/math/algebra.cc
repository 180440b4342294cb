#include "strata/optim/math/algebra.h"

#include <cmath>
#include <limits>

#include "strata/api/numpy/linalg.h"
#include "strata/api/trace/trace.h"
#include "strata/api/transform/control.h"
#include "strata/optim/math/projections.h"

namespace strata::optim {

namespace {
Tree unit(const Tree& x) { return trees::scale(1.0 / trees::norm(x), x); }
Array whole(std::int64_t n) { return Array::scalar(n, DType::i32, false); }

struct Power {
  Tree vector, product;
  Array eig, steps;
  STRATA_FIELDS(vector, product, eig, steps)
};
}  // namespace

std::pair<Array, Tree> power_iteration(const std::function<Tree(const Tree&)>& matrix, Tree v0,
                                       const PowerIterationOptions& o) {
  const Tree start = unit(v0);
  const auto going = [&](const Power& p) {
    const Tree rest = trees::sub(p.product, trees::scale(p.eig, p.vector));
    const Array converged = numpy::abs(trees::norm(rest) / p.eig) < o.error_tolerance;
    return numpy::logical_not(converged) & (p.steps < o.num_iters);
  };
  const auto step = [&](const Power& p) {
    const Tree v = unit(p.product);
    const Tree z = trees::cast_like(matrix(v), p.product);
    return Power{trees::cast_like(v, p.vector), z, numpy::astype(trees::vdot(v, z), p.eig.dtype()),
                 p.steps + 1};
  };
  const Tree first = matrix(start);
  const Power end =
      while_loop(going, step,
                 Power{trees::cast_like(start, start), trees::cast_like(first, first),
                       numpy::zeros({}, trees::vdot(start, first).dtype()), whole(0)});
  return {end.eig, unit(end.product)};
}
std::pair<Array, Array> power_iteration(const Array& matrix, const std::optional<Array>& v0,
                                        const PowerIterationOptions& o, const random::Key& key) {
  if (matrix.ndim() != 2 || matrix.shape(0) != matrix.shape(1))
    throw Error("power_iteration", "takes a square matrix, got {}",
                strata::internal::describe(matrix.type()));
  const Array start = v0 ? *v0 : random::uniform(key, {matrix.shape(1)}, matrix.dtype(), -1.0, 1.0);
  const auto [eig, vector] =
      power_iteration([&](const Tree& v) { return one_tree(numpy::matmul(matrix, v.value(0))); },
                      one_tree(start), o);
  return {eig, vector.value(0)};
}

namespace {
struct Newton {
  Array steps, m, h, old_h, error, better;
  STRATA_FIELDS(steps, m, h, old_h, error, better)
};
}  // namespace

std::pair<Array, Array> matrix_inverse_pth_root(const Array& matrix, std::int64_t p,
                                                const InverseRootOptions& o) {
  const char* name = "matrix_inverse_pth_root";
  if (matrix.ndim() != 2 || matrix.shape(0) != matrix.shape(1))
    throw Error(name, "takes a square matrix, got {}", strata::internal::describe(matrix.type()));
  if (p < 1) throw Error(name, "p is 1 or more, got {}", p);
  const std::int64_t n = matrix.shape(0);
  const double alpha = static_cast<double>(static_cast<float>(-1.0 / static_cast<double>(p)));
  const Array identity = numpy::eye(n, {}, 0, DType::f32);
  const Array ridge = o.ridge_epsilon * numpy::maximum(power_iteration(matrix).first, 1e-16);
  if (n == 1) return {numpy::power(matrix + ridge, numpy::full({}, alpha, DType::f32)), whole(0)};
  const int doublings =
      std::min(3, static_cast<int>(std::lround(std::log2(static_cast<double>(p)))));
  const auto raised = [&](Array m) {
    for (int i = 0; i < doublings; ++i) m = numpy::matmul(m, m);
    return m;
  };
  const auto apart = [&](const Array& m) { return numpy::max(numpy::abs(m - identity)); };
  const Array damped = matrix + ridge * identity;
  const Array z = static_cast<double>(1 + p) / (2.0 * numpy::linalg::norm(damped));
  const Array m0 = damped * z;
  const Array h0 = identity * numpy::power(z, 1.0 / static_cast<double>(p));
  const auto going = [&](const Newton& s) {
    return (s.steps < o.num_iters) & (s.error > o.error_tolerance) & s.better;
  };
  const auto step = [&](const Newton& s) {
    const Array factor = (1.0 - alpha) * identity + alpha * s.m;
    const Array m = numpy::matmul(raised(factor), s.m), h = numpy::matmul(s.h, factor);
    const Array error = apart(m);
    return Newton{s.steps + 1, m, h, s.h, error, error < s.error * 1.2};
  };
  const Newton end =
      while_loop(going, step, Newton{whole(0), m0, h0, h0, apart(m0), numpy::full({}, true)});
  return {numpy::astype(numpy::where(end.better, end.h, end.old_h), matrix.dtype()), apart(end.m)};
}

Array nnls(const Array& A, const Array& b, std::int64_t iters, const std::optional<Array>& L) {
  if (A.ndim() != 2 || (b.ndim() != 1 && b.ndim() != 2) || b.shape(0) != A.shape(0))
    throw Error("nnls", "takes A (m, n) and b (m) or (m, k), got {} and {}",
                strata::internal::describe(A.type()), strata::internal::describe(b.type()));
  const Array Q = numpy::matmul(A.mT(), A), q = numpy::matmul(A.mT(), b);
  const Array columns = numpy::max(numpy::sum(numpy::abs(Q), 0));
  Array bound = L ? *L : numpy::minimum(numpy::sqrt(numpy::sum(Q * Q)), columns);
  bound = numpy::where(numpy::equal(bound, 0), 1, bound);
  std::vector<std::int64_t> shape{A.shape(1)};
  if (b.ndim() == 2) shape.push_back(b.shape(1));
  const Array zero = numpy::zeros(shape, b.dtype());
  const auto step = [&](const std::tuple<Array, Array, Array>& s, std::nullptr_t) {
    const auto& [x, p, c] = s;
    const Array next_c = (1.0 + numpy::sqrt(1.0 + 4.0 * (c * c))) / 2.0;
    const Array weight = (c - 1.0) / next_c;
    const Array next = numpy::maximum(p - (numpy::matmul(Q, p) - q) / bound, 0);
    return std::pair(std::tuple<Array, Array, Array>(
                         numpy::astype(next, zero.dtype()),
                         numpy::astype(next + weight * (next - x), zero.dtype()), next_c),
                     nullptr);
  };
  const std::tuple<Array, Array, Array> begin(zero, zero, numpy::zeros({}));
  return std::get<0>(scan(step, begin, nullptr, {.length = iters}).first);
}

namespace assignment {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::pair<Array, Array> nothing() {
  const Array none = numpy::zeros({0}, DType::i32);
  return {none, none};
}
void check(const Array& cost) {
  if (cost.ndim() != 2)
    throw Error("hungarian_algorithm", "takes a matrix of costs, got {}",
                strata::internal::describe(cost.type()));
}

/// Where the search for a column to free stands.
struct Search {
  Array u, v, used, least, path, column;
  STRATA_FIELDS(u, v, used, least, path, column)
};

/// Of the shortest augmenting path.
struct Path {
  Array path, row, low, left, remaining, rows_seen, columns_seen, costs, sink;
  STRATA_FIELDS(path, row, low, left, remaining, rows_seen, columns_seen, costs, sink)
};
struct Pick {
  Array path, costs, low, index;
  STRATA_FIELDS(path, costs, low, index)
};
struct Duals {
  Array u, v, path, row_of, column_of;
  STRATA_FIELDS(u, v, path, row_of, column_of)
};

}  // namespace

std::pair<Array, Array> hungarian_algorithm(const Array& cost_matrix) {
  check(cost_matrix);
  if (cost_matrix.size() == 0) return nothing();
  const bool tall = cost_matrix.shape(0) > cost_matrix.shape(1);
  const Array cost = tall ? cost_matrix.T() : cost_matrix;
  const std::int64_t rows = cost.shape(0), columns = cost.shape(1);
  const auto row_of = [&](const std::tuple<Array, Array, Array>& state, const Array& row) {
    const auto& [u, v, parent_before] = state;
    const Array parent = parent_before.at(0).set(row + 1);
    const auto going = [&](const Search& s) {
      return numpy::not_equal(numpy::take(parent, s.column), 0);
    };
    const auto step = [&](const Search& s) {
      const Array used = s.used.at(s.column).set(true);
      const Array open = numpy::logical_not(used[slice(std::int64_t{1}, columns + 1)]);
      const Array r = numpy::take(parent, s.column);
      const Array reduced = numpy::take(cost, r - 1, 0) - numpy::take(s.u, r) -
                            s.v[slice(std::int64_t{1}, columns + 1)];
      const Array current = numpy::astype(numpy::where(open, reduced, kInfinity), DType::f32);
      const Array shorter = current < s.least;
      const Array path = numpy::where(shorter, s.column, s.path);
      const Array least = numpy::where(shorter, current, s.least);
      const Array masked = numpy::where(open, least, kInfinity);
      const Array column = numpy::argmin(masked) + 1, delta = numpy::min(masked);
      const Array touched = numpy::where(used, parent, whole(rows + 1));
      return Search{s.u.at(touched).add(delta),
                    numpy::where(used, s.v - delta, s.v),
                    used,
                    numpy::where(open, least - delta, least),
                    path,
                    numpy::astype(column, DType::i32)};
    };
    const Search end = while_loop(going, step,
                                  Search{u, v, numpy::zeros({columns + 1}, DType::i1),
                                         numpy::full({columns}, kInfinity, DType::f32),
                                         numpy::zeros({columns}, DType::i32), whole(0)});
    const auto back = [&](const std::pair<Array, Array>& s) {
      const Array next = numpy::take(end.path, s.second - 1);
      return std::pair(s.first.at(s.second).set(numpy::take(s.first, next)), next);
    };
    const auto freed =
        while_loop([](const std::pair<Array, Array>& s) { return numpy::not_equal(s.second, 0); },
                   back, std::pair(parent, end.column));
    return std::pair(std::tuple<Array, Array, Array>(end.u, end.v, freed.first), nullptr);
  };
  const std::tuple<Array, Array, Array> begin(numpy::zeros({rows + 2}), numpy::zeros({columns + 1}),
                                              numpy::zeros({columns + 1}, DType::i32));
  const auto state = scan(row_of, begin, numpy::arange(rows, DType::i32)).first;
  Array parent = std::get<2>(state)[slice(std::int64_t{1}, columns + 1)];
  Array indices = numpy::arange(rows, DType::i32);
  if (rows != columns) {
    indices = numpy::argsort(-parent)[slice(std::int64_t{0}, rows)];
    parent = numpy::take(parent, indices);
  }
  parent = parent - 1;
  indices = numpy::astype(indices, DType::i32);
  return tall ? std::pair(indices, parent) : std::pair(parent, indices);
}

namespace {
Path augmenting_path(const Array& cost, const Duals& d, const Array& current) {
  const std::int64_t rows = cost.shape(0), columns = cost.shape(1);
  const auto step = [&](const Path& s) {
    const auto look = [&](const Array& it, const Pick& p) {
      const Array j = numpy::take(s.remaining, it);
      const Array r = s.low + numpy::take(numpy::take(cost, s.row, 0), j) -
                      numpy::take(d.u, s.row) - numpy::take(d.v, j);
      const Array old = numpy::take(p.costs, j);
      const Array path = p.path.at(j).set(numpy::where(r < old, s.row, numpy::take(p.path, j)));
      const Array now = numpy::minimum(old, r);
      const Array better =
          (now < p.low) | (numpy::equal(now, p.low) & numpy::equal(numpy::take(d.row_of, j), -1));
      return Pick{path, p.costs.at(j).set(now), numpy::minimum(p.low, now),
                  numpy::where(better, it, p.index)};
    };
    const Array seen = s.rows_seen.at(s.row).set(true);
    const Pick best =
        fori_loop(whole(0), s.left, look,
                  Pick{s.path, s.costs, numpy::full({}, kInfinity, DType::f32), whole(-1)});
    const Array j = numpy::take(s.remaining, best.index), owner = numpy::take(d.row_of, j);
    const Array unowned = numpy::equal(owner, -1);
    const Array left = s.left - 1;
    return Path{best.path,
                numpy::where(unowned, s.row, owner),
                best.low,
                left,
                s.remaining.at(best.index).set(numpy::take(s.remaining, left)),
                seen,
                s.columns_seen.at(j).set(true),
                best.costs,
                numpy::where(unowned, j, s.sink)};
  };
  return while_loop([](const Path& s) { return numpy::equal(s.sink, -1); }, step,
                    Path{d.path, current, numpy::zeros({}), whole(columns),
                         numpy::flip(numpy::arange(columns, DType::i32)),
                         numpy::zeros({rows}, DType::i1), numpy::zeros({columns}, DType::i1),
                         numpy::full({columns}, kInfinity, DType::f32), whole(-1)});
}
}  // namespace

std::pair<Array, Array> base_hungarian_algorithm(const Array& cost_matrix) {
  check(cost_matrix);
  if (cost_matrix.size() == 0) return nothing();
  const bool tall = cost_matrix.shape(1) < cost_matrix.shape(0);
  const Array cost = numpy::astype(tall ? cost_matrix.T() : cost_matrix, DType::f32);
  const std::int64_t rows = cost.shape(0), columns = cost.shape(1);
  const auto add_row = [&](const Array& current, const Duals& d) {
    const Path p = augmenting_path(cost, d, current);
    const Array others = p.rows_seen & numpy::not_equal(numpy::arange(rows, DType::i32), current);
    const Array u = d.u.at(current).add(p.low);
    const Array next_u = numpy::where(others, u + p.low - numpy::take(p.costs, d.column_of), u);
    const Array next_v = numpy::where(p.columns_seen, d.v + p.costs - p.low, d.v);
    using Walk = std::tuple<Array, Array, Array, Array>;
    const auto walk = [&](const Walk& w) {
      const auto& [sink, row_of, column_of, done] = w;
      const Array i = numpy::take(p.path, sink);
      return Walk(numpy::take(column_of, i), row_of.at(sink).set(i), column_of.at(i).set(sink),
                  numpy::equal(i, current));
    };
    const Walk end = while_loop([](const Walk& w) { return numpy::logical_not(std::get<3>(w)); },
                                walk, Walk(p.sink, d.row_of, d.column_of, numpy::full({}, false)));
    return Duals{next_u, next_v, p.path, std::get<1>(end), std::get<2>(end)};
  };
  const Array unknown = whole(-1);
  const Duals end = fori_loop(
      whole(0), whole(rows), add_row,
      Duals{numpy::zeros({rows}), numpy::zeros({columns}), numpy::full({columns}, unknown),
            numpy::full({columns}, unknown), numpy::full({rows}, unknown)});
  if (!tall) return {numpy::arange(rows, DType::i32), end.column_of};
  const Array order = numpy::astype(numpy::argsort(end.column_of), DType::i32);
  return {numpy::take(end.column_of, order), order};
}

}  // namespace assignment
}  // namespace strata::optim
