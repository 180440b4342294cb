#include "strata/tree/tree.h"

namespace strata::tree {

void Step::append_to(std::string& path) const {
  switch (kind) {
    case Kind::field:
      if (!path.empty()) path += '.';
      path += name;
      return;
    case Kind::element: path += fmt::format("[{}]", index); return;
    case Kind::key: path += fmt::format("['{}']", name); return;
    case Kind::path:
      if (!path.empty()) path += '/';
      path += name;
      return;
  }
}

namespace internal {
void check_same(const Structure& first, const Structure& other, std::size_t which) {
  if (first == other) return;
  throw Error("tree::map", "structure of tree {} is {}, that of the first is {}", which,
              other.text(), first.text());
}
}  // namespace internal

}  // namespace strata::tree
