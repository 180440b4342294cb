#include "strata/train/state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "strata/api/jit.h"
#include "strata/api/random.h"
#include "strata/base/version.h"
#include "strata/model/registry.h"

namespace strata::train {
namespace {

constexpr const char* kParams = "params";
constexpr const char* kOptimizer = "optimizer";

template <class T>
checkpoint::Tensors to_tensors(const T& tree) {
  checkpoint::Tensors out;
  tree::for_each_path(
      tree, [&](const std::string& path, const Array& leaf) { out.emplace(path, leaf.literal()); });
  return out;
}

/// Fills a tree whose leaves know their types.
template <class T>
Status fill(T& tree, const checkpoint::Checkpoint& c, const std::string& part) {
  auto tensors = c.parts.find(part);
  if (tensors == c.parts.end())
    return Status(Code::corrupt, "checkpoint of step {}: part '{}' is missing", c.step, part);
  Status status;
  tree::for_each_path(tree, [&](const std::string& path, Array& leaf) {
    auto found = tensors->second.find(path);
    if (!status.ok()) return;
    if (found == tensors->second.end()) {
      status = Status(Code::corrupt, "checkpoint of step {}: tensor '{}' of {} is missing", c.step,
                      path, part);
    } else if (!(found->second.type() == leaf.type())) {
      status =
          Status(Code::corrupt, "checkpoint of step {}: tensor '{}' of {} is {}, expected {}",
                 c.step, path, part, found->second.type().to_string(), leaf.type().to_string());
    } else {
      leaf = Array(found->second);
    }
  });
  return status;
}

DType weight_dtype(const Config& c) {
  return c.weight_dtype == "bfloat16" ? DType::bf16 : DType::f32;
}

/// The types of a fresh state, without its values.
State abstract_state(const Config& config) {
  return eval_shape(
      [&](const Array& key) {
        return init(key, make_model(config), make_optimizer(config), weight_dtype(config));
      },
      random::key(0));
}

/// The path and type of each leaf of the optimizer's state, as text; none of a configuration that
/// describes no optimizer.
std::string optimizer_layout(const Config& c) {
  try {
    return tree::of(abstract_state(c).optimizer).to_string();
  } catch (const Error&) {
    return {};
  }
}

/// Throws where the checkpoint has no state that the run could go on with, naming the keys that
/// make it so.
void check_same_state(const Config& now, const Config& then, std::int64_t step) {
  std::string model, optimizer;
  auto add = [&](std::string& to, std::string_view key, const std::string& ours,
                 const std::string& theirs) {
    to += fmt::format("{}{}={} (the checkpoint has {})", to.empty() ? "" : ", ", key, ours, theirs);
  };
  for (const Field& f : fields_of(now)) {
    // Of another family only its name is compared.
    if (!f.shapes_model || (!model.empty() && now.decoder_block != then.decoder_block)) continue;
    if (json_value(now, f) != json_value(then, f))
      add(model, f.name, json_value(now, f), json_value(then, f));
  }
  if (model.empty() && now.opt_type != then.opt_type)
    add(optimizer, "opt_type", '"' + now.opt_type + '"', '"' + then.opt_type + '"');
  if (model.empty() && optimizer.empty() && optimizer_layout(now) != optimizer_layout(then)) {
    const auto shapes = [&](auto member) {
      Config one = now;
      one.*member = then.*member;
      return now.*member != then.*member && optimizer_layout(one) != optimizer_layout(now);
    };
    if (shapes(&Config::optimizer))
      add(optimizer, "optimizer", now.optimizer.dump(), then.optimizer.dump());
    if (shapes(&Config::lr_schedule_type))
      add(optimizer, "lr_schedule_type", '"' + now.lr_schedule_type + '"',
          '"' + then.lr_schedule_type + '"');
    if (optimizer.empty())
      add(optimizer, "opt_type", '"' + now.opt_type + "\" with other keys",
          '"' + then.opt_type + '"');
  }
  if (model.empty() && optimizer.empty()) return;
  const char* what = model.empty() ? "optimizer" : "model";
  throw ConfigError(
      fmt::format("the run '{}' has a checkpoint of step {} of another {}: {}; choose another "
                  "run_name, or the same {}",
                  now.run_name, step, what, model + optimizer, what));
}

/// Names that the state of an optimizer had before the trainer's rules were optim's: a part of a
/// variant, then the members of a chain that began with clipping.
std::string of_earlier_release(const std::string& name) {
  for (const auto& [then, now] : {std::pair("[0][1].", "[0]."), std::pair("[0][3].", "[2]."),
                                  std::pair("[1][1][1].", "[1].")})
    if (name.starts_with(then)) return now + name.substr(std::string_view(then).size());
  return name;
}
checkpoint::Checkpoint with_names_of_today(checkpoint::Checkpoint c, const std::string& opt_type) {
  const auto part = c.parts.find(kOptimizer);
  // There were no others then; of these two no state begins so today.
  if (part == c.parts.end() || (opt_type != "adamw" && opt_type != "sgd")) return c;
  checkpoint::Tensors renamed;
  for (auto& [name, tensor] : part->second)
    renamed.emplace(of_earlier_release(name), std::move(tensor));
  part->second = std::move(renamed);
  return c;
}

}  // namespace

model::ModelPtr make_model(const Config& c) { return model::make(c.decoder_block, c.model); }

Batch to_batch(data::Batch b) {
  Batch out{Array(std::move(b.tokens)), Array(std::move(b.targets))};
  if (b.weights) out.weights = Array(std::move(*b.weights));
  return out;
}

State init_state(const Config& c) {
  State state = jit(
      [&](const Array& key) {
        return init(key, make_model(c), make_optimizer(c), weight_dtype(c));
      },
      {.name = "init"})(random::key(c.init_weights_seed));
  // Leaves of their own memory and without weak types, as those of a loaded checkpoint are: one
  // compiled step serves both.
  return tree::map([](const Array& leaf) { return asarray(leaf.literal()); }, std::move(state));
}

Result<data::Dataset> open_data(const Config& c, Progress* progress) {
  auto tokenizer = tokenizer::load_tokenizer(c.tokenizer_type, c.tokenizer_path);
  if (!tokenizer) return tokenizer.status();
  return data::Dataset::open({.train_files = c.train_files,
                              .tokenizer = *tokenizer,
                              .column = c.train_data_columns,
                              .eval_fraction = c.eval_fraction,
                              .batch = sequences(c),
                              .length = c.max_target_length,
                              .window_mode = c.window_mode == "disjoint"
                                                 ? data::WindowMode::disjoint
                                                 : data::WindowMode::overlapping,
                              .seed = static_cast<std::uint32_t>(c.data_shuffle_seed),
                              .vocab_size = make_model(c)->vocab_size(),
                              .progress = progress});
}

checkpoint::Checkpoint to_checkpoint(const State& state, std::int64_t step, const Config& config,
                                     const data::Dataset& data) {
  checkpoint::Checkpoint out{step, {}, {}};
  out.parts[kParams] = to_tensors(state.params);
  out.parts[kOptimizer] = to_tensors(state.optimizer);
  const nlohmann::ordered_json trees = {
      {kParams, fmt::format("{}", fmt::join(tree::paths(state.params), ", "))},
      {kOptimizer, fmt::format("{} leaves", tree::paths(state.optimizer).size())}};
  out.notes = {{"tree", trees.dump()},
               {"config", to_json(config)},
               {"data", data.state(step)},
               {"random_key", fmt::format("[0,{}]", config.init_weights_seed)},
               {"version", "\"" STRATA_VERSION "\""}};
  return out;
}

Result<State> from_checkpoint(const checkpoint::Checkpoint& c, const Config& config) {
  check_same_state(config, config_of(c), c.step);
  State state = abstract_state(config);
  if (Status s = fill(state.params, c, kParams); !s.ok()) return s;
  if (Status s = fill(state.optimizer, with_names_of_today(c, config.opt_type), kOptimizer);
      !s.ok())
    return s;
  return state;
}

Result<tree::Tree> params_from_checkpoint(const checkpoint::Checkpoint& c, const Config& config) {
  State state = abstract_state(config);
  if (Status s = fill(state.params, c, kParams); !s.ok()) return s;
  return state.params;
}

Config config_of(const checkpoint::Checkpoint& c) {
  auto note = c.notes.find("config");
  if (note == c.notes.end())
    throw ConfigError(fmt::format("the checkpoint of step {} has no configuration", c.step));
  return parse_config(note->second,
                      fmt::format("configuration of the checkpoint of step {}", c.step));
}

std::string check_data(const checkpoint::Checkpoint& c, const data::Dataset& data) {
  auto note = c.notes.find("data");
  return data.check_state(note == c.notes.end() ? "" : note->second);
}

}  // namespace strata::train
