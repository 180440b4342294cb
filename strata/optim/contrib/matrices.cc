#include "strata/optim/contrib/matrices.h"

#include <algorithm>
#include <cmath>

#include "strata/api/lax.h"
#include "strata/api/numpy/linalg.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/grad.h"
#include "strata/optim/registry.h"
#include "strata/optim/rules/moments.h"
#include "strata/optim/rules/trace.h"
#include "strata/optim/schedule/learning_rate.h"
#include "strata/optim/transform/clip.h"
#include "strata/optim/transform/decay.h"

namespace strata::optim::contrib {

using optim::detail::field;
using optim::detail::no_count;
using optim::detail::rule;
using optim::detail::state_of;

namespace {

/// How a leaf becomes a batch of matrices, and back.
struct Layout {
  std::vector<std::int64_t> order, back, flat, full;
  std::int64_t rows = 1, columns = 1;

  Array to(const Array& x) const { return numpy::reshape(x.transpose(order), flat); }
  Array from(const Array& x) const { return numpy::reshape(x, full).transpose(back); }
};
Layout layout_of(const char* name, const Array& x, const DimensionNumbers& d) {
  if (x.ndim() < 2) throw Error(name, "a matrix has two axes or more, got {}", x.ndim());
  const auto settled = [&](std::vector<std::int64_t> axes) {
    for (std::int64_t& a : axes) a = (a + x.ndim()) % x.ndim();
    return axes;
  };
  const std::vector<std::int64_t> rows = settled(d.reduction_axis),
                                  columns = settled(d.output_axis);
  Layout out;
  std::int64_t batch = 1;
  for (std::int64_t i = 0; i < x.ndim(); ++i) {
    const bool row = std::count(rows.begin(), rows.end(), i) > 0;
    const bool column = std::count(columns.begin(), columns.end(), i) > 0;
    if (row && column) throw Error(name, "axis {} cannot be of rows and columns both", i);
    if (row || column) continue;
    out.order.push_back(i);
    batch *= x.shape(static_cast<int>(i));
  }
  out.order.insert(out.order.end(), rows.begin(), rows.end());
  out.order.insert(out.order.end(), columns.begin(), columns.end());
  out.back.resize(out.order.size());
  for (std::size_t i = 0; i < out.order.size(); ++i) {
    out.back[static_cast<std::size_t>(out.order[i])] = static_cast<std::int64_t>(i);
    out.full.push_back(x.shape(static_cast<int>(out.order[i])));
  }
  for (std::int64_t a : rows) out.rows *= x.shape(static_cast<int>(a));
  for (std::int64_t a : columns) out.columns *= x.shape(static_cast<int>(a));
  out.flat = {batch, out.rows, out.columns};
  return out;
}
Array product(const Array& a, const Array& b) { return numpy::matmul(a, b); }

/// One step; the first one of "aol" and "schatten" rescales.
Array newton_schulz(const Array& x_in, const Array& c, const std::string& rescale) {
  Array x = x_in, a = product(x, x.mT());
  if (rescale == "aol") {
    const Array size = numpy::maximum(numpy::sum(numpy::abs(a), -1), 1e-8);
    const Array s = numpy::expand_dims(lax::rsqrt(size), -1);
    x = x * s;
    a = a * s * s.mT();
  } else if (rescale == "schatten") {
    const Array square = numpy::sum(a * a, {.axis = {-2, -1}, .keepdims = true});
    const Array s = lax::rsqrt(numpy::maximum(numpy::sqrt(square), 1e-8));
    x = x * s;
    a = a * (s * s);
  }
  const Array b = c[1] * a + product(c[2] * a, a);
  return c[0] * x + product(b, x);
}

}  // namespace

NsCoeffs ns_coeffs_of(const std::string& preset) {
  if (preset == "standard") return {{3.4445, -4.7750, 2.0315}};
  if (preset == "dion")
    return {{4.0848, -6.8946, 2.9270},
            {3.9505, -6.3029, 2.6377},
            {3.7418, -5.5913, 2.3037},
            {2.8769, -3.1427, 1.2046},
            {2.8366, -3.0525, 1.2012}};
  throw Error("muon", "ns_coeffs is standard, dion or numbers, got {}", preset);
}

Array orthogonalize_via_newton_schulz(const Array& x_in, const Array& ns_coeffs,
                                      const OrthogonalizeOptions& o,
                                      const std::optional<DimensionNumbers>& dimensions) {
  const char* name = "orthogonalize_via_newton_schulz";
  if (x_in.ndim() != 2 && !dimensions)
    throw Error(name, "an array of {} axes needs the numbers of a matrix's axes", x_in.ndim());
  if (ns_coeffs.ndim() > 2 || ns_coeffs.shape(-1) != 3)
    throw Error(name, "coefficients are of shape (3) or (steps, 3)");
  const std::string& p = o.preconditioning;
  if (p != "frobenius" && p != "spectral" && p != "aol" && p != "schatten")
    throw Error(name, "preconditioning is frobenius, spectral, aol or schatten, got {}", p);
  const Layout layout = layout_of(name, x_in, x_in.ndim() == 2 ? DimensionNumbers() : *dimensions);
  const bool tall = layout.rows > layout.columns;
  Array x = layout.to(x_in);
  if (tall) x = x.mT();
  if (p == "frobenius") {
    const Array square = numpy::sum(x * x, {.axis = {-2, -1}, .keepdims = true});
    x = x / (numpy::sqrt(square) + o.eps);
  } else if (p == "spectral") {
    const Array greatest = numpy::max(numpy::linalg::svdvals(x), -1);
    x = x / (numpy::expand_dims(greatest, std::vector<std::int64_t>{-2, -1}) + o.eps);
  }
  const Array coeffs = numpy::astype(ns_coeffs, x.dtype());
  const std::int64_t steps = coeffs.ndim() == 1 ? o.ns_steps : coeffs.shape(0);
  for (std::int64_t i = 0; i < steps; ++i)
    x = newton_schulz(x, coeffs.ndim() == 1 ? coeffs : coeffs[i], i == 0 ? p : "");
  return layout.from(tall ? x.mT() : x);
}

namespace {
std::optional<DimensionNumbers> numbers_of(const DimensionsOf& f, const tree::Entry& e,
                                           const Array& x) {
  if (f) return f(e, x);
  return x.ndim() == 2 ? std::optional(DimensionNumbers()) : std::nullopt;
}
Array coefficients(const NsCoeffs& rows, std::int64_t steps) {
  const auto count = static_cast<std::int64_t>(rows.size());
  std::vector<float> values;
  for (const auto& row : rows) {
    if (row.size() != 3) throw Error("scale_by_muon", "a row of ns_coeffs has three numbers");
    for (double c : row) values.push_back(static_cast<float>(c));
  }
  if (count == 1) return array(values);
  if (count > steps)
    throw Error("scale_by_muon", "{} rows of ns_coeffs for {} steps", count, steps);
  return numpy::reshape(array(values), {count, 3});
}
GradientTransformation scale_by_shape(DimensionsOf dimensions, std::optional<double> rms) {
  return stateless("scale_by_shape()", [=](const Tree& u, const Tree*) {
    return u.map([&](const tree::Entry& e, const Array& x) {
      const auto d = numbers_of(dimensions, e, x);
      if (!d) return x;
      const Layout layout = layout_of("scale_by_shape", x, *d);
      const double in = static_cast<double>(layout.rows), out = static_cast<double>(layout.columns);
      // A weak number of f32, as upstream's.
      const float root =
          std::sqrt(static_cast<float>(rms ? std::max(in, out) : std::max(1.0, out / in)));
      return (rms ? root * static_cast<float>(*rms) : root) * x;
    });
  });
}
}  // namespace

GradientTransformation scale_by_muon(ScaleByMuonOptions o) {
  const auto state = [](const Array& count, const Tree& mu, const Array& coeffs) {
    return state_of(field("count", count), field("mu", mu), field("ns_coeffs", coeffs));
  };
  return rule(
      optim::detail::call_text("scale_by_muon", o),
      [=](const Tree& params) {
        return state(no_count(), trees::zeros_like(params, o.mu_dtype),
                     coefficients(o.ns_coeffs, o.ns_steps));
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Tree mu = trees::update_moment(u, s.subtree("mu"), o.beta, 1);
        const Array count = safe_increment(s["count"]), coeffs = s["ns_coeffs"];
        const Tree hat = optim::detail::corrected(mu, u, o.beta, count, o.nesterov);
        Tree out = hat.map([&](const tree::Entry& e, const Array& x) {
          return orthogonalize_via_newton_schulz(
              x, coeffs,
              {.ns_steps = o.ns_steps, .preconditioning = o.preconditioning, .eps = o.eps},
              numbers_of(o.weight_dimension_numbers, e, x));
        });
        if (o.adaptive)
          out = trees::map([](const Array& x, const Array& y) { return numpy::sum(x * y) * y; },
                           hat, out);
        return std::pair(out, state(count, trees::cast(mu, o.mu_dtype), coeffs));
      });
}
GradientTransformation muon(Rate learning_rate, MuonOptions o) {
  const Rate adam_rate = o.adam_learning_rate.has_value() ? o.adam_learning_rate : learning_rate;
  const DimensionsOf dimensions = o.muon_weight_dimension_numbers;
  return partition({{"muon", chain(scale_by_muon({.ns_coeffs = o.ns_coeffs,
                                                  .ns_steps = o.ns_steps,
                                                  .beta = o.beta,
                                                  .eps = o.eps,
                                                  .mu_dtype = o.mu_dtype,
                                                  .nesterov = o.nesterov,
                                                  .adaptive = o.adaptive,
                                                  .preconditioning = o.preconditioning,
                                                  .weight_dimension_numbers = dimensions}),
                                   scale_by_shape(dimensions, o.consistent_rms),
                                   add_decayed_weights(o.weight_decay, o.weight_decay_mask),
                                   scale_by_learning_rate(learning_rate))},
                    {"adam", adamw(adam_rate, {.b1 = o.adam_b1,
                                               .b2 = o.adam_b2,
                                               .eps = o.eps,
                                               .eps_root = o.adam_eps_root,
                                               .mu_dtype = o.mu_dtype,
                                               .weight_decay = o.adam_weight_decay,
                                               .nesterov = o.nesterov})}},
                   [dimensions](const tree::Entry& e, const Array& x) {
                     return numbers_of(dimensions, e, x) ? "muon" : "adam";
                   });
}

GradientTransformation scale_by_galore(ScaleByGaloreOptions o) {
  if (o.rank < 1) throw Error("scale_by_galore", "rank is 1 or more, got {}", o.rank);
  const GradientTransformation base = o.base_optimizer ? *o.base_optimizer : optim::scale_by_adam();
  const auto state = [](const Array& count, const Tree& inner, const Tree& projector) {
    return state_of(field("count", count), field("base_optimizer_state", inner),
                    field("projector", projector));
  };
  const auto matrix = [=](const Array& x, const Layout& layout) {
    return numpy::reshape(layout.to(x), {layout.rows, layout.columns});
  };
  const auto layout = [=](const tree::Entry& e, const Array& x) -> std::optional<Layout> {
    const auto d = numbers_of(o.weight_dimension_numbers, e, x);
    if (!d) return std::nullopt;
    const Layout found = layout_of("scale_by_galore", x, *d);
    if (found.flat[0] != 1)
      throw Error("scale_by_galore", "the axes of rows and columns of {} are all its axes", e.name);
    return found;
  };
  return rule(
      optim::detail::call_text("scale_by_galore", o),
      [=](const Tree& params) {
        const Tree projector = params.map([&](const tree::Entry& e, const Array& x) {
          const auto l = layout(e, x);
          if (!l) return numpy::zeros({0, 0}, x.dtype());
          return numpy::zeros(
              {std::max(l->rows, l->columns), std::min({o.rank, l->rows, l->columns})}, x.dtype());
        });
        const Tree proxies = params.map([&](const tree::Entry& e, const Array& x) {
          const auto l = layout(e, x);
          if (!l) return numpy::zeros_like(x);
          const std::int64_t rank = std::min({o.rank, l->rows, l->columns});
          return l->rows >= l->columns ? numpy::zeros({rank, l->columns}, x.dtype())
                                       : numpy::zeros({l->rows, rank}, x.dtype());
        });
        return state(no_count(), base.init(proxies), projector);
      },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const Array count = s["count"];
        const Array anew = numpy::equal(numpy::remainder(count, o.update_proj_gap), 0);
        const Tree old = s.subtree("projector");
        const Tree projector = u.map([&](const tree::Entry& e, const Array& x) {
          const auto l = layout(e, x);
          if (!l) return old[e.name];
          const std::int64_t rank = std::min({o.rank, l->rows, l->columns});
          const auto leading = [&](const Array& g, const Array&) {
            const auto factors =
                numpy::linalg::svd(numpy::astype(g, DType::f32), {.full_matrices = false});
            const Array p = l->rows >= l->columns ? factors.U[{slice(), slice(0, rank)}]
                                                  : factors.Vh[{slice(0, rank), slice()}].T();
            return numpy::astype(p, x.dtype());
          };
          const auto kept = [&](const Array&, const Array& p) {
            return numpy::astype(p, x.dtype());
          };
          return cond(anew, leading, kept, matrix(x, *l), old[e.name]);
        });
        const Tree low = u.map([&](const tree::Entry& e, const Array& x) {
          const auto l = layout(e, x);
          if (!l) return x;
          const Array p = projector[e.name];
          return l->rows >= l->columns ? product(p.T(), matrix(x, *l)) : product(matrix(x, *l), p);
        });
        auto [inner, next] = base.update(low, s.subtree("base_optimizer_state"));
        const Tree out = u.map([&](const tree::Entry& e, const Array& x) {
          const auto l = layout(e, x);
          const Array step = inner[e.name];
          if (!l) return step;
          const Array p = projector[e.name];
          const Array full = l->rows >= l->columns ? product(p, step) : product(step, p.T());
          return numpy::astype(o.scale * l->from(full), x.dtype());
        });
        return std::pair(out, state(safe_increment(count), next, projector));
      });
}
GradientTransformation galore(Rate learning_rate, GaloreOptions o) {
  return chain(scale_by_galore({.rank = o.rank,
                                .update_proj_gap = o.update_proj_gap,
                                .scale = o.scale,
                                .base_optimizer = o.base_optimizer,
                                .weight_dimension_numbers = o.weight_dimension_numbers}),
               add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation hutchinson_estimator_diag_hessian(random::Key key) {
  return rule(
      "hutchinson_estimator_diag_hessian()", {.params = true, .obj_fn = true},
      [=](const Tree&) { return field("key", random::key_data(key)); },
      [](const Tree&, const Tree& s, const Tree* params, const Extra& extra) {
        const auto [next, now] = random::split2(random::wrap_key_data(s["key"]));
        const Tree signs =
            trees::cast(trees::random_like(
                            now, *params,
                            [](const random::Key& k, const Sizes& shape, DType dtype) {
                              return random::rademacher(k, shape, dtype);
                            },
                            DType::f32),
                        trees::dtype(*params, trees::Common::lowest));
        const auto gradient = [&](const Tree& p) { return strata::grad(extra.obj_fn)(p); };
        const auto [value, along] = strata::jvp(gradient, std::tuple(*params), std::tuple(signs));
        return std::pair(trees::mul(along, signs), field("key", random::key_data(next)));
      });
}
GradientTransformation sophia(Rate learning_rate, SophiaOptions o) {
  const GradientTransformation diagonal =
      o.hessian_diagonal_fn ? *o.hessian_diagonal_fn : hutchinson_estimator_diag_hessian();
  Needs needs = diagonal.rule().needs();
  needs.params = true;
  const auto state = [](const Array& count, const Tree& mu, const Tree& nu, const Tree& inner) {
    return state_of(field("count", count), field("mu", mu), field("nu", nu),
                    field("hessian_fn_state", inner));
  };
  const GradientTransformation scaled = rule(
      optim::detail::call_text("scale_by_sophia", o), needs,
      [=](const Tree& params) {
        return state(no_count(), trees::zeros_like(params, o.mu_dtype), trees::zeros_like(params),
                     diagonal.init(params));
      },
      [=](const Tree& g, const Tree& s, const Tree* params, const Extra& extra) {
        const Array count = safe_increment(s["count"]);
        const Tree mu = trees::update_moment(g, s.subtree("mu"), o.b1, 1);
        const Tree nu = s.subtree("nu"), inner = s.subtree("hessian_fn_state");
        Tree out = trees::map(
            [&](const Array& m, const Array& h) {
              return m / numpy::maximum(o.gamma * h, o.eps.array());
            },
            trees::bias_correction(mu, o.b1, count), nu);
        if (o.clip_threshold.has_value())
          out = trees::clip(out, -o.clip_threshold, o.clip_threshold);
        const auto anew = [&](const Tree& was, const Tree& h, const Tree& p) {
          auto [found, next] = diagonal.update(g, was, p, extra);
          const auto like = [](const Array& a, const Array& b) {
            return numpy::astype(b, a.dtype());
          };
          return std::pair(trees::map(like, was, next),
                           trees::map(like, h, trees::update_moment(found, h, o.b2, 1)));
        };
        const auto kept = [](const Tree& was, const Tree& h, const Tree&) {
          return std::pair(trees::cast_like(was, was), trees::cast_like(h, h));
        };
        auto [next, next_nu] =
            cond(numpy::equal(numpy::remainder(s["count"], o.update_interval), 0), anew, kept,
                 inner, nu, *params);
        return std::pair(out, state(count, trees::cast(mu, o.mu_dtype), next_nu, next));
      });
  return chain(scaled, add_decayed_weights(o.weight_decay, o.weight_decay_mask),
               scale_by_learning_rate(std::move(learning_rate)));
}

GradientTransformation differentially_private_aggregate(Rate l2_norm_clip, Rate noise_multiplier,
                                                        random::Key key) {
  const Rate deviation = l2_norm_clip * noise_multiplier;
  return rule(
      "differentially_private_aggregate(" + l2_norm_clip.text() + ", " + noise_multiplier.text() +
          ")",
      [=](const Tree&) { return field("rng_key", random::key_data(key)); },
      [=](const Tree& u, const Tree& s, const Tree*, const Extra&) {
        const auto [sum, clipped] = per_example_global_norm_clip(u, l2_norm_clip);
        const double examples = static_cast<double>(u.value(0).shape(0));
        const random::Key keys = random::split(random::wrap_key_data(s["rng_key"]),
                                               Sizes{static_cast<std::int64_t>(u.size()) + 1});
        std::int64_t next = 1;
        const Tree out = trees::map(
            [&](const Array& g) {
              const Array noise = random::normal(random::detail::element(keys, next++),
                                                 g.shape().sizes(), g.dtype());
              return (g + deviation * noise) / examples;
            },
            sum);
        return std::pair(out, field("rng_key", random::key_data(random::detail::element(keys, 0))));
      });
}
GradientTransformation dpsgd(Rate learning_rate, Rate l2_norm_clip, Rate noise_multiplier,
                             random::Key seed, Rate momentum, bool nesterov) {
  return chain(differentially_private_aggregate(std::move(l2_norm_clip),
                                                std::move(noise_multiplier), std::move(seed)),
               momentum.has_value() ? trace(momentum, nesterov) : identity(),
               scale_by_learning_rate(std::move(learning_rate)));
}

}  // namespace strata::optim::contrib

void strata::optim::read(const Option& given, const std::string& where, contrib::NsCoeffs& into) {
  into.clear();
  if (const auto* preset = given.as<std::string>()) {
    into = contrib::ns_coeffs_of(*preset);
    return;
  }
  const auto* list = given.as<std::vector<Option>>();
  if (!list || list->empty())
    throw Error("optim", "{} is a name, three numbers or rows of them", where);
  if (list->front().as<std::vector<Option>>())
    for (const Option& row : *list) read(row, where, into.emplace_back());
  else
    read(given, where, into.emplace_back());
}

namespace strata::optim::detail {
void add_contrib_matrices(Rules& r) {
  r.add("contrib.scale_by_muon", {}, &contrib::scale_by_muon, "Jordan et al. (2024)",
        "Momentum made orthogonal.");
  r.add("contrib.muon", {"learning_rate"}, &contrib::muon, "Jordan et al. (2024)",
        "Orthogonal steps for matrices, AdamW for the rest.");
  r.add("contrib.scale_by_galore", {}, &contrib::scale_by_galore, "Zhao et al. (2024)",
        "A rule on gradients of low rank.");
  r.add("contrib.galore", {"learning_rate"}, &contrib::galore, "Zhao et al. (2024)",
        "Adam on gradients of low rank.");
  r.add("contrib.hutchinson_estimator_diag_hessian", {"random_seed=0"},
        &contrib::hutchinson_estimator_diag_hessian, "", "The Hessian's diagonal, estimated.");
  r.add("contrib.sophia", {"learning_rate"}, &contrib::sophia, "Liu et al. (2023)",
        "Momentum over the Hessian's diagonal, clipped.");
  r.add("contrib.differentially_private_aggregate", {"l2_norm_clip", "noise_multiplier", "key=0"},
        &contrib::differentially_private_aggregate, "Abadi et al. (2016)",
        "Means of clipped gradients of examples, with noise.");
  r.add(
      "contrib.dpsgd",
      {"learning_rate", "l2_norm_clip", "noise_multiplier", "seed", "momentum=", "nesterov=false"},
      &contrib::dpsgd, "Abadi et al. (2016)", "Descent with differential privacy.");
}
}  // namespace strata::optim::detail
