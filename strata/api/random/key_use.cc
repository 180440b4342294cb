// How keys are used: the checks of public functions, the debug mode that finds a key used twice,
// and what opens a key or makes one of words (key.h).
#include <map>
#include <utility>

#include "strata/api/random/draw.h"

namespace strata::random {
namespace {

using internal::describe;
using internal::fail;

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
Key clone(const KeyOperand& key) {
  const Use use("clone", key, true, false);
  return {Array(std::make_shared<const internal::ArrayState>(*key.key.words.state())),
          key.key.implementation};
}

}  // namespace strata::random
