// Matrices of binomials. They are made on the host in f64, where they are exact up to 2^53, and
// rounded once.
#include <functional>

#include "strata/api/scipy/linalg.h"
#include "strata/api/trace/compose.h"

namespace strata::scipy::linalg {
namespace {

using internal::fail;
using internal::Site;
using Rows = std::vector<std::vector<double>>;

/// i over j for i < n.
Rows triangle(std::int64_t n) {
  Rows out;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> row(static_cast<std::size_t>(i + 1), 1.0);
    for (std::size_t j = 1; j + 1 < row.size(); ++j) row[j] = out.back()[j - 1] + out.back()[j];
    out.push_back(std::move(row));
  }
  return out;
}

double binomial(const Rows& rows, std::int64_t i, std::int64_t j) {
  return j < 0 || j > i ? 0 : rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
}
double sign(std::int64_t i) { return i % 2 == 0 ? 1 : -1; }

Array matrix(std::int64_t n, DType dtype,
             const std::function<double(std::int64_t, std::int64_t)>& element) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) all.push_back(element(i, j));
  return array(all, Sizes{n, n}).astype(dtype);
}

void require_kind(const char* name, const std::string& kind) {
  if (kind != "symmetric" && kind != "lower" && kind != "upper")
    fail(name, "kind is \"symmetric\", \"lower\" or \"upper\", got \"{}\"", kind);
}

}  // namespace

Array invhilbert(std::int64_t n, Where where) {
  Site site(where);
  const Rows rows = triangle(2 * n);
  return matrix(n, canonical(DType::f64, x64_enabled()), [&](std::int64_t i, std::int64_t j) {
    const double middle = binomial(rows, i + j, i);
    return sign(i + j) * static_cast<double>(i + j + 1) * binomial(rows, n + i, n - j - 1) *
           binomial(rows, n + j, n - i - 1) * middle * middle;
  });
}

Array pascal(std::int64_t n, const std::string& kind, Where where) {
  Site site(where);
  require_kind("pascal", kind);
  const Rows rows = triangle(2 * n);
  return matrix(n, DType::f32, [&](std::int64_t i, std::int64_t j) {
    return kind == "lower"   ? binomial(rows, i, j)
           : kind == "upper" ? binomial(rows, j, i)
                             : binomial(rows, i + j, i);
  });
}

Array invpascal(std::int64_t n, const std::string& kind, Where where) {
  Site site(where);
  require_kind("invpascal", kind);
  const Rows rows = triangle(n);
  return matrix(n, canonical(DType::f64, x64_enabled()), [&](std::int64_t i, std::int64_t j) {
    if (kind == "lower") return sign(i + j) * binomial(rows, i, j);
    if (kind == "upper") return sign(i + j) * binomial(rows, j, i);
    double sum = 0;  // of the product of both
    for (std::int64_t k = std::max(i, j); k < n; ++k)
      sum += binomial(rows, k, i) * binomial(rows, k, j);
    return sign(i + j) * sum;
  });
}

}  // namespace strata::scipy::linalg
