#include "strata/op/testing/random_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "strata/op/build.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/control.h"
#include "strata/op/evaluate.h"
#include "strata/op/shape/refine.h"
#include "strata/op/testing/run.h"

namespace strata::op::testing {
namespace {

using Kind = GraphStep::Kind;
using Random = std::mt19937_64;

constexpr std::int64_t kMostElements = 600;  // of an operand: programs are many and small

/// A program of the sample's one operation.
BlockPtr alone(const OpDef& def, const Sample& sample) {
  return testing::build(types_of(sample.operands), [&](Builder& b, const Values& v) {
    return build_sample(b, def, sample, v).results();
  });
}

/// Whether the sample is stated by other operations only for known values, as where they are the
/// sizes of its result: random operands would not fit what it states.
bool needs_values(const OpDef& def, const Sample& sample) {
  BlockPtr block = alone(def, sample);
  return op::needs_values(*block->ops().back());
}

/// The samples of an operation, made once.
const std::vector<Sample>& samples(const std::string& name) {
  static std::map<std::string, std::vector<Sample>> made;
  auto it = made.find(name);
  if (it != made.end()) return it->second;
  std::vector<Sample> all = samples_of(name);
  std::erase_if(all, [&](const Sample& sample) { return needs_values(def(name), sample); });
  return made.emplace(name, std::move(all)).first->second;
}
const Sample& sample_of(const GraphStep& step) { return samples(step.def->info.name)[step.sample]; }

// ---- values fitted to a type -------------------------------------------------------------------

/// x with `type`'s shape: its elements in order, repeated or cut.
Value* reshaped(Builder& b, Value* x, const Shape& shape) {
  std::int64_t have = x->shape().count(), want = shape.count();
  if (x->shape() == shape) return x;
  x = reshape(b, x, Shape{have});
  if (have < want) {
    std::int64_t times = (want + have - 1) / have;
    x = reshape(b, broadcast_in_dim(b, x, Shape{times, have}, {1}), Shape{times * have});
  }
  if (x->shape()[0] > want) x = slice(b, x, {0}, {want});
  return reshape(b, x, shape);
}

/// The smallest and largest finite element; 0 and 1 without one.
std::pair<double, double> range_of(const Literal& x) {
  double low = INFINITY, high = -INFINITY;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    double v = is_integer(x.dtype()) ? static_cast<double>(x.integer(i)) : x.number(i);
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  return low <= high ? std::pair(low, high) : std::pair(0.0, 1.0);
}

/// A scalar of a dtype that has a number for `value`.
Value* number(Builder& b, const Type& type, double value) { return constant(b, type, value); }

/// `x` as an operand of `own`'s type, within the range of `own`'s elements; elements that are not
/// finite become `own`'s.
Value* fitted(Builder& b, Value* x, const Literal& own, bool smooth) {
  const Type& type = own.type();
  Value* y = reshaped(b, x, type.shape());
  if (is_complex(y->dtype()) && !is_complex(type.dtype())) return constant(b, own);
  y = convert(b, y, type.dtype());
  if (is_bool(type.dtype()) || is_complex(type.dtype())) return y;
  auto [low, high] = range_of(own);
  if (smooth) {
    Value *middle = number(b, type, (low + high) / 2), *half = number(b, type, (high - low) / 2);
    return add(b, middle, mul(b, half, tanh(b, y)));
  }
  if (is_float(type.dtype())) y = select(b, is_finite(b, y), y, constant(b, own));
  return max(b, number(b, type, low), min(b, y, number(b, type, high)));
}

// ---- building ----------------------------------------------------------------------------------

struct Environment {
  Values values;  // the newest last
  bool smooth;
  Value* newest(unsigned i) const { return values[values.size() - 1 - i % values.size()]; }
};

bool is_narrow(const Type& type) {
  return is_float(type.dtype()) && compute_type(type.dtype()) != type.dtype() &&
         !has_storage(type.dtype());
}

void emit(Builder& b, Environment& e, const GraphStep& step);

void emit_operation(Builder& b, Environment& e, const GraphStep& step) {
  const Sample& sample = sample_of(step);
  Values operands;
  for (std::size_t i = 0; i < sample.operands.size(); ++i) {
    const Literal& own = sample.operands[i];
    unsigned feed = i < step.feeds.size() ? step.feeds[i] : 0;
    bool own_value = feed == 0 || e.values.empty() || own.count() == 0 || is_narrow(own.type());
    operands.push_back(own_value
                           ? constant(b, own)
                           : fitted(b, e.newest(feed - 1), own, e.smooth && is_float(own.dtype())));
  }
  Op& op = build_sample(b, *step.def, sample, operands);
  for (Value* r : op.results())
    if (r->type().is_tensor() && r->shape().is_static() && r->shape().count() > 0 &&
        r->shape().count() <= 4 * kMostElements)
      e.values.push_back(r);
}

/// The newest value after `body`, as `like`'s type.
Value* run_body(Builder& b, Environment e, const std::vector<GraphStep>& body, Value* like) {
  for (const GraphStep& step : body) emit(b, e, step);
  Value* last = e.newest(0);
  if (is_complex(last->dtype()) != is_complex(like->dtype())) return like;
  Value* out = convert(b, reshaped(b, last, like->shape()), like->dtype());
  return is_float(out->dtype()) && e.smooth ? tanh(b, out) : out;
}

/// A scalar integer that depends on a value: the number of elements that are at least the first
/// one, modulo `modulus`.
Value* chosen(Builder& b, Value* x, std::int64_t modulus) {
  if (is_complex(x->dtype()) || is_narrow(x->type())) return scalar(b, DType::i32, 1);
  Value* y = reshaped(b, x, Shape{std::min<std::int64_t>(x->shape().count(), 8)});
  Value* first = broadcast_in_dim(b, reshape(b, slice(b, y, {0}, {1}), Shape{}), y->shape(), {});
  Value* count = reduce_sum(b, convert(b, compare(b, y, first, "GE"), DType::i32), {0});
  return rem(b, count, scalar(b, DType::i32, static_cast<double>(modulus)));
}

void emit_branches(Builder& b, Environment& e, const GraphStep& step) {
  Value* like = e.newest(step.feeds[0]);
  Value* index = chosen(b, e.newest(step.feeds[1]), step.kind == Kind::if_ ? 2 : 3);
  std::size_t half = step.body.size() / 2;
  std::vector<GraphStep> first(step.body.begin(),
                               step.body.begin() + static_cast<std::ptrdiff_t>(half)),
      second(step.body.begin() + static_cast<std::ptrdiff_t>(half), step.body.end());
  auto branch = [&](const std::vector<GraphStep>& body) {
    return testing::build(
        {}, [&](Builder& inner, const Values&) { return Values{run_body(inner, e, body, like)}; });
  };
  if (step.kind == Kind::if_) {
    Value* predicate = compare(b, index, scalar(b, DType::i32, 1), "LT");
    e.values.push_back(if_(b, predicate, branch(first), branch(second))[0]);
    return;
  }
  std::vector<BlockPtr> branches;
  branches.push_back(branch(first));
  branches.push_back(branch(second));
  branches.push_back(branch({}));
  e.values.push_back(case_(b, index, std::move(branches))[0]);
}

/// As often as a value says, at most three times.
void emit_while(Builder& b, Environment& e, const GraphStep& step) {
  Value *carried = e.newest(step.feeds[0]), *times = chosen(b, e.newest(step.feeds[1]), 4);
  const Type index = Type::scalar(DType::i32);
  auto cond = testing::build({index, carried->type()}, [&](Builder& inner, const Values& v) {
    return Values{compare(inner, v[0], times, "LT")};
  });
  auto body = testing::build({index, carried->type()}, [&](Builder& inner, const Values& v) {
    Environment nested = e;
    nested.values.push_back(v[1]);
    return Values{add(inner, v[0], scalar(inner, DType::i32, 1)),
                  run_body(inner, nested, step.body, v[1])};
  });
  e.values.push_back(
      while_(b, std::move(cond), std::move(body), {scalar(b, DType::i32, 0), carried})[1]);
}

void emit(Builder& b, Environment& e, const GraphStep& step) {
  switch (step.kind) {
    case Kind::operation: return emit_operation(b, e, step);
    case Kind::if_:
    case Kind::case_: return emit_branches(b, e, step);
    case Kind::while_: return emit_while(b, e, step);
  }
}

// ---- choosing ----------------------------------------------------------------------------------

/// The samples that programs may hold, by operation.
struct Candidates {
  std::vector<std::pair<const OpDef*, std::vector<std::size_t>>> all;

