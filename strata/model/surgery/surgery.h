// Models made of models: more layers, experts, fewer layers, averages; file to file, tensor by
// tensor.
//
//   auto done = model::upcycle("llama", "experts", {.experts = 8, .active = 2});
//   done->preserves                     // "the function: ..." or what it does not
//   model::compare("llama", "experts")  // the logits of both, on request
//
// Models are GGUF files, Hugging Face directories (sharded or not), checkpoints of runs in Strata's
// or Orbax's format, or MaxText's, on either side. Memory holds a few rows of a tensor; of
// checkpoints, whose layers are stacked, and for merges that need an order of a tensor's numbers, a
// tensor of each model. A target that is no Hugging Face directory goes through one beside it,
// which is removed, and so does MaxText's checkpoint as a source; what these two and a target in
// Strata's format hold as a whole is in nameless files in TMPDIR (type/literals_in_files.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/base/result.h"

namespace strata::model {

/// What all of them take.
struct SurgeryOptions {
  /// What to write: "gguf", "hugging_face", "strata", "maxtext". Empty: GGUF for a name that ends
  /// in .gguf, else a Hugging Face directory.
  std::string format = {};
  /// The type of tensors, F32, F16, BF16, and of a GGUF file's matrices those of `convert`; empty:
  /// as the source's plain ones, F32 of packed ones.
  std::string type = {};
  /// Says what would be written, and writes nothing.
  bool dry_run = false;
  /// The most bytes of a safetensors file.
  std::uint64_t shard_bytes = std::uint64_t{5} << 30;
  /// Of MaxText's checkpoints: the source's config.json, or a directory that has it; and
  /// param_scan_axis, of both.
  std::string config = {};
  std::int64_t scan_axis = 1;
};

/// What was done.
struct Surgery {
  std::int64_t layers_before = 0, layers_after = 0;
  /// Numbers of weights; of experts all.
  std::int64_t weights_before = 0, weights_after = 0;
  /// Whether the new model computes what the old one did, and in words what holds of it.
  bool same_function = false;
  std::string preserves;
  /// Names of tensors, each with what it was made of.
  std::vector<std::pair<std::string, std::string>> tensors;
  std::vector<std::string> notes, files;
  /// The new config.json.
  std::string config;
};

/// Layer i of the new model is layer map[i] of the old one. Text: numbers and ranges, ends
/// included, "0-19,12-31". Throws Error for what is none, and layers that there are not.
std::vector<std::int64_t> parse_layer_map(const std::string& text, std::int64_t layers);
/// Two copies one behind the other, without the last of the first and the first of the second:
/// `layers` 32, `to` 40: 0-19,12-31. Throws Error unless layers < to <= 2 layers and to is even.
/// Source: Kim et al., SOLAR 10.7B: Scaling Large Language Models with Simple yet Effective Depth
/// Up-Scaling (2023).
std::vector<std::int64_t> upscaled_layers(std::int64_t layers, std::int64_t to);

struct UpscaleOptions {
  /// The new layers, as parse_layer_map reads them; empty: upscaled_layers(layers, to_layers).
  std::string layers = {};
  std::int64_t to_layers = 0;
  /// Whether what a layer adds is zero where it stands for the second time, so that the new model
  /// computes what the old one did. Source: Wu et al., LLaMA Pro: Progressive LLaMA with Block
  /// Expansion (2024).
  bool zero_repeats = false;
  SurgeryOptions write = {};
};
/// A deeper model. Codes of `convert`; throws Error for maps that there are not, and for families
/// whose config.json cannot say the new order.
Result<Surgery> upscale(const std::string& from, const std::string& to, const UpscaleOptions& o);

struct SliceOptions {
  /// The layers that stay, increasing.
  std::string layers = {};
  SurgeryOptions write = {};
};
/// A part of the layers with the same embeddings and logits.
Result<Surgery> slice_layers(const std::string& from, const std::string& to, const SliceOptions& o);

struct PruneOptions {
  /// The layers that go; empty: none.
  std::string drop_layers = {};
  /// How many hidden numbers of each feed-forward branch stay, 0: all: those whose gate, up and
  /// down weights have the largest product of norms.
  std::int64_t mlp_width = 0;
  SurgeryOptions write = {};
};
/// A smaller model.
Result<Surgery> prune(const std::string& from, const std::string& to, const PruneOptions& o);

struct UpcycleOptions {
  /// How many experts, and of how many a token goes through.
  std::int64_t experts = 8, active = 2;
  /// The dense width divided by that of an expert: expert e is slice e mod (G - shared) of it.
  std::int64_t granularity = 1;
  /// So many of the slices are of the expert that all tokens go through.
  std::int64_t shared = 0;
  /// So many leading layers stay as they are.
  std::int64_t dense_layers = 0;
  /// The deviation of the router's rows, each of which is repeated for a group of slices.
  double router_deviation = 0.02;
  /// What is added to the experts' weights: normal, of this many times the deviation of their row.
  double noise = 0;
  std::uint64_t seed = 0;
  SurgeryOptions write = {};
};
/// A model of experts from a dense one. Routed outputs are scaled by G - shared, on the down
/// matrices; a token's weights add up to one, so that the function is that of the dense model where
/// G - shared divides `active` and `experts`, whatever the router says: within 1e-6 of the logits'
/// range in f32, as sums are in another order, and to the bit for one, two or four copies (G 1)
/// that weigh the same (router_deviation 0). Where G - shared is a power of two no weight is
/// rounded. llama, mistral become mixtral, or qwen2_moe where there is a shared expert or a dense
/// layer; qwen2 becomes qwen2_moe, qwen3 qwen3_moe. Source: He et al., Upcycling Large Language
/// Models into Mixture of Experts (2024).
Result<Surgery> upcycle(const std::string& from, const std::string& to, const UpcycleOptions& o);

enum class MergeMethod {
  linear,           // sum of w_i m_i / sum of w_i
  slerp,            // along the arc between two, tensor by tensor
  task_arithmetic,  // base + sum of w_i (m_i - base)
  ties,             // as `task`, of the largest differences that agree in sign
};
/// Throws Error for a name that there is not.
MergeMethod merge_method(const std::string& name);

struct MergeOptions {
  MergeMethod method = MergeMethod::linear;
  /// One for each model; empty: all 1. slerp: the place on the arc is w_1 / (w_0 + w_1).
  std::vector<double> weights = {};
  /// Of task_arithmetic and ties.
  std::string base = {};
  /// ties: the share of each tensor's differences that is kept, the largest ones.
  double density = 0.2;
  SurgeryOptions write = {};
};
/// One model of several with equal config.json, tokenizer and files of the first (task_arithmetic,
/// ties: of the base). Sources: Wortsman et al., Model soups (2022); Shoemake, Animating rotation
/// with quaternion curves (1985); Ilharco et al., Editing models with task arithmetic (2023); Yadav
/// et al., TIES-Merging (2023).
Result<Surgery> merge_models(const std::vector<std::string>& from, const std::string& to,
                             const MergeOptions& o);

/// The logits of two models on prompts.
struct Comparison {
  /// The largest difference, and that divided by the range of the first's logits.
  double difference = 0, relative = 0;
  /// KL(first || second) in nats, averaged over positions; the share of positions whose most likely
  /// token is the same; the losses of both, nats a token.
  double kl = 0, agreement = 0, loss_first = 0, loss_second = 0;
  std::int64_t positions = 0;
  bool same_bits = false;
};
struct CompareOptions {
  /// So many rows of so many tokens, drawn by a seed.
  std::int64_t prompts = 4, length = 32;
  /// Of MaxText's checkpoints: a config.json of each, or a directory that has it; param_scan_axis.
  std::string first_config = {}, second_config = {};
  std::int64_t scan_axis = 1;
};
/// Computes both in f32. Code::invalid for vocabularies of another size.
Result<Comparison> compare(const std::string& first, const std::string& second,
                           const CompareOptions& options = {});

}  // namespace strata::model
