#include "strata/optim/rules/line_search.h"

#include <limits>

#include "strata/api/transform/control.h"
#include "strata/api/transform/grad.h"
#include "strata/optim/registry.h"
#include "strata/optim/rule.h"
#include "strata/optim/schedule/learning_rate.h"

namespace strata::optim {

using detail::field;
using detail::state_of;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Loss = std::function<Array(const Tree&)>;

DType value_dtype(const Tree& params) {
  if (params.empty()) throw Error("linesearch", "there are no parameters");
  return numpy::real(params.value(0)).dtype();
}
Array bounded(const Array& error) {
  return numpy::maximum(numpy::where(numpy::isnan(error), kInfinity, error), 0.0);
}
/// Each array in the dtype that it has in `like`.
template <class T>
T settled(const T& x, const T& like) {
  return tree::map([](const Array& a, const Array& b) { return numpy::astype(a, b.dtype()); }, x,
                   like);
}
Array slope_of(const Tree& updates, const Tree& grad) {
  return numpy::real(trees::vdot(updates, trees::conj(grad)));
}

struct Backtracking {
  Array rate, value, error, steps;
  Tree grad;
  STRATA_FIELDS(rate, value, error, steps, grad)
};
Tree backtracking_state(const Array& rate, const Array& value, const Tree& grad, const Array& steps,
                        const Array& error) {
  return state_of(field("learning_rate", rate), field("value", value), field("grad", grad),
                  field("info/num_linesearch_steps", steps), field("info/decrease_error", error));
}

}  // namespace

GradientTransformation scale_by_backtracking_linesearch(std::int64_t max_steps,
                                                        BacktrackingOptions o) {
  return detail::rule(
      detail::call_text("scale_by_backtracking_linesearch", o) + std::to_string(max_steps),
      {.params = true, .value = true, .grad = true, .value_fn = true},
      [=](const Tree& params) {
        const DType dtype = value_dtype(params);
        const Array infinite = numpy::full({}, kInfinity, dtype);
        return backtracking_state(numpy::ones({}, dtype), infinite,
                                  o.store_grad ? trees::zeros_like(params) : Tree(),
                                  detail::no_count(), infinite);
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        const DType dtype = s["value"].dtype();
        const Loss& f = extra.value_fn;
        const Array value = numpy::astype(*extra.value, dtype), slope = slope_of(u, *extra.grad);
        const auto going = [&](const Backtracking& b) {
          return numpy::logical_not(b.error <= o.atol) & (b.steps <= max_steps);
        };
        const auto step = [&](const Backtracking& b) {
          const Array rate = numpy::where(b.steps > 0, o.decrease_factor * b.rate, b.rate);
          const Tree at = trees::add_scale(*params, rate, u);
          const Array next = f(at);
          const Array error = bounded(next - (1.0 + o.rtol) * value - rate * o.slope_rtol * slope);
          Tree grad = b.grad;
          if (o.store_grad)
            grad =
                cond((error <= o.atol) | numpy::equal(b.steps, max_steps),
                     [&](const Tree& p, const Tree& g) {
                       return trees::cast_like(strata::grad(f)(p), g);
                     },
                     [](const Tree&, const Tree& g) { return trees::cast_like(g, g); }, at, b.grad);
          return settled(Backtracking{rate, next, error, b.steps + 1, grad}, b);
        };
        const Backtracking begin{
            numpy::astype(
                numpy::minimum(o.increase_factor * s["learning_rate"], o.max_learning_rate), dtype),
            value, numpy::full({}, kInfinity, dtype), detail::no_count(),
            o.store_grad ? trees::zeros_like(*params) : Tree()};
        const Backtracking end = while_loop(going, step, begin);
        const Array rate = numpy::where(numpy::isinf(end.error), 0.0, end.rate);
        return std::pair(
            trees::scale(rate, u),
            trees::cast_like(backtracking_state(rate, end.value, end.grad, end.steps, end.error),
                             s));
      });
}

