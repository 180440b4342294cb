#include "strata/nn/norm/spectral_norm.h"

#include "strata/api/initializers.h"
#include "strata/api/lax.h"
#include "strata/nn/dtypes.h"

namespace strata::nn::detail {

tree::Tree matrices(const tree::Tree& layer, const SpectralNormOptions& o) {
  if (o.n_steps < 1) return {};
  const tree::Filter are_matrices = tree::where(
      [](const tree::Entry&, const Array& value) { return value.ndim() > 1; }, "matrices");
  const tree::Tree out = layer.filter(tree::of_kind(tree::kinds::param) && are_matrices).sorted();
  for (std::size_t i = 0; i < out.size() && o.error_on_non_matrix; ++i)
    if (out.value(i).ndim() > 2)
      strata::internal::fail("SpectralNorm", "{} is {}, and error_on_non_matrix is set",
                             out.entry(i).name, strata::internal::describe(out.value(i).type()));
  return out;
}

std::map<std::string, BatchStat> first_vectors(const tree::Tree& weights,
                                               const SpectralNormOptions& o, Rngs& rngs) {
  std::map<std::string, BatchStat> out;
  const Initializer init = initializers::normal();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Array& w = weights.value(i);
    out[path_key(weights.entry(i), "u")] =
        BatchStat(init(rngs("params"), {1, w.shape(-1)}, o.param_dtype));
    out[path_key(weights.entry(i), "sigma")] = BatchStat(numpy::ones(Sizes(), o.param_dtype));
  }
  return out;
}

namespace {

/// x / |x|, and 0 of 0.
Array unit(const Array& x, double epsilon) {
  return x * lax::rsqrt(numpy::sum(x * x, Reduce{.keepdims = true}) + epsilon);
}

BatchStat& stat_of(std::map<std::string, BatchStat>& stats, const tree::Entry& entry,
                   const char* name) {
  const auto found = stats.find(path_key(entry, name));
  if (found == stats.end())
    strata::internal::fail("SpectralNorm", "there is no {} for {}", name, entry.name);
  return found->second;
}

}  // namespace

tree::Tree of_spectral_norm(const tree::Tree& weights, std::map<std::string, BatchStat>& stats,
                            const PowerIteration& iteration, bool update) {
  return weights.map([&](const tree::Entry& entry, const Array& weight) {
    BatchStat& kept_u = stat_of(stats, entry, "u");
    BatchStat& kept_sigma = stat_of(stats, entry, "sigma");
    const Array w = weight.reshape({-1, weight.shape(-1)});
    Array u = kept_u, v;
    for (std::int64_t step = 0; step < iteration.n_steps; ++step) {
      v = unit(numpy::matmul(u, w.T()), iteration.epsilon);
      u = unit(numpy::matmul(v, w), iteration.epsilon);
    }
    u = lax::stop_gradient(u);
    v = lax::stop_gradient(v);
    const Array sigma = numpy::matmul(numpy::matmul(v, w), u.T()).reshape(Sizes());
    const Array divided = (w / numpy::where(sigma != 0, sigma, 1)).reshape(weight.shape());
    if (update) {
      kept_u = astype(u, kept_u.dtype());
      kept_sigma = astype(sigma, kept_sigma.dtype());
    }
    const DType met = canonicalize_dtype({divided, u, v, sigma}, iteration.dtype);
    return astype(astype(divided, met), weight.dtype());
  });
}

}  // namespace strata::nn::detail
