// What others call our keys: for people who come from PyTorch, Hugging Face, nanoGPT or Optax.
#pragma once

#include <string>
#include <string_view>

namespace strata::train {

/// The key that has this name elsewhere ("lr": learning_rate), however it is spelled with
/// capitals and dashes; empty for none.
std::string_view key_called(std::string_view name);

}  // namespace strata::train
