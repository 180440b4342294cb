#include "strata/train/maxtext/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "strata/base/error.h"
#include "strata/model/published/family.h"
#include "strata/train/state.h"

namespace strata::train::maxtext {
namespace {

namespace orbax = checkpoint::orbax;
namespace weights = model::maxtext;
using weights::Arrays;
using weights::Layout;
using weights::What;

constexpr const char* kOptimizer = "opt_state/";

[[noreturn]] void refuse(const std::string& name) {
  throw Error(
      "maxtext",
      "the optimizer's state has '{}': MaxText's checkpoints are written of adamw, adam_pax and "
      "sgd",
      name)
      .unsupported();
}

/// A leaf of the optimizer's state as this trainer names it: "0/mu/layers/...", of adam_pax
/// "mu/layers/...".
struct OptimizerLeaf {
  /// The place in the chain; empty for a rule that is none.
  std::string member;
  /// "count", "mu", "nu".
  std::string field;
  /// Of moments, the weight's path.
  std::string weight;
};
OptimizerLeaf leaf_of(const std::string& name) {
  const std::size_t first = name.find('/'), second = name.find('/', first + 1);
  if (name == "count" || name.starts_with("mu/") || name.starts_with("nu/"))
    return {.member = "",
            .field = name.substr(0, first),
            .weight = first == name.npos ? "" : name.substr(first + 1)};
  if (first == name.npos || name.find_first_not_of("0123456789") != first) refuse(name);
  return {.member = name.substr(0, first),
          .field = name.substr(first + 1, second - first - 1),
          .weight = second == name.npos ? "" : name.substr(second + 1)};
}

/// Where a member's leaves stand.
std::string folder_of(const OptimizerLeaf& leaf) {
  return leaf.member.empty() ? kOptimizer : kOptimizer + leaf.member + "/";
}

/// The name in the rule's own state of a leaf of one that clips ahead of it, as rules for stored
/// weights do: "1/0/mu/..." is "0/mu/...", and "1/mu/..." of adam_pax, which `unchained` says it
/// is, "mu/...".
std::string behind_clipping(const std::string& name, bool unchained) {
  const std::size_t first = name.find('/'), second = name.find('/', first + 1);
  const bool nested =
      unchained ||
      (second != name.npos &&
       name.substr(first + 1, second - first - 1).find_first_not_of("0123456789") == name.npos);
  return nested ? name.substr(first + 1) : name;
}

Status not_there(const checkpoint::Checkpoint& c, const std::string& name) {
  return Status(Code::invalid,
                "the checkpoint of step {} has no {}: its optimizer is another one, or it holds "
                "parameters alone",
                c.step, name);
}

/// How numbers of "mu" and "nu" are stored.
What what_of(const std::string& field, Moments of) {
  if (of == Moments::as_stored) return What::stored_moments;
  return field == "mu" ? What::first_moments : What::second_moments;
}

/// The leaves of an optimizer's state.
std::vector<OptimizerLeaf> leaves_of(const tree::Tree& state, Moments of) {
  const std::vector<std::string> names = state.names();
  const bool unchained = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("1/mu/");  // AdamW's moments are of members 0, or 1/0
  });
  std::vector<OptimizerLeaf> out;
  for (const std::string& name : names)
    out.push_back(leaf_of(of == Moments::as_stored ? behind_clipping(name, unchained) : name));
  return out;
}

/// The moments that MaxText stores for a member and a field, by our weights' paths.
Result<tree::Tree> moments_of(const checkpoint::Checkpoint& c, const OptimizerLeaf& leaf,
                              const model::decoder::Options& options, Layout layout, Moments of) {
  const std::string folder = folder_of(leaf) + leaf.field + "/params/";
  Arrays arrays = weights::arrays_below(c, folder);
  if (arrays.empty()) return not_there(c, folder);
  // MaxText's optimizer steps no bias that experts are chosen by.
  for (const auto& [name, shape] : weights::stored_shapes(options, layout))
    if (name.ends_with(weights::kChoiceBias) && !arrays.contains(name))
      arrays.emplace(name, Literal(Type(DType::f32, Shape::of(shape))));
  layout.what = what_of(leaf.field, of);
  return weights::from_maxtext(options, arrays, layout);
}

}  // namespace

