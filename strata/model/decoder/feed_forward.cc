#include "strata/model/decoder/feed_forward.h"

#include <algorithm>
#include <cmath>

#include "strata/api/lax.h"
#include "strata/api/lax/parallel.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/sharding/shard_map.h"
#include "strata/model/decoder/gate.h"
#include "strata/nn/sharding/logical_sharding.h"
#include "strata/nn/transform/named_tensors.h"
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
  Array h =
      gate ? activate(nn::named((*gate)(x), "mlpwi_0"), activation) * nn::named(up(x), "mlpwi_1")
           : activate(nn::named(up(x), "mlpwi"), activation);
  if (h.ndim() == 3)
    h = nn::with_logical_constraint(h, {"activation_batch", "activation_length", "activation_mlp"});
  return scope.returns(nn::named(down(h), "mlpwo"), x);
}

Routes Experts::routes(const Array& x, const ExpertOptions& o) const {
  std::optional<Array> bias;
  if (choice_bias) bias = Array(*choice_bias);
  return route(astype(router(x), nn::wide(x.dtype())), bias, o);
}

Routes Experts::routes_of_residual(const Array& x, const ExpertOptions& o, double epsilon) const {
  const Array full = astype(x, nn::wide(x.dtype()));
  const Array unit = full * lax::rsqrt(mean(full * full, {.axis = -1, .keepdims = true}) + epsilon);
  const double root = 1 / std::sqrt(static_cast<double>(x.shape(-1)));
  Routes out = routes(astype(unit, x.dtype()) * astype(*router_scale, x.dtype()) * root, o);
  out.weights = out.weights * take(astype(*expert_scale, out.weights.dtype()), out.experts, 0);
  return out;
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

/// Rows of one expert follow each other, each expert's in the order of its tokens; those that no
/// expert has (number E) come last.
struct Sorted {
  Array order;   // (N K): which route each row is
  Array expert;  // (N K): of each row
  Array rows;    // (N K, D)
  Array sizes;   // (E): rows of each expert
};

/// x (..., D), experts and weights (..., K).
Sorted sorted_rows(const Array& x, const Array& experts, const Array& weights,
                   const ExpertOptions& o) {
  const std::int64_t width = x.shape().sizes().back(), tokens = x.size() / width;
  const Array expert = reshape(experts, {tokens * o.active}), order = argsort(expert);
  Array rows =
      take(reshape(x, {tokens, width}), floor_divide(order, Array(static_cast<int>(o.active))), 0);
  if (o.weigh_input) {
    const Array by = take(reshape(weights, {tokens * o.active, 1}), order, 0);
    rows = rows * astype(by, rows.dtype());
  }
  const Array sizes = sum(astype(equal(expand_dims(expert, 1), arange(o.count)), DType::i32), 0);
  return {nn::named(order, "moe_routing_maps"), take(expert, order, 0),
          nn::named(rows, "moe_x_sorted"), nn::named(sizes, "moe_routing_maps")};
}

/// What experts make of their rows (N, D), `sizes` of them each; `expert` (N) says which it is.
Array by_experts(const Array& rows, const Array& expert, const Array& sizes, const ExpertArrays& w,
                 const ExpertOptions& o, Activation activation) {
  const Array last(static_cast<std::int32_t>(sizes.size() - 1));
  const auto product = [&](const Array& a, std::size_t which) {
    const Array y = lax::ragged_dot(a, w.kernels[which], sizes);
    const std::optional<Array>& bias = w.biases[which];
    return bias ? y + astype(take(*bias, minimum(expert, last), 0), y.dtype()) : y;
  };
  // Under the names that dense layers have, and under experts' own.
  const auto named = [](const Array& y, std::string_view of_all, std::string_view of_experts) {
    return nn::named(nn::named(y, of_all), of_experts);
  };
  const Array g = named(product(rows, 0), "mlpwi_0", "moe_mlpwi_0");
  const Array u = named(product(rows, 1), "mlpwi_1", "moe_mlpwi_1");
  const Array y = product(o.gate_limit > 0 ? clipped(g, u, o) : activate(g, activation) * u, 2);
  return named(y, "mlpwo", "moe_mlpwo");
}

/// The sum over each token's routes of rows in the order of `Sorted`. Result as x.
Array put_together(const Array& rows, const Array& order, const Array& x, const Array& weights,
                   const ExpertOptions& o) {
  const std::int64_t width = x.shape().sizes().back(), tokens = x.size() / width;
  const Array each = reshape(take(rows, argsort(order), 0), {tokens, o.active, width});
  Array weighted = astype(each, nn::wide(x.dtype()));
  if (!o.weigh_input) weighted = weighted * reshape(weights, {tokens, o.active, 1});
  return reshape(astype(sum(weighted, 1), x.dtype()), x.shape());
}

/// The sum over each token's routes. x (..., D), experts and weights (..., K); result as x.
Array routed(const Array& x, const Array& experts, const Array& weights, const ExpertArrays& w,
             const ExpertOptions& o, Activation activation) {
  const Sorted s = sorted_rows(x, experts, weights, o);
  return put_together(by_experts(s.rows, s.expert, s.sizes, w, o, activation), s.order, x, weights,
                      o);
}

/// Consecutive experts on each of `devices` along a mesh's axis.
struct Homes {
  std::string axis;
  std::int64_t devices = 1;
  std::int64_t length = 1;  // tokens of a sequence, which may be cut
};

/// Rows that sequences' tokens (..., D) could need of one device's experts at most.
std::int64_t most_rows(const Homes& homes, const Array& x, const ExpertOptions& o) {
  const std::int64_t here = o.count / homes.devices, tokens = x.size() / x.shape().sizes().back(),
                     most = tokens * std::min(o.active, here);
  if (o.capacity <= 0) return most;
  return std::min(most, x.shape(0) * here * places_of(o, homes.length));
}

/// `routed` on one of the devices that have E / devices experts each, of which `w` are this one's:
/// rows go to their experts' device by one all-to-all, and come back by another. Each device sends
/// each other one as many rows as it could ever need; of those that are none nothing is computed.
Array exchanged(const Homes& homes, const Array& x, const Array& experts, const Array& weights,
                const ExpertArrays& w, const ExpertOptions& o, Activation activation) {
  const std::int64_t width = x.shape().sizes().back(), tokens = x.size() / width,
                     here = o.count / homes.devices, n = homes.devices,
                     places = most_rows(homes, x, o);
  const Sorted s = sorted_rows(x, experts, weights, o);
  const Array sizes_NE = reshape(s.sizes, {n, here}), rows_N = sum(sizes_NE, 1),
              first_N = cumsum(rows_N, 0) - rows_N, place = arange(places);
  // What goes to each device, in the order of its experts.
  const Array from = minimum(expand_dims(first_N, 1) + place,
                             Array(static_cast<std::int32_t>(tokens * o.active - 1)));
  const Array full = expand_dims(less(place, expand_dims(rows_N, 1)), 2);
  const Array moved = take(s.rows, from, 0), sent = where(full, moved, zeros_like(moved));
  const Array got = lax::all_to_all(sent, homes.axis, 0, 0);            // (N, places, D)
  const Array got_sizes = lax::all_to_all(sizes_NE, homes.axis, 0, 0);  // (N, E / N)
  // Rows that are none are of an expert after the last.
  const Array ends = expand_dims(cumsum(got_sizes, 1), 1);
  const Array expert =
      reshape(sum(astype(less_equal(ends, expand_dims(place, 1)), DType::i32), -1), {n * places});
  const Array order = argsort(expert);
  const Array made = by_experts(take(reshape(got, {n * places, width}), order, 0),
                                take(expert, order, 0), sum(got_sizes, 0), w, o, activation);
  const Array back =
      lax::all_to_all(reshape(take(made, argsort(order), 0), {n, places, width}), homes.axis, 0, 0);
  // Where each row of this device's went; those of full experts went nowhere.
  const Array home = floor_divide(s.expert, Array(static_cast<std::int32_t>(here)));
  const Array to = minimum(home, Array(static_cast<std::int32_t>(n - 1)));
  const Array slot = clip(
      to * static_cast<std::int32_t>(places) + arange(tokens * o.active) - take(first_N, to, 0), 0,
      static_cast<std::int32_t>(n * places - 1));
  const Array rows =
      where(expand_dims(less(s.expert, Array(static_cast<std::int32_t>(o.count))), 1),
            take(reshape(back, {n * places, width}), slot, 0), zeros_like(s.rows));
  return put_together(rows, s.order, x, weights, o);
}

/// How tokens are cut where every device sorts its own.
struct Parts {
  mesh::Mesh mesh;
  std::vector<std::string> axes;  // over which tokens (B, L, D) are cut
  mesh::PartitionSpec tokens;
  std::optional<Homes> homes = std::nullopt;  // where experts are cut, too
};

/// The axis that both experts and tokens are cut over; none where it does not divide the experts.
std::optional<Homes> homes_of(const nn::LogicalMesh& m, const Parts& parts, std::int64_t experts,
                              std::int64_t length) {
  const mesh::PartitionSpec spec = m.spec({"exp"});
  if (spec.entries().empty() || spec.entries()[0].axes.size() != 1) return {};
  const std::string& axis = spec.entries()[0].axes[0];
  const std::int64_t devices = m.mesh().axis_size(axis);
  const bool cut = std::find(parts.axes.begin(), parts.axes.end(), axis) != parts.axes.end();
  return cut && devices > 1 && experts % devices == 0 ? std::optional(Homes{axis, devices, length})
                                                      : std::nullopt;
}

/// None without a mesh that cuts tokens, and for sizes that it does not divide.
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
  if (parts == 1) return {};
  out.homes = homes_of(*m, out, experts, x.shape(1));
  return out;
}

