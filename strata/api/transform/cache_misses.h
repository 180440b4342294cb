// Why a function of jit compiles again (jax_explain_cache_misses).
//
//   explain_cache_misses say;            // or STRATA_EXPLAIN_CACHE_MISSES=1 in the environment
//   step(params, batch);                 // stderr: "jit step [train.cc:20] compiles again:
//   argument 1 is f32[31,8], was f32[32,8]"
#pragma once

#include <span>
#include <string>
#include <vector>

#include "strata/api/trace/function.h"

namespace strata {

/// While one lives, each function of jit that this thread calls and that has to compile says why on
/// stderr: what differs from the nearest call that it was compiled for.
class explain_cache_misses {
 public:
  explicit explain_cache_misses(bool on = true);
  ~explain_cache_misses();
  explain_cache_misses(const explain_cache_misses&) = delete;
  explain_cache_misses& operator=(const explain_cache_misses&) = delete;
  /// Whether this thread says so.
  static bool enabled();

 private:
  bool before_;
};

namespace internal {

/// For what a program is compiled, in words.
struct Signature {
  std::string structure;                  // static data included
  std::vector<std::string> paths, types;  // of leaves
  bool wide = false;                      // x64
};

/// "f32[3]", "weak f32[]".
std::string type_text(const Array& leaf);

template <class Tuple>
Signature signature_of(const Tuple& arguments) {
  Signature out{.structure = tree::structure(arguments).text(),
                .paths = argument_paths(arguments),
                .types = {},
                .wide = x64_enabled()};
  tree::for_each(arguments, [&](const Array& leaf) { out.types.push_back(type_text(leaf)); });
  return out;
}

/// "compiles for the first time: ..." or "compiles again: ...".
std::string explain_miss(const Signature& now, std::span<const Signature> before);
void say_miss(const std::string& function, const Signature& now, std::span<const Signature> before);

}  // namespace internal

}  // namespace strata
