// Derivative laws of every operation: jvp = finite difference, and <Jv, w> = <v, J'w>.
#include "strata/base/error.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/law_support.h"

namespace strata::op::laws {
namespace {

class DerivativeLaw : public Law {};

/// Whether tangents of this dtype are compared; in floats below 16 bits differences say nothing.
bool is_measured(DType dtype) { return epsilon(dtype) > 0; }

/// Choices of operands that have tangents: all that can, and each of them alone.
std::vector<std::vector<bool>> choices(const Sample& sample) {
  std::vector<bool> all;
  for (const Literal& x : sample.operands) all.push_back(is_measured(x.dtype()));
  std::vector<std::vector<bool>> out;
  auto count = std::count(all.begin(), all.end(), true);
  if (count > 0) out.push_back(all);
  for (std::size_t i = 0; count > 1 && i < all.size(); ++i)
    if (all[i]) {
      out.emplace_back(all.size(), false);
      out.back()[i] = true;
    }
  return out;
}

/// The coarsest precision among operands and results decides step and tolerance.
double coarsest(const Block& f) {
  double eps = 0;
  for (const auto& a : f.arguments()) eps = std::max(eps, epsilon(a->dtype()));
  for (Value* r : f.results) eps = std::max(eps, epsilon(r->dtype()));
  return eps;
}

/// x + t v, rounded.
Literal moved_along(const Literal& x, const Literal& v, double t) {
  Literal out(x.type()), to = real_view(out), from = real_view(x), along = real_view(v);
  for (std::int64_t i = 0; i < to.count(); ++i)
    to.set_number(i, from.number(i) + t * along.number(i));
  return out;
}

struct Point {
  Literals below, above;  // operands at both ends
  Literals tangents;      // of the active operands, what the rounded ends really differ by over 2 h
  double h;
};

Point around(const Sample& sample, const std::vector<bool>& active, double h) {
  Point p{.h = h};
  for (std::size_t i = 0; i < sample.operands.size(); ++i) {
    const Literal& x = sample.operands[i];
    if (!active[i]) {
      p.below.push_back(x);
      p.above.push_back(x);
      continue;
    }
    Literal direction = random_literal(x.type(), 77 + i, -1, 1), tangent(x.type());
    p.below.push_back(moved_along(x, direction, -h));
    p.above.push_back(moved_along(x, direction, h));
    Literal to = real_view(tangent), above = real_view(p.above[i]), below = real_view(p.below[i]);
    for (std::int64_t k = 0; k < to.count(); ++k)
      to.set_number(k, (above.number(k) - below.number(k)) / (2 * h));
    p.tangents.push_back(tangent);
  }
  return p;
}

/// A block (operands..., tangents of the active ones...) with values for both kinds of argument.
struct Inputs {
  Block block;
  Values operands, tangents;  // null where not active
  Inputs(const Sample& sample, const std::vector<bool>& active) {
    for (const Literal& x : sample.operands) operands.push_back(block.add_argument(x.type()));
    for (std::size_t i = 0; i < active.size(); ++i)
      tangents.push_back(active[i] ? block.add_argument(sample.operands[i].type()) : nullptr);
  }
};

Literals joined(Literals a, const Literals& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Results and their tangents; a zero tangent is a default Literal.
std::pair<Literals, Literals> run_jvp(const Block& f, const Sample& sample,
                                      const std::vector<bool>& active, const Literals& tangents) {
  Inputs g(sample, active);
  Builder b(g.block);
  JvpResult r = jvp(b, f, g.operands, g.tangents);
  g.block.results = r.results;
  for (Value* t : r.tangents)
    if (t) g.block.results.push_back(t);
  Literals all = evaluate(g.block, joined(sample.operands, tangents));
  std::pair<Literals, Literals> out{
      Literals(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(r.results.size())), {}};
  std::size_t next = r.results.size();
  for (Value* t : r.tangents) out.second.push_back(t ? all[next++] : Literal());
  return out;
}

/// Elements where the two one-sided differences disagree are at a kink or a jump of the function
/// and are passed over; there may be a few of them.
void expect_close(const Literal& tangent, bool is_zero, const Literal& below, const Literal& at,
                  const Literal& above, double h, double tolerance) {
  double scale = 1;
  for (std::int64_t i = 0; i < above.count(); ++i)
    scale =
        std::max({scale, std::fabs(above.number(i)), is_zero ? 0 : std::fabs(tangent.number(i))});
  std::int64_t kinks = 0;
  for (std::int64_t i = 0; i < above.count(); ++i) {
    double bend = std::fabs(above.number(i) - 2 * at.number(i) + below.number(i)) / h;
    if (bend > 0.03 * scale) {
      ASSERT_LE(++kinks, 1 + above.count() / 8) << "a smooth sample has many kinks";
      continue;
    }
    double want = (above.number(i) - below.number(i)) / (2 * h),
           got = is_zero ? 0 : tangent.number(i);
    ASSERT_LE(std::fabs(got - want), tolerance * scale)
        << "element " << i << ": jvp " << got << ", difference " << want;
  }
}

void check_jvp(const OpDef& def, const Sample& sample, const std::vector<bool>& active) {
  auto f = program_of(def, sample);
  double eps = coarsest(f->body);
  bool measure = eps <= epsilon(DType::f32);  // bf16 and f16 are too coarse for differences
  Point p = around(sample, active, std::cbrt(eps));
  auto [results, tangents] = run_jvp(f->body, sample, active, p.tangents);
  Literals want = evaluate(f->body, sample.operands), below = evaluate(f->body, p.below),
           above = evaluate(f->body, p.above);
  for (std::size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE(fmt::format("result {}", i));
    EXPECT_EQ(difference(results[i], want[i]), "");
    bool is_zero = tangents[i].data() == nullptr;
    if (!is_measured(want[i].dtype())) {
      EXPECT_TRUE(is_zero || is_float(want[i].dtype()))
          << "a tangent of " << want[i].type().to_string();
      continue;
    }
    if (!is_zero) {
      ASSERT_EQ(tangents[i].type().to_string(), want[i].type().to_string());
    }
    Literal tangent = is_zero ? Literal() : real_view(tangents[i]);
    if (measure)
      expect_close(tangent, is_zero, real_view(below[i]), real_view(want[i]), real_view(above[i]),
                   p.h, 30 * std::pow(eps, 2.0 / 3));
  }
}

TEST_P(DerivativeLaw, jvp_is_finite_difference) {
  if (!def().jvp) return;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    if (!sample.smooth) continue;
    for (const auto& active : choices(sample)) check_jvp(def(), sample, active);
  }
}

void check_transpose(const OpDef& def, const Sample& sample, const std::vector<bool>& active) {
  auto f = program_of(def, sample);
  Inputs g(sample, active);
  Builder b(g.block);
  LinearBlock l = linearize(b, f->body, g.operands, active);
  Values tangents, cotangents;
  Literals inputs = sample.operands, vs, ws;
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (!active[i]) continue;
    tangents.push_back(g.tangents[i]);
    vs.push_back(random_literal(sample.operands[i].type(), 7 + i, -1, 1));
  }
  for (Value* r : l.linear->results) {
    cotangents.push_back(g.block.add_argument(r->type()));
    ws.push_back(random_literal(r->type(), 900 + ws.size(), -1, 1));
  }
  Values forward = ir::inline_block(b, *l.linear, tangents);
  Values backward = transpose(b, *l.linear, cotangents);
  ASSERT_EQ(forward.size(), cotangents.size());
  ASSERT_EQ(backward.size(), tangents.size());
  g.block.results = forward;
  for (Value* v : backward)
    if (v) g.block.results.push_back(v);
  Literals all = evaluate(g.block, joined(joined(inputs, vs), ws));
  double left = 0, right = 0, magnitude = 1;
  std::size_t next = 0;
  auto add = [&](double& to, const Literal& a, const Literal& c) {
    auto [sum, size] = inner(a, c);
    to += sum;
    magnitude += size;
  };
  for (const Literal& w : ws) add(left, all[next++], w);
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (!backward[i]) continue;
    ASSERT_EQ(all[next].type().to_string(), vs[i].type().to_string())
        << "cotangent of active operand " << i;
    add(right, vs[i], all[next++]);
  }
  EXPECT_LE(std::fabs(left - right), 8 * coarsest(f->body) * magnitude)
      << "<Jv, w> = " << left << ", <v, J'w> = " << right;
}

TEST_P(DerivativeLaw, transpose_is_adjoint) {
  if (!def().jvp && !def().linearize) return;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    if (!sample.smooth) continue;
    if (sample.regions && !def().linearize) continue;  // forward only
    for (const auto& active : choices(sample)) check_transpose(def(), sample, active);
  }
}

INSTANTIATE_TEST_SUITE_P(Op, DerivativeLaw, ::testing::ValuesIn(catalog()), test_name);

}  // namespace
}  // namespace strata::op::laws
