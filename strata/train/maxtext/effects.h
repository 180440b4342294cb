// What a key of MaxText does here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::train::maxtext {

/// Acting: it changes what a run does, as upstream. Noted: it has no effect here, which is told
/// once where it is given. Refused: what it asks for would change the mathematics and is not built,
/// so any value but the default is an error. Derived: MaxText computes it from other keys.
enum class Effect { acting, noted, refused, derived };

struct KeyEffect {
  Effect effect;
  /// Acting: what it does. Noted: why it has no effect. Refused: what is missing.
  std::string_view sentence;
};

/// Throws Error for a key that MaxText lacks.
KeyEffect effect_of(std::string_view key);
/// The keys that say where remat_policy=custom keeps a tensor, which have the tensors' names.
std::span<const std::string_view> remat_keys();
/// All keys, in upstream's order.
std::vector<std::string> key_names();
std::string_view to_string(Effect effect);

}  // namespace strata::train::maxtext
