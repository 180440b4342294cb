"""lm_eval's command line, with Strata among its models."""
from lm_eval.__main__ import cli_evaluate

import strata_lm_eval  # noqa: F401  (registers the model)

cli_evaluate()
