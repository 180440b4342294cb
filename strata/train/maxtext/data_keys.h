// What MaxText's keys of data become: files, tokenizers, evaluation (private to this folder).
#pragma once

#include "strata/train/maxtext/config.h"
#include "strata/train/maxtext/translation.h"

namespace strata::train::maxtext {

/// Adds the keys of a run's data. Throws ConfigError for what is not built, and for a tokenizer
/// that is not on this machine.
void add_data(const Resolved& resolved, Translation& out);

}  // namespace strata::train::maxtext
