#include "strata/tree/key_path.h"

namespace strata::tree {

KeyEntry key_of(const Step& step) {
  switch (step.kind) {
    case Step::Kind::field: return GetAttrKey{std::string(step.name)};
    case Step::Kind::element: return SequenceKey{step.index};
    case Step::Kind::key:
    case Step::Kind::path: return DictKey{std::string(step.name)};
  }
  STRATA_UNREACHABLE("kind of step");
}

namespace {
std::string text(const KeyEntry& entry, bool simple) {
  if (const auto* field = std::get_if<GetAttrKey>(&entry))
    return simple ? field->name : "." + field->name;
  if (const auto* element = std::get_if<SequenceKey>(&entry))
    return simple ? fmt::format("{}", element->idx) : fmt::format("[{}]", element->idx);
  const std::string& key = std::get<DictKey>(entry).key;
  return simple ? key : "['" + key + "']";
}
}  // namespace

std::string keystr(const KeyPath& path, const KeyText& options) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i > 0) out += options.separator;
    out += text(path[i], options.simple);
  }
  return out;
}

}  // namespace strata::tree
