// Operations outside of transforms whose compiled form is found by a key, without building a graph.
//
//   return emit_known(EagerKey().add(f).add(x), {&x}, [&] { return Emitted{{x}, x.weak(),
//   [f](Builder& b, const Values& v) { return f(b, v[0]); }}; });
//
// Outside of traces each operation is a program of its own, compiled once for each structure. To
// see that structure its graph has to be built; a key tells it in a tenth of the time. Inside of a
// trace the operation is recorded as ever.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "strata/api/trace/trace.h"
#include "strata/runtime/client.h"

namespace strata::internal {

/// All that an operation's graph depends on: what it is, its parameters, and its operands' types.
/// Arrays are told apart by type, weakness, and whether they are numbers of C++; elements do not
/// matter. One at a time on each thread.
class EagerKey {
 public:
  EagerKey();
  /// A parameter: a number, an enumerator, a function.
  template <class T>
    requires std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>
  EagerKey& add(T parameter) {
    bytes().append(reinterpret_cast<const char*>(&parameter), sizeof parameter);
    return *this;
  }
  EagerKey& add(const char* text);
  /// A list: sizes, axes, a permutation.
  EagerKey& add(std::span<const std::int64_t> numbers);
  EagerKey& add(const Array& operand);
  const std::string& text() const { return bytes(); }

 private:
  static std::string& bytes();
};

/// What is emitted: f on operands (emit_one).
struct Emitted {
  std::vector<Array> operands;
  bool weak = false;
  EmitOneFunction f;
};

/// An operation's compiled form, and how it is called.
struct Known {
  std::shared_ptr<runtime::Executable> executable;
  std::vector<int> from;  // of each parameter: which operand it is
  std::string name;       // the operation's, for messages
  std::size_t bytes = 0;  // of the result
  bool weak = false;
  bool on_device = false;  // arguments and result are buffers of a device
  bool binds = false;      // the result is bound to it
};

/// Whether results are looked at (debug_nans), which takes the operation's graph.
bool needs_graph();
/// The form that this thread found under the key before, or null.
const Known* find_known(const std::string& key);
/// Compiles and keeps it. `operands` are those that the caller will give, of which the emitted ones
/// may be casts.
const Known& remember(const std::string& key, const Emitted& emitted,
                      std::span<const Array* const> operands);
/// Numbers of C++ are written in the dtypes that the form asks for. Throws Error for an integer
/// that does not fit, and for traced operands.
Array run_known(const Known& known, std::span<const Array* const> operands);

/// Emits what `make()` says, or runs at once what was emitted under the key before. Emitted
/// operands are `operands`, in their order, where numbers of C++ may have been cast.
template <class Make>
Array emit_known(const EagerKey& key, std::initializer_list<const Array*> operands, Make make) {
  if (Trace::current() || needs_graph()) {
    const Emitted emitted = make();
    return emit_one(emitted.operands, emitted.weak, emitted.f);
  }
  const std::span<const Array* const> given(operands.begin(), operands.size());
  if (const Known* known = find_known(key.text())) return run_known(*known, given);
  const std::string kept = key.text();  // what `make` does may use the thread's key
  return run_known(remember(kept, make(), given), given);
}

}  // namespace strata::internal
