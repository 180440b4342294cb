"""Metrics: what they hold and answer behind each update, with masks, and behind a reset."""
import numpy as np
from flax import nnx

from .describe import Numbers, actual, packed, plain
from .record import state_json

M = nnx.metrics
LOGITS, LOGITS2 = Numbers(1, (4, 3)), Numbers(2, (4, 3))
LABELS = np.asarray([0, 2, 1, 1], np.int32)
LABELS2 = np.asarray([2, 2, 0, 1], np.int32)
MASK = np.asarray([True, False, True, True])
WEIGHTS = np.asarray([1.0, 0.0, 0.5, 1.0], np.float32)
ROWS = np.asarray([[1.0], [0.0]], np.float32)


def answer(metric):
    out = metric.compute()
    if isinstance(out, M.Statistics):
        return {k: packed(getattr(out, k)) for k in ("mean", "standard_deviation", "standard_error_of_mean")}
    if isinstance(out, dict):
        return {k: answer(getattr(metric, k)) for k in out}
    return packed(out)


def metric(name, text, node, *updates):
    steps = [{"state": state_json(node), "compute": answer(node)}]
    for update in updates:
        node.update(**{k: actual(v) for k, v in update.items()})
        steps.append({"update": {k: plain(v) for k, v in update.items()}, "state": state_json(node),
                      "compute": answer(node)})
    node.reset()
    return {"name": name, "metric": text, "steps": steps, "reset": state_json(node)}


def cases():
    a, b = Numbers(1, (2, 3)), Numbers(2, (5,))
    yield metric("average", "Average()", M.Average(), {"values": a}, {"values": b})
    yield metric("average_name", "Average('loss')", M.Average("loss"), {"loss": a}, {"loss": b, "other": a})
    yield metric("average_numbers", "Average()", M.Average(), {"values": 2}, {"values": 0.5}, {"values": b})
    yield metric("average_integers", "Average()", M.Average(), {"values": LABELS}, {"values": MASK})
    yield metric("average_bf16", "Average()", M.Average(), {"values": Numbers(1, (2, 3), "bfloat16")},
                 {"values": Numbers(2, (7,), "bfloat16")})
    yield metric("average_mask", "Average()", M.Average(), {"values": Numbers(1, (4,)), "mask": MASK},
                 {"values": Numbers(2, (4,)), "mask": WEIGHTS})
    yield metric("average_mask_broadcast", "Average()", M.Average(), {"values": a, "mask": ROWS})
    yield metric("accuracy", "Accuracy()", M.Accuracy(), {"logits": LOGITS, "labels": LABELS},
                 {"logits": LOGITS2, "labels": LABELS2, "mask": MASK})
    two = Numbers(3, (2, 4, 3)), np.stack([LABELS, LABELS2])
    yield metric("accuracy_sequences", "Accuracy()", M.Accuracy(), {"logits": two[0], "labels": two[1]})
    yield metric("accuracy_threshold", "Accuracy(threshold=0.25)", M.Accuracy(threshold=0.25),
                 {"logits": Numbers(1, (4,)), "labels": np.asarray([0, 1, 1, 0], np.int32)},
                 {"logits": np.asarray([0.25, 0.24, 9.0, -1.0], np.float32), "mask": WEIGHTS,
                  "labels": np.asarray([1, 0, -1, 2], np.int32)})
    yield metric("welford", "Welford()", M.Welford(), {"values": a}, {"values": b}, {"values": Numbers(3, (1,))})
    yield metric("welford_name", "Welford('loss')", M.Welford("loss"), {"loss": a})
    yield metric("welford_numbers", "Welford()", M.Welford(), {"values": 2}, {"values": 0.5}, {"values": -1.25})
    yield metric("welford_far", "Welford()", M.Welford(), {"values": np.asarray([1e4, 1e4 + 1, 1e4 + 2], np.float32)},
                 {"values": np.asarray([1e4 + 3, 1e4 - 2], np.float32)})
    many = lambda: M.MultiMetric(accuracy=M.Accuracy(), loss=M.Average("loss"), spread=M.Welford("loss"))
    text = "MultiMetric(accuracy=Accuracy(), loss=Average('loss'), spread=Welford('loss'))"
    one = {"logits": LOGITS, "labels": LABELS, "loss": Numbers(4, (4,))}
    more = {"logits": LOGITS2, "labels": LABELS2, "loss": Numbers(5, (4,))}
    yield metric("multi", text, many(), one, more)
    yield metric("multi_mask", "MultiMetric(accuracy=Accuracy(), loss=Average('loss'))", M.MultiMetric(
        accuracy=M.Accuracy(), loss=M.Average("loss")), one | {"mask": MASK}, more)
    yield metric("multi_mask_by_name", "MultiMetric(accuracy=Accuracy(), loss=Average('loss'))", M.MultiMetric(
        accuracy=M.Accuracy(), loss=M.Average("loss")), one | {"mask": {"accuracy": MASK}},
        more | {"mask": {"loss": WEIGHTS, "accuracy": MASK}})