/// `routed`, where every device sorts its own tokens: sorted over the mesh, each would hold all.
/// Where experts are on devices that cut tokens too, tokens travel; else every device has all
/// experts' weights.
Array routed_in_parts(const Parts& p, const Array& x, const Array& experts, const Array& weights,
                      const ExpertArrays& w, const ExpertOptions& o, Activation activation) {
  const auto part = [&](const Array& tokens, const Array& to, const Array& by,
                        const std::vector<Array>& kernels,
                        const std::vector<std::optional<Array>>& biases) {
    const ExpertArrays mine{kernels, biases};
    return p.homes ? exchanged(*p.homes, tokens, to, by, mine, o, activation)
                   : routed(tokens, to, by, mine, o, activation);
  };
  const mesh::PartitionSpec whole = p.homes ? P{p.homes->axis} : P();
  const ShardMap options{.mesh = p.mesh,
                         .in_specs = {p.tokens, p.tokens, p.tokens, whole, whole},
                         .out_specs = p.tokens,
                         .axis_names = p.axes};
  return shard_map(part, options)(x, experts, weights, w.kernels, w.biases);
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
  // Rows of full experts are of none: nothing is computed for them.
  const Array experts =
      routes.kept ? where(*routes.kept, routes.experts, Array(static_cast<std::int32_t>(o.count)))
                  : routes.experts;
  const std::optional<Parts> parts = parts_of(x, o.count);
  Array y = parts ? routed_in_parts(*parts, x, experts, routes.weights, w, o, activation)
                  : routed(x, experts, routes.weights, w, o, activation);
  if (shared) {
    const Array all = (*shared)(x, activation);
    y = y + (shared_gate ? strata::nn::sigmoid((*shared_gate)(x)) * all : all);
  }
  return scope.returns(y, x);
}

}  // namespace strata::model::decoder
