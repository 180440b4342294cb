#include "strata/optim/losses.h"

#include <limits>

#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/trace/trace.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/custom.h"
#include "strata/api/transform/vmap.h"
#include "strata/optim/math/projections.h"

namespace strata::optim::losses {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_same(const char* name, const Array& a, const Array& b) {
  if (a.shape() != b.shape())
    throw Error(name, "both operands have one shape, got {} and {}",
                strata::internal::describe(a.type()), strata::internal::describe(b.type()));
}
void check_float(const char* name, const Array& x) {
  if (!is_float(x.dtype()))
    throw Error(name, "takes floats, got {}", strata::internal::describe(x.type()));
}
Array total(const Array& x, const Rows& o) {
  return numpy::sum(x, {.axis = o.axis, .where = o.where});
}
/// `where` with an axis of 1 where it lacks the one that is summed over.
Rows settled(const Array& x, Rows o) {
  if (o.where && o.where->ndim() != x.ndim())
    o.where = numpy::expand_dims(*o.where, o.axis.given());
  return o;
}
Array errors_of(const char* name, const Array& predictions, const std::optional<Array>& targets) {
  check_float(name, predictions);
  return targets ? predictions - *targets : predictions;
}
Array shifted(const Array& x, const Rows& o) {
  const Array inside = numpy::where(*o.where, x, -kInfinity);
  const Array greatest = numpy::max(inside, {.axis = o.axis, .keepdims = true});
  return inside - lax::stop_gradient(greatest);
}
Array log_softmax(const Array& x, const Rows& o) {
  if (!o.where) return nn::log_softmax(x, o.axis);
  const Array s = shifted(x, o);
  const Array sum = numpy::sum(numpy::exp(s), {.axis = o.axis, .keepdims = true, .where = o.where});
  return numpy::where(*o.where, s - numpy::log(sum), -kInfinity);
}
Array softmax(const Array& x, const Rows& o) {
  if (!o.where) return nn::softmax(x, o.axis);
  const Array e = numpy::exp(shifted(x, o));
  const Array sum = numpy::sum(e, {.axis = o.axis, .keepdims = true, .where = o.where});
  return numpy::where(*o.where, e / sum, 0.0);
}
Array dot_rows(const Array& a, const Array& b) { return numpy::sum(a * b, -1); }
std::vector<std::int64_t> range(int from, int to) {
  std::vector<std::int64_t> out;
  for (int i = from; i < to; ++i) out.push_back(i);
  return out;
}
Array reduced(const char* name, const Array& loss, const std::string& how) {
  if (how == "mean") return numpy::mean(loss, -1);
  if (how == "sum") return numpy::sum(loss, -1);
  if (how == "none") return loss;
  throw Error(name, "reduction is mean, sum or none, got {}", how);
}

}  // namespace

Array squared_error(const Array& predictions, const std::optional<Array>& targets) {
  if (targets) check_same("squared_error", predictions, *targets);
  const Array e = errors_of("squared_error", predictions, targets);
  return e * e;
}
Array l2_loss(const Array& predictions, const std::optional<Array>& targets) {
  return 0.5 * squared_error(predictions, targets);
}
Array huber_loss(const Array& predictions, const std::optional<Array>& targets, double delta) {
  const Array size = numpy::abs(errors_of("huber_loss", predictions, targets));
  const Array q = numpy::minimum(size, delta);
  return 0.5 * (q * q) + delta * (size - q);
}
Array log_cosh(const Array& predictions, const std::optional<Array>& targets) {
  const Array e = errors_of("log_cosh", predictions, targets);
  return numpy::logaddexp(e, -e) - numpy::astype(numpy::log(numpy::full({}, 2.0)), e.dtype());
}
Array cosine_similarity(const Array& predictions, const Array& targets, const CosineOptions& o) {
  check_float("cosine_similarity", predictions);
  check_float("cosine_similarity", targets);
  const auto unit = [&](const Array& x) {
    const Array square =
        numpy::sum(numpy::square(x), {.axis = o.axis, .keepdims = true, .where = o.where});
    return x / numpy::sqrt(numpy::maximum(square, o.epsilon));
  };
  return numpy::sum(unit(predictions) * unit(targets), {.axis = o.axis, .where = o.where});
}
Array cosine_distance(const Array& predictions, const Array& targets, const CosineOptions& o) {
  return 1.0 - cosine_similarity(predictions, targets, o);
}

