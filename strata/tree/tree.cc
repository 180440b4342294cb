#include "strata/tree/tree.h"

#include <algorithm>
#include <charconv>

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
      for (std::string_view rest = name; !rest.empty();) {
        const std::string_view element = rest.substr(0, rest.find('/'));
        rest.remove_prefix(std::min(rest.size(), element.size() + 1));
        std::size_t number = 0;
        const auto [end, error] =
            std::from_chars(element.data(), element.data() + element.size(), number);
        if (error == std::errc() && end == element.data() + element.size())
          Step::element(number).append_to(path);
        else
          Step::field(element).append_to(path);
      }
      return;
  }
}

namespace internal {
std::size_t unlisted_bytes(std::span<FieldSpan> fields, std::size_t begin, std::size_t size,
                           std::size_t alignment) {
  std::sort(fields.begin(), fields.end(),
            [](const FieldSpan& a, const FieldSpan& b) { return a.from < b.from; });
  const auto up = [](std::size_t n, std::size_t to) { return (n + to - 1) / to * to; };
  std::size_t end = begin, unlisted = 0;
  for (const FieldSpan& s : fields) {
    if (s.from >= size) return 0;
    if (s.from > up(end, s.alignment)) unlisted += s.from - end;
    end = std::max(end, s.from + s.size);
  }
  if (size > up(end, alignment)) unlisted += size - end;
  return unlisted;
}

bool require_all_fields(std::string_view names, std::size_t unlisted, std::size_t size) {
  if (unlisted == 0) return true;
  throw Error(
      "STRATA_FIELDS",
      "({}) leaves out a member: {} of the struct's {} bytes are of none of these; list all "
      "members, or say STRATA_SOME_FIELDS where no program depends on the others",
      names, unlisted, size);
}
void check_same(const Structure& first, const Structure& other, std::size_t which) {
  if (first == other) return;
  throw Error("tree::map", "structure of tree {} is {}, that of the first is {}", which,
              other.text(), first.text());
}
}  // namespace internal

}  // namespace strata::tree