  explicit Candidates(bool smooth) {
    for (const OpDef* d : catalog()) {
      std::vector<std::size_t> fine;
      const std::vector<Sample>& have = samples(d->info.name);
      for (std::size_t i = 0; i < have.size(); ++i)
        if (may_compose(*d, have[i]) && (!smooth || suits_derivatives(*d, have[i])))
          fine.push_back(i);
      if (!fine.empty()) all.emplace_back(d, std::move(fine));
    }
  }

  /// Differentiable, of f64 throughout (rounding to a smaller type is a staircase), and so wherever
  /// fitted values may be.
  static bool suits_derivatives(const OpDef& d, const Sample& s) {
    if (!s.smooth || !d.jvp) return false;
    bool f64 = std::any_of(s.operands.begin(), s.operands.end(),
                           [](const Literal& x) { return x.dtype() == DType::f64; });
    auto other = [](const Type& type) {
      return is_inexact(type.dtype()) && type.dtype() != DType::f64;
    };
    BlockPtr block = alone(d, s);
    bool others = std::any_of(s.operands.begin(), s.operands.end(),
                              [&](const Literal& x) { return other(x.type()); }) ||
                  std::any_of(block->results.begin(), block->results.end(), [&](const Value* r) {
                    return r->type().is_tensor() && other(r->type());
                  });
    return f64 && !others && fine_for_fitted(*block, s);
  }

