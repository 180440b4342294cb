#include "strata/api/random/key.h"

#include <algorithm>
#include <ostream>

#include "strata/api/index.h"
#include "strata/api/trace/trace.h"

namespace strata::random {
namespace {

using internal::describe;
using internal::fail;

struct Facts {
  const char *name, *tag;
  std::int64_t words;
};
const Facts& facts(Implementation implementation) {
  static constexpr Facts all[] = {{"threefry2x32", "fry", 2}, {"threefry4x32", "fry4", 4},
                                  {"philox2x32", "phx2", 1},  {"philox4x32", "phx4", 2},
                                  {"rbg", "rbg", 4},          {"unsafe_rbg", "urbg", 4}};
  return all[static_cast<std::size_t>(implementation)];
}

}  // namespace

const char* name(Implementation implementation) { return facts(implementation).name; }
Implementation implementation(const std::string& wanted) {
  for (int i = 0; i <= static_cast<int>(Implementation::unsafe_rbg); ++i)
    if (wanted == name(static_cast<Implementation>(i))) return static_cast<Implementation>(i);
  fail("random",
       "there is no generator \"{}\"; there are threefry2x32, threefry4x32, philox2x32, "
       "philox4x32, rbg and unsafe_rbg",
       wanted);
}
std::int64_t key_words(Implementation implementation) { return facts(implementation).words; }
std::string KeyType::to_string() const {
  return std::string("key<") + facts(implementation).tag + ">";
}

Shape Key::shape() const {
  std::vector<std::int64_t> sizes = words.shape().sizes();
  sizes.pop_back();
  return Shape::of(sizes);
}
Key Key::operator[](const Indices& indices) const {
  Indices whole = indices;
  // An ellipsis stands for axes of keys, not for that of their words.
  const bool open = std::any_of(whole.list.begin(), whole.list.end(), [](const Index& i) {
    return std::holds_alternative<Ellipsis>(i.item);
  });
  if (open)
    whole.list.push_back(slice());
  else if (static_cast<int>(whole.list.size()) > ndim() && ndim() == 0)
    fail("index", "a single key has no axes");
  return {words[whole], implementation};
}
Key Key::reshape(const Sizes& sizes) const {
  std::vector<std::int64_t> all = sizes;
  all.push_back(key_words(implementation));
  return {words.reshape(all), implementation};
}
std::string Key::to_string() const {
  return fmt::format("Key{}({}) {}", describe(shape()), dtype().to_string(), words.to_string());
}
std::ostream& operator<<(std::ostream& out, const Key& key) { return out << key.to_string(); }

KeyType key_dtype(Implementation implementation) { return {implementation}; }

}  // namespace strata::random
