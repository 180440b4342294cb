// How the weights of a family are called where others published them, and how they are laid out
// there.
//
//   WeightName{"layers/attention/query/kernel", "model.layers.{}.self_attn.q_proj.weight",
//              "blk.{}.attn_q.weight"}
#pragma once

#include <string>
#include <vector>

#include "strata/model/decoder/options.h"

namespace strata::model::published {

/// One of our weights beside its published ones. {} stands for the number of the layer.
struct WeightName {
  /// Ours: "layers/attention/query/kernel".
  std::string path;
  /// In a Hugging Face directory, without the prefixes of Names; and in a GGUF file.
  std::string hugging_face, gguf;

  /// Which part of the published tensor's outputs this is, where several weights are stored as one:
  /// rows `begin` .. `begin` + ours of `whole`; whole 0: all of it.
  std::int64_t begin = 0, whole = 0;
  /// Of experts: Hugging Face has a tensor for each of so many, whose number is the second {}, GGUF
  /// one for all (E, out, in); 0: no experts.
  std::int64_t experts = 0;
  /// Whether Hugging Face has one tensor for all of a layer's experts too, and no second {}.
  bool stacked = false;
  /// A tensor of Hugging Face, not of GGUF, has the outputs of so many weights, one behind the
  /// other or alternating, and which of them this is.
  std::int64_t parts = 1, part = 0;
  bool parts_alternate = false;
  /// Hugging Face, not GGUF, has the outputs in several tensors: each of so many equal groups of
  /// them is these sections, one behind the other; a tensor has a section of all groups, and behind
  /// it the next section that is its own.
  struct Section {
    std::string hugging_face;
    std::int64_t outputs = 0;
  };
  std::int64_t groups = 0;
  std::vector<Section> sections = {};
  /// Whether Hugging Face has a dimension of 1 between the two, as PyTorch's Conv1d of groups.
  bool conv1d = false;
  /// The numbers of the layers, in order; empty: 0, 1, 2, ...
  std::vector<std::int64_t> layers = {};
  /// Matrices are published as (out, in), ours are (in, out); where this is true, Hugging Face has
  /// them as ours (GPT-2's Conv1D).
  bool as_ours = false;
  /// GGUF has rows of queries and keys in the order for neighbouring pairs: of so many heads; 0:
  /// not.
  std::int64_t paired_heads = 0;
  /// What GGUF adds to each element (Gemma's norms: 1).
  double gguf_plus = 0;
};

/// The number of the layer that a piece is of, a weight's pieces being its layers, or layers times
/// experts.
std::int64_t layer_of(const WeightName& name, std::int64_t piece);

/// The names of a family.
struct Names {
  std::vector<WeightName> weights;
  /// What may stand in front of all names of a Hugging Face directory: {"", "transformer."}.
  std::vector<std::string> prefixes = {""};
  /// Names that none of them stands in front of.
  std::vector<std::string> without_prefix = {};
  /// Names that some directories have in place of those of the same paths, all or none of them.
  std::vector<WeightName> instead = {};
  /// Old endings of names and what they are now: {".gamma", ".weight"}.
  std::vector<std::pair<std::string, std::string>> old_endings = {};
  /// Tensors that belong to no weight and are left out: "*.rotary_emb.inv_freq".
  std::vector<std::string> ignored = {}, gguf_ignored = {};
  /// Tensors of a Hugging Face directory that are written a second time: under this name, what has
  /// the other one.
  std::vector<std::pair<std::string, std::string>> copies = {};
};

/// The names that most families share, of the weights that these options have, but for layers
/// that predict further tokens: q_proj, gate_proj,
/// input_layernorm, ... Norms by norm_place; GGUF's `paired_heads` where `paired`.
Names usual_names(const decoder::Options& options, bool paired);
/// Adds DeepSeek's names of layers that predict further tokens, which stand behind the others:
/// enorm, hnorm, eh_proj, shared_head.norm, and copies of the embedding and the head. Where there
/// are none, the layer behind the last is left out.
void add_further_names(Names& names, const decoder::Options& options);
/// Whether the names have one for this weight: further layers of most families are published
/// nowhere.
bool is_published(const Names& names, std::string_view path);
/// Puts other names in the place of those of the same path. Throws Error for a path there is not.
void replace(Names& names, const WeightName& name);

/// Whether a name fits a pattern, in which * stands for any letters.
bool matches(std::string_view pattern, std::string_view name);
/// The pattern with the number of a layer, and of an expert where there is a second {}.
std::string numbered(std::string_view pattern, std::int64_t layer, std::int64_t expert = 0);

}  // namespace strata::model::published