Array sigmoid_binary_cross_entropy(const Array& logits, const Array& labels) {
  check_float("sigmoid_binary_cross_entropy", logits);
  const Array y = numpy::astype(labels, logits.dtype());
  return -y * nn::log_sigmoid(logits) - (1.0 - y) * nn::log_sigmoid(-logits);
}
Array sigmoid_focal_loss(const Array& logits, const Array& labels, const FocalOptions& o) {
  const Array y = numpy::astype(labels, logits.dtype());
  const Array ce = sigmoid_binary_cross_entropy(logits, y);
  const Array log_p = nn::log_sigmoid(logits), log_q = nn::log_sigmoid(-logits);
  // log((1 - y) p + y q), from the greater of the two.
  const Array top = lax::stop_gradient(numpy::maximum(log_p, log_q));
  const Array other =
      numpy::log((1.0 - y) * numpy::exp(log_p - top) + y * numpy::exp(log_q - top)) + top;
  const Array loss = ce * numpy::exp(o.gamma * other);
  if (!o.alpha) return loss;
  return (*o.alpha * y + (1.0 - *o.alpha) * (1.0 - y)) * loss;
}
Array hinge_loss(const Array& predictor_outputs, const Array& targets) {
  return numpy::maximum(0, 1 - predictor_outputs * targets);
}
Array perceptron_loss(const Array& predictor_outputs, const Array& targets) {
  check_same("perceptron_loss", predictor_outputs, targets);
  return numpy::maximum(0, -predictor_outputs * targets);
}
Array sparsemax_loss(const Array& logits, const Array& labels) {
  return nn::sparse_plus(numpy::where(numpy::not_equal(labels, 0), -logits, logits));
}

Array softmax_cross_entropy(const Array& logits, const Array& labels, const Rows& options) {
  check_float("softmax_cross_entropy", logits);
  const Rows o = settled(logits, options);
  return -total(labels * log_softmax(logits, o), o);
}
Array safe_softmax_cross_entropy(const Array& logits, const Array& labels) {
  check_float("safe_softmax_cross_entropy", logits);
  const auto value = [](const Array& x, const Array& weights) {
    const Array logs = nn::log_softmax(x, -1);
    return numpy::where(numpy::not_equal(weights, 0.0), weights * logs, numpy::zeros_like(logs));
  };
  const auto weighted = custom_jvp(value, [=](const std::tuple<Array, Array>& primals,
                                              const std::tuple<Array, Array>& tangents) {
    const auto& [x, weights] = primals;
    const auto& [x_dot, weights_dot] = tangents;
    const Array along = numpy::sum(x_dot * nn::softmax(x, -1), {.axis = -1, .keepdims = true});
    return std::pair(value(x, weights),
                     weights * x_dot - weights * along + weights_dot * nn::log_softmax(x, -1));
  });
  return -numpy::sum(weighted(logits, labels), -1);
}
Array softmax_cross_entropy_with_integer_labels(const Array& logits_in, const Array& labels,
                                                const Rows& options) {
  const char* name = "softmax_cross_entropy_with_integer_labels";
  check_float(name, logits_in);
  if (!is_integer(labels.dtype()))
    throw Error(name, "labels are integers, got {}", strata::internal::describe(labels.type()));
  Rows o = settled(logits_in, options);
  Array logits = logits_in;
  if (o.axis.all()) throw Error(name, "needs the axes of the classes");
  std::vector<std::int64_t> axes = o.axis.given();
  for (std::int64_t& a : axes) {
    if (a < -logits.ndim() || a >= logits.ndim())
      throw Error(name, "axis {} is not one of {}", a, logits.ndim());
    if (a < 0) a += logits.ndim();
  }
  std::int64_t axis = axes[0];
  if (axes.size() > 1) {
    std::vector<std::int64_t> order, shape;
    for (std::int64_t i = 0; i < logits.ndim(); ++i)
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) order.push_back(i);
    axis = static_cast<std::int64_t>(order.size());
    for (std::int64_t i : order) shape.push_back(logits.shape(static_cast<int>(i)));
    order.insert(order.end(), axes.begin(), axes.end());
    shape.push_back(-1);
    const auto flat = [&](const Array& x) { return numpy::reshape(x.transpose(order), shape); };
    logits = flat(logits);
    if (o.where) o.where = flat(numpy::broadcast_to(*o.where, logits_in.shape().sizes()));
  }
  const Array chosen =
      numpy::squeeze(numpy::take_along_axis(logits, numpy::expand_dims(labels, axis), axis), axis);
  Array all;
  if (o.where) {
    const Rows masked{.axis = axis, .where = o.where};
    const Array s = shifted(logits, masked);
    const Array top = numpy::max(numpy::where(*o.where, logits, -kInfinity), axis);
    all = numpy::log(total(numpy::exp(s), masked)) + lax::stop_gradient(top);
  } else {
    all = numpy::logsumexp(logits, axis);
  }
  const Array out = all - chosen;
  return o.where ? numpy::where(numpy::any(*o.where, axis), out, 0.0) : out;
}
Array poly_loss_cross_entropy(const Array& logits, const Array& labels, double epsilon,
                              const Rows& o) {
  check_float("poly_loss_cross_entropy", logits);
  check_float("poly_loss_cross_entropy", labels);
  const Array rest = total(labels * (1.0 - softmax(logits, o)), o);
  return softmax_cross_entropy(logits, labels, o) + epsilon * rest;
}
Array multiclass_hinge_loss(const Array& scores, const Array& labels) {
  const Array y = nn::one_hot(labels, scores.shape(-1));
  return numpy::max(scores + 1.0 - y, -1) - dot_rows(scores, y);
}
Array multiclass_perceptron_loss(const Array& scores, const Array& labels) {
  const Array y = nn::one_hot(labels, scores.shape(-1));
  return numpy::max(scores, -1) - dot_rows(scores, y);
}
Array multiclass_sparsemax_loss(const Array& scores, const Array& labels) {
  const auto row = [](const Array& s, const Array& label) {
    const Array p = projections::projection_simplex(one_tree(s)).value(0);
    const Array mine = nn::one_hot(label, s.size(), s.dtype());
    const Array apart = numpy::where(numpy::not_equal(mine, 0), 0.0, s - numpy::sum(s * mine));
    return numpy::sum(p * numpy::where(numpy::not_equal(p, 0), apart, 0.0)) +
           0.5 * (1.0 - numpy::sum(p * p));
  };
  return vmap(row)(scores, labels);
}
std::function<Array(const Array&, const Array&)> make_fenchel_young_loss(
    std::function<Array(const Array&)> max_fun) {
  return [max_fun = std::move(max_fun)](const Array& scores, const Array& targets) {
    return max_fun(scores) - dot_rows(targets, scores);
  };
}
Array smooth_labels(const Array& labels, double alpha, const Rows& o) {
  check_float("smooth_labels", labels);
  const Array ones = numpy::ones_like(labels);
  const Array classes = numpy::sum(ones, {.axis = o.axis, .keepdims = true, .where = o.where});
  return (1.0 - alpha) * labels + alpha / classes;
}