  /// Whether results and their derivatives stay small for operands anywhere between a sample's
  /// smallest and largest elements, found by a few draws, the last of one number throughout: fitted
  /// values repeat, and a factorisation, say, wants more of its matrix.
  static bool fine_for_fitted(const Block& block, const Sample& sample) {
    std::vector<bool> active;
    for (const Literal& x : sample.operands) active.push_back(x.dtype() == DType::f64);
    const JvpBlock derivative = jvp(block, active);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Literals drawn = sample.operands, tangents;
      for (Literal& x : drawn) {
        if (x.dtype() != DType::f64) continue;
        auto [low, high] = range_of(x);
        const double middle = (low + high) / 2;
        if (low < high)
          x = seed == 5 ? random_literal(x.type(), seed, middle, middle)
                        : random_literal(x.type(), seed, low, high);
        tangents.push_back(random_literal(x.type(), seed));
      }
      drawn.insert(drawn.end(), tangents.begin(), tangents.end());
      for (const Literal& r : evaluate(*derivative.block, drawn))
        for (std::int64_t i = 0; r.dtype() == DType::f64 && i < r.count(); ++i)
          if (!(std::fabs(r.number(i)) < 1e6)) return false;
    }
    return true;
  }
};

const Candidates& candidates(bool smooth) {
  static const Candidates any(false), differentiable(true);
  return smooth ? differentiable : any;
}

std::vector<GraphStep> random_steps(Random& random, int count, const GraphOptions& options,
                                    int depth) {
  const auto& all = candidates(options.smooth).all;
  std::vector<GraphStep> out;
  for (int i = 0; i < count; ++i) {
    GraphStep step;
    unsigned roll = static_cast<unsigned>(random() % 24);
    if (depth > 0 && roll < 3) {
      step.kind = roll == 0 ? Kind::if_ : roll == 1 ? Kind::case_ : Kind::while_;
      if (options.smooth && step.kind == Kind::while_) step.kind = Kind::if_;
      step.feeds = {static_cast<unsigned>(random() % 6), static_cast<unsigned>(random() % 6)};
      int inside = 2 + static_cast<int>(random() % 4);
      step.body = random_steps(random, inside, options, depth - 1);
      i += inside;
    } else {
      const auto& [def, fine] = all[random() % all.size()];
      step.def = def;
      step.sample = fine[random() % fine.size()];
      std::size_t operands = sample_of(step).operands.size();
      for (std::size_t k = 0; k < operands; ++k)
        step.feeds.push_back(random() % 3 == 0 ? 0 : 1 + static_cast<unsigned>(random() % 8));
    }
    out.push_back(std::move(step));
  }
  return out;
}

void print(std::string& out, const std::vector<GraphStep>& steps, int indent) {
  constexpr const char* names[] = {"", "if", "case", "while"};
  for (const GraphStep& s : steps) {
    std::string what = s.kind == Kind::operation
                           ? fmt::format("{} ({})", s.def->info.name, sample_of(s).what)
                           : names[static_cast<int>(s.kind)];
    out += fmt::format("{}{} {}\n", std::string(static_cast<std::size_t>(indent), ' '), what,
                       fmt::join(s.feeds, " "));
    print(out, s.body, indent + 2);
  }
}

std::vector<std::vector<GraphStep>> smaller_steps(const std::vector<GraphStep>& steps) {
  std::vector<std::vector<GraphStep>> out;
  // Halves first: they make long programs short in few tries.
  if (steps.size() >= 4) {
    auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    out.emplace_back(steps.begin(), middle);
    out.emplace_back(middle, steps.end());
  }
  for (std::size_t k = 0; k < steps.size(); ++k) {
    auto at = static_cast<std::ptrdiff_t>(k);
    std::vector<GraphStep> without = steps;
    without.erase(without.begin() + at);
    out.push_back(without);
    if (steps[k].kind == Kind::operation) {
      for (std::size_t f = 0; f < steps[k].feeds.size(); ++f) {
        if (steps[k].feeds[f] == 0) continue;
        out.push_back(steps);
        out.back()[k].feeds[f] = 0;
      }
      continue;
    }
    without.insert(without.begin() + at, steps[k].body.begin(), steps[k].body.end());
    out.push_back(without);
    for (auto& body : smaller_steps(steps[k].body)) {
      out.push_back(steps);
      out.back()[k].body = body;
    }
  }
  return out;
}

bool is_plain(const Type& type) {
  return type.is_tensor() && type.shape().is_static() && type.shape().count() <= kMostElements &&
         !type.is_quantized();
}

}  // namespace

