#include "strata/nn/norm/wrapped_weights.h"

namespace strata::nn::detail {

std::string path_key(const tree::Entry& entry, std::string_view name) {
  std::string out;
  for (const tree::KeyEntry& key : entry.path) {
    out += out.empty() ? "(" : ",";
    out += tree::key_text(key);
  }
  if (!name.empty()) {
    out += out.empty() ? "(" : ",";
    out += name;
  }
  return out + ")";
}

}  // namespace strata::nn::detail
