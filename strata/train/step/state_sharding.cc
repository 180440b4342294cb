#include "strata/train/step/state_sharding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "strata/api/transform/jit.h"
#include "strata/base/error.h"

namespace strata::train {
namespace {

using mesh::NamedSharding;

/// Throws for a size that does not divide.
void expect_divides(const std::string& path, const Type& type,
                    const std::vector<std::string>& names, const NamedSharding& sharding) {
  const std::vector<mesh::SpecEntry>& entries = sharding.spec().entries();
  for (std::size_t d = 0; d < entries.size(); ++d) {
    std::int64_t pieces = 1;
    std::vector<std::string> axes;
    for (const std::string& axis : entries[d].axes) {
      pieces *= sharding.mesh().axis_size(axis);
      axes.push_back(fmt::format("{}={}", axis, sharding.mesh().axis_size(axis)));
    }
    const std::int64_t size = type.shape()[static_cast<int>(d)];
    if (size % pieces != 0)
      throw Error("",
                  "{}: {} with dimensions ({}) does not divide over {}: dimension {} has size "
                  "{}, which {} do{} not divide",
                  path, array_text(type), fmt::join(names, ", "), sharding.spec().to_string(), d,
                  size, fmt::join(axes, " x "), axes.size() == 1 ? "es" : "");
  }
}

struct WeightPlace {
  std::string path;
  Shape shape;
  NamedSharding sharding;
};

std::vector<WeightPlace> places_of(const tree::Tree& params, const nn::LogicalMesh& mesh) {
  std::vector<WeightPlace> out;
  const std::vector<std::string> paths = tree::paths(params);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const tree::Entry& e = params.entries()[i];
    const Array& w = params.values()[i];
    std::vector<std::string> names =
        e.metadata ? e.metadata->out_sharding : std::vector<std::string>();
    if (names.size() > static_cast<std::size_t>(w.ndim())) names.clear();  // packed blocks
    NamedSharding sharding = mesh.sharding(names);
    expect_divides(paths[i], w.type(), names, sharding);
    out.push_back({paths[i], w.shape(), std::move(sharding)});
  }
  return out;
}

/// Whether a leaf of the optimizer's state is called as the weight is.
bool is_of(const std::string& leaf, const std::string& weight) {
  if (!leaf.ends_with(weight)) return false;
  if (leaf.size() == weight.size()) return true;
  const char before = leaf[leaf.size() - weight.size() - 1];
  return before == '.' || before == '/' || before == ']';
}

/// Of the weight that a leaf of the optimizer's state belongs to; the longest path wins.
const WeightPlace* place_of(const std::vector<WeightPlace>& weights, const std::string& leaf,
                            const Shape& shape) {
  const WeightPlace* out = nullptr;
  for (const WeightPlace& w : weights)
    if (is_of(leaf, w.path) && w.shape == shape && (!out || out->path.size() < w.path.size()))
      out = &w;
  return out;
}

std::int64_t local_bytes(const Type& type, const NamedSharding& sharding) {
  return static_cast<std::int64_t>(
      type.with(Shape::of(sharding.shard_shape(type.shape().sizes()))).bytes());
}

}  // namespace

std::vector<NamedSharding> shardings_of(const State& state, const nn::LogicalMesh& mesh) {
  const std::vector<WeightPlace> weights = places_of(state.params, mesh);
  const NamedSharding whole(mesh.mesh(), mesh::PartitionSpec());
  std::vector<NamedSharding> out;
  for (const WeightPlace& w : weights) out.push_back(w.sharding);
  tree::for_each_path(state.optimizer, [&](const std::string& path, const Array& leaf) {
    const WeightPlace* of = place_of(weights, path, leaf.shape());
    out.push_back(of ? of->sharding : whole);
  });
  return out;
}

NamedSharding sharding_of_batch(const nn::LogicalMesh& mesh) {
  return mesh.sharding({"activation_embed_and_logits_batch", "activation_norm_length"});
}

State put_on_mesh(State state, const nn::LogicalMesh& mesh) {
  const std::vector<NamedSharding> shardings = shardings_of(state, mesh);
  std::size_t i = 0;
  tree::for_each(state,
                 [&](Array& leaf) { leaf = device_put(std::as_const(leaf), shardings[i++]); });
  return state;
}

Batch put_on_mesh(const Batch& batch, const nn::LogicalMesh& mesh) {
  const NamedSharding sharding = sharding_of_batch(mesh);
  expect_divides("batch", batch.tokens.type(),
                 {"activation_embed_and_logits_batch", "activation_norm_length"}, sharding);
  return tree::map([&](const Array& x) { return device_put(x, sharding); }, batch);
}

Step on_mesh(Step step, std::shared_ptr<const nn::LogicalMesh> mesh,
             std::optional<model::decoder::Pipeline> pipeline) {
  auto body = [step = std::move(step), mesh, pipeline](const State& state, const Batch& batch) {
    const nn::LogicalMeshScope scope(*mesh);
    std::optional<model::decoder::PipelineScope> stages;
    if (pipeline) stages.emplace(*pipeline);
    const std::vector<NamedSharding> shardings = shardings_of(state, *mesh);
    auto [outcome, next] = step(state, batch);
    // Whole on every device, so that each of several processes can read it.
    const NamedSharding whole(mesh->mesh(), mesh::PartitionSpec());
    tree::for_each(outcome, [&](Array& leaf) {
      leaf = lax::with_sharding_constraint(Operand(std::as_const(leaf)), whole);
    });
    std::size_t i = 0;
    tree::for_each(next, [&](Array& leaf) {
      leaf = lax::with_sharding_constraint(Operand(std::as_const(leaf)), shardings[i++]);
    });
    return std::pair(std::move(outcome), std::move(next));
  };
  return jit(std::move(body), JitOptions{.donate_argnums = {0}, .name = "train_step"});
}

std::int64_t predicted_bytes(const State& state, const nn::LogicalMesh& mesh) {
  const std::vector<NamedSharding> shardings = shardings_of(state, mesh);
  std::int64_t out = 0;
  std::size_t i = 0;
  tree::for_each(state,
                 [&](const Array& leaf) { out += local_bytes(leaf.type(), shardings[i++]); });
  return out;
}

std::int64_t measured_bytes(const State& state) {
  std::map<int, std::int64_t> by_device;
  tree::for_each(state, [&](const Array& leaf) {
    for (const Shard& shard : addressable_shards(leaf))
      by_device[shard.device.id()] += static_cast<std::int64_t>(shard.data.type().bytes());
  });
  std::int64_t most = 0;
  for (const auto& [device, bytes] : by_device) most = std::max(most, bytes);
  return most;
}

}  // namespace strata::train
