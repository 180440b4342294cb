// Rates and decay found on a small model, kept for wider and deeper ones.
//
//   optimizer:
//     transfer: {base_emb_dim: 64, base_num_decoder_layers: 4}     # of the small model
//
// With m = base_emb_dim of this model / that of the small one, l = the same ratio of layers:
//
//   weight                          first deviation    steps of AdamW    decoupled decay
//   embedding                       s                  rate              rate decay
//   norms, biases                   as they are        rate              rate decay
//   query, key, value, gate, up     s m^-1/2           rate / m          rate decay
//   attention out, down             s m^-1/2 / l       rate / (m l)      rate decay
//   logits, router                  s / m              rate / m          rate decay
//
// where s is the small model's. That is CompleteP of alpha = 1: a layer adds 1/l of its branch,
// written into the matrix that ends the branch, and logits are divided by m likewise. Heads keep
// their width (there are more of them); feed-forward layers and vectors of keys widen with the
// rest. Where the model is the small one, nothing changes by a bit.
//
// The rule sees w' = f w, f = m or m l (`stored_as`), so that whatever moves each number by the
// same (adamw, adam, lion, ...) moves w by 1/f of it, and decay is not scaled; the clipping norm is
// that of gradients of w'. Refused: other rules (sgd and muon scale otherwise), tied embeddings,
// which cannot be both embedding and logits here, `init`, and stored_as beside it.
//
// Sources: Yang et al., Tensor Programs V: Tuning Large Neural Networks via Zero-Shot
// Hyperparameter Transfer (2022), table 8; Dey et al., Don't be lazy: CompleteP enables
// compute-efficient deep transformers (2025), table 1. Deviations: Adam's eps is not scaled, and
// attention divides scores by the root of a head's width, which does not change here.
#pragma once

#include "strata/train/config/config.h"

namespace strata::train {

/// How much wider and deeper a model is than the one that its rates were found on.
struct Transfer {
  std::int64_t base_width = 0, base_layers = 0;
  double width = 1, depth = 1;
};

/// What optimizer.transfer asks for of a model with such weights; none where it is not given.
/// Throws ConfigError for keys and values that are none, and what is refused above.
std::optional<Transfer> transfer_of(const Config& config, const tree::Tree& weights);
/// The same without a look at the model.
void check_transfer(const Config& config);

/// f of a weight, by its path.
double transfer_factor(const Transfer& transfer, std::string_view path);
/// First weights of the model's own as the table has them.
tree::Tree transferred(const Config& config, tree::Tree first_weights);

}  // namespace strata::train
