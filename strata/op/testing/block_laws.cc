#include "strata/op/testing/block_laws.h"

#include <cmath>
#include <random>

#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/support.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/evaluate.h"

namespace strata::op::testing {
namespace {

using Flags = std::vector<bool>;

constexpr double kStep = 1e-5;

Literals moved(const Literals& at, const Flags& active, const Literals& tangents, double step) {
  Literals out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    out.push_back(at[i]);
    if (!active[i]) continue;
    Literal x(at[i].type());
    const Literal& t = tangents[next++];
    for (std::int64_t k = 0; k < x.count(); ++k)
      x.set_number(k, at[i].number(k) + step * t.number(k));
    out.back() = x;
  }
  return out;
}

// All that may be chosen together, then each alone.
std::vector<Flags> choices(const Flags& may) {
  std::vector<Flags> out{may};
  for (std::size_t i = 0; i < may.size(); ++i)
    if (may[i]) {
      out.emplace_back(may.size(), false);
      out.back()[i] = true;
    }
  return out;
}

std::string describe(const Flags& flags) {
  std::string out;
  for (bool f : flags) out += f ? '1' : '0';
  return out;
}

Literals inexact_only(const Literals& all) {
  Literals out;
  for (const Literal& x : all)
    if (is_inexact(x.dtype())) out.push_back(x);
  return out;
}

// Tangents of the inexact results, by the jvp rule.
Literals tangents_by_jvp(const Block& f, const Literals& at, const Flags& active,
                         const Literals& tangents) {
  Flags required;
  for (Value* v : f.results) required.push_back(is_differentiable(v->type()));
  JvpBlock d = jvp(f, active, required);
  Literals all = evaluate(*d.block, joined(at, tangents));
  return part(all, f.results.size(), all.size() - f.results.size());
}

// (arguments..., tangents...) -> tangents of the inexact results, by linearize.
std::unique_ptr<Block> linearized(const Block& f, const Flags& active) {
  auto out = std::make_unique<Block>();
  Values primals;
  for (const auto& a : f.arguments()) primals.push_back(out->add_argument(a->type()));
  Builder b(*out);
  LinearBlock l = linearize(b, f, primals, active);
  Values tangents;
  for (const auto& a : l.linear->arguments()) tangents.push_back(out->add_argument(a->type()));
  Values ts = spread(ir::inline_block(b, *l.linear, tangents), l.active);
  for (std::size_t i = 0; i < ts.size(); ++i)
    if (is_differentiable(f.results[i]->type()))
      out->results.push_back(or_zeros(b, ts[i], f.results[i]->type()));
  ir::remove_dead(*out);
  return out;
}

// (arguments..., cotangents of the inexact results...) -> (results..., cotangents of the active
// arguments...).
std::unique_ptr<Block> pulled_back(const Block& f, const Flags& active) {
  auto out = std::make_unique<Block>();
  Values primals;
  for (const auto& a : f.arguments()) primals.push_back(out->add_argument(a->type()));
  Builder b(*out);
  LinearBlock l = linearize(b, f, primals, active);
  Values cotangents;
  for (Value* v : f.results)
    cotangents.push_back(is_differentiable(v->type()) ? out->add_argument(v->type()) : nullptr);
  Values ct = transpose(b, *l.linear, filter(cotangents, l.active));
  Values wanted = filter(primals, active);
  for (std::size_t i = 0; i < ct.size(); ++i) ct[i] = or_zeros(b, ct[i], wanted[i]->type());
  out->results = joined(l.results, ct);
  ir::remove_dead(*out);
  return out;
}

// Arguments that vary with the input: near `x`, so that programs stay where they are smooth.
Literals variants(const Literal& x, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Literals out;
  for (std::int64_t i = 0; i < count; ++i) {
    Literal v(x.type());
    for (std::int64_t k = 0; k < x.count(); ++k) {
      if (is_inexact(x.dtype()))
        v.set_number(k, x.number(k) + (static_cast<double>(random() % 1000) - 500) * 2e-4);
      else
        v.set_integer(k, is_bool(x.dtype())
                             ? static_cast<std::int64_t>(random() % 2)
                             : x.integer(k) + static_cast<std::int64_t>(random() % 3) - 1);
    }
    out.push_back(v);
  }
  return out;
}

std::string check_batch_of(const Block& f, const Literals& at, const Flags& batched,
                           std::uint64_t seed, double tolerance) {
  constexpr std::int64_t kSize = 3;
  Literals arguments;
  std::vector<Literals> single(kSize);
  for (std::size_t i = 0; i < at.size(); ++i) {
    Literals each = batched[i] ? variants(at[i], kSize, seed + i) : Literals(kSize, at[i]);
    arguments.push_back(batched[i] ? stacked(each) : at[i]);
    for (std::size_t k = 0; k < kSize; ++k) single[k].push_back(each[k]);
  }
  BatchedBlock r = batch(f, batched, kSize, Flags(f.results.size(), true));
  Literals got = evaluate(*r.block, arguments);
  for (std::int64_t k = 0; k < kSize; ++k) {
    Literals one;
    for (const Literal& x : got) one.push_back(unstacked(x, k));
    std::string difference =
        compare(one, evaluate(f, single[static_cast<std::size_t>(k)]), tolerance);
    if (!difference.empty())
      return fmt::format("batched over {}, input {}: {}", describe(batched), k, difference);
  }
  return "";
}

}  // namespace

