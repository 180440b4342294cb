// Losses, element by element or row by row; nothing is averaged unless a line says so.
//
//   numpy::mean(optim::softmax_cross_entropy_with_integer_labels(logits, labels))
//   optim::losses::dice_loss(predictions, masks, {.smooth = 0.1})
//
// Each is in optim::losses, as upstream's, and those that upstream has in both places in optim too.
// Source: Optax.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "strata/api/numpy.h"

namespace strata::optim::losses {

/// Options of losses that sum over axes.
struct Rows {
  strata::internal::Named named = strata::internal::Named();
  /// What is summed over; and which elements count.
  Axes axis = -1;
  std::optional<Array> where = std::nullopt;
};

// ---- distances ---------------------------------------------------------------------------------
/// (p - t)^2; p^2 without targets. Throws Error for other shapes.
Array squared_error(const Array& predictions, const std::optional<Array>& targets = {});
/// Half of squared_error.
Array l2_loss(const Array& predictions, const std::optional<Array>& targets = {});
/// q^2 / 2 + delta (|e| - q), q = min(|e|, delta). Source: Huber (1964).
Array huber_loss(const Array& predictions, const std::optional<Array>& targets = {},
                 double delta = 1.0);
/// log(cosh(p - t))
Array log_cosh(const Array& predictions, const std::optional<Array>& targets = {});
struct CosineOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The least that a squared norm counts.
  double epsilon = 0.0;
  Axes axis = -1;
  std::optional<Array> where = std::nullopt;
};
/// The cosine between predictions and targets.
Array cosine_similarity(const Array& predictions, const Array& targets,
                        const CosineOptions& options = {});
/// 1 - cosine_similarity
Array cosine_distance(const Array& predictions, const Array& targets,
                      const CosineOptions& options = {});

// ---- two classes -------------------------------------------------------------------------------
/// -y log sigmoid(x) - (1 - y) log sigmoid(-x)
Array sigmoid_binary_cross_entropy(const Array& logits, const Array& labels);
struct FocalOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The weight of label 1, and 1 minus it of label 0; none: 1 of both.
  std::optional<double> alpha = std::nullopt;
  double gamma = 2.0;
};
/// sigmoid_binary_cross_entropy times (1 - p of the label)^gamma. Source: Lin et al., Focal Loss
/// for Dense Object Detection (2018).
Array sigmoid_focal_loss(const Array& logits, const Array& labels,
                         const FocalOptions& options = {});
/// max(0, 1 - x y) of labels -1 and 1.
Array hinge_loss(const Array& predictor_outputs, const Array& targets);
/// max(0, -x y) of labels -1 and 1.
Array perceptron_loss(const Array& predictor_outputs, const Array& targets);
/// sparse_plus(x) of label 0, sparse_plus(-x) of 1. Source: Blondel et al., Learning with
/// Fenchel-Young Losses (2020).
Array sparsemax_loss(const Array& logits, const Array& labels);

// ---- several classes ---------------------------------------------------------------------------
/// -sum of labels log_softmax(logits)
Array softmax_cross_entropy(const Array& logits, const Array& labels, const Rows& options = {});
/// The same where a label of 0 meets a probability of 0: 0, with a derivative.
Array safe_softmax_cross_entropy(const Array& logits, const Array& labels);
/// logsumexp(logits) - logit of the label, an integer. Over several axes labels count their
/// elements in row-major order.
Array softmax_cross_entropy_with_integer_labels(const Array& logits, const Array& labels,
                                                const Rows& options = {});
/// softmax_cross_entropy + epsilon sum of y (1 - p). Source: Leng et al., PolyLoss (2022).
Array poly_loss_cross_entropy(const Array& logits, const Array& labels, double epsilon = 2.0,
                              const Rows& options = {});
/// max(s + 1 - one_hot) - s of the label.
Array multiclass_hinge_loss(const Array& scores, const Array& labels);
/// max(s) - s of the label.
Array multiclass_perceptron_loss(const Array& scores, const Array& labels);
/// By the projection of scores onto the simplex. Source: Martins and Astudillo, From Softmax to
/// Sparsemax (2016).
Array multiclass_sparsemax_loss(const Array& scores, const Array& labels);
/// max_fun(scores) - <targets, scores> over the last axis. max_fun takes rows to numbers.
std::function<Array(const Array& scores, const Array& targets)> make_fenchel_young_loss(
    std::function<Array(const Array&)> max_fun);
/// (1 - alpha) labels + alpha / classes.
Array smooth_labels(const Array& labels, double alpha, const Rows& options = {});

