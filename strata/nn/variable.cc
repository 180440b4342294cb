#include "strata/nn/variable.h"

namespace strata::nn::detail {

namespace {
std::string entries_of(const Metadata& metadata) {
  std::string out;
  const auto add = [&](const std::string& name) { out += (out.empty() ? "" : ", ") + name; };
  if (!metadata.out_sharding.empty()) add("out_sharding");
  if (!metadata.tag.empty()) add("tag");
  for (const auto& [name, note] : metadata.notes) add(name);
  return out;
}
}  // namespace

bool has_metadata(const Metadata& metadata, std::string_view name) {
  if (name == "out_sharding") return !metadata.out_sharding.empty();
  if (name == "tag") return !metadata.tag.empty();
  return metadata.notes.contains(std::string(name));
}

Metadata without_metadata(Metadata metadata, std::string_view name) {
  if (!has_metadata(metadata, name))
    throw Error("del_metadata", "there is no metadata {}, but [{}]", name, entries_of(metadata));
  if (name == "out_sharding")
    metadata.out_sharding.clear();
  else if (name == "tag")
    metadata.tag.clear();
  else
    metadata.notes.erase(std::string(name));
  return metadata;
}

}  // namespace strata::nn::detail
