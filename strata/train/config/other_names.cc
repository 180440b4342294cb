#include "strata/train/config/other_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace strata::train {
namespace {

struct Other {
  std::string_view key;
  std::string_view names;  // between spaces
};
constexpr Other kOthers[] = {
    {"init",
     " model_name_or_path load_parameters_path base_model pretrained model_path model_name "},
    {"vocab_size", " n_vocab num_embeddings "},
    {"base_emb_dim", " hidden_size d_model dim n_embd n_embed embed_dim emb_dim width model_dim "},
    {"base_num_query_heads",
     " n_head n_heads num_heads heads num_attention_heads num_query_heads nhead "},
    {"base_num_kv_heads", " n_kv_heads num_key_value_heads num_kv_heads n_kv_head "},
    {"base_mlp_dim", " intermediate_size d_ff ffn_dim mlp_dim hidden_dim dim_feedforward "},
    {"base_num_decoder_layers", " n_layer n_layers num_layers layers num_hidden_layers depth "},
    {"rope_max_timescale", " rope_theta rope_base "},
    {"normalization_layer_epsilon", " rms_norm_eps norm_eps layer_norm_eps "},
    {"dtype", " precision compute_dtype torch_dtype bf16 fp16 amp "},
    {"weight_dtype", " param_dtype params_dtype "},
    {"remat_policy", " gradient_checkpointing remat checkpoint_activations "},
    {"init_weights_seed", " seed random_seed init_seed "},
    {"enable_data_shuffling", " shuffle shuffle_data data_shuffle "},
    {"reuse_example_batch", " overfit_batches overfit_one_batch overfit "},
    {"data_shuffle_seed", " shuffle_seed data_seed "},
    {"train_files",
     " data dataset dataset_path data_path train_file train_data files text input corpus "},
    {"train_data_columns", " text_column text_field column "},
    {"sft_train_on_completion_only",
     " assistant_only_loss completion_only_loss train_on_inputs answers_only mask_prompt "},
    {"packing", " pack packed packing_strategy sample_packing "},
    {"truncation_mode", " truncation truncate "},
    {"chat_template_path", " chat_template template "},
    {"tokenizer_path", " tokenizer tokenizer_file tokenizer_model vocab_file "},
    {"eval_files",
     " eval_file eval_data eval_dataset validation_files validation_file val_files val_file "
     "valid_files test_files "},
    {"eval_per_device_batch_size",
     " eval_batch_size per_device_eval_batch_size val_batch_size valid_batch_size "},
    {"eval_fraction", " validation_split val_fraction val_split eval_split test_size "},
    {"max_target_length",
     " seq_len seq_length sequence_length block_size context_length context max_seq_len "
     "max_length max_position_embeddings ctx_len n_ctx "},
    {"per_device_batch_size", " batch_size batch bs per_device_train_batch_size "},
    {"gradient_accumulation_steps", " grad_accum accumulate_grad_batches grad_accum_steps "},
    {"steps",
     " max_steps num_steps max_iters iters iterations epochs num_train_steps "
     "num_train_epochs total_steps train_steps "},
    {"learning_rate", " lr max_lr peak_lr base_lr eta "},
    {"warmup_steps_fraction", " warmup warmup_steps warmup_ratio warmup_iters num_warmup_steps "},
    {"learning_rate_final_fraction", " min_lr final_lr end_lr min_lr_ratio "},
    {"lr_schedule_type", " schedule scheduler lr_scheduler lr_scheduler_type lr_schedule "},
    {"learning_rate_schedule_steps", " lr_decay_iters decay_steps lr_decay_steps "},
    {"opt_type", " optimizer optim opt optimizer_type "},
    {"adam_b1", " beta1 b1 adam_beta1 "},
    {"adam_b2", " beta2 b2 adam_beta2 "},
    {"adam_eps", " eps epsilon adam_epsilon "},
    {"adam_weight_decay", " weight_decay wd decay "},
    {"gradient_clipping_threshold",
     " grad_clip clip clip_norm max_grad_norm gradient_clip_val max_norm clip_grad "
     "clip_by_global_norm "},
    {"run_name", " name run experiment exp_name "},
    {"base_output_directory", " out_dir output_dir output outdir save_dir log_dir "},
    {"checkpoint_period",
     " save_steps save_every save_interval checkpoint_every ckpt_every checkpoint_interval "},
    {"max_num_checkpoints_to_keep", " save_total_limit keep_last max_to_keep keep "},
    {"eval_interval", " eval_every eval_period evaluation_interval val_interval "},
    {"eval_steps", " eval_iters eval_batches "},
    {"log_period", " log_every log_interval logging_steps print_every "},
    {"max_seconds", " max_time time_limit timeout "},
};

}  // namespace

std::string_view key_called(std::string_view name) {
  std::string padded = " ";
  for (char c : name)
    padded +=
        c == '-' || c == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  padded += ' ';
  if (padded.find(' ', 1) + 1 != padded.size()) return {};
  const auto found = std::find_if(std::begin(kOthers), std::end(kOthers), [&](const Other& o) {
    return o.names.find(padded) != std::string_view::npos;
  });
  return found == std::end(kOthers) ? std::string_view() : found->key;
}

}  // namespace strata::train
