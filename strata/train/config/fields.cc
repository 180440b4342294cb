#include "strata/train/config/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "strata/base/text.h"
#include "strata/train/config/learning_rate.h"
#include "strata/train/config/optimizer.h"

namespace strata::train {
namespace {

using json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

constexpr double kMany = 1e9;
constexpr double kSeeds = 2147483647;

std::vector<std::string_view> names_of_families() {
  std::vector<std::string_view> out;
  for (const model::Family& f : model::families()) out.push_back(f.name);
  return out;
}

/// All but the families' keys.
std::vector<Field> make_common() {
  using C = Config;
  std::vector<Field> out = {
      {"decoder_block", &C::decoder_block, "family of the model", 0, 0, names_of_families()},
      {"init", &C::init,
       "a published model to tune, whose sizes, tokenizer and chat template hold: a GGUF file, a "
       "Hugging Face directory, a cache's models--org--name"},
      {"weight_dtype",
       &C::weight_dtype,
       "type of the weights; what optimizers remember is float32; packed, under adapters: as the "
       "GGUF file of init has them in its blocks",
       0,
       0,
       {"float32", "bfloat16", "packed"}},
      {"init_weights_seed", &C::init_weights_seed, "seed of the first weights", 0, kSeeds},
      {"train_files", &C::train_files,
       "sources as a list or separated by ';', each files or patterns separated by ',', at its end "
       "its weight in the blend: "
       "kjv/*.txt,0.5;python/**/*.py,0.3; in names '\\,' and '\\;' stand for ',' and ';'"},
      {"train_files_weights", &C::train_files_weights,
       "weights of the sources that replace those of train_files from a step on, as a list or "
       "separated by ';': 0: 0.7, 0.3; 1000: 0.5, 0.5; each source goes on where it stood"},
      {"train_data_columns", &C::train_data_columns,
       "JSONL files: the member of each object that holds the text; messages or prompt,completion "
       "for conversations, which need init"},
      {"chat_template_path", &C::chat_template_path,
       "conversations: a Jinja file instead of the model's own chat template"},
      {"sft_train_on_completion_only", &C::sft_train_on_completion_only,
       "conversations: learn answers alone, or all tokens"},
      {"packing", &C::packing,
       "conversations: several in one row, each seeing itself alone, or one a row"},
      {"truncation_mode",
       &C::truncation_mode,
       "conversations longer than max_target_length: cut, left out, or an error",
       0,
       0,
       {"keep_start", "keep_end", "drop", "refuse"}},
      {"tokenizer_type",
       &C::tokenizer_type,
       "what makes tokens of text",
       0,
       0,
       {"byte", "sentencepiece", "huggingface"}},
      {"tokenizer_path", &C::tokenizer_path,
       "the .model file of a SentencePiece tokenizer; huggingface: a tokenizer.json, or the folder "
       "that holds it"},
      {"window_mode",
       &C::window_mode,
       "sequences share a token with the next one, so that none is lost as a target, or share none",
       0,
       0,
       {"overlapping", "disjoint"}},
      {"data_order",
       &C::data_order,
       "who decides the order of windows: native, or megatron, as megatron-core orders the same "
       ".bin/.idx, data_shuffle_seed and weights",
       0,
       0,
       {"native", "megatron"}},
      {"eval_fraction", &C::eval_fraction,
       "share of each source, at its end, kept for evaluation where there are no eval_files", 0,
       0.9},
      {"eval_files", &C::eval_files,
       "sources as in train_files that evaluations read, in order and whole; all of train_files is "
       "then trained on"},
      {"eval_data_columns", &C::eval_data_columns,
       "eval_files of JSONL: as train_data_columns; empty: the same"},
      {"max_target_length", &C::max_target_length, "tokens of a sequence", 1, 1 << 20},
      {"per_device_batch_size", &C::per_device_batch_size, "sequences worked off at once", 1,
       65536},
      {"micro_batch_size", &C::micro_batch_size,
       "sequences worked off at once by all devices together, which may be fewer than devices; 0: "
       "per_device_batch_size on each",
       0, kMany},
      {"gradient_accumulation_steps", &C::gradient_accumulation_steps,
       "such batches in a step, whose gradients are added", 1, 65536},
      {"data_shuffle_seed", &C::data_shuffle_seed, "seed of the order of the data", 0, kSeeds},
      {"enable_data_shuffling", &C::enable_data_shuffling,
       "windows of a source in another order each epoch; false: as they stand in it"},
      {"reuse_example_batch", &C::reuse_example_batch,
       "every step reads the batch of the first: to measure, or to overfit"},
      {"steps", &C::steps, "training steps", 1, kMany},
      {"learning_rate", &C::learning_rate, "highest learning rate", 0, 100},
      {"warmup_steps_fraction", &C::warmup_steps_fraction,
       "cosine, wsd: share of steps over which the rate rises from 0", 0, 1},
      {"learning_rate_final_fraction", &C::learning_rate_final_fraction,
       "cosine, wsd: share of the rate that is left at the last step", 0, 1},
      {"lr_schedule_type", &C::lr_schedule_type,
       "the rate: along a cosine, late (warm-up, stable, decay), constant, or a schedule of Optax "
       "with its options below lr_schedule",
       0, 0, schedule_names()},
      {"wsd_decay_steps_fraction", &C::wsd_decay_steps_fraction,
       "wsd: share of steps over which the rate falls", 0, 1},
      {"wsd_decay_style", &C::wsd_decay_style, "wsd: how it falls", 0, 0, {"linear", "cosine"}},
      {"learning_rate_schedule_steps", &C::learning_rate_schedule_steps,
       "cosine, wsd: steps of the schedule, behind which the rate is 0; -1 for steps", -1, kMany},
      {"lr_pieces", &C::lr_pieces,
       "the schedule in pieces instead, as a list or separated by commas: [linear 0 -> 3e-4 over "
       "100, constant 1000, cosine -> 3e-5 over 400]"},
      {"opt_type", &C::opt_type, "the optimizer, with its options below optimizer", 0, 0,
       optimizer_names()},
      {"adam_b1", &C::adam_b1, "adamw, adam_pax: decay of the first moment", 0, 0.999999},
      {"adam_b2", &C::adam_b2, "adamw, adam_pax: decay of the second moment", 0, 0.999999},
      {"adam_eps", &C::adam_eps, "adamw, adam_pax: added to the root of the second moment", 0, 1},
      {"adam_eps_root", &C::adam_eps_root, "adamw, adam_pax: added to the second moment", 0, 1},
      {"adam_weight_decay", &C::adam_weight_decay, "adamw, adam_pax: decoupled weight decay", 0,
       100},
      {"adamw_mask", &C::adamw_mask,
       "adamw, adam_pax: weights that do not decay: patterns of their paths, as *norm*, as a list "
       "or "
       "separated by "
       "';'"},
      {"trainable_parameters_mask", &C::trainable_parameters_mask,
       "weights that are trained, all where it is empty: patterns of their paths, as a list or "
       "separated by ';', with layers behind a colon where it is some: */kernel:0,3; others have "
       "no state, and their gradients count in the clipping norm "
       "alone"},
      {"mu_dtype",
       &C::mu_dtype,
       "adamw, muon: type in which first moments are kept",
       0,
       0,
       {"float32", "bfloat16"}},
      {"z_loss_multiplier", &C::z_loss_multiplier,
       "each target's loss has this times log(Z)^2 on top, Z the sum of its softmax", 0, kMany},
      {"gradient_clipping_threshold", &C::gradient_clipping_threshold,
       "largest norm of all gradients; 0 for no limit", 0, kMany},
      {"ici_data_parallelism", &C::ici_data_parallelism,
       "devices of a slice: copies of the model, each with its part of the batch; -1 for all that "
       "are left",
       -1, 65536},
      {"ici_pipeline_parallelism", &C::ici_pipeline_parallelism,
       "devices of a slice: stages, each with its part of the layers; -1 for all that are left", -1,
       65536},
      {"ici_fsdp_parallelism", &C::ici_fsdp_parallelism,
       "devices of a slice: weights and batch in parts; -1 for all that are left", -1, 65536},
      {"ici_fsdp_transpose_parallelism", &C::ici_fsdp_transpose_parallelism,
       "devices of a slice: the same along the other dimension of weights; -1 for all that are "
       "left",
       -1, 65536},
      {"ici_context_parallelism", &C::ici_context_parallelism,
       "devices of a slice: sequences in parts; -1 for all that are left", -1, 65536},
      {"ici_tensor_parallelism", &C::ici_tensor_parallelism,
       "devices of a slice: heads, feed-forward layers and vocabulary in parts; -1 for all that "
       "are left",
       -1, 65536},
      {"ici_expert_parallelism", &C::ici_expert_parallelism,
       "devices of a slice: experts in parts, and the batch; -1 for all that are left", -1, 65536},
      {"dcn_data_parallelism", &C::dcn_data_parallelism,
       "slices: copies of the model, each with its part of the batch; -1 for all that are left", -1,
       65536},
      {"dcn_pipeline_parallelism", &C::dcn_pipeline_parallelism,
       "slices: stages, each with its part of the layers; -1 for all that are left", -1, 65536},
      {"dcn_fsdp_parallelism", &C::dcn_fsdp_parallelism,
       "slices: weights and batch in parts; -1 for all that are left", -1, 65536},
      {"dcn_fsdp_transpose_parallelism", &C::dcn_fsdp_transpose_parallelism,
       "slices: the same along the other dimension of weights; -1 for all that are left", -1,
       65536},
      {"dcn_context_parallelism", &C::dcn_context_parallelism,
       "slices: sequences in parts; -1 for all that are left", -1, 65536},
      {"dcn_tensor_parallelism", &C::dcn_tensor_parallelism,
       "slices: heads, feed-forward layers and vocabulary in parts; -1 for all that are left", -1,
       65536},
      {"dcn_expert_parallelism", &C::dcn_expert_parallelism,
       "slices: experts in parts, and the batch; -1 for all that are left", -1, 65536},
      {"num_layers_per_pipeline_stage", &C::num_layers_per_pipeline_stage,
       "pipeline: layers that a stage goes through at once", 1, kMany},
      {"num_pipeline_repeats", &C::num_pipeline_repeats,
       "pipeline: how often a batch goes round all stages; -1: until all layers are through", -1,
       kMany},
      {"num_pipeline_microbatches", &C::num_pipeline_microbatches,
       "pipeline: parts of a batch that follow each other, a multiple of the stages; -1: as many "
       "as "
       "stages",
       -1, kMany},
      {"pipeline_parallel_layers", &C::pipeline_parallel_layers,
       "pipeline: layers in stages; -1: all, which alone is built", -1, kMany},
      {"logical_axis_rules", &C::logical_axis_rules,
       "which dimensions are cut over which axes of the mesh, in place of the rules of the same "
       "names, as a list or separated by ';': embed: fsdp; mlp: tensor"},
      {"skip_step_on_spikes", &C::skip_step_on_spikes,
       "pass over the update where loss or gradients stand out from the last steps"},
      {"skip_step_interval", &C::skip_step_interval,
       "skip_step_on_spikes: how many steps are remembered; none is passed over before half of "
       "them",
       1, kMany},
      {"skip_step_scaling_factor", &C::skip_step_scaling_factor,
       "skip_step_on_spikes: so many standard deviations above the mean stand out", 0, kMany},
      {"load_balance_loss_weight", &C::load_balance_loss_weight,
       "experts: weight of the loss that keeps them evenly loaded, 1 where they are", 0, kMany},
      {"load_balance_loss_scope",
       &C::load_balance_loss_scope,
       "experts: over what loads are compared: each sequence, what goes through the model at once, "
       "all of a step",
       0,
       0,
       {"sequence", "micro_batch", "global"}},
      {"moe_use_megatron_seq_aux_loss", &C::moe_use_megatron_seq_aux_loss,
       "experts chosen by sigmoids: that loss as Megatron's, by scores over their sum and the "
       "choice "
       "without bias, the sum over layers, instead of by the softmax of scores and where tokens "
       "go"},
      {"router_z_loss_weight", &C::router_z_loss_weight,
       "experts: weight of the mean of logsumexp(router logits)^2", 0, kMany},
      {"routed_bias_update_rate", &C::routed_bias_update_rate,
       "experts with a bias: what is added to it after a step where an expert got fewer tokens "
       "than "
       "the mean, and taken where it got more",
       0, kMany},
      {"mtp_num_layers",
       &C::mtp_num_layers,
       "layers that predict one token further each, trained beside the others; of published "
       "DeepSeek V3 models, those that they have",
       0,
       256,
       {},
       true},
      {"mtp_loss_scaling_factor", &C::mtp_loss_scaling_factor,
       "mtp_num_layers: what the mean loss of further tokens is worth beside that of the next", 0,
       kMany},
      {"mtp_eval_target_module", &C::mtp_eval_target_module,
       "mtp_num_layers: which of them, from 1, is asked at evaluations how often it says what the "
       "model itself does once it has read so far; 0 for none",
       0, kMany},
      {"run_name", &C::run_name, "folder of the run; the same name goes on where it stopped"},
      {"base_output_directory", &C::base_output_directory, "folder of all runs"},
      {"enable_checkpointing", &C::enable_checkpointing, "write checkpoints and go on from them"},
      {"checkpoint_period", &C::checkpoint_period, "steps from one checkpoint to the next", 1,
       kMany},
      {"max_num_checkpoints_to_keep", &C::max_num_checkpoints_to_keep,
       "older ones are removed; 0 keeps all", 0, kMany},
      {"keep_period", &C::keep_period,
       "checkpoints of steps that this divides are never removed; 0 for none", 0, kMany},
      {"async_checkpointing", &C::async_checkpointing, "write checkpoints while training goes on"},
      {"checkpoint_format",
       &C::checkpoint_format,
       "how new checkpoints are written: Strata's files, or directories that Orbax restores, of "
       "its "
       "first or second API; a run goes on from each",
       0,
       0,
       {"strata", "orbax", "orbax-v1"}},
      {"enable_emergency_checkpoint", &C::enable_emergency_checkpoint,
       "also write frequent checkpoints to local_checkpoint_directory, and go on from the newest "
       "of both"},
      {"enable_multi_tier_checkpointing", &C::enable_multi_tier_checkpointing,
       "the same, with lasting ones every so many minutes"},
      {"local_checkpoint_directory", &C::local_checkpoint_directory,
       "where frequent checkpoints lie: memory (/dev/shm/...) or this machine's disk"},
      {"local_checkpoint_period", &C::local_checkpoint_period, "steps from one of them to the next",
       0, kMany},
      {"multi_tier_checkpointing_backup_interval_minutes",
       &C::multi_tier_checkpointing_backup_interval_minutes,
       "minutes from one lasting checkpoint to the next, in place of checkpoint_period; 0: that", 0,
       kMany},
      {"eval_interval", &C::eval_interval,
       "steps from one evaluation to the next; 0 or -1 for none", -1, kMany},
      {"eval_steps", &C::eval_steps, "most batches of each source in one evaluation; -1 for all",
       -1, kMany},
      {"eval_start_step", &C::eval_start_step,
       "the step, counted from 0, that the first evaluation follows, then each eval_interval-th; "
       "-1: steps that eval_interval divides, counted from 1, and the last",
       -1, kMany},
      {"eval_per_device_batch_size", &C::eval_per_device_batch_size,
       "sequences of a batch of evaluation on each device, fractions too; 0: as many as of a step",
       0, 65536},
      {"target_eval_loss", &C::target_eval_loss,
       "a run ends behind an evaluation whose loss is no higher; 0 for never", 0, kMany},
      {"eval_prompt", &C::eval_prompt,
       "with init: a question whose answer is printed before the first step and after the last"},
      {"log_period", &C::log_period, "steps from one printed line to the next", 1, kMany},
      {"metrics_file", &C::metrics_file,
       "JSON lines, one for each step; default: metrics/metrics.jsonl in the run's folder"},
      {"max_seconds", &C::max_seconds, "stop and save after this time; 0 for no limit", 0, kMany},
      {"log_goodput", &C::log_goodput,
       "a second line behind each of a log: the share of time that went into steps, and MFU"},
      {"device_tflops", &C::device_tflops,
       "what the device can do, in TFLOP/s, for MFU; 0: MFU is not told", 0, kMany},
  };
  for (Field& f : out) f.shapes_model = f.name == "decoder_block" || f.name == "weight_dtype";
  return out;
}

Field of_family(const model::Key& key) {
  return {key.name, &key, key.sentence, key.least, key.most, key.choices, key.shapes};
}
/// The families' keys stand behind decoder_block.
std::vector<Field> with_keys(const std::vector<Field>& keys) {
  static const std::vector<Field> common = make_common();
  std::vector<Field> out = {common.front()};
  out.insert(out.end(), keys.begin(), keys.end());
  out.insert(out.end(), common.begin() + 1, common.end());
  return out;
}

bool is_integer_key(const Field& f) {
  const auto* key = std::get_if<const model::Key*>(&f.member);
  return key ? (*key)->type == model::Key::Type::integer
             : std::holds_alternative<std::int64_t Config::*>(f.member);
}
bool is_number_key(const Field& f) {
  const auto* key = std::get_if<const model::Key*>(&f.member);
  return key ? (*key)->type == model::Key::Type::number
             : std::holds_alternative<double Config::*>(f.member);
}

template <class T>
std::optional<T> whole_number(const std::string& text) {
  T out{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return out;
}

/// MaxText's files write large counts as 1e4 too.
std::optional<std::int64_t> integer(const std::string& text) {
  if (auto n = whole_number<std::int64_t>(text)) return n;
  auto d = whole_number<double>(text);
  if (!d || !(std::abs(*d) < 1e15) || *d != std::floor(*d)) return {};
  return static_cast<std::int64_t>(*d);
}

/// Between semicolons; one behind a backslash belongs to a name (data/sources.h).
Texts split(const std::string& text) {
  Texts out(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      out.back() += text.substr(i++, 2);
    } else if (text[i] == ';') {
      out.emplace_back();
    } else {
      out.back() += text[i];
    }
  }
  std::erase(out, "");
  return out;
}

[[noreturn]] void refuse(const Field& f, const std::string& value) {
  // Few choices are seen at once.
  const std::string near = f.choices.size() > 6 ? did_you_mean(value, f.choices) : "";
  throw ConfigError(fmt::format("{}={}: allowed is {}{}", f.name, value, allowed(f), near));
}

template <class T>
T number_in_range(const Field& f, const std::string& value) {
  std::optional<T> number;
  if constexpr (std::same_as<T, double>)
    number = whole_number<double>(value);
  else
    number = integer(value);
  if (!number ||
      !(static_cast<double>(*number) >= f.least && static_cast<double>(*number) <= f.most))
    refuse(f, value);
  return *number;
}

void check_choice(const Field& f, const std::string& value) {
  if (!f.choices.empty() && std::find(f.choices.begin(), f.choices.end(), value) == f.choices.end())
    refuse(f, value);
}

}  // namespace

std::span<const Field> fields() {
  static const std::vector<Field> all = [] {
    std::vector<Field> keys;
    for (const model::Family& family : model::families())
      for (const model::Key& key : family.keys) {
        const auto same = [&](const Field& f) { return f.name == key.name; };
        if (std::none_of(keys.begin(), keys.end(), same)) keys.push_back(of_family(key));
      }
    return with_keys(keys);
  }();
  return all;
}
std::vector<Field> fields_of(const Config& c) {
  std::vector<Field> keys;
  for (const model::Key& key : model::family(c.decoder_block).keys) keys.push_back(of_family(key));
  return with_keys(keys);
}

std::string allowed(const Field& f) {
  if (is_integer_key(f))
    return fmt::format("an integer from {} to {}", static_cast<std::int64_t>(f.least),
                       static_cast<std::int64_t>(f.most));
  if (is_number_key(f)) return fmt::format("a number from {:g} to {:g}", f.least, f.most);
  if (std::holds_alternative<bool Config::*>(f.member)) return "true or false";
  if (std::holds_alternative<Texts Config::*>(f.member)) return "a list of texts";
  return f.choices.empty() ? "text" : fmt::format("{}", fmt::join(f.choices, " or "));
}

void set_field(Config& c, const Field& f, const std::string& value) {
  auto one = [&]<class T>(T Config::* member) {
    if constexpr (std::same_as<T, bool>) {
      if (value != "true" && value != "false" && value != "True" && value != "False")
        refuse(f, value);
      c.*member = value == "true" || value == "True";
    } else if constexpr (std::same_as<T, std::string>) {
      // contrib.muon is muon.
      const bool contrib = f.name == "opt_type" && value.starts_with("contrib.");
      const std::string name = contrib ? value.substr(8) : value;
      check_choice(f, name);
      c.*member = name;
    } else if constexpr (std::same_as<T, Texts>) {
      c.*member = split(value);
    } else {
      c.*member = number_in_range<T>(f, value);
    }
  };
  if (const auto* key = std::get_if<const model::Key*>(&f.member)) {
    std::string text = value;
    if ((*key)->type == model::Key::Type::text)
      check_choice(f, value);
    else if ((*key)->type == model::Key::Type::integer)
      text = fmt::format("{}", number_in_range<std::int64_t>(f, value));
    else
      text = json(number_in_range<double>(f, value)).dump();
    c.model.insert_or_assign(std::string(f.name), std::move(text));
    return;
  }
  std::visit(
      [&](auto member) {
        if constexpr (std::is_member_object_pointer_v<decltype(member)>) one(member);
      },
      f.member);
}

json to_value(const Config& c, const Field& f) {
  return std::visit(
      [&](auto member) -> json {
        if constexpr (std::is_member_object_pointer_v<decltype(member)>) {
          return c.*member;
        } else {
          const auto given = c.model.find(f.name);
          const std::string text =
              given == c.model.end() ? std::string(member->value) : given->second;
          if (member->type == model::Key::Type::text) return text;
          if (member->type == model::Key::Type::integer) return *integer(text);
          return *whole_number<double>(text);
        }
      },
      f.member);
}

}  // namespace strata::train
