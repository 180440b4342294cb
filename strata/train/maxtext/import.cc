#include "strata/train/maxtext/import.h"

#include "strata/api/numpy.h"
#include "strata/checkpoint/any_format.h"
#include "strata/model/published/family.h"
#include "strata/train/maxtext/checkpoint.h"
#include "strata/train/maxtext/models.h"
#include "strata/train/state.h"

namespace strata::train::maxtext {
namespace {

namespace any_format = checkpoint::any_format;

std::string text(const Resolved& r, const std::string& key) {
  const Value& value = r.values.at(key);
  return value.is_none() ? "" : str(value);
}

model::decoder::Options options_of(const Config& config) {
  const auto described = model::published::Config::parse(config.model.at("config"));
  return model::published::family(described.text("model_type")).options(described);
}

tree::Tree as(const tree::Tree& params, DType dtype) {
  return params.map([&](const Array& w) { return asarray(astype(w, dtype).literal()); });
}

}  // namespace

std::string imported_path(const Resolved& r) {
  if (const std::string full = text(r, "load_full_state_path"); !full.empty()) return full;
  const std::string params = text(r, "load_parameters_path");
  return !params.empty() && model::maxtext::is_checkpoint(params).value() ? params : "";
}

Status import_checkpoint(const Resolved& r, const Config& config) {
  const std::string path = imported_path(r);
  if (path.empty()) return {};
  if (!config.enable_checkpointing)
    throw ConfigError(
        "enable_checkpointing=false: a run begins from a checkpoint of MaxText's by "
        "one of its own");
  const std::string root = run_folder(config) + "/checkpoints";
  const auto steps = any_format::steps(root);
  if (!steps) return steps.status();
  if (!steps->empty()) return {};
  const auto saved = model::maxtext::open_checkpoint(path);
  if (!saved) return saved.status();
  const model::decoder::Options options = options_of(config);
  const std::int64_t axis = integer(r.values.at("param_scan_axis"));
  auto params = model::maxtext::params_of(*saved, options, axis);
  if (!params) return params.status();
  const DType dtype = config.weight_dtype == "bfloat16" ? DType::bf16 : DType::f32;
  State state = init(as(*params, dtype), make_optimizer(config, *params));
  std::int64_t step = 0;
  if (!text(r, "load_full_state_path").empty()) {
    const Moments moments =
        config.optimizer.contains("stored_as") ? Moments::as_stored : Moments::of_weights;
    auto whole = state_of(*saved, options, state, axis, moments);
    if (!whole) return whole.status();
    state = {as(whole->params, dtype), std::move(whole->optimizer)};
    step = step_of(*saved);
  }
  const auto data = open_data(config);
  if (!data) return data.status();
  return any_format::save(root, to_checkpoint(state, step, config, *data), {},
                          *any_format::named(config.checkpoint_format));
}

}  // namespace strata::train::maxtext