namespace {

/// Where a search stands: the last point, the interval, and the best point of sufficient decrease.
struct Point {
  Array size, value, slope;
  STRATA_FIELDS(size, value, slope)
};
struct Safe {
  Array size, value;
  Tree grad;
  STRATA_FIELDS(size, value, grad)
};
struct Zoom {
  Array count;
  Point at;
  Tree grad;
  Array decrease_error, curvature_error, found, done, failed;
  Point low, high;
  Array cubic_size, cubic_value;
  Safe safe;
  STRATA_FIELDS(count, at, grad, decrease_error, curvature_error, found, done, failed, low, high,
                cubic_size, cubic_value, safe)
};
template <class T>
T pick(const Array& condition, const T& a, const T& b) {
  return tree::map([&](const Array& x, const Array& y) { return numpy::where(condition, x, y); }, a,
                   b);
}

Array cubic_minimum(const Point& a, const Point& b, const Array& c, const Array& value_c) {
  const Array db = b.size - a.size, dc = c - a.size;
  const Array scale = db * dc;
  const Array denom = scale * scale * (db - dc);
  const Array rb = b.value - a.value - a.slope * db, rc = value_c - a.value - a.slope * dc;
  const Array A = (dc * dc * rb - db * db * rc) / denom;
  const Array B = (db * db * db * rc - dc * dc * dc * rb) / denom;
  return a.size + (-B + numpy::sqrt(B * B - 3.0 * A * a.slope)) / (3.0 * A);
}
Array quadratic_minimum(const Point& a, const Point& b) {
  const Array db = b.size - a.size;
  const Array B = (b.value - a.value - a.slope * db) / (db * db);
  return a.size - a.slope / (2.0 * B);
}

class ZoomSearch {
 public:
  ZoomSearch(std::int64_t max_steps, const ZoomOptions& o, const Loss& f, const Tree& params,
             const Tree& updates, Array value, Array slope, Array guess)
      : max_steps_(max_steps),
        o_(o),
        f_(f),
        params_(params),
        updates_(updates),
        value_(std::move(value)),
        slope_(std::move(slope)),
        guess_(std::move(guess)) {}

  Zoom run(const Tree& grad) const {
    const DType dtype = value_.dtype();
    const Array zero = numpy::zeros({}, dtype), infinite = numpy::full({}, kInfinity, dtype);
    const Array no = numpy::full({}, false);
    const Point here{zero, value_, slope_};
    const Zoom begin{
        detail::no_count(),  here, grad, infinite, infinite, no, no, no, here, here, zero, value_,
        {zero, value_, grad}};
    const auto going = [](const Zoom& z) { return numpy::logical_not(z.done | z.failed); };
    const auto step = [&](const Zoom& z) {
      const Zoom next = cond(
          z.found, [&](const Zoom& s) { return settled(narrowed(s), s); },
          [&](const Zoom& s) { return settled(widened(s), s); }, z);
      const auto safe = [](const Zoom& s) {
        Zoom out = s;
        const Array take = (s.safe.size > 0.0) | numpy::isinf(s.decrease_error);
        out.at.size = numpy::where(take, s.safe.size, s.at.size);
        out.at.value = numpy::where(take, s.safe.value, s.at.value);
        out.grad = trees::where(take, s.safe.grad, s.grad);
        return settled(out, s);
      };
      return cond(next.failed, safe, [](const Zoom& s) { return settled(s, s); }, next);
    };
    return while_loop(going, step, begin);
  }

 private:
  std::pair<Point, Tree> at(const Array& size) const {
    const auto [value, grad] =
        strata::value_and_grad(f_)(trees::add_scale(params_, size, updates_));
    return {{size, value, slope_of(updates_, grad)}, grad};
  }
  Array decrease_error(const Point& p) const {
    Array error = p.value - value_ - o_.slope_rtol * p.size * slope_;
    if (o_.approx_dec_rtol) {
      const Array by_slope = p.slope - (2.0 * o_.slope_rtol - 1.0) * slope_;
      const Array by_value = p.value - value_ - *o_.approx_dec_rtol * numpy::abs(value_);
      error = numpy::minimum(numpy::maximum(by_slope, by_value), error);
    }
    const Array positive = numpy::maximum(error, 0.0);
    return numpy::where(numpy::isnan(positive), kInfinity, positive);
  }
  Array curvature_error(const Point& p) const {
    const Array error =
        numpy::maximum(numpy::abs(p.slope) - o_.curv_rtol * numpy::abs(slope_), 0.0);
    return numpy::where(numpy::isnan(error), kInfinity, error);
  }

