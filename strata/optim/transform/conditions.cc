#include "strata/optim/transform/conditions.h"

#include "strata/api/transform/control.h"
#include "strata/optim/registry.h"
#include "strata/optim/rule.h"

namespace strata::optim {

using detail::field;
using detail::state_of;

namespace {
Array all_finite(const Tree& t) {
  Array all = numpy::full({}, true);
  for (const Array& x : t.values()) all = all & numpy::all(numpy::isfinite(x));
  return all;
}
/// Arrays whose dtypes are settled, as both branches of a condition must have them.
Tree settled(const Tree& t) { return trees::cast_like(t, t); }
/// The values of `t` in the leaves and dtypes of `like`.
Tree as_like(const Tree& t, const Tree& like) {
  return trees::map([](const Array& a, const Array& b) { return numpy::astype(b, a.dtype()); },
                    like, t);
}
}  // namespace

std::pair<Tree, Tree> detail::update_when(const Array& condition,
                                          const GradientTransformation& inner, Otherwise otherwise,
                                          const Tree& updates, const Tree& state,
                                          const Tree* params, const Extra& extra) {
  const Tree given = params ? *params : Tree();
  const Extra read = taken(extra, inner.rule().needs());
  const auto run = [&](const Tree& u, const Tree& s, const Tree& p) {
    auto [out, next] = inner.update(u, s, params ? &p : nullptr, read);
    return std::pair(settled(out), as_like(next, s));
  };
  const auto stay = [&](const Tree& u, const Tree& s, const Tree& p) {
    // What the inner transformation makes says dtypes alone; nothing of it is computed.
    const Tree like = inner.update(u, s, params ? &p : nullptr, read).first;
    return std::pair(otherwise == Otherwise::zeros ? settled(trees::zeros_like(like))
                                                   : trees::cast_like(u, like),
                     settled(s));
  };
  return cond(condition, run, stay, updates, state, given);
}

namespace {
GradientTransformation conditional(const char* name, bool mask, GradientTransformation inner,
                                   Condition f, bool forward) {
  if (!f) throw Error(name, "needs a condition");
  const auto state = [=](const Tree& inside, const Array& step) {
    return mask ? state_of(field("step", step), field("inner_state", inside))
                : state_of(field("inner_state", inside), field("step", step));
  };
  Needs needs = inner.rule().needs();
  needs.any |= forward;
  return detail::rule(
      std::string(name) + "(" + inner.text() + ")", needs,
      [=](const Tree& params) { return state(inner.init(params), detail::no_count()); },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        const Array act = f(s["step"], forward ? extra : Extra());
        auto [out, next] = detail::update_when(
            act, inner, mask ? detail::Otherwise::zeros : detail::Otherwise::pass, u,
            s.subtree("inner_state"), params, extra);
        return std::pair(out, state(next, safe_increment(s["step"])));
      });
}
}  // namespace

GradientTransformation conditionally_transform(GradientTransformation inner, Condition f,
                                               bool forward) {
  return conditional("conditionally_transform", false, std::move(inner), std::move(f), forward);
}
GradientTransformation conditionally_mask(GradientTransformation inner, Condition f, bool forward) {
  return conditional("conditionally_mask", true, std::move(inner), std::move(f), forward);
}

GradientTransformation apply_if_finite(GradientTransformation inner,
                                       std::int64_t max_consecutive_errors) {
  const auto state = [](const Array& now, const Array& finite, const Array& all,
                        const Tree& inside) {
    return state_of(field("notfinite_count", now), field("last_finite", finite),
                    field("total_notfinite", all), field("inner_state", inside));
  };
  return detail::rule(
      "apply_if_finite(" + inner.text() + ", " + std::to_string(max_consecutive_errors) + ")",
      inner.rule().needs(),
      [=](const Tree& params) {
        return state(detail::no_count(), numpy::full({}, true), detail::no_count(),
                     inner.init(params));
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        const Array finite = all_finite(u);
        const Array count =
            numpy::where(finite, detail::no_count(), safe_increment(s["notfinite_count"]));
        auto [out, next] = detail::update_when(finite | (count > max_consecutive_errors), inner,
                                               detail::Otherwise::zeros, u,
                                               s.subtree("inner_state"), params, extra);
        const Array total = s["total_notfinite"];
        return std::pair(
            out, state(count, finite, numpy::where(finite, total, safe_increment(total)), next));
      });
}

GradientTransformation zero_nans() {
  return detail::rule(
      "zero_nans()",
      [](const Tree& params) {
        return field("found_nan",
                     trees::map([](const Array&) { return numpy::full({}, false); }, params));
      },
      [](const Tree& u, const Tree&, const Tree*, const Extra&) {
        const Tree found =
            trees::map([](const Array& g) { return numpy::any(numpy::isnan(g)); }, u);
        return std::pair(trees::map(
                             [](const Array& g) {
                               return numpy::where(numpy::isnan(g), numpy::zeros_like(g), g);
                             },
                             u),
                         field("found_nan", found));
      });
}
GradientTransformation keep_params_nonnegative() {
  return detail::leafwise("keep_params_nonnegative()", [](const Array& u, const Array& p) {
    return numpy::where(p + u < 0.0, -p, u);
  });
}

