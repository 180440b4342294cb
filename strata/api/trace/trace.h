// Traces: graphs under construction, one stack of them per thread.
//
// While a trace is open every operation on arrays is recorded in the innermost one. An array that
// belongs to an outer trace, or to none, is captured: it becomes an extra argument of the graph (or
// a constant: C++ scalars and small arrays made inside, and in the outermost trace of `jit`
// everything). A transform traces the user's function to such a closed graph, transforms the graph,
// and calls it with `emit`: inlined into the enclosing trace, or, when there is none, compiled and
// run at once. Operations outside of any trace are one-operation graphs that go the same way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "strata/api/array.h"

namespace strata::internal {

/// What an Array is: a buffer, a C++ scalar, or a value of a trace.
struct ArrayState {
  Type type;
  bool weak = false;
  /// Made inside a trace from numbers: a constant wherever it is used.
  bool constant = false;
  runtime::Buffer buffer;             // concrete
  std::optional<ScalarValue> scalar;  // concrete; `buffer` is empty
  ir::Value* value = nullptr;         // traced
  std::uint64_t trace = 0;            // traced: which trace
  bool argument = false;              // traced: of the function
  ir::Location where;                 // traced: where it was made, or who traces the function
};

/// A graph that depends on nothing but its arguments: first those of the function, then the
/// captured arrays.
struct Program {
  std::unique_ptr<ir::Block> block;
  std::vector<Array> captured;
  std::vector<bool> weak;  // of the results
};

class Trace {
 public:
  enum class Kind {
    operation,  // one eager operation: scalars are arguments too
    nested,     // the function of a transform
    jit,        // the outermost graph of jit: captured arrays are constants
  };
  explicit Trace(Kind kind);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// The innermost trace of this thread, or null.
  static Trace* current();

  Array argument(const Type& type, bool weak, std::string hint = {});
  /// The value of an array in this graph; captures it when it is not of this trace. Throws Error
  /// for an array of a trace that has ended, and for one without a value.
  ir::Value* value(const Array& array);
  ir::Values values(std::span<const Array> arrays);
  Array wrap(ir::Value* value, bool weak);
  ir::Builder& builder() { return builder_; }
  ir::Block& block() { return *block_; }
  /// Closes the graph with these results and gives it away.
  Program finish(std::span<const Array> results);

 private:
  Array wrap(ir::Value* value, bool weak, ArrayState given);
  ir::Value* constant(const Array& array);
  ir::Value* capture(const Array& array);
  void check_alive(const ArrayState& state) const;

  Kind kind_;
  std::uint64_t id_;
  Trace* outer_;
  std::optional<std::source_location> outer_site_;
  std::unique_ptr<ir::Block> block_;
  ir::Builder builder_;
  std::vector<Array> captured_;
  std::unordered_map<const ArrayState*, ir::Value*>
      known_;                // captured arrays and constants; lookup only
  std::vector<Array> kept_;  // keeps the keys of `known_` alive
};

/// The user's line for operations and errors: the outermost public function on this thread sets it.
class Site {
 public:
  explicit Site(const std::source_location& where);
  explicit Site(const Operand& operand) : Site(operand.where) {}
  ~Site();
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  /// "file.cc:12" or empty.
  static std::string text();

 private:
  bool set_ = false;
};

/// Throws the user's mistake with their line.
template <class... Args>
[[noreturn]] void fail(const char* operation, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(operation, fmt::format(format, std::forward<Args>(args)...)).at(Site::text());
}

/// Emits operations on the values of `operands` into the trace under way; without one, runs them at
/// once. The results have the given weakness (missing entries: strong).
using EmitFunction = std::function<ir::Values(ir::Builder&, const ir::Values&)>;
std::vector<Array> emit(std::span<const Array> operands, const EmitFunction& f,
                        const std::vector<bool>& weak = {});
/// The same for one result.
using EmitOneFunction = std::function<ir::Value*(ir::Builder&, const ir::Values&)>;
Array emit_one(std::span<const Array> operands, bool weak, const EmitOneFunction& f);
inline Array emit_one(std::initializer_list<Array> operands, bool weak, const EmitOneFunction& f) {
  return emit_one(std::span<const Array>(operands.begin(), operands.size()), weak, f);
}
/// A concrete array of a result's buffer.
Array concrete(runtime::Buffer buffer, bool weak);
/// What `value` of a deleted array points at: of no graph, so that every use looks twice.
ir::Value* deleted_value();
/// Calls a program on arguments (captured arrays are added by themselves).
std::vector<Array> call(const Program& program, std::span<const Array> arguments);

/// The literal of a C++ scalar in a dtype. Throws Error when an integer does not fit.
Literal scalar_literal(const ScalarValue& value, DType dtype);
/// The same to memory of at least 16 bytes.
void write_scalar(const ScalarValue& value, DType dtype, std::byte* to);
/// The graph of one operation outside of traces: its captured arrays are the operands, each once.
Program operation_program(std::span<const Array> operands, const EmitOneFunction& f, bool weak);
/// "f32[2,3] made at model.cc:12", "f32[3], an argument of the function traced at model.cc:20,".
std::string origin(const ArrayState& state);
/// "f32[2,3]", as errors write types.
inline std::string describe(const Type& type) { return array_text(type); }
inline std::string describe(const Shape& shape) { return array_text(shape); }

}  // namespace strata::internal