  Zoom widened(const Zoom& z) const {
    const Array first = numpy::equal(z.count, 0);
    Array size = numpy::where(first, guess_, o_.increase_factor * z.at.size);
    Array greatest = numpy::full({}, false);
    if (o_.max_learning_rate) {
      greatest = size >= *o_.max_learning_rate;
      size = numpy::minimum(size, *o_.max_learning_rate);
    }
    const auto [p, grad] = at(size);
    const Array decrease = decrease_error(p), curvature = curvature_error(p);
    const Array error = numpy::maximum(decrease, curvature);
    const Array to_high = (decrease > 0.0) | ((p.value >= z.at.value) & numpy::logical_not(first));
    const Array to_low = (p.slope >= 0.0) & numpy::logical_not(to_high);
    const Array fine = error <= o_.tol;
    const Array found = to_high | to_low | fine;
    const Array done = fine | (greatest & numpy::logical_not(found));
    const Point low = pick(to_low, p, z.at), high = pick(to_low, z.at, p);
    return {z.count + 1,
            p,
            grad,
            decrease,
            curvature,
            found,
            done,
            (z.count + 1 >= max_steps_) & numpy::logical_not(done),
            low,
            high,
            low.size,
            low.value,
            pick(decrease <= o_.tol, Safe{p.size, p.value, grad}, z.safe)};
  }

  Zoom narrowed(const Zoom& z) const {
    const Array delta = numpy::abs(z.high.size - z.low.size);
    const Array left = numpy::minimum(z.high.size, z.low.size),
                right = numpy::maximum(z.high.size, z.low.size);
    const auto inside = [&](const Array& x, double margin) {
      return (x > left + margin * delta) & (x < right - margin * delta);
    };
    const Array cubic = cubic_minimum(z.low, z.high, z.cubic_size, z.cubic_value);
    const Array quadratic = quadratic_minimum(z.low, z.high);
    const Array size = numpy::where(
        inside(cubic, 0.2), cubic,
        numpy::where(inside(quadratic, 0.1), quadratic, (z.low.size + z.high.size) / 2.0));
    const auto [p, grad] = at(size);
    const Array decrease = decrease_error(p), curvature = curvature_error(p);
    const Array done = numpy::maximum(decrease, curvature) <= o_.tol;
    const Safe safe =
        pick((decrease <= o_.tol) & (p.value < z.safe.value), Safe{p.size, p.value, grad}, z.safe);
    const Array high_is_middle = (decrease > 0.0) | (p.value >= z.low.value);
    const Array low_is_middle = numpy::logical_not(high_is_middle);
    const Array high_is_low = (p.slope * (z.high.size - z.low.size) >= 0.0) & low_is_middle;
    const Array moved = high_is_middle | high_is_low;
    const Array over =
        (z.count + 1 >= max_steps_) | ((delta <= o_.stepsize_precision) & (safe.size > 0.0));
    return {z.count + 1,
            p,
            grad,
            decrease,
            curvature,
            z.found,
            done,
            over & numpy::logical_not(done),
            pick(low_is_middle, p, z.low),
            pick(high_is_low, z.low, pick(high_is_middle, p, z.high)),
            numpy::where(moved, z.high.size, z.low.size),
            numpy::where(moved, z.high.value, z.low.value),
            safe};
  }

  std::int64_t max_steps_;
  const ZoomOptions& o_;
  const Loss& f_;
  const Tree& params_;
  const Tree& updates_;
  Array value_, slope_, guess_;
};

Tree zoom_state(const Array& rate, const Array& value, const Tree& grad, const Array& steps,
                const Array& decrease, const Array& curvature) {
  return state_of(field("learning_rate", rate), field("value", value), field("grad", grad),
                  field("info/num_linesearch_steps", steps), field("info/decrease_error", decrease),
                  field("info/curvature_error", curvature));
}

}  // namespace