namespace {
Tree as_vector(const Tree& t) {
  std::vector<Array> parts;
  for (const Array& x : t.values()) parts.push_back(numpy::ravel(x));
  return Tree({tree::Entry(tree::KeyPath())}, {numpy::concatenate(parts)});
}
Tree from_vector(const Array& flat, const Tree& like) {
  std::vector<Array> values;
  std::int64_t at = 0;
  for (const Array& x : like.values()) {
    values.push_back(numpy::reshape(flat[slice(at, at + x.size())], x.shape().sizes()));
    at += x.size();
  }
  return like.with_values(std::move(values));
}
Tree split_complex(const Tree& t) {
  std::vector<Tree> parts;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const Array& x = t.value(i);
    const tree::Entry& e = t.entry(i);
    if (is_complex(x.dtype())) {
      const Tree both = Tree({{"real", numpy::real(x)}, {"imaginary", numpy::imag(x)}});
      parts.push_back(both.below(e.name));
    } else {
      parts.push_back(Tree({e}, {x}));
    }
  }
  return tree::merge(parts);
}
Tree join_complex(const Tree& parts, const Tree& like) {
  return like.map([&](const tree::Entry& e, const Array& x) {
    if (!is_complex(x.dtype())) return parts[e.name];
    const std::string front = e.name.empty() ? "" : e.name + "/";
    return parts[front + "real"] + parts[front + "imaginary"] * std::complex<float>(0, 1);
  });
}
}  // namespace

GradientTransformation flatten(GradientTransformation inner) {
  return detail::rule(
      "flatten(" + inner.text() + ")", inner.rule().needs(),
      [=](const Tree& params) { return inner.init(as_vector(params)); },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        Tree p;
        if (params) p = as_vector(*params);
        auto [out, next] = inner.update(as_vector(u), s, params ? &p : nullptr, extra);
        return std::pair(from_vector(out.value(0), u), next);
      });
}
GradientTransformation split_real_and_imaginary(GradientTransformation inner) {
  return detail::rule(
      "split_real_and_imaginary(" + inner.text() + ")", inner.rule().needs(),
      [=](const Tree& params) { return field("inner_state", inner.init(split_complex(params))); },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        Tree p;
        if (params) p = split_complex(*params);
        auto [out, next] =
            inner.update(split_complex(u), s.subtree("inner_state"), params ? &p : nullptr, extra);
        return std::pair(join_complex(out, u), field("inner_state", next));
      });
}
GradientTransformation stateless_with_tree_map(
    std::string text, std::function<Array(const Array& update, const Array* param)> f) {
  return stateless(std::move(text), [f = std::move(f)](const Tree& u, const Tree* params) {
    return u.map([&](const tree::Entry& e, const Array& g) {
      return f(g, params ? &(*params)[e.name] : nullptr);
    });
  });
}

namespace {
using OfTrees = std::function<Tree(const Tree&, const Tree*)>;
using OfLeaves = std::function<Array(const Array&, const Array*)>;
GradientTransformation stateless_by_name(OfTrees f) {
  return stateless("stateless()", std::move(f));
}
GradientTransformation leaves_by_name(OfLeaves f) {
  return stateless_with_tree_map("stateless_with_tree_map()", std::move(f));
}
}  // namespace

namespace detail {
void add_conditions(Rules& r) {
  r.add("conditionally_transform", {"inner", "should_transform_fn", "forward_extra_args=false"},
        &conditionally_transform, "", "A transformation of some steps.");
  r.add("conditionally_mask", {"inner", "should_transform_fn", "forward_extra_args=false"},
        &conditionally_mask, "", "A transformation of some steps, zeros at the others.");
  r.add("apply_if_finite", {"inner", "max_consecutive_errors"}, &apply_if_finite, "",
        "A transformation that skips updates with NaN or infinity.");
  r.add("zero_nans", {}, &zero_nans, "", "Zeros in place of NaN.");
  r.add("keep_params_nonnegative", {}, &keep_params_nonnegative, "",
        "Updates that leave no weight negative.");
  r.add("flatten", {"inner"}, &flatten, "", "A transformation of all leaves as one vector.");
  r.add("contrib.split_real_and_imaginary", {"inner"}, &split_real_and_imaginary, "",
        "A transformation of complex leaves by their parts.");
  r.add("stateless", {"f"}, &stateless_by_name, "", "A function of updates and parameters.");
  r.add("stateless_with_tree_map", {"f"}, &leaves_by_name, "", "A function of each leaf.");
  r.add("with_extra_args_support", {"tx"}, &with_extra_args_support, "",
        "A transformation that ignores extras which it does not need.");
}
}  // namespace detail

}  // namespace strata::optim
