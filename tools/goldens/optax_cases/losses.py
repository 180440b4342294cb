"""Losses with their gradients: ordinary numbers, edges, masks, axes, integer and dense labels."""
import jax.numpy as jnp
import numpy as np
import optax

from .arrays import Numbers
from .kinds import Function

EDGES = jnp.asarray([0.0, -0.0, 1.0, -1.0, 1e-6, 30.0, -30.0, 90.0, -90.0, 0.5], jnp.float32)
OTHERS = jnp.asarray([0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.25], jnp.float32)
SIGNS = jnp.asarray([1, -1, 1, 1, -1, -1, 1, 1, -1, 1], jnp.float32)
X, Y, Z = Numbers(1, (3, 5)), Numbers(2, (3, 5)), Numbers(3, (3, 5))
BIG = X.array() * 40
LABELS = jnp.asarray([4, 0, 2], jnp.int32)
ONE_HOT = jnp.asarray(np.eye(5)[[4, 0, 2]], jnp.float32)
WHERE = jnp.asarray([[1, 1, 0, 1, 1], [0, 1, 1, 0, 1], [1, 1, 1, 1, 1]], bool)
NONE_LEFT = WHERE.at[1].set(False)


def softmax(x):
    e = np.exp(np.asarray(x) * 2)
    return jnp.asarray(e / e.sum(-1, keepdims=True), jnp.float32)


P, Q = softmax(X.array()), softmax(Y.array())
P_ZERO = P.at[0, 1].set(0.0).at[2].set(ONE_HOT[2])
LOG_P, LOG_Q = jnp.log(P), jnp.log(Q)


def loss(name, function, /, inputs, wrt=None, **options):
    function = function if function.startswith("losses.") else "losses." + function
    first = tuple(inputs)[:1]
    return Function(name, function, inputs, options, wrt=first if wrt is None else wrt)


def pair(function, /, left="predictions", right="targets", edges=True, both=True, **options):
    """On ordinary numbers and on edges, by both inputs."""
    kinds = {"": {left: X, right: Y}, **({"_edges": {left: EDGES, right: OTHERS}} if edges else {})}
    wrt = (left, right) if both else (left,)
    return [loss(function + suffix, function, inputs, wrt, **options) for suffix, inputs in kinds.items()]


def fenchel_young(scores, targets, max_fun):
    return optax.losses.make_fenchel_young_loss(max_fun)(scores, targets)


SCORES = {"scores": X.array()[0], "labels": jnp.int32(3)}
LOGITS = {"logits": X, "labels": ONE_HOT}
IMAGES = {"predictions": Numbers(4, (2, 3, 2, 4)), "targets": jnp.asarray(np.eye(4)[np.arange(12).reshape(2, 3, 2) % 3], jnp.float32)}
BINARY = {"predictions": Numbers(5, (2, 3, 2, 1)), "targets": jnp.asarray(np.arange(12).reshape(2, 3, 2, 1) % 3 == 0, jnp.float32)}
CTC = {"logits": Numbers(6, (3, 7, 4)), "logit_paddings": jnp.asarray([[0] * 7, [0] * 5 + [1] * 2, [0] * 7], jnp.float32),
       "labels": jnp.asarray([[1, 2, 3], [2, 2, 0], [1, 1, 1]], jnp.int32),
       "label_paddings": jnp.asarray([[0, 0, 0], [0, 0, 1], [1, 1, 1]], jnp.float32)}
TOO_SHORT = {**CTC, "logit_paddings": jnp.asarray([[0] * 2 + [1] * 5, [0] * 2 + [1] * 5, [1] * 7], jnp.float32)}
RANKS = {"logits": X, "labels": Z.array() + 1}