std::vector<bool> inexact_arguments(const Block& f) {
  Flags out;
  for (const auto& a : f.arguments()) out.push_back(is_differentiable(a->type()));
  return out;
}

Literals directions(const Literals& at, const Flags& active, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Literals out;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!active[i]) continue;
    Literal t(at[i].type());
    for (std::int64_t k = 0; k < t.count(); ++k)
      t.set_number(k, (static_cast<double>(random() % 2001) - 1000) * 1e-3);
    out.push_back(t);
  }
  return out;
}

Literals finite_difference(const Block& f, const Literals& at, const Flags& active,
                           const Literals& tangents) {
  Literals above = inexact_only(evaluate(f, moved(at, active, tangents, kStep)));
  Literals below = inexact_only(evaluate(f, moved(at, active, tangents, -kStep)));
  for (std::size_t i = 0; i < above.size(); ++i) {
    Literal d(above[i].type());
    for (std::int64_t k = 0; k < d.count(); ++k)
      d.set_number(k, (above[i].number(k) - below[i].number(k)) / (2 * kStep));
    above[i] = d;
  }
  return above;
}

double inner(const Literals& a, const Literals& b) {
  STRATA_CHECK(a.size() == b.size(), "{} and {} arrays", a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::int64_t k = 0; k < a[i].count(); ++k) sum += a[i].number(k) * b[i].number(k);
  return sum;
}

std::string compare(const Literals& got, const Literals& want, double tolerance) {
  if (got.size() != want.size())
    return fmt::format("{} values instead of {}", got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].type() != want[i].type())
      return fmt::format("value {} is {} instead of {}", i, got[i].type().to_string(),
                         want[i].type().to_string());
    double scale = 1;
    for (std::int64_t k = 0; k < want[i].count(); ++k)
      scale = std::fmax(scale, std::fabs(want[i].number(k)));
    for (std::int64_t k = 0; k < want[i].count(); ++k) {
      double a = got[i].number(k), b = want[i].number(k);
      if (!(std::fabs(a - b) <= tolerance * scale))
        return fmt::format("value {}, element {}: {:.12g} instead of {:.12g}", i, k, a, b);
    }
  }
  return "";
}

Literal stacked(const Literals& xs) {
  std::vector<Dim> dims{Dim(static_cast<std::int64_t>(xs.size()))};
  append(dims, xs[0].shape().dims());
  Literal out(xs[0].type().with(Shape(dims)));
  for (std::size_t i = 0; i < xs.size(); ++i)
    std::memcpy(out.mutable_data() + i * xs[i].bytes(), xs[i].data(), xs[i].bytes());
  return out;
}

Literal unstacked(const Literal& x, std::int64_t i) {
  Literal out(without_leading(x.type()));
  std::memcpy(out.mutable_data(), x.data() + static_cast<std::size_t>(i) * out.bytes(),
              out.bytes());
  return out;
}

std::string check_jvp(const Block& f, const Literals& at, std::uint64_t seed, double tolerance) {
  for (const Flags& active : choices(inexact_arguments(f))) {
    Literals v = directions(at, active, seed);
    std::string difference =
        compare(tangents_by_jvp(f, at, active, v), finite_difference(f, at, active, v), tolerance);
    if (!difference.empty()) return fmt::format("jvp along {}: {}", describe(active), difference);
  }
  return "";
}

std::string check_vjp(const Block& f, const Literals& at, std::uint64_t seed, double tolerance) {
  for (const Flags& active : choices(inexact_arguments(f))) {
    Literals v = directions(at, active, seed), results = evaluate(f, at);
    Literals jv = evaluate(*linearized(f, active), joined(at, v));
    std::string difference = compare(jv, tangents_by_jvp(f, at, active, v), tolerance);
    if (!difference.empty())
      return fmt::format("linearize along {}: {}", describe(active), difference);
    Literals w = directions(inexact_only(results), Flags(jv.size(), true), seed + 1);
    Literals back = evaluate(*pulled_back(f, active), joined(at, w));
    difference = compare(part(back, 0, results.size()), results, tolerance);
    if (!difference.empty())
      return fmt::format("results beside the vjp along {}: {}", describe(active), difference);
    double forward = inner(jv, w),
           backward = inner(v, part(back, results.size(), back.size() - results.size()));
    if (!(std::fabs(forward - backward) <= tolerance * std::fmax(1, std::fabs(forward))))
      return fmt::format("along {}: <Jv, w> is {:.12g}, <v, J'w> is {:.12g}", describe(active),
                         forward, backward);
  }
  return "";
}

std::string check_batch(const Block& f, const Literals& at, std::uint64_t seed, double tolerance) {
  for (const Flags& batched : choices(Flags(at.size(), true))) {
    std::string difference = check_batch_of(f, at, batched, seed, tolerance);
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string check_laws(const Block& f, const Literals& at, std::uint64_t seed) {
  for (std::string difference :
       {check_jvp(f, at, seed), check_vjp(f, at, seed), check_batch(f, at, seed)})
    if (!difference.empty()) return difference;
  return "";
}

}  // namespace strata::op::testing
