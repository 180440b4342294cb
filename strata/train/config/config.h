// What a run is told: one struct, files and key=value on top of each other.
//
//   train::Config config = train::read_config(
//       "configs/demo.yml", {"steps=100", "opt_type=lion", "optimizer.b2=0.98"});
//
// Keys are MaxText's. Those of the model are the family's (model/registry.h), chosen by
// decoder_block; below `optimizer` stand the options of the rule that opt_type names
// (optim/registry.h), below `lr_schedule` those of the schedule that lr_schedule_type names, below
// `lora` what adapters there are (lora_options.h). A
// mistake in a key or value throws ConfigError with the key, the value and what is allowed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "strata/base/error.h"
#include "strata/model/registry.h"

namespace strata::train {

/// What stands below a nested key, by name.
using Table = nlohmann::ordered_json;

struct Config {
  // The model. Two runs that differ here have different weights.
  /// A published model that is tuned: a GGUF file, a Hugging Face directory; empty: a family's.
  std::string init;
  std::string decoder_block = "llama2";
  /// Keys of the family, as text; one that is absent has the family's default.
  model::Settings model = {};
  std::string weight_dtype = "float32";
  std::int64_t init_weights_seed = 0;
  /// Adapters of low rank, which are then all that is trained; empty: none.
  Table lora = Table::object();
  // The data.
  std::vector<std::string> train_files;
  /// "STEP: WEIGHT, WEIGHT": the sources' weights from a step on.
  std::vector<std::string> train_files_weights;
  std::string train_data_columns = "text";
  // Of conversations.
  std::string chat_template_path;
  bool sft_train_on_completion_only = true;
  bool packing = true;
  std::string truncation_mode = "keep_start";
  std::string tokenizer_type = "byte";
  std::string tokenizer_path;
  std::string window_mode = "overlapping";
  std::string data_order = "native";
  double eval_fraction = 0.02;
  /// As train_files: texts that evaluations read instead of a part of train_files.
  std::vector<std::string> eval_files;
  std::string eval_data_columns;  // empty: train_data_columns
  std::int64_t max_target_length = 256;
  std::int64_t per_device_batch_size = 8;
  std::int64_t micro_batch_size = 0;
  std::int64_t gradient_accumulation_steps = 1;
  std::int64_t data_shuffle_seed = 0;
  bool enable_data_shuffling = true;
  bool reuse_example_batch = false;
  // The optimizer.
  std::int64_t steps = 1000;
  double learning_rate = 1e-3;
  double warmup_steps_fraction = 0.1;
  double learning_rate_final_fraction = 0.1;
  std::string lr_schedule_type = "cosine";
  double wsd_decay_steps_fraction = 0.1;
  std::string wsd_decay_style = "linear";
  std::int64_t learning_rate_schedule_steps = -1;
  /// Options of the schedule that lr_schedule_type names.
  Table lr_schedule = Table::object();
  std::vector<std::string> lr_pieces;
  std::string opt_type = "adamw";
  double adam_b1 = 0.9;
  double adam_b2 = 0.95;
  double adam_eps = 1e-8;
  double adam_eps_root = 0;
  double adam_weight_decay = 0.1;
  std::vector<std::string> adamw_mask;
  std::vector<std::string> trainable_parameters_mask;
  std::string mu_dtype = "float32";
  /// Options of the rule that opt_type names, and `groups`.
  Table optimizer = Table::object();
  double gradient_clipping_threshold = 1.0;
  double z_loss_multiplier = 0;
  // The devices: sizes of a mesh's axes within a slice, and over slices (parallelism.h).
  std::int64_t ici_data_parallelism = 1;
  std::int64_t ici_pipeline_parallelism = 1;
  std::int64_t ici_fsdp_parallelism = 1;
  std::int64_t ici_fsdp_transpose_parallelism = 1;
  std::int64_t ici_context_parallelism = 1;
  std::int64_t ici_tensor_parallelism = 1;
  std::int64_t ici_expert_parallelism = 1;
  std::int64_t dcn_data_parallelism = 1;
  std::int64_t dcn_pipeline_parallelism = 1;
  std::int64_t dcn_fsdp_parallelism = 1;
  std::int64_t dcn_fsdp_transpose_parallelism = 1;
  std::int64_t dcn_context_parallelism = 1;
  std::int64_t dcn_tensor_parallelism = 1;
  std::int64_t dcn_expert_parallelism = 1;
  // Of stages; -1: pipeline.h.
  std::int64_t num_layers_per_pipeline_stage = 1;
  std::int64_t num_pipeline_repeats = -1;
  std::int64_t num_pipeline_microbatches = -1;
  std::int64_t pipeline_parallel_layers = -1;
  /// "DIMENSION: AXIS, AXIS", in place of the rules of the same names.
  std::vector<std::string> logical_axis_rules;
  bool skip_step_on_spikes = false;
  std::int64_t skip_step_interval = 128;
  double skip_step_scaling_factor = 6.0;
  // Of models with experts.
  double load_balance_loss_weight = 0;
  std::string load_balance_loss_scope = "sequence";
  bool moe_use_megatron_seq_aux_loss = false;
  double router_z_loss_weight = 0;
  double routed_bias_update_rate = 0;
  // Of models that predict further tokens (model/decoder/multi_token.h).
  std::int64_t mtp_num_layers = 0;
  double mtp_loss_scaling_factor = 0.1;
  std::int64_t mtp_eval_target_module = 0;
  // The run.
  std::string run_name = "default";
  std::string base_output_directory = "runs";
  bool enable_checkpointing = true;
  std::int64_t checkpoint_period = 500;
  std::int64_t max_num_checkpoints_to_keep = 3;
  std::int64_t keep_period = 0;
  bool async_checkpointing = true;
  std::string checkpoint_format = "strata";
  bool enable_emergency_checkpoint = false, enable_multi_tier_checkpointing = false;
  std::string local_checkpoint_directory;
  std::int64_t local_checkpoint_period = 0;
  std::int64_t multi_tier_checkpointing_backup_interval_minutes = 0;
  std::int64_t eval_interval = 0;
  std::int64_t eval_steps = 8;
  std::int64_t eval_start_step = -1;
  double eval_per_device_batch_size = 0;
  double target_eval_loss = 0;
  std::string eval_prompt;
  std::int64_t log_period = 10;
  std::string metrics_file;
  double max_seconds = 0;
  /// Whether goodput and MFU follow each line of a log; what the device can do, for MFU.
  bool log_goodput = false;
  double device_tflops = 0;
};

/// The user's mistake in a configuration: exit status 2.
class ConfigError : public Error {
 public:
  explicit ConfigError(std::string message) : Error("", std::move(message)) {}
};

/// One key that is not nested.
struct Field {
  using Member =
      std::variant<std::int64_t Config::*, double Config::*, bool Config::*, std::string Config::*,
                   std::vector<std::string> Config::*, const model::Key*>;
  std::string_view name;
  Member member;
  std::string_view doc;
  /// Numbers: the range, ends included.
  double least = 0, most = 0;
  /// Texts: what they may be; empty for any.
  std::vector<std::string_view> choices = {};
  /// Whether it decides the shapes of weights.
  bool shapes_model = false;
};
/// The keys of every family, each once, and all others, in the order in which they are printed.
std::span<const Field> fields();
/// Those of a configuration: its family's, and all others.
std::vector<Field> fields_of(const Config& config);

/// Whether a configuration has to name its text.
enum class Data { required, optional };
/// The file's keys (none without a file), then each "key=value" in order, then `check`. Throws
/// ConfigError, also for a file that cannot be read or is no YAML mapping.
Config read_config(const std::optional<std::string>& file,
                   const std::vector<std::string>& overrides, Data data = Data::required);
/// The keys of a YAML or JSON text over the defaults; `name` stands for it in messages. Throws
/// ConfigError; does not `check`.
Config parse_config(const std::string& text, const std::string& name);
/// The end of a message about a key that is unknown: "; did you mean 'steps'?", by the names that
/// others have for it too; where to look when none is near.
std::string key_hint(const std::string& key);
/// Sets one key, perhaps a nested one as "optimizer.b1", from its text. Throws ConfigError.
void set(Config& config, const std::string& key, const std::string& value);
/// What no single key shows: heads that do not divide, an option that the optimizer lacks, a
/// missing train_files. Throws ConfigError.
void check(const Config& config, Data data = Data::required);

/// All keys with their values as YAML, which `read_config` reads back to the same values; options
/// that are not given stand in comments, with their defaults.
std::string to_yaml(const Config& config);
/// The same as one JSON object.
std::string to_json(const Config& config);
/// The value of a key in JSON: `0.001`, `"float32"`, `["a.txt"]`.
std::string json_value(const Config& config, const Field& field);
/// The same as a person writes it: `0.001`, `float32`.
std::string text_value(const Config& config, const Field& field);
/// Keys, types, defaults, ranges and what they mean, optimizers and schedules with their options;
/// for --help.
std::string describe_fields();
/// Whether frequent checkpoints are written to local_checkpoint_directory.
bool has_tiers(const Config& config);
/// The folder of the run: base_output_directory/run_name.
std::string run_folder(const Config& config);
/// Sequences of one step: per_device_batch_size times the devices of the mesh, one where the
/// configuration names none, or micro_batch_size in their place; times gradient_accumulation_steps.
std::int64_t sequences(const Config& config);
/// Sequences of a batch of evaluation: eval_per_device_batch_size times the devices of the mesh, or
/// those of a step where that is 0.
std::int64_t eval_sequences(const Config& config);
/// Whether an evaluation follows the step that is completed as the `step`th: of eval_interval and
/// eval_start_step.
bool evaluates_after(const Config& config, std::int64_t step);
/// The pieces of lr_pieces as one text.
std::string lr_pieces_text(const Config& config);
/// metrics_file, or metrics/metrics.jsonl in the run's folder.
std::string metrics_path(const Config& config);

}  // namespace strata::train