GradientTransformation scale_by_zoom_linesearch(std::int64_t max_steps, ZoomOptions o) {
  const std::string& guess = o.initial_guess_strategy;
  if (guess != "keep" && guess != "one")
    throw Error("scale_by_zoom_linesearch", "initial_guess_strategy is keep or one, got {}", guess);
  return detail::rule(
      detail::call_text("scale_by_zoom_linesearch", o) + std::to_string(max_steps),
      {.params = true, .value = true, .grad = true, .value_fn = true},
      [](const Tree& params) {
        const DType dtype = value_dtype(params);
        const Array infinite = numpy::full({}, kInfinity, dtype);
        return zoom_state(numpy::ones({}, dtype), infinite, trees::zeros_like(params),
                          detail::no_count(), infinite, infinite);
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        const DType dtype = s["value"].dtype();
        const Array first = o.initial_guess_strategy == "one"
                                ? numpy::ones({}, dtype)
                                : numpy::astype(s["learning_rate"], dtype);
        const ZoomSearch search(max_steps, o, extra.value_fn, *params, u,
                                numpy::astype(*extra.value, dtype),
                                numpy::astype(slope_of(u, *extra.grad), dtype), first);
        const Zoom end = search.run(trees::cast_like(*extra.grad, s.subtree("grad")));
        return std::pair(trees::scale(end.at.size, u),
                         trees::cast_like(zoom_state(end.at.size, end.at.value, end.grad, end.count,
                                                     end.decrease_error, end.curvature_error),
                                          s));
      });
}

std::function<std::pair<Array, Tree>(const Tree&, const Tree&)> value_and_grad_from_state(
    std::function<Array(const Tree&)> value_fn) {
  return [f = std::move(value_fn)](const Tree& params, const Tree& state) {
    const std::optional<Tree> value = trees::get(state, "value"), grad = trees::get(state, "grad");
    if (!value || value->size() != 1 || !grad)
      throw Error("value_and_grad_from_state", "the state keeps no value and gradient");
    const Array known = value->value(0);
    return cond(
        numpy::isfinite(known),
        [](const Tree&, const Array& v, const Tree& g) {
          return std::pair(numpy::astype(v, v.dtype()), trees::cast_like(g, g));
        },
        [&](const Tree& p, const Array& v, const Tree& g) {
          const auto [now, slope] = strata::value_and_grad(f)(p);
          return std::pair(numpy::astype(now, v.dtype()), trees::cast_like(slope, g));
        },
        params, known, *grad);
  };
}

namespace {
/// The inverse Hessian that differences tell, times the updates.
Tree preconditioned(const Tree& updates, const Tree& dw, const Tree& du, const Array& rhos,
                    const Rate& identity_scale, const Array& place) {
  const std::int64_t size = rhos.shape(0);
  const Array indices = numpy::remainder(place + numpy::arange(size), size);
  const auto slot = [](const Tree& memory, const Array& i) {
    return trees::map([&](const Array& x) { return numpy::take(x, i, 0); }, memory);
  };
  const auto right = [&](const Tree& q, const Array& i) {
    const Array alpha = numpy::take(rhos, i, 0) * numpy::real(trees::vdot(slot(dw, i), q));
    return std::pair(trees::cast_like(trees::add_scale(q, -alpha, slot(du, i)), q), alpha);
  };
  const auto [inner, alphas] =
      scan(right, trees::cast_like(updates, updates), indices, {.reverse = true});
  const Tree scaled = trees::cast_like(trees::scale(identity_scale, inner), inner);
  const auto left = [&](const Tree& q, const std::pair<Array, Array>& x) {
    const auto& [i, alpha] = x;
    const Array beta = numpy::take(rhos, i, 0) * numpy::real(trees::vdot(slot(du, i), q));
    return std::pair(trees::cast_like(trees::add_scale(q, alpha - beta, slot(dw, i)), q), beta);
  };
  return scan(left, scaled, std::pair(indices, alphas)).first;
}
}  // namespace

