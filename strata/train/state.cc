#include "strata/train/state.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "strata/api/jit.h"
#include "strata/api/random.h"
#include "strata/base/version.h"
#include "strata/model/registry.h"
#include "strata/optim/schedule_text.h"

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

/// The path and type of each leaf of the optimizer's state.
std::vector<std::pair<std::string, Type>> optimizer_layout(const Config& c) {
  std::vector<std::pair<std::string, Type>> out;
  const State state = abstract_state(c);
  tree::for_each_path(state.optimizer, [&](const std::string& path, const Array& leaf) {
    out.emplace_back(path, leaf.type());
  });
  return out;
}

/// Whether a checkpoint of the one optimizer's state is none of the other's because of this key.
bool shapes_optimizer(const Field& f, const Config& now, const Config& then) {
  Config one = now;
  std::visit([&](auto member) { one.*member = then.*member; }, f.member);
  return optimizer_layout(one) != optimizer_layout(now);
}

/// Throws where the checkpoint has no state that the run could go on with, naming the keys that
/// make it so.
void check_same_state(const Config& now, const Config& then, std::int64_t step) {
  std::string model, optimizer;
  auto add = [&](std::string& to, const Field& f) {
    to += fmt::format("{}{}={} (the checkpoint has {})", to.empty() ? "" : ", ", f.name,
                      json_value(now, f), json_value(then, f));
  };
  for (const Field& f : fields())
    if (f.shapes_model && json_value(now, f) != json_value(then, f)) add(model, f);
  for (const Field& f : fields())
    if (model.empty() && !f.shapes_model && json_value(now, f) != json_value(then, f) &&
        shapes_optimizer(f, now, then))
      add(optimizer, f);
  if (model.empty() && optimizer.empty()) return;
  const char* what = model.empty() ? "optimizer" : "model";
  throw ConfigError(
      fmt::format("the run '{}' has a checkpoint of step {} of another {}: {}; choose another "
                  "run_name, or the same {}",
                  now.run_name, step, what, model + optimizer, what));
}

}  // namespace

model::ModelPtr make_model(const Config& c) {
  const model::Family& family = model::family(c.decoder_block);
  model::Settings settings;
  for (const Field& f : fields())
    for (const model::Key& key : family.keys)
      if (key.name == f.name) settings.emplace(f.name, text_value(c, f));
  return model::make(c.decoder_block, settings);
}

optim::Schedule make_schedule(const Config& c) {
  if (!c.lr_pieces.empty())
    return optim::pieces_schedule(optim::parse_schedule(lr_pieces_text(c), "lr_pieces"));
  const std::int64_t steps =
      c.learning_rate_schedule_steps < 0 ? c.steps : c.learning_rate_schedule_steps;
  auto part = [&](double fraction) { return std::llround(static_cast<double>(steps) * fraction); };
  const std::int64_t warmup = part(c.warmup_steps_fraction),
                     decay = part(c.wsd_decay_steps_fraction);
  const double end = c.learning_rate * c.learning_rate_final_fraction;
  const auto style =
      c.wsd_decay_style == "cosine" ? optim::DecayStyle::cosine : optim::DecayStyle::linear;
  optim::Schedule rate =
      c.lr_schedule_type == "wsd"
          ? optim::wsd_schedule(c.learning_rate, warmup,
                                std::max<std::int64_t>(0, steps - warmup - decay), decay, end,
                                style)
          : optim::typed::warmup_cosine_decay_schedule(0.0, c.learning_rate, warmup, steps, end);
  // MaxText: no learning beyond the schedule.
  return steps < c.steps
             ? optim::join_schedules({std::move(rate), optim::constant_schedule(0.0)}, {steps})
             : rate;
}

Optimizer make_optimizer(const Config& c) {
  if (c.opt_type == "sgd")
    return optim::typed::chain(optim::typed::clip_by_global_norm(c.gradient_clipping_threshold),
                               optim::typed::sgd(make_schedule(c)));
  optim::typed::Mask mask =
      c.adamw_mask.empty() ? optim::typed::Mask() : optim::typed::mask_except_paths(c.adamw_mask);
  return optim::typed::adamw(make_schedule(c), {.b1 = c.adam_b1,
                                                .b2 = c.adam_b2,
                                                .eps = c.adam_eps,
                                                .weight_decay = c.adam_weight_decay,
                                                .max_norm = c.gradient_clipping_threshold,
                                                .mask = std::move(mask)});
}

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
                              .vocab_size = c.vocab_size,
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
  if (Status s = fill(state.optimizer, c, kOptimizer); !s.ok()) return s;
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
