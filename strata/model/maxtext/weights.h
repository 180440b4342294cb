// A decoder's weights as MaxText's checkpoints hold them, and back.
//
//   auto saved = checkpoint::orbax::load("gs://bucket/run/checkpoints/400");
//   auto params = model::maxtext::from_maxtext(options, arrays_below(*saved, "params/params/"));
//   model::maxtext::Arrays again = model::maxtext::to_maxtext(options, *params);
//
// MaxText keeps heads as axes, [d, H, h], and, where it scans layers, those of a kind as one array
// with an axis for them at `param_scan_axis`. Its numbers differ from published ones where it folds
// a factor into weights: queries of Llama, Mistral, Mixtral, Gemma and Gemma 2 are multiplied by
// the factor of scores, Gemma's embedding by the root of its width, Gemma's norms by 1 + w; with
// Llama 3.1's rotary positions the two elements that turn together are neighbours.
//
// Source: AI-Hypercomputer/maxtext 0.2.5, checkpoint_conversion/utils/param_mapping.py and models.
// Deviation: where MaxText scales queries of Gemma 2 27B by another factor than it computes with,
// this takes the factor that it computes with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "strata/api/tree/tree.h"
#include "strata/base/result.h"
#include "strata/model/decoder/options.h"
#include "strata/type/literal.h"

namespace strata::model::maxtext {

/// Which numbers of a weight w' = a w + b an array has: itself, or Adam's moments of its gradient,
/// which are those of w divided by a, and by a squared. Moments of a run whose optimizer steps w'
/// itself (`optimizer.stored_as`) are stored as they are.
enum class What { weights, first_moments, second_moments, stored_moments };

/// How a run of MaxText stores them.
struct Layout {
  /// scan_layers, and param_scan_axis.
  bool scanned = true;
  std::int64_t scan_axis = 1;
  /// inhomogeneous_layer_cycle_interval of gpt_oss and olmo3; 0: as their models have it, 2 and 4.
  std::int64_t cycle = 0;
  What what = What::weights;
};

/// Arrays by name, without what stands ahead of "token_embedder" and "decoder".
using Arrays = std::map<std::string, Literal>;

/// Names and shapes of a model's arrays. Throws Error, unsupported, for a family that MaxText's
/// mapping is not built for: there are llama, mistral, mixtral, qwen2, qwen3, qwen3_moe, gemma,
/// gemma2, gemma3, gemma4, gemma4_small, deepseek_v2, deepseek_v3, gpt_oss, olmo3, qwen3_next,
/// qwen3_5_moe.
std::map<std::string, std::vector<std::int64_t>> stored_shapes(const decoder::Options& options,
                                                               const Layout& layout = {});
/// The names of the arrays that hold a weight's layers, layer by layer, by the paths of a decoder's
/// weights. Throws Error as stored_shapes.
std::map<std::string, std::vector<std::string>> stored_names(const decoder::Options& options,
                                                             const Layout& layout = {});
/// The weights, or moments, of a tree with a decoder's paths, f32 or bf16. Throws Error as above,
/// and for a tree of other shapes or dtypes.
Arrays to_maxtext(const decoder::Options& options, const tree::Tree& params,
                  const Layout& layout = {});
/// The way back, in the arrays' dtype (f32 or bf16). Code::invalid where arrays are missing, of
/// other shapes or dtypes, or of no weight: the message names them. Throws Error as stored_shapes.
Result<tree::Tree> from_maxtext(const decoder::Options& options, const Arrays& arrays,
                                const Layout& layout = {});
/// Whether these are the names of a run that scans its layers.
bool is_scanned(const Arrays& arrays);
/// How many layers that predict further tokens such names have.
std::int64_t further_layers(const Arrays& arrays);
/// How the layers of such names are laid out; names do not tell `scan_axis`.
Layout layout_of(const Arrays& arrays, std::int64_t scan_axis = 1);

}  // namespace strata::model::maxtext