Array kl_divergence(const Array& log_predictions, const Array& targets, const Rows& o) {
  check_float("kl_divergence", log_predictions);
  check_float("kl_divergence", targets);
  const Array logs = numpy::where(numpy::equal(targets, 0), 0, numpy::log(targets));
  return total(targets * (logs - log_predictions), o);
}
Array kl_divergence_with_log_targets(const Array& log_predictions, const Array& log_targets,
                                     const Rows& o) {
  check_float("kl_divergence_with_log_targets", log_predictions);
  check_float("kl_divergence_with_log_targets", log_targets);
  return total(numpy::exp(log_targets) * (log_targets - log_predictions), o);
}
Array generalized_kl_divergence(const Array& log_predictions, const Array& targets, const Rows& o) {
  return kl_divergence(log_predictions, targets, o) +
         total(numpy::exp(log_predictions) - targets, o);
}
Array convex_kl_divergence(const Array& log_predictions, const Array& targets, const Rows& o) {
  return generalized_kl_divergence(log_predictions, targets, o);
}

Array ranking_softmax_loss(const Array& logits_in, const Array& labels_in,
                           const RankingOptions& o) {
  check_float("ranking_softmax_loss", logits_in);
  Array logits = logits_in, labels = numpy::astype(labels_in, logits.dtype());
  if (o.where) {
    labels = numpy::where(*o.where, labels, numpy::zeros_like(labels));
    logits = numpy::where(*o.where, logits, -kInfinity);
  }
  if (o.weights) labels = labels * *o.weights;
  const Array product = labels * nn::log_softmax(logits, -1);
  const Array loss = -numpy::sum(product, {.axis = -1, .where = o.where});
  std::optional<Array> rows;
  if (o.where) rows = numpy::any(*o.where, -1);
  if (o.reduce == "sum") return numpy::sum(loss, {.where = rows});
  if (o.reduce == "none") return rows ? numpy::where(*rows, loss, 0.0) : loss;
  if (o.reduce != "mean")
    throw Error("ranking_softmax_loss", "reduce is mean, sum or none, got {}", o.reduce);
  const Array mean = numpy::mean(loss, {.where = rows});
  const Array valid = numpy::logical_not(numpy::any(numpy::isnan(loss)));
  return numpy::where(numpy::isnan(mean) & valid, 0.0, mean);
}
Array dice_loss(const Array& predictions_in, const Array& targets_in, const DiceOptions& o) {
  Array predictions = predictions_in, targets = targets_in;
  if (predictions.ndim() == targets.ndim() - 1) predictions = numpy::expand_dims(predictions, -1);
  if (targets.ndim() == predictions.ndim() - 1) targets = numpy::expand_dims(targets, -1);
  check_same("dice_loss", predictions, targets);
  if (!o.apply_softmax && !predictions.is_traced()) {
    const Array sums = numpy::sum(predictions, -1);
    if (!numpy::allclose(sums, 1.0, {.rtol = 1e-5}).item<bool>())
      throw Error("dice_loss",
                  "without apply_softmax predictions are probabilities, whose sums are 1");
  }
  const bool one_class = predictions.shape(-1) == 1;
  const Array p = !o.apply_softmax ? predictions
                  : one_class      ? nn::sigmoid(predictions)
                                   : nn::softmax(predictions, -1);
  const std::vector<std::int64_t> axes = o.axis ? *o.axis : range(1, p.ndim() - 1);
  const auto sum = [&](const Array& x) { return axes.empty() ? x : numpy::sum(x, axes); };
  const Array both = sum(p * targets);
  const Array below = both + o.alpha * (sum(p) - both) + o.beta * (sum(targets) - both) + o.smooth;
  Array loss = 1.0 - (both + o.smooth) / below;
  if (o.class_weights) loss = loss * *o.class_weights;
  if (o.ignore_background && !one_class)
    loss = loss[{ellipsis, slice(std::int64_t{1}, std::nullopt)}];
  return reduced("dice_loss", loss, o.reduction);
}
Array multiclass_generalized_dice_loss(const Array& predictions, const Array& targets,
                                       const DiceOptions& options) {
  check_same("multiclass_generalized_dice_loss", predictions, targets);
  const Array often = numpy::sum(targets, range(0, targets.ndim() - 1));
  Array weights = 1.0 / (often * often + 1e-7);
  weights = weights / numpy::sum(weights) * static_cast<double>(weights.size());
  DiceOptions o = options;
  o.class_weights = weights;
  o.reduction = "none";
  return numpy::mean(dice_loss(predictions, targets, o));
}
Array binary_dice_loss(const Array& predictions, const Array& targets, double smooth,
                       bool apply_sigmoid) {
  const DiceOptions o{.smooth = smooth, .apply_softmax = apply_sigmoid};
  if (predictions.ndim() == targets.ndim() && predictions.shape(-1) != 1)
    return dice_loss(numpy::expand_dims(predictions, -1), numpy::expand_dims(targets, -1), o);
  return dice_loss(predictions, targets, o);
}
Array ntxent(const Array& embeddings, const Array& labels, double temperature) {
  check_float("ntxent", embeddings);
  const std::int64_t n = embeddings.shape(0);
  if (labels.shape(0) != n)
    throw Error("ntxent", "{} labels for {} embeddings", labels.shape(0), n);
  const double eps = embeddings.dtype() == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                      : std::numeric_limits<float>::epsilon();
  const Array xcs = cosine_similarity(numpy::expand_dims(embeddings, 0),
                                      numpy::expand_dims(embeddings, 1), {.epsilon = eps}) /
                    temperature;
  const Array same = numpy::equal(numpy::expand_dims(labels, 1), numpy::expand_dims(labels, 0));
  const Array other = numpy::logical_not(same);
  const Array self = numpy::astype(numpy::eye(n), DType::i1);
  const Array matches = same & numpy::logical_not(self);
  const Array apart = numpy::where(other, xcs, -kInfinity),
              together = numpy::where(matches, xcs, -kInfinity);
  const Array top = lax::stop_gradient(
      numpy::max(numpy::concatenate({apart, together}, -1), {.axis = 1, .keepdims = true}));
  const Array numer = together - top;
  const Array denom =
      numpy::sum(numpy::exp(apart - top), {.axis = 1, .keepdims = true}) + numpy::exp(numer);
  const Array logs = numpy::where(matches, numer - numpy::log(denom), 0.0);
  return -numpy::sum(logs) / numpy::sum(matches);
}
Array triplet_margin_loss(const Array& anchors, const Array& positives, const Array& negatives,
                          const TripletOptions& o) {
  for (const Array* x : {&anchors, &positives, &negatives}) check_float("triplet_margin_loss", *x);
  const auto to_degree = [&](const Array& x) {
    if (o.norm_degree == 1) return x;
    if (o.norm_degree == 2) return x * x;
    const auto whole = static_cast<std::int64_t>(o.norm_degree);
    return static_cast<double>(whole) == o.norm_degree ? numpy::power(x, whole)
                                                       : numpy::power(x, o.norm_degree);
  };
  const auto distance = [&](const Array& other) {
    const Array sum = numpy::sum(to_degree(anchors - other), o.axis) + o.eps;
    return numpy::power(sum, 1.0 / o.norm_degree);
  };
  return numpy::maximum(distance(positives) - distance(negatives) + o.margin, 0);
}