CASES = [
    *pair("squared_error"), *pair("l2_loss"), *pair("huber_loss"), *pair("log_cosh"),
    loss("squared_error_alone", "squared_error", {"predictions": X}),
    loss("l2_loss_alone", "l2_loss", {"predictions": X}),
    loss("log_cosh_alone", "log_cosh", {"predictions": X}),
    loss("huber_loss_delta", "huber_loss", {"predictions": EDGES}, delta=0.25),
    *pair("cosine_similarity", edges=False), *pair("cosine_distance", edges=False),
    loss("cosine_similarity_epsilon", "cosine_similarity", {"predictions": X.array().at[0].set(0.0), "targets": Y},
         epsilon=1e-3),
    loss("cosine_similarity_axis", "cosine_similarity", {"predictions": X, "targets": Y}, axis=0),
    loss("cosine_distance_where", "cosine_distance", {"predictions": X, "targets": Y, "where": WHERE}, ("predictions",)),
    *pair("sigmoid_binary_cross_entropy", "logits", "labels"),
    *pair("sigmoid_focal_loss", "logits", "labels", both=False),
    loss("sigmoid_focal_loss_alpha", "sigmoid_focal_loss", {"logits": EDGES[:7], "labels": OTHERS[:7]}, alpha=0.25,
         gamma=1.5),
    loss("hinge_loss", "hinge_loss", {"predictor_outputs": EDGES, "targets": SIGNS}),
    loss("perceptron_loss", "perceptron_loss", {"predictor_outputs": EDGES, "targets": SIGNS}),
    loss("sparsemax_loss", "sparsemax_loss", {"logits": EDGES, "labels": (SIGNS > 0).astype(jnp.int32)}),
    loss("softmax_cross_entropy", "softmax_cross_entropy", LOGITS),
    loss("softmax_cross_entropy_big", "softmax_cross_entropy", {"logits": BIG, "labels": P}, ("logits", "labels")),
    loss("softmax_cross_entropy_axis", "softmax_cross_entropy", {"logits": X, "labels": P}, axis=0),
    loss("softmax_cross_entropy_where", "softmax_cross_entropy", {"logits": X, "labels": P, "where": WHERE}, ("logits",)),
    loss("softmax_cross_entropy_none_left", "softmax_cross_entropy", {"logits": X, "labels": P, "where": NONE_LEFT}, ()),
    loss("safe_softmax_cross_entropy", "safe_softmax_cross_entropy", LOGITS),
    loss("safe_softmax_cross_entropy_infinite", "safe_softmax_cross_entropy",
         {"logits": X.array().at[0, 1].set(-jnp.inf), "labels": ONE_HOT}),
    loss("integer_labels", "softmax_cross_entropy_with_integer_labels", {"logits": X, "labels": LABELS}),
    loss("integer_labels_big", "softmax_cross_entropy_with_integer_labels", {"logits": BIG, "labels": LABELS}),
    loss("integer_labels_axis", "softmax_cross_entropy_with_integer_labels",
         {"logits": X, "labels": jnp.asarray([0, 2, 1, 1, 0], jnp.int32)}, axis=0),
    loss("integer_labels_axes", "softmax_cross_entropy_with_integer_labels",
         {"logits": Numbers(7, (2, 3, 4)), "labels": jnp.asarray([11, 5], jnp.int32)}, axis={"tuple": [1, 2]}),
    loss("integer_labels_where", "softmax_cross_entropy_with_integer_labels",
         {"logits": X, "labels": LABELS, "where": WHERE}, ("logits",)),
    loss("poly_loss", "poly_loss_cross_entropy", {"logits": X, "labels": P}),
    loss("poly_loss_epsilon", "poly_loss_cross_entropy", {"logits": BIG, "labels": ONE_HOT}, epsilon=-1.0),
    loss("poly_loss_where", "poly_loss_cross_entropy", {"logits": X, "labels": P, "where": WHERE}, ("logits",)),
    loss("kl_divergence", "kl_divergence", {"log_predictions": LOG_P, "targets": Q}, ("log_predictions", "targets")),
    loss("kl_divergence_zero", "kl_divergence", {"log_predictions": LOG_Q, "targets": P_ZERO}),
    loss("kl_divergence_where", "kl_divergence", {"log_predictions": LOG_P, "targets": Q, "where": WHERE},
         ("log_predictions",), axis=1),
    loss("kl_divergence_with_log_targets", "kl_divergence_with_log_targets",
         {"log_predictions": LOG_P, "log_targets": LOG_Q}, ("log_predictions", "log_targets")),
    loss("generalized_kl_divergence", "generalized_kl_divergence", {"log_predictions": LOG_P, "targets": Q * 1.5},
         ("log_predictions", "targets")),
    loss("generalized_kl_divergence_zero", "generalized_kl_divergence", {"log_predictions": LOG_Q, "targets": P_ZERO}),
    loss("convex_kl_divergence", "convex_kl_divergence", {"log_predictions": LOG_P, "targets": Q}),
    loss("multiclass_hinge_loss", "multiclass_hinge_loss", SCORES),
    loss("multiclass_hinge_loss_rows", "multiclass_hinge_loss", {"scores": X, "labels": LABELS}),
    loss("multiclass_perceptron_loss", "multiclass_perceptron_loss", {"scores": X, "labels": LABELS}),
    loss("multiclass_sparsemax_loss", "multiclass_sparsemax_loss", {"scores": X, "labels": LABELS}),
    Function("fenchel_young", "losses.make_fenchel_young_loss", {"scores": X, "targets": P},
             {"max_fun": {"named": "logsumexp_rows"}}, ("scores", "targets"), run=fenchel_young),
    loss("smooth_labels", "smooth_labels", {"labels": P}, alpha=0.1),
    loss("smooth_labels_where", "smooth_labels", {"labels": P, "where": WHERE}, ("labels",), alpha=0.3),
    loss("smooth_labels_axis", "smooth_labels", {"labels": P}, alpha=0.3, axis=0),
    loss("ranking_softmax_loss", "ranking_softmax_loss", RANKS, ("logits", "labels")),
    loss("ranking_softmax_loss_where", "ranking_softmax_loss", {**RANKS, "where": NONE_LEFT}, ("logits",)),
    loss("ranking_softmax_loss_weights", "ranking_softmax_loss",
         {**RANKS, "where": WHERE, "weights": P}, ("logits",), reduce_fn={"named": "sum"}),
    loss("ranking_softmax_loss_unreduced", "ranking_softmax_loss", RANKS, reduce_fn=None),
    loss("dice_loss", "dice_loss", IMAGES),
    loss("dice_loss_unreduced", "dice_loss", IMAGES, reduction="none", smooth=0.5, alpha=0.3, beta=0.7),
    loss("dice_loss_sum", "dice_loss", {**IMAGES, "class_weights": jnp.asarray([0.5, 1.0, 2.0, 1.5], jnp.float32)},
         ("predictions",), reduction="sum", ignore_background=True),
    loss("dice_loss_axis", "dice_loss", IMAGES, reduction="none", axis={"tuple": [0, 1, 2]}),
    loss("dice_loss_binary", "dice_loss", BINARY),
    loss("binary_dice_loss", "binary_dice_loss", BINARY),
    loss("dice_loss_probabilities", "dice_loss", {"predictions": P[:, None], "targets": ONE_HOT[:, None]}, (),
         apply_softmax=False, smooth=0.1),
    loss("binary_dice_loss_flat", "binary_dice_loss", {"predictions": X, "targets": WHERE.astype(jnp.float32)}, smooth=0.1),
    loss("multiclass_generalized_dice_loss", "multiclass_generalized_dice_loss", IMAGES),
    loss("multiclass_generalized_dice_loss_foreground", "multiclass_generalized_dice_loss", IMAGES, smooth=0.1,
         ignore_background=True),
    loss("ntxent", "ntxent", {"embeddings": Numbers(9, (6, 4)), "labels": jnp.asarray([0, 0, 1, 1, 2, 2], jnp.int32)}),
    loss("ntxent_warm", "ntxent", {"embeddings": Numbers(9, (6, 4)), "labels": jnp.asarray([0, 0, 0, 1, 1, 1], jnp.int32)},
         temperature=0.5),
    loss("triplet_margin_loss", "triplet_margin_loss", {"anchors": X, "positives": Y, "negatives": Z},
         ("anchors", "positives", "negatives")),
    loss("triplet_margin_loss_settings", "triplet_margin_loss", {"anchors": X, "positives": Y, "negatives": Z},
         axis=0, norm_degree=4, margin=0.2, eps=1e-3),
    loss("triplet_margin_loss_odd_degree", "triplet_margin_loss", {"anchors": X, "positives": Y, "negatives": Z},
         (), norm_degree=1),
    loss("ctc_loss", "ctc_loss", CTC),
    loss("ctc_loss_blank", "ctc_loss", {**CTC, "labels": jnp.asarray([[1, 2, 0], [2, 2, 0], [1, 1, 1]], jnp.int32)},
         blank_id=3, log_epsilon=-1e4),
    loss("ctc_loss_impossible", "ctc_loss", TOO_SHORT, ()),
    loss("ctc_loss_with_forward_probs", "ctc_loss_with_forward_probs", CTC, ()),
]
