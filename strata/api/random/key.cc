#include "strata/api/random/key.h"

#include <map>
#include <ostream>

#include "strata/api/index.h"
#include "strata/api/random/draw.h"

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

void check_words(const char* operation, const Array& words, Implementation implementation) {
  const std::int64_t n = key_words(implementation);
  if (words.dtype() != DType::ui32 || words.ndim() < 1 || words.shape(-1) != n)
    fail(operation, "a key of {} is ui32[..., {}], got {}", name(implementation), n,
         describe(words.type()));
}

thread_local int depth = 0;
thread_local bool watching = false;
struct Earlier {
  std::string operation, where;
};
/// Who used a key before; the handles are held weakly, and their order is of control blocks, so
/// that no address is met again.
thread_local std::map<std::weak_ptr<const internal::ArrayState>, Earlier, std::owner_less<>> used;

std::string at_line(const std::string& where) { return where.empty() ? "" : " at " + where; }

void consume(const char* operation, const Key& key) {
  std::erase_if(used, [](const auto& entry) { return entry.first.expired(); });
  const auto [entry, first] =
      used.try_emplace(key.words.state(), Earlier{operation, internal::Site::text()});
  if (!first)
    fail(operation, "the key was used before, by {}{}; split it and use each part once",
         entry->second.operation, at_line(entry->second.where));
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

Use::Use(const char* name, const KeyOperand& key, bool many, bool consumes) : site_(key.where) {
  check_words(name, key.key.words, key.key.implementation);
  if (!many && key.key.ndim() != 0)
    fail(name, "one key is needed, got an array of keys of shape {}; vmap over it",
         describe(key.key.shape()));
  if (watching && consumes && depth == 0) consume(name, key.key);
  ++depth;
}
Use::~Use() { --depth; }

DebugKeyReuse::DebugKeyReuse(bool on) : before_(std::exchange(watching, on)) {}
DebugKeyReuse::~DebugKeyReuse() { watching = before_; }

Array key_data(const KeyOperand& keys) {
  const Use use("key_data", keys, true, false);
  return keys.key.words;
}
Key wrap_key_data(const Operand& words, Implementation implementation) {
  const internal::Site site(words);
  check_words("wrap_key_data", words, implementation);
  return {words.array, implementation};
}
std::string key_impl(const KeyOperand& keys) {
  const Use use("key_impl", keys, true, false);
  return name(keys.key.implementation);
}
KeyType key_dtype(Implementation implementation) { return {implementation}; }
Key clone(const KeyOperand& key) {
  const Use use("clone", key, true, false);
  return {Array(std::make_shared<const internal::ArrayState>(*key.key.words.state())),
          key.key.implementation};
}

}  // namespace strata::random