// ---- distributions -----------------------------------------------------------------------------
/// sum of t (log t - log p), 0 where t is 0.
Array kl_divergence(const Array& log_predictions, const Array& targets, const Rows& options = {});
/// The same of logarithms.
Array kl_divergence_with_log_targets(const Array& log_predictions, const Array& log_targets,
                                     const Rows& options = {});
/// kl_divergence + sum of (p - t).
Array generalized_kl_divergence(const Array& log_predictions, const Array& targets,
                                const Rows& options = {});
/// The former name of generalized_kl_divergence.
Array convex_kl_divergence(const Array& log_predictions, const Array& targets,
                           const Rows& options = {});

// ---- rankings, masks, pairs --------------------------------------------------------------------
struct RankingOptions {
  strata::internal::Named named = strata::internal::Named();
  std::optional<Array> where = std::nullopt, weights = std::nullopt;
  /// "mean", "sum" or "none", over the rows.
  std::string reduce = "mean";
};
/// Softmax cross entropy of lists, their mean. Source: Cao et al., Learning to Rank (2007).
Array ranking_softmax_loss(const Array& logits, const Array& labels,
                           const RankingOptions& options = {});
struct DiceOptions {
  strata::internal::Named named = strata::internal::Named();
  std::optional<Array> class_weights = std::nullopt;
  double smooth = 1.0, alpha = 0.5, beta = 0.5;
  /// Softmax, or sigmoid where there is one class; else predictions are probabilities.
  bool apply_softmax = true;
  /// "mean", "sum" or "none", over the classes.
  std::string reduction = "mean";
  bool ignore_background = false;
  /// What is summed over; none: all but the first and the last axis.
  std::optional<std::vector<std::int64_t>> axis = std::nullopt;
};
/// 1 - (I + smooth) / (I + alpha (P - I) + beta (T - I) + smooth), of sums of p t, p and t. Source:
/// Milletari et al., V-Net (2016); Salehi et al., Tversky loss (2017).
Array dice_loss(const Array& predictions, const Array& targets, const DiceOptions& options = {});
/// dice_loss with classes weighted by the inverse square of their frequency, one number. Source:
/// Sudre et al., Generalised Dice overlap (2017).
Array multiclass_generalized_dice_loss(const Array& predictions, const Array& targets,
                                       const DiceOptions& options = {});
/// dice_loss of one class.
Array binary_dice_loss(const Array& predictions, const Array& targets, double smooth = 1.0,
                       bool apply_sigmoid = true);
/// Of embeddings whose labels are equal or not, a number. Source: Chen et al., SimCLR (2020).
Array ntxent(const Array& embeddings, const Array& labels, double temperature = 0.07);
struct TripletOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t axis = -1;
  double norm_degree = 2, margin = 1.0, eps = 1e-6;
};
/// max(d(anchor, positive) - d(anchor, negative) + margin, 0). As upstream, powers are of signed
/// differences. Source: Schroff et al., FaceNet (2015).
Array triplet_margin_loss(const Array& anchors, const Array& positives, const Array& negatives,
                          const TripletOptions& options = {});

// ---- sequences ---------------------------------------------------------------------------------
struct CtcOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t blank_id = 0;
  /// Stands for the logarithm of 0.
  double log_epsilon = -1e5;
};
/// What `ctc_loss_with_forward_probs` gives: the loss of each sequence, and the logarithms of
/// forward probabilities of blanks (T, B, N + 1) and labels (T, B, N).
struct CtcResult {
  Array loss, logalpha_phi, logalpha_emit;
  STRATA_FIELDS(loss, logalpha_phi, logalpha_emit)
};
/// Of logits (B, T, K) and labels (B, N), with paddings (1: is padding) of both. Source: Graves et
/// al., Connectionist Temporal Classification (2006).
CtcResult ctc_loss_with_forward_probs(const Array& logits, const Array& logit_paddings,
                                      const Array& labels, const Array& label_paddings,
                                      const CtcOptions& options = {});
/// The loss alone.
Array ctc_loss(const Array& logits, const Array& logit_paddings, const Array& labels,
               const Array& label_paddings, const CtcOptions& options = {});

}  // namespace strata::optim::losses

namespace strata::optim {
using losses::convex_kl_divergence;
using losses::cosine_distance;
using losses::cosine_similarity;
using losses::ctc_loss;
using losses::ctc_loss_with_forward_probs;
using losses::generalized_kl_divergence;
using losses::hinge_loss;
using losses::huber_loss;
using losses::kl_divergence;
using losses::l2_loss;
using losses::log_cosh;
using losses::ntxent;
using losses::safe_softmax_cross_entropy;
using losses::sigmoid_binary_cross_entropy;
using losses::smooth_labels;
using losses::softmax_cross_entropy;
using losses::softmax_cross_entropy_with_integer_labels;
using losses::squared_error;
}  // namespace strata::optim
