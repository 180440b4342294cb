#include "strata/train/state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/base/version.h"
#include "strata/data/conversations.h"
#include "strata/train/transfer.h"

namespace strata::train {
namespace {

constexpr const char* kParams = "params";
constexpr const char* kOptimizer = "optimizer";
/// Notes of a run on a published model; strata/model/convert reads both.
constexpr const char* kPublishedConfig = "published_config";
constexpr const char* kBase = "base";

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

/// The first weights' types, and which of them are frozen.
struct Weights {
  tree::Tree types;
  std::optional<tree::Filter> frozen;
};
Weights weights_of(const Config& c, const Base& base) {
  return {weight_types(c, base), base.frozen};
}
/// Of a family's model.
Base family_base(const Config& c) {
  Base out;
  out.model = make_model(c);
  return out;
}

data::Truncation truncation_of(const std::string& mode) {
  if (mode == "keep_end") return data::Truncation::keep_end;
  if (mode == "drop") return data::Truncation::drop;
  return mode == "refuse" ? data::Truncation::refuse : data::Truncation::keep_start;
}

/// The types of a fresh state, without its values.
State abstract_state(const Config& config, const Weights& w) {
  const Optimizer optimizer = make_optimizer(config, w.types, w.frozen);
  return eval_shape([&](const tree::Tree& t) { return init(t, optimizer); }, w.types);
}

/// The path and type of each leaf of the optimizer's state, as text; none of a configuration that
/// describes no optimizer.
std::string optimizer_layout(const Config& c, const Weights& w) {
  try {
    return tree::of(abstract_state(c, w).optimizer).to_string();
  } catch (const Error&) {
    return {};
  }
}

/// Throws where the checkpoint has no state that the run could go on with, naming the keys that
/// make it so.
void check_same_state(const Config& now, const Config& then, std::int64_t step, const Weights& w) {
  std::string model, optimizer;
  auto add = [&](std::string& to, std::string_view key, const std::string& ours,
                 const std::string& theirs) {
    to += fmt::format("{}{}={} (the checkpoint has {})", to.empty() ? "" : ", ", key, ours, theirs);
  };
  if (now.init.empty() != then.init.empty()) add(model, "init", now.init, then.init);
  if (now.lora != then.lora) add(model, "lora", now.lora.dump(), then.lora.dump());
  for (const Field& f : fields_of(now)) {
    // Of another family only its name is compared.
    if (!f.shapes_model || (!model.empty() && now.decoder_block != then.decoder_block)) continue;
    if (json_value(now, f) != json_value(then, f))
      add(model, f.name, json_value(now, f), json_value(then, f));
  }
  if (model.empty() && now.opt_type != then.opt_type)
    add(optimizer, "opt_type", '"' + now.opt_type + '"', '"' + then.opt_type + '"');
  if (model.empty() && optimizer.empty() && optimizer_layout(now, w) != optimizer_layout(then, w)) {
    const auto shapes = [&](auto member) {
      Config one = now;
      one.*member = then.*member;
      return now.*member != then.*member && optimizer_layout(one, w) != optimizer_layout(now, w);
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

Optimizer make_optimizer(const Config& c, const Base& base) {
  return make_optimizer(c, weight_types(c, base), base.frozen);
}

Batch to_batch(data::Batch b) {
  Batch out{Array(std::move(b.tokens)), Array(std::move(b.targets))};
  if (b.weights) out.weights = Array(std::move(*b.weights));
  if (b.segments) out.segments = Array(std::move(*b.segments));
  if (b.positions) out.positions = Array(std::move(*b.positions));
  return out;
}

State init_state(const Config& c) {
  State state = jit(
      [&](const Array& key) {
        const model::ModelPtr model = make_model(c);
        return init(model->cast(transferred(c, model->init(key)), weight_dtype(c)),
                    make_optimizer(c));
      },
      {.name = "init"})(random::key(c.init_weights_seed));
  // Leaves of their own memory and without weak types, as those of a loaded checkpoint are: one
  // compiled step serves both.
  return tree::map([](const Array& leaf) { return asarray(leaf.literal()); }, std::move(state));
}

State init_state(const Config& c, Base& base) {
  if (!base.weights) return init_state(c);
  const Optimizer optimizer = make_optimizer(c, base);
  State state;
  state.optimizer = jit([&](const tree::Tree& t) { return init(t, optimizer).optimizer; },
                        {.name = "init"})(*base.weights);
  state.params = std::move(*base.weights);
  base.weights.reset();
  return tree::map([](const Array& leaf) { return asarray(leaf.literal()); }, std::move(state));
}

Result<data::Dataset> open_data(const Config& c, Progress* progress) {
  // Texts of a published model need its tokenizer alone.
  const bool whole = c.init.empty() || data::names_conversations(c.train_data_columns);
  auto base = whole ? open_base(c) : Result<Base>(Base());
  if (!base) return base.status();
  if (!whole) {
    auto tokenizer = open_tokenizer(c);
    if (!tokenizer) return tokenizer.status();
    base->tokenizer = std::move(*tokenizer);
  }
  return open_data(c, *base, progress);
}

namespace {

data::DatasetOptions dataset_options(const Config& c, const Base& base, Progress* progress) {
  return {.train_files = c.train_files,
          .tokenizer = base.tokenizer,
          .column = c.train_data_columns,
          .eval_fraction = c.eval_files.empty() ? c.eval_fraction : 0,
          .batch = sequences(c),
          .length = c.max_target_length,
          .eval_batch = eval_sequences(c),
          .window_mode = c.window_mode == "disjoint" ? data::WindowMode::disjoint
                                                     : data::WindowMode::overlapping,
          .order = c.data_order == "megatron" ? data::DataOrder::megatron : data::DataOrder::native,
          .samples = c.steps * sequences(c),
          .chat_template = base.chat_template,
          .answers_only = c.sft_train_on_completion_only,
          .packing = c.packing,
          .truncation = truncation_of(c.truncation_mode),
          .seed = static_cast<std::uint32_t>(c.data_shuffle_seed),
          .shuffle = c.enable_data_shuffling,
          .reuse_batch = c.reuse_example_batch,
          .vocab_size = base.model ? base.model->vocab_size() : 0,
          .progress = progress};
}

}  // namespace

Result<data::Dataset> open_data(const Config& c, const Base& base, Progress* progress) {
  auto stages = data::parse_weight_stages(c.train_files_weights);
  if (!stages) return stages.status();
  data::DatasetOptions options = dataset_options(c, base, progress);
  options.weight_stages = std::move(*stages);
  return data::Dataset::open(options);
}

Result<data::Dataset> open_eval_data(const Config& c, const Base& base, const data::Dataset& data,
                                     Progress* progress) {
  if (c.eval_files.empty()) return data;
  data::DatasetOptions options = dataset_options(c, base, progress);
  options.train_files = c.eval_files;
  if (!c.eval_data_columns.empty()) options.column = c.eval_data_columns;
  options.eval_fraction = 1;
  options.order = data::DataOrder::native;
  options.shuffle = true;  // evaluations read in order anyway
  options.reuse_batch = false;
  auto out = data::Dataset::open(options);
  if (out) return out;
  // What reads them speaks of files to train on.
  std::string why = out.status().message();
  constexpr std::string_view kOther = "train_files: ";
  if (why.starts_with(kOther)) why.erase(0, kOther.size());
  return Status(out.status().code(), "eval_files: {}", why);
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

checkpoint::Checkpoint to_checkpoint(const State& state, std::int64_t step, const Config& config,
                                     const data::Dataset& data, const Base& base) {
  checkpoint::Checkpoint out = to_checkpoint(state, step, config, data);
  if (!base.published()) return out;
  out.notes[kPublishedConfig] = base.config;
  out.notes[kBase] =
      nlohmann::ordered_json{{"init", config.init}, {"fingerprint", base.fingerprint}}.dump();
  const Optimizer optimizer = make_optimizer(
      config, eval_shape([](const tree::Tree& t) { return t; }, state.params), base.frozen);
  if (optimizer.frozen)
    for (const std::string& path : tree::paths(state.params.filter(*optimizer.frozen)))
      out.parts[kParams].erase(path);
  return out;
}

void check_base(const checkpoint::Checkpoint& c, const Config& config, const Base& base) {
  if (!base.published()) return;
  const auto note = c.notes.find(kBase);
  const auto then = note == c.notes.end() ? nlohmann::json()
                                          : nlohmann::json::parse(note->second, nullptr, false);
  const auto text = [&](const char* key) {
    return then.is_object() && then.contains(key) && then[key].is_string()
               ? then[key].get<std::string>()
               : std::string();
  };
  if (text("fingerprint") == base.fingerprint) return;
  throw ConfigError(fmt::format(
      "init={}: its weights ({}) are not those that the checkpoint of step {} of the run '{}' "
      "stands on, {} ({}); choose another run_name, or the same base",
      config.init, base.fingerprint, c.step, config.run_name, text("init"), text("fingerprint")));
}

namespace {

/// The leaves of a state that a checkpoint holds: weights that stay as the base has them are left
/// out where the base still has them.
Result<State> held_in(const checkpoint::Checkpoint& c, const Config& config, const Base& base) {
  const Weights w = weights_of(config, base);
  check_same_state(config, config_of(c), c.step, w);
  check_base(c, config, base);
  State state = abstract_state(config, w);
  if (base.weights)
    if (const Optimizer optimizer = make_optimizer(config, base); optimizer.frozen)
      state.params = state.params.filter(!*optimizer.frozen);
  if (Status s = fill(state.params, c, kParams); !s.ok()) return s;
  if (Status s = fill(state.optimizer, with_names_of_today(c, config.opt_type), kOptimizer);
      !s.ok())
    return s;
  return state;
}

}  // namespace

Status check_complete(const checkpoint::Checkpoint& c, const Config& config, const Base& base) {
  return held_in(c, config, base).status();
}

Status check_complete(const checkpoint::Checkpoint& c) {
  const Config config = config_of(c);
  return config.init.empty() ? check_complete(c, config, family_base(config)) : Status();
}

Result<State> from_checkpoint(const checkpoint::Checkpoint& c, const Config& config) {
  Base base = family_base(config);
  return from_checkpoint(c, config, base);
}

Result<State> from_checkpoint(const checkpoint::Checkpoint& c, const Config& config, Base& base) {
  auto state = held_in(c, config, base);
  if (!state || !base.weights) return state;
  const tree::Tree mine = std::move(state->params);
  state->params = base.weights->map([&](const tree::Entry& e, const Array& first) {
    const auto at = mine.find(e.name);
    return at ? mine.value(*at) : asarray(first.literal());
  });
  base.weights.reset();
  return state;
}

Result<tree::Tree> params_from_checkpoint(const checkpoint::Checkpoint& c, const Config& config) {
  tree::Tree params = weight_types(config, family_base(config));
  if (Status s = fill(params, c, kParams); !s.ok()) return s;
  return params;
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
