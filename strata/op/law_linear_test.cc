// An operation's own transpose rule is the adjoint of the operation: wherever the operation is
// affine in some operands, <f(v) - f(0), w> = <v, f'w>. The derivative laws see transposes only
// through what a jvp rule builds; a program that is transposed as it stands (linear_transpose) sees
// all of them.
#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/law_support.h"

namespace strata::op::laws {
namespace {

class LinearLaw : public Law {};

bool is_measured(const Type& type) {
  return epsilon(type.dtype()) > 0 && epsilon(type.dtype()) <= epsilon(DType::f32);
}

/// Choices of operands to be linear in: all that can, and each alone. Residuals of
/// custom_vjp_linear are never linear values.
std::vector<std::vector<bool>> choices(const Sample& sample) {
  auto residuals = static_cast<std::size_t>(sample.attrs.get_or<std::int64_t>("num_residuals", 0));
  std::vector<bool> all;
  for (const Literal& x : sample.operands)
    all.push_back(all.size() >= residuals && is_measured(x.type()));
  std::vector<std::vector<bool>> out;
  if (std::count(all.begin(), all.end(), true) > 1) out.push_back(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i]) {
      out.emplace_back(all.size(), false);
      out.back()[i] = true;
    }
  return out;
}

Literal sum_of(const Literal& x, const Literal& y, double factor) {
  Literal out(x.type()), to = real_view(out), from = real_view(x), more = real_view(y);
  for (std::int64_t i = 0; i < to.count(); ++i)
    to.set_number(i, from.number(i) + factor * more.number(i));
  return out;
}

/// The program as a function of the chosen operands, less its value at zero.
class Affine {
 public:
  Affine(const Block& f, const Sample& sample, const std::vector<bool>& active)
      : f_(f), sample_(sample), active_(active) {
    zero_ = at(directions(0, 0));
  }
  /// Random directions; `factor` times those of `seed`.
  Literals directions(std::uint64_t seed, double factor) const {
    Literals out;
    for (std::size_t i = 0; i < active_.size(); ++i)
      if (active_[i])
        out.push_back(sum_of(Literal(sample_.operands[i].type()),
                             random_literal(sample_.operands[i].type(), seed + i, -1, 1), factor));
    return out;
  }
  Literals linear_part(const Literals& v) const {
    Literals out = at(v);
    for (std::size_t r = 0; r < out.size(); ++r)
      if (is_measured(out[r].type())) out[r] = sum_of(out[r], zero_[r], -1);
    return out;
  }

 private:
  Literals at(const Literals& v) const {
    Literals inputs = sample_.operands;
    for (std::size_t i = 0, next = 0; i < active_.size(); ++i)
      if (active_[i]) inputs[i] = v[next++];
    return evaluate(f_, inputs);
  }
  const Block& f_;
  const Sample& sample_;
  const std::vector<bool>& active_;
  Literals zero_;
};

bool near(const Literals& a, const Literals& b, double factor, double tolerance) {
  for (std::size_t r = 0; r < a.size(); ++r) {
    Literal x = real_view(a[r]), y = real_view(b[r]);
    for (std::int64_t i = 0; is_measured(a[r].type()) && i < x.count(); ++i)
      if (!(std::fabs(x.number(i) - factor * y.number(i)) <=
            tolerance * (1 + std::fabs(x.number(i)))))
        return false;
  }
  return true;
}

/// Twice and minus a direction, and the sum of two, are what they should be.
bool is_affine(const Affine& f) {
  constexpr double kTolerance = 0x1p-17;
  Literals v = f.directions(31, 1), w = f.directions(57, 1), both, fv = f.linear_part(v),
           fw = f.linear_part(w), sums = fv;
  for (std::size_t i = 0; i < v.size(); ++i) both.push_back(sum_of(v[i], w[i], 1));
  for (std::size_t r = 0; r < sums.size(); ++r)
    if (is_measured(sums[r].type())) sums[r] = sum_of(fv[r], fw[r], 1);
  return near(f.linear_part(f.directions(31, 2)), fv, 2, kTolerance) &&
         near(f.linear_part(f.directions(31, -1)), fv, -1, kTolerance) &&
         near(f.linear_part(both), sums, 1, kTolerance);
}

/// Whether the operands matter at all: empty arrays and constants tell nothing.
bool moves(const Literals& image) {
  for (const Literal& y : image) {
    Literal view = real_view(y);
    for (std::int64_t i = 0; is_measured(y.type()) && i < view.count(); ++i)
      if (view.number(i) != 0) return true;
  }
  return false;
}

/// The cotangents of the chosen operands, zero where the rule gives none; nothing where there is no
/// such rule.
std::optional<Literals> transposed(const Block& f, const Sample& sample,
                                   const std::vector<bool>& active, const Literals& ws) {
  Block block;
  Builder b(block);
  Values operands, cotangents;
  Literals inputs = sample.operands, out;
  for (std::size_t i = 0; i < active.size(); ++i) {
    Value* x = block.add_argument(sample.operands[i].type());
    operands.push_back(active[i] ? nullptr : x);
  }
  for (const Literal& w : ws) {
    cotangents.push_back(is_measured(w.type()) ? block.add_argument(w.type()) : nullptr);
    if (cotangents.back()) inputs.push_back(w);
  }
  Values ct;
  try {
    ct = transpose(b, f, operands, active, cotangents);
  } catch (const Error&) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i]) block.results.push_back(ct[i] ? ct[i] : zeros(b, sample.operands[i].type()));
  return evaluate(block, inputs);
}

std::pair<double, double> inner(const Literals& a, const Literals& b) {
  double sum = 0, magnitude = 1;
  for (std::size_t r = 0; r < a.size(); ++r) {
    if (!is_measured(a[r].type())) continue;
    auto [part, size] = laws::inner(a[r], b[r]);
    sum += part;
    magnitude += size;
  }
  return {sum, magnitude};
}

TEST_P(LinearLaw, own_transpose_is_adjoint) {
  if (!def().transpose) return;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    auto f = program_of(def(), sample);
    if (!only_arrays(f->body)) continue;
    for (const auto& active : choices(sample)) {
      Affine affine(f->body, sample, active);
      if (!is_affine(affine)) continue;
      Literals v = affine.directions(31, 1), image = affine.linear_part(v), w;
      if (!moves(image)) continue;
      for (const Literal& y : image)
        w.push_back(is_measured(y.type()) ? random_literal(y.type(), 71 + w.size(), -1, 1) : y);
      std::optional<Literals> ct = transposed(f->body, sample, active, w);
      if (!ct) continue;
      auto [left, size] = inner(image, w);
      auto [right, other] = inner(v, *ct);
      EXPECT_LE(std::fabs(left - right), 0x1p-18 * (size + other))
          << "<f(v) - f(0), w> = " << left << ", <v, f'w> = " << right;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Op, LinearLaw, ::testing::ValuesIn(catalog()), test_name);

}  // namespace
}  // namespace strata::op::laws