bool may_compose(const OpDef& def, const Sample& sample) {
  if (def.info.has_effect ||
      (std::holds_alternative<None>(def.lowering) && def.decompose == nullptr))
    return false;
  if (!std::all_of(sample.operands.begin(), sample.operands.end(),
                   [](const Literal& x) { return is_plain(x.type()); }))
    return false;
  return std::all_of(sample.results.begin(), sample.results.end(), is_plain);
}

std::unique_ptr<Block> RandomGraph::build() const {
  bool smooth =
      !arguments.empty() && std::all_of(arguments.begin(), arguments.end(),
                                        [](const Literal& x) { return x.dtype() == DType::f64; });
  return testing::build(types_of(arguments), [&](Builder& b, const Values& v) {
    Environment e{v, smooth};
    for (const GraphStep& s : steps) emit(b, e, s);
    std::size_t first = e.values.size() > results ? e.values.size() - results : 0;
    return Values(e.values.begin() + static_cast<std::ptrdiff_t>(first), e.values.end());
  });
}

std::string RandomGraph::to_text() const {
  std::string out;
  print(out, steps, 2);
  return out;
}

RandomGraph random_graph(std::uint64_t seed, const GraphOptions& options) {
  Random random(seed);
  RandomGraph out;
  std::vector<DType> dtypes =
      options.smooth ? std::vector<DType>{DType::f64, DType::f64}
                     : std::vector<DType>{DType::f32, DType::i32, DType::f64, DType::bf16};
  for (DType t : dtypes)
    out.arguments.push_back(random_literal(
        Type(t, Shape{2 + static_cast<std::int64_t>(random() % 3), 3}), random(), -2, 3));
  out.steps = random_steps(random, options.operations, options, 2);
  return out;
}

std::vector<RandomGraph> smaller(const RandomGraph& graph) {
  std::vector<RandomGraph> out;
  for (auto& steps : smaller_steps(graph.steps))
    out.push_back({graph.arguments, std::move(steps), graph.results});
  if (graph.results > 1) out.push_back({graph.arguments, graph.steps, graph.results - 1});
  return out;
}

}  // namespace strata::op::testing
