#include "strata/train/processes.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "strata/api/numpy.h"
#include "strata/api/sharding/distributed.h"
#include "strata/api/transform/jit.h"

namespace strata::train::processes {
namespace {

bool are_several() { return distributed::process_count() > 1; }

}  // namespace

bool is_first() { return distributed::process_index() == 0; }

bool any(bool here) {
  if (!are_several()) return here;
  static const Mesh all({{"all", static_cast<std::int64_t>(devices().size())}});
  static const auto most =
      jit([](const Array& flags) { return numpy::max(flags); }, JitOptions{.name = "any_process"});
  const Array mine = full({1}, here ? 1 : 0, DType::i32);
  const Array flags = make_array_from_callback({all.size()}, NamedSharding(all, {"all"}),
                                               [&](const ShardIndex&) { return mine; });
  return most(flags).item<std::int32_t>() != 0;
}

std::string of_first(const std::string& text) {
  if (!are_several()) return text;
  static int number = 0;
  const std::string key = fmt::format("strata/train/{}", number++);
  if (is_first()) distributed::key_value_set(key, text);
  return distributed::key_value_get(key, std::chrono::minutes(5));
}

Array gathered(const Array& x) { return distributed::process_allgather(x); }

State gathered(State state) {
  if (!are_several()) return state;
  tree::for_each(state, [](Array& leaf) {
    Array whole = gathered(std::as_const(leaf));
    if (is_first()) leaf = std::move(whole);
  });
  return state;
}

State everywhere(State state) {
  if (!are_several()) return state;
  tree::for_each(state, [](Array& leaf) { leaf = gathered(std::as_const(leaf)); });
  return state;
}

}  // namespace strata::train::processes