GradientTransformation scale_by_lbfgs(std::int64_t memory_size, bool scale_init_precond) {
  if (memory_size < 1)
    throw Error("scale_by_lbfgs", "memory_size is 1 or more, got {}", memory_size);
  const auto state = [](const Array& count, const Tree& params, const Tree& updates, const Tree& dw,
                        const Tree& du, const Array& weights) {
    return state_of(field("count", count), field("params", params), field("updates", updates),
                    field("diff_params_memory", dw), field("diff_updates_memory", du),
                    field("weights_memory", weights));
  };
  return detail::rule(
      "scale_by_lbfgs(" + std::to_string(memory_size) + (scale_init_precond ? ")" : ", plain)"),
      {.params = true},
      [=](const Tree& params) {
        const Tree zeros = trees::zeros_like(params);
        const Tree memory = trees::map(
            [&](const Array& x) {
              std::vector<std::int64_t> shape = x.shape().sizes();
              shape.insert(shape.begin(), memory_size);
              return numpy::zeros(shape, x.dtype());
            },
            params);
        return state(detail::no_count(), zeros, zeros, memory, memory, numpy::zeros({memory_size}));
      },
      [=](const Tree& g, const Tree& s, const Tree* params, const Extra&) {
        const Array count = s["count"], later = count > 0;
        const Array last = numpy::remainder(count - 1, memory_size);
        const auto once = [&](const Array& x) {
          return numpy::where(later, x, numpy::zeros_like(x));
        };
        Tree dw = trees::sub(*params, s.subtree("params")),
             du = trees::sub(g, s.subtree("updates"));
        const Array product = numpy::real(trees::vdot(du, dw));
        const Array weight = once(numpy::where(numpy::equal(product, 0.0), 0.0, 1.0 / product));
        dw = trees::map(once, dw);
        du = trees::map(once, du);
        const auto put = [&](const Array& memory, const Array& x) {
          return memory.at(last).set(x);
        };
        const Tree all_dw = trees::map(put, s.subtree("diff_params_memory"), dw),
                   all_du = trees::map(put, s.subtree("diff_updates_memory"), du);
        const Array weights = put(s["weights_memory"], weight);
        Rate factor = 1.0;
        if (scale_init_precond) {
          const Array above = numpy::real(trees::vdot(du, dw)), below = trees::norm(du, true);
          const Array first = numpy::minimum(1.0, 1.0 / trees::norm(g));
          factor = numpy::where(later, numpy::where(below > 0.0, above / below, 1.0), first);
        }
        const Tree out = preconditioned(g, all_dw, all_du, weights, factor,
                                        numpy::remainder(count, memory_size));
        return std::pair(out, state(safe_increment(count), *params, g, all_dw, all_du, weights));
      });
}
GradientTransformation lbfgs(Rate learning_rate, LbfgsOptions o) {
  // Upstream takes the loss and its gradient without a line search too.
  return with_extra_args_support(
      chain(scale_by_lbfgs(o.memory_size, o.scale_init_precond),
            learning_rate.has_value() ? scale_by_learning_rate(learning_rate) : scale(-1.0),
            o.linesearch ? *o.linesearch : identity()));
}

namespace detail {
void add_line_search(Rules& r) {
  r.add("scale_by_backtracking_linesearch", {"max_backtracking_steps"},
        &scale_by_backtracking_linesearch, "Armijo (1966)",
        "Steps cut until the loss falls enough.");
  r.add("scale_by_zoom_linesearch", {"max_linesearch_steps"}, &scale_by_zoom_linesearch,
        "Nocedal and Wright (1999)", "Steps of sufficient decrease and small slope.");
  r.add("scale_by_lbfgs", {"memory_size=10", "scale_init_precond=true"}, &scale_by_lbfgs,
        "Liu and Nocedal (1989)", "Updates by an inverse Hessian from differences.");
  r.add("lbfgs", {"learning_rate="}, &lbfgs, "Liu and Nocedal (1989)",
        "Quasi-Newton steps with a line search.");
}
}  // namespace detail

}  // namespace strata::optim
