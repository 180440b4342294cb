#include "strata/pass/affine.h"

#include <limits>
#include <utility>

#include "strata/op/kind.h"

namespace strata::pass {
namespace {

using ir::Op;
using ir::Value;

/// Sums of this many stay far from where 32 bits wrap.
constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
/// Constants with more numbers are not read.
constexpr std::int64_t kMostNumbers = 1 << 16;

struct Range {
  std::int64_t low, high;
};
Range range(const Affine& x, const Shape& shape) {
  Range out{x.constant, x.constant};
  for (std::size_t d = 0; d < x.factors.size(); ++d) {
    const std::int64_t most = x.factors[d] * (shape[static_cast<int>(d)] - 1);
    (most < 0 ? out.low : out.high) += most;
  }
  return out;
}

/// The sum, unless it comes near to where numbers wrap.
std::optional<Affine> sum(Affine a, const Affine& b, std::int64_t sign, const Shape& shape) {
  for (std::size_t d = 0; d < a.factors.size(); ++d) a.factors[d] += sign * b.factors[d];
  a.constant += sign * b.constant;
  const Range r = range(a, shape);
  return r.low > -kFar && r.high < kFar ? std::optional(std::move(a)) : std::nullopt;
}

std::optional<Affine> numbers(const Literal& value) {
  const Shape& shape = value.shape();
  Affine out{std::vector<std::int64_t>(static_cast<std::size_t>(shape.rank()), 0)};
  if (value.count() == 0 || (!value.is_splat() && value.count() > kMostNumbers)) return {};
  auto is_near = [&](std::int64_t i) {
    return value.integer(i) > -kFar && value.integer(i) < kFar;
  };
  out.constant = value.integer(0);
  if (!is_near(0)) return {};
  if (value.is_splat()) return out;
  const std::vector<std::int64_t> strides = shape.strides();
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t next = strides[static_cast<std::size_t>(d)];
    if (shape[d] == 1) continue;
    if (!is_near(next)) return {};
    out.factors[static_cast<std::size_t>(d)] = value.integer(next) - out.constant;
  }
  for (std::int64_t i = 0; i < value.count(); ++i) {
    std::int64_t n = out.constant;
    for (int d = 0; d < shape.rank(); ++d)
      n += out.factors[static_cast<std::size_t>(d)] *
           (i / strides[static_cast<std::size_t>(d)] % shape[d]);
    if (n != value.integer(i)) return {};
  }
  return out;
}

/// What a comparison says everywhere, where it says the same everywhere.
std::optional<bool> decided(const Op& op, int& steps) {
  if (!op::kind::compare(op)) return {};
  auto a = affine(op.operand(0), steps), b = affine(op.operand(1), steps);
  if (!a || !b) return {};
  auto apart = sum(*a, *b, -1, op.operand(0)->shape());
  if (!apart) return {};
  const Range r = range(*apart, op.operand(0)->shape());
  const std::string direction = op.attr<std::string>("comparison_direction");
  auto known = [](bool always, bool never) {
    return always ? std::optional(true) : never ? std::optional(false) : std::nullopt;
  };
  if (direction == "LT") return known(r.high < 0, r.low >= 0);
  if (direction == "LE") return known(r.high <= 0, r.low > 0);
  if (direction == "GT") return known(r.low > 0, r.high <= 0);
  if (direction == "GE") return known(r.low >= 0, r.high < 0);
  return {};
}

std::optional<Affine> moved(const Op& op, int& steps) {
  auto from = affine(op.operand(0), steps);
  if (!from) return {};
  Affine out{std::vector<std::int64_t>(static_cast<std::size_t>(op.result()->rank()), 0),
             from->constant};
  const op::Factors factors = (*op::def(op).shard)(op);
  for (int d = 0; d < op.operand(0)->rank(); ++d) {
    const std::int64_t factor = from->factors[static_cast<std::size_t>(d)];
    if (factor == 0) continue;
    const int to = moved_dim(factors, d);
    if (to < 0) return {};
    out.factors[static_cast<std::size_t>(to)] = factor;
  }
  return out;
}

}  // namespace

bool only_moves(const Op& op) {
  return op::kind::broadcast_in_dim(op) || op::kind::reshape(op) || op::kind::transpose(op);
}

int moved_dim(const op::Factors& factors, int d) {
  const std::vector<int>& list = factors.operands[0][static_cast<std::size_t>(d)];
  if (list.size() != 1 || factors.kinds[static_cast<std::size_t>(list[0])] != 'p') return -1;
  for (std::size_t r = 0; r < factors.results[0].size(); ++r)
    if (factors.results[0][r] == list) return static_cast<int>(r);
  return -1;
}

std::optional<Affine> affine(const Value* v, int& steps) {
  const Op* op = v->op();
  if (!op || --steps < 0 || !is_signed(v->dtype()) || byte_width(v->dtype()) < 4 ||
      !v->shape().is_static())
    return {};
  if (op::kind::constant(op)) return numbers(op->attr<Literal>("value"));
  if (op::kind::iota(op)) {
    Affine out{std::vector<std::int64_t>(static_cast<std::size_t>(v->rank()), 0)};
    const auto d = static_cast<int>(op->attr<std::int64_t>("iota_dimension"));
    out.factors[static_cast<std::size_t>(d)] = v->shape()[d] > 1;
    return v->shape()[d] < kFar ? std::optional(out) : std::nullopt;
  }
  const bool adds = op::kind::add(op), subtracts = op::kind::subtract(op);
  if (adds || subtracts) {
    auto a = affine(op->operand(0), steps), b = affine(op->operand(1), steps);
    return a && b ? sum(std::move(*a), *b, adds ? 1 : -1, v->shape()) : std::nullopt;
  }
  if (op::kind::select(op) && op->operand(0)->op()) {
    const std::optional<bool> which = decided(*op->operand(0)->op(), steps);
    return which ? affine(op->operand(*which ? 1 : 2), steps) : std::nullopt;
  }
  return only_moves(*op) ? moved(*op, steps) : std::nullopt;
}

}  // namespace strata::pass
