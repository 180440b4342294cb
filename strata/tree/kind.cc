#include "strata/tree/kind.h"

namespace strata::tree {

std::string Metadata::to_string() const {
  std::string out;
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!out.empty()) out += ", ";
    out += key;
    out += '=';
    out += value;
  };
  if (!out_sharding.empty()) {
    std::string axes = "(";
    for (std::size_t i = 0; i < out_sharding.size(); ++i) {
      if (i > 0) axes += ", ";
      axes += out_sharding[i].empty() ? "None" : out_sharding[i];
    }
    add("out_sharding", axes + ")");
  }
  if (!tag.empty()) add("tag", tag);
  for (const auto& [key, value] : notes) add(key, value);
  return out;
}

bool equal(const MetadataPtr& a, const MetadataPtr& b) {
  if (a == b) return true;
  const bool none_a = !a || a->empty(), none_b = !b || b->empty();
  return none_a || none_b ? none_a && none_b : *a == *b;
}

}  // namespace strata::tree
