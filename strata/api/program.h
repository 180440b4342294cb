// Programs made elsewhere: StableHLO as text, as bytecode, or as `jax.export` writes it.
//
//   Result<Program> model = Program::load("model.jax");   //
//   jax.export.export(jax.jit(f))(...).serialize() std::cout << model->signature(); // "f([0]['w']:
//   f32[784,10], ['image']: f32[b,784]) -> ([0]: f32[b,10])" std::vector<Array> out = (*model)({w,
//   image});
//
// Inputs are those of the exported function in the order of its leaves, or the arguments of the
// entry function where no other is given (`main`, else the only or first public one). A program
// of static shapes is compiled by the first call; one whose dimensions are open, once for each
// combination of sizes (and of the integers that shapes are made of). Copies share the program and
// what is compiled. Calls are thread-safe and run at once: a Program is no part of a trace, and has
// no derivative. An export of several platforms runs as its "cpu" one; where there is none it is
// refused, as JAX does, unless the export says that the platform is not to be checked
// (`jax.export.DisabledSafetyCheck.platform()`) or `LoadOptions` name another. Deviations from
// `jax.export.deserialize(...).call`: the tree of arguments is flat; ordered effects are refused.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/api/array.h"
#include "strata/base/result.h"

namespace strata {

/// A program made elsewhere: StableHLO as text or bytecode, or what jax.export serialises.
class Program {
 public:
  /// An input or output: its path in the function's arguments or results ("[0]['w']"), or its name
  /// or number ("0"), and its type.
  struct Port {
    std::string name;
    Type type;
  };

  /// Options of `Program::load`.
  struct LoadOptions {
    /// Of an export: the platform for which its program was lowered. That of another platform runs
    /// here where it calls nothing that only that has (cuSOLVER, say).
    std::string platform = "cpu";
  };

  /// Status: Code::not_found, Code::denied and the like of the file; Code::invalid (text or
  /// bytecode) and Code::corrupt (an export) where it is damaged; Code::unsupported for what Strata
  /// does not have.
  static Result<Program> load(const std::string& file, const LoadOptions& options);
  static Result<Program> load(const std::string& file) { return load(file, LoadOptions()); }
  /// A program from bytes as a file holds them; messages call them `name`.
  static Result<Program> read(std::string_view bytes, const std::string& name,
                              const LoadOptions& options);
  static Result<Program> read(std::string_view bytes, const std::string& name = "program") {
    return read(bytes, name, LoadOptions());
  }

  /// The function's name where it comes from: in Python, else in the module.
  const std::string& name() const;
  /// The arguments in order: their names and types.
  const std::vector<Port>& inputs() const;
  /// The results in order: their names and types.
  const std::vector<Port>& outputs() const;
  /// "name(input: type, ...) -> (output: type, ...)".
  std::string signature() const;

  /// Runs on arrays in the order of `inputs()`. Throws strata::Error where number, dtype or shape
  /// do not fit.
  std::vector<Array> operator()(std::span<const Array> inputs) const;
  std::vector<Array> operator()(std::initializer_list<Array> inputs) const {
    return (*this)(std::span<const Array>(inputs.begin(), inputs.size()));
  }

  /// Compiles ahead of the first run, for inputs of these static types; a program of static shapes
  /// needs none. Throws strata::Error where they do not fit, or where elements of inputs decide
  /// shapes: such a program is compiled by its first run.
  void compile(std::span<const Type> inputs = {}) const;

  /// What runs for inputs of such types, for those who compile it themselves: a block of static
  /// shapes without calls, whose arguments are the inputs.
  struct Fixed {
    std::unique_ptr<ir::Block> body;
    std::vector<Port> inputs, outputs;  // their types static
  };
  /// Throws as `compile` does.
  Fixed fixed(std::span<const Type> inputs = {}) const;

 private:
  struct State;
  explicit Program(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace strata
