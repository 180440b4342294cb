#include "strata/model/decoder/feed_forward.h"

#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/shard_map.h"
#include "strata/model/decoder/gate.h"
#include "strata/nn/logical_sharding.h"
#include "strata/nn/wide.h"

namespace strata::model::decoder {

Array activate(const Array& x, Activation activation) {
  switch (activation) {
    case Activation::silu: return strata::nn::silu(x);
    case Activation::gelu: return strata::nn::gelu(x, false);
    case Activation::gelu_tanh: return strata::nn::gelu(x, true);
    case Activation::relu: return strata::nn::relu(x);
  }
  STRATA_UNREACHABLE("no activation {}", static_cast<int>(activation));
}

namespace {

/// The product of what is gated and its gate, both clipped.
Array clipped(const Array& gate, const Array& up, const ExpertOptions& o) {
  const Array g = minimum(gate, o.gate_limit);
  return (clip(up, -o.gate_limit, o.gate_limit) + 1) * g * strata::nn::sigmoid(g * o.gate_alpha);
}

}  // namespace

Array FeedForward::operator()(const Array& x, Activation activation) const {
  const nn::ModuleScope scope(*this, "FeedForward");
  Array h = gate ? activate((*gate)(x), activation) * up(x) : activate(up(x), activation);
  if (h.ndim() == 3)
    h = nn::with_logical_constraint(h, {"activation_batch", "activation_length", "activation_mlp"});
  return scope.returns(down(h), x);
}

Routes Experts::routes(const Array& x, const ExpertOptions& o) const {
  std::optional<Array> bias;
  if (choice_bias) bias = Array(*choice_bias);
  return route(astype(router(x), nn::wide(x.dtype())), bias, o);
}

Array Experts::weights(const Array& x, const ExpertOptions& o) const {
  const Routes r = routes(x, o);
  return sum(where(assignments(r.experts, o.count), expand_dims(r.weights, -1), Array(0.0f)), -2);
}

Array Experts::operator()(const Array& x, const ExpertOptions& o, Activation activation) const {
  return along(x, routes(x, o), o, activation);
}

namespace {

/// A layer's experts as arrays in the type that they are multiplied in.
struct ExpertArrays {
  std::vector<Array> kernels;                // gate, up, down
  std::vector<std::optional<Array>> biases;  // of these, in their own type
};

/// The sum over each token's routes. x (..., D), experts and weights (..., K); result as x.
Array routed(const Array& x, const Array& experts, const Array& weights, const ExpertArrays& w,
             const ExpertOptions& o, Activation activation) {
  const std::int64_t width = x.shape().sizes().back(), tokens = x.size() / width;
  // Rows of one expert follow each other, each expert's in the order of its tokens.
  const Array expert = reshape(experts, {tokens * o.active});
  const Array order = argsort(expert);
  Array rows =
      take(reshape(x, {tokens, width}), floor_divide(order, Array(static_cast<int>(o.active))), 0);
  if (o.weigh_input) {
    const Array by = take(reshape(weights, {tokens * o.active, 1}), order, 0);
    rows = rows * astype(by, rows.dtype());
  }
  const Array sizes = sum(astype(equal(expand_dims(expert, 1), arange(o.count)), DType::i32), 0);
  const auto product = [&](const Array& a, std::size_t which) {
    const Array y = lax::ragged_dot(a, w.kernels[which], sizes);
    const std::optional<Array>& bias = w.biases[which];
    return bias ? y + astype(take(*bias, take(expert, order, 0), 0), y.dtype()) : y;
  };
  const Array g = product(rows, 0), u = product(rows, 1);
  const Array h = o.gate_limit > 0 ? clipped(g, u, o) : activate(g, activation) * u;
  const Array each = reshape(take(product(h, 2), argsort(order), 0), {tokens, o.active, width});
  Array weighted = astype(each, nn::wide(x.dtype()));
  if (!o.weigh_input) weighted = weighted * reshape(weights, {tokens, o.active, 1});
  return reshape(astype(sum(weighted, 1), x.dtype()), x.shape());
}

/// How tokens are cut where every device sorts its own.
struct Parts {
  mesh::Mesh mesh;
  std::vector<std::string> axes;  // over which tokens (B, L, D) are cut
  mesh::PartitionSpec tokens;
};

/// None without a mesh that cuts tokens, for sizes that it does not divide, and where there are
/// more experts than parts: a batched product of groups meets every expert (op/linalg/gmm.cc),
/// which would be more work than that of all tokens on each device.
std::optional<Parts> parts_of(const Array& x, std::int64_t experts) {
  const nn::LogicalMesh* m = nn::current_logical_mesh();
  if (m == nullptr || x.ndim() != 3) return {};
  Parts out{m->mesh(), {}, m->spec({"activation_batch_moe", "activation_length_moe"})};
  std::int64_t parts = 1;
  for (std::size_t d = 0; d < out.tokens.entries().size(); ++d) {
    const std::vector<std::string>& axes = out.tokens.entries()[d].axes;
    std::int64_t pieces = 1;
    for (const std::string& axis : axes) pieces *= m->mesh().axis_size(axis);
    if (x.shape(static_cast<std::int64_t>(d)) % pieces != 0) return {};
    parts *= pieces;
    out.axes.insert(out.axes.end(), axes.begin(), axes.end());
  }
  return parts > 1 && parts >= experts ? std::optional(std::move(out)) : std::nullopt;
}

/// `routed`, where every device sorts its own tokens: sorted over the mesh, all would lie on each.
Array routed_in_parts(const Parts& p, const Array& x, const Routes& routes, const ExpertArrays& w,
                      const ExpertOptions& o, Activation activation) {
  const auto part = [&](const Array& tokens, const Array& experts, const Array& weights,
                        const std::vector<Array>& kernels,
                        const std::vector<std::optional<Array>>& biases) {
    return routed(tokens, experts, weights, ExpertArrays{kernels, biases}, o, activation);
  };
  const ShardMap options{.mesh = p.mesh,
                         .in_specs = {p.tokens, p.tokens, p.tokens, P(), P()},
                         .out_specs = p.tokens,
                         .axis_names = p.axes};
  return shard_map(part, options)(x, routes.experts, routes.weights, w.kernels, w.biases);
}

}  // namespace

Array Experts::along(const Array& x, const Routes& routes, const ExpertOptions& o,
                     Activation activation) const {
  const nn::ModuleScope scope(*this, "Experts");
  ExpertArrays w;
  for (const ExpertWeight* each : {&gate, &up, &down}) {
    w.kernels.push_back(astype(each->kernel, x.dtype()));
    w.biases.push_back(each->bias ? std::optional<Array>(*each->bias) : std::nullopt);
  }
  const std::optional<Parts> parts = parts_of(x, o.count);
  Array y = parts ? routed_in_parts(*parts, x, routes, w, o, activation)
                  : routed(x, routes.experts, routes.weights, w, o, activation);
  if (shared) {
    const Array all = (*shared)(x, activation);
    y = y + (shared_gate ? strata::nn::sigmoid((*shared_gate)(x)) * all : all);
  }
  return scope.returns(y, x);
}

}  // namespace strata::model::decoder
