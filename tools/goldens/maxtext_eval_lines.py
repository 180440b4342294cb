"""What MaxText's own logger says of evaluations, for eval_lines_test.cc.

    PYTHONPATH=maxtext-0.2.5 JAX_PLATFORMS=cpu DECOUPLE_GCLOUD=TRUE python tools/goldens/maxtext_eval_lines.py

Each case is a number of batches (sums of losses, weights, losses of routers and further tokens, rates in percent)
and the lines that `MetricLogger` logs of them; seconds are those that it is told.
"""
import datetime
import json
import pathlib
import types
from collections import defaultdict

from maxtext_checkpoints import load  # stands in for what is not installed

metric_logger = load("maxtext.common.metric_logger")
exceptions, max_logging = load("maxtext.utils.exceptions"), load("maxtext.utils.max_logging")

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/train/evaluate/testdata/eval_lines.json"
CASES = [
    {"step": 0, "experts": 1, "further": 0, "target": 0.0, "batches": [[277.25, 64, 0, 0, 0], [250.5, 60, 0, 0, 0]]},
    {"step": 11, "experts": 4, "further": 0, "target": 0.0, "batches": [[277.25, 64, 0.0125, 0, 0], [250.5, 64, 0.0375, 0, 0]]},
    {"step": 5, "experts": 4, "further": 1, "target": 3.0, "batches": [[100.0, 32, 0.5, 0.25, 12.5], [90.0, 32, 0.25, 0.5, 37.5]]},
    {"step": 7, "experts": 1, "further": 2, "target": 2.5, "batches": [[8.0, 1024, 0, 0.125, 3.125]]},
]


def lines_of(case):
    logged = []
    max_logging.log = metric_logger.max_logging.log = logged.append
    logger = object.__new__(metric_logger.MetricLogger)
    logger.config = types.SimpleNamespace(
        num_experts=case["experts"], mtp_num_layers=case["further"], use_indexer=False, target_eval_loss=case["target"],
        enable_tensorboard=False, metrics_file="", gcs_metrics=False, managed_mldiagnostics=False, enable_wandb=False,
        enable_mllog=False, abort_on_nan_loss=True, abort_on_inf_loss=True, log_period=1, steps=100)
    logger.buffered_metrics, logger._pending_eval_step_count, logger._eval_loop_start = [], 0, None
    logger.cumulative_eval_metrics, logger.start_step = {"scalar": defaultdict(float)}, 0
    for i, (loss, weights, balance, further, rate) in enumerate(case["batches"]):
        scalar = {"evaluation/total_loss": loss, "evaluation/total_weights": weights, "evaluation/moe_lb_loss": balance,
                  "evaluation/mtp_loss": further, "evaluation/mtp_acceptance_rate_percent": rate}
        logger.buffer_and_write_metrics({"scalar": scalar}, i, datetime.timedelta(seconds=0.25), is_training=False)
    for entry in logger.buffered_metrics:
        logger._flush_one_buffered_entry(entry)
    try:
        logger._finalize_eval_metrics(case["step"])
    except exceptions.StopTraining as stop:
        logged.append(f"Training stopped: {stop}")
    return logged


if __name__ == "__main__":
    OUT.parent.mkdir(exist_ok=True)
    cases = [{**case, "lines": lines_of(case)} for case in CASES]
    OUT.write_text(json.dumps({"maxtext": "0.2.5", "cases": cases}, indent=1) + "\n")