CtcResult ctc_loss_with_forward_probs(const Array& logits, const Array& logit_paddings,
                                      const Array& labels, const Array& label_paddings,
                                      const CtcOptions& o) {
  const char* name = "ctc_loss";
  if (logits.ndim() != 3 || labels.ndim() != 2 || labels.shape(0) != logits.shape(0))
    throw Error(name, "takes logits (B, T, K) and labels (B, N), got {} and {}",
                strata::internal::describe(logits.type()),
                strata::internal::describe(labels.type()));
  check_same(name, labels, label_paddings);
  if (logit_paddings.ndim() != 2 || logit_paddings.shape(0) != logits.shape(0) ||
      logit_paddings.shape(1) != logits.shape(1))
    throw Error(name, "logit_paddings are (B, T) as the logits, got {}",
                strata::internal::describe(logit_paddings.type()));
  const std::int64_t batch = logits.shape(0), classes = logits.shape(2), n = labels.shape(1);
  const Array logs = nn::log_softmax(logits, -1);
  const Array lengths = n - numpy::astype(numpy::sum(label_paddings, 1), DType::i32);
  const Array equal = numpy::astype(
      numpy::equal(labels[{slice(), slice(0, n - 1)}], labels[{slice(), slice(1, n)}]), DType::f32);
  const Array repeat = numpy::concatenate({equal, numpy::zeros({batch, 1})}, 1);
  const Array phi =
      logs[{slice(), slice(), slice(o.blank_id, o.blank_id + 1)}].transpose({1, 0, 2});
  const Array emit =
      numpy::einsum("btk,bnk->btn", logs, nn::one_hot(labels, classes)).transpose({1, 0, 2});
  const Array phi0 =
      numpy::concatenate({numpy::zeros({batch, 1}), numpy::full({batch, n}, o.log_epsilon)}, 1);
  const Array emit0 = numpy::full({batch, n}, o.log_epsilon);
  const auto advanced = [&](const Array& before, const Array& added) {
    return numpy::concatenate({before[{slice(), slice(0, 1)}],
                               numpy::logaddexp(before[{slice(), slice(1, n + 1)}], added)},
                              -1);
  };
  const auto body = [&](const std::pair<Array, Array>& before,
                        const std::tuple<Array, Array, Array>& x) {
    const auto& [old_phi, old_emit] = before;
    const auto& [log_emit, log_phi, padding] = x;
    const Array from = advanced(old_phi, old_emit + o.log_epsilon * repeat);
    const Array next_emit =
        numpy::logaddexp(from[{slice(), slice(0, n)}] + log_emit, old_emit + log_emit);
    const Array next_phi =
        advanced(from + log_phi, old_emit + log_phi + o.log_epsilon * (1.0 - repeat));
    const Array pad = numpy::reshape(padding, {batch, 1});
    const std::pair<Array, Array> next(pad * old_phi + (1.0 - pad) * next_phi,
                                       pad * old_emit + (1.0 - pad) * next_emit);
    return std::pair(next, next);
  };
  const auto [last, all] =
      scan(body, std::pair(phi0, emit0), std::tuple(emit, phi, logit_paddings.transpose({1, 0})));
  const Array end = advanced(last.first, last.second);
  const Array all_phi = all.first.at(-1).set(end);
  const Array chosen = nn::one_hot(lengths, n + 1);
  return {-numpy::einsum("bn,bn->b", end, chosen), all_phi, all.second};
}
Array ctc_loss(const Array& logits, const Array& logit_paddings, const Array& labels,
               const Array& label_paddings, const CtcOptions& options) {
  return ctc_loss_with_forward_probs(logits, logit_paddings, labels, label_paddings, options).loss;
}

}  // namespace strata::optim::losses