Result<State> state_of(const checkpoint::Checkpoint& saved, const model::decoder::Options& options,
                       const State& like, std::int64_t scan_axis, Moments of) {
  auto params = weights::params_of(saved, options, scan_axis);
  if (!params) return params.status();
  const Layout layout = weights::layout_of(weights::arrays_of_params(saved, scan_axis), scan_axis);
  const Arrays counts = weights::arrays_below(saved, kOptimizer);
  std::map<std::string, tree::Tree> moments;
  std::vector<Array> values;
  const std::vector<OptimizerLeaf> leaves = leaves_of(like.optimizer, of);
  for (std::size_t i = 0; i < like.optimizer.size(); ++i) {
    const std::string& name = like.optimizer.entry(i).name;
    const OptimizerLeaf& leaf = leaves[i];
    if (leaf.field == "count" && leaf.weight.empty()) {
      const auto at = counts.find(leaf.member.empty() ? "count" : leaf.member + "/count");
      if (at == counts.end()) return not_there(saved, folder_of(leaf) + "count");
      values.push_back(Array(at->second));
      continue;
    }
    if (leaf.field != "mu" && leaf.field != "nu") refuse(name);
    const std::string key = leaf.member + "/" + leaf.field;
    if (!moments.contains(key)) {
      auto all = moments_of(saved, leaf, options, layout, of);
      if (!all) return all.status();
      moments.emplace(key, std::move(*all));
    }
    values.push_back(moments.at(key)[leaf.weight]);
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i].type() == like.optimizer.value(i).type()))
      return Status(Code::invalid, "the checkpoint of step {}: {} is {}, expected {}", saved.step,
                    like.optimizer.entry(i).name, values[i].type().to_string(),
                    like.optimizer.value(i).type().to_string());
  return State{std::move(*params), like.optimizer.with_values(std::move(values))};
}

std::int64_t step_of(const checkpoint::Checkpoint& saved) {
  const Arrays all = weights::arrays_below(saved, "");
  const auto at = all.find("step");
  return at == all.end() ? 0 : static_cast<std::int64_t>(at->second.number(0));
}

Status write_state(const std::string& path, const State& state, std::int64_t step,
                   const model::decoder::Options& options, const Layout& how, Moments of) {
  Layout layout{.scanned = how.scanned, .scan_axis = how.scan_axis, .cycle = how.cycle};
  std::vector<orbax::Leaf> leaves;
  weights::add_leaves(leaves, weights::kParams, weights::to_maxtext(options, state.params, layout));
  leaves.push_back(weights::leaf_at("step", Literal::scalar(static_cast<std::int32_t>(step))));
  // Moments by member and field, under our weights' paths.
  std::map<std::pair<std::string, std::string>, std::vector<Array>> moments;
  std::set<std::int64_t> members;
  const std::vector<OptimizerLeaf> ours = leaves_of(state.optimizer, of);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const OptimizerLeaf& leaf = ours[i];
    if (leaf.field == "count" && leaf.weight.empty())
      leaves.push_back(
          weights::leaf_at(folder_of(leaf) + "count", state.optimizer.value(i).literal()));
    else if ((leaf.field == "mu" || leaf.field == "nu") && state.params.contains(leaf.weight))
      moments[{leaf.member, leaf.field}].push_back(state.optimizer.value(i));
    else
      refuse(state.optimizer.entry(i).name);
    if (!leaf.member.empty()) members.insert(std::stoll(leaf.member));
  }
  for (auto& [key, values] : moments) {
    layout.what = what_of(key.second, of);
    weights::add_leaves(
        leaves, folder_of({.member = key.first}) + key.second + "/params/",
        weights::to_maxtext(options, state.params.with_values(std::move(values)), layout));
  }
  // Members of optax's chain without a state are None.
  for (std::int64_t i = 0; !members.empty() && i < *members.rbegin(); ++i) {
    if (members.contains(i)) continue;
    orbax::Leaf none = weights::leaf_at(fmt::format("{}{}", kOptimizer, i), {});
    none.kind = orbax::Kind::none;
    none.value.reset();
    leaves.push_back(std::move(none));
  }
  return weights::write_leaves(path, std::move(leaves), how.scanned);
}

Status export_checkpoint(const checkpoint::Checkpoint& saved, const std::string& path,
                         const Layout& layout) {
  const Config config = config_of(saved);
  if (!config.init.empty() || !config.model.contains("config"))
    return Status(
        Code::unsupported,
        "the checkpoint of step {} is of run '{}', {}: whole states are written for "
        "MaxText of runs that began from first weights of a published architecture; weights alone "
        "go there by `strata convert RUN DIR` and `strata convert DIR OUT --format maxtext`",
        saved.step, config.run_name,
        config.init.empty() ? "decoder_block=" + config.decoder_block : "init=" + config.init);
  const auto described = model::published::Config::parse(config.model.at("config"));
  const auto options = model::published::family(described.text("model_type")).options(described);
  const auto state = from_checkpoint(saved, config);
  if (!state) return state.status();
  return write_state(
      path, *state, saved.step, options, layout,
      config.optimizer.contains("stored_as") ? Moments::as_stored : Moments::of_weights);
}

}  // namespace strata::train::maxtext
