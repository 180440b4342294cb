#include "strata/api/program.h"

#include <fmt/format.h>

#include <optional>

#include "strata/api/trace/trace.h"
#include "strata/ir/export/entry.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/read.h"
#include "strata/ir/verify.h"
#include "strata/runtime/specialized.h"

namespace strata {

struct Program::State {
  std::unique_ptr<ir::Module> module;
  std::string name;
  std::vector<Port> inputs, outputs;
  std::optional<runtime::Specialized> specialized;  // the module's entry

  std::string signature() const;
  /// Throws where types are not those of the inputs.
  void expect(std::span<const Type> given) const;
  /// What is known of the arguments when inputs have these types.
  std::vector<op::Known> known(std::span<const Type> inputs) const;
};

namespace {

using Port = Program::Port;

/// As it runs: verified, one function without calls.
Result<std::unique_ptr<ir::Module>> prepared(Result<std::unique_ptr<ir::Module>> module,
                                             const std::string& name) {
  if (!module) return module.status();
  if (Status s = ir::verify(**module); !s.ok()) return s;
  try {
    ir::use_chlo(**module);
    ir::inline_calls(**module);
  } catch (const Error& e) {
    return Status(e.is_unsupported() ? Code::unsupported : Code::invalid, "{}: {}", name, e.what());
  }
  return module;
}

std::vector<Port> numbered(const ir::Values& values) {
  std::vector<Port> out;
  for (const ir::Value* v : values) out.push_back({std::to_string(out.size()), v->type()});
  return out;
}

std::vector<Port> named(const std::vector<std::string>& names, const std::vector<Type>& types) {
  std::vector<Port> out;
  for (std::size_t i = 0; i < names.size(); ++i) out.push_back({names[i], types[i]});
  return out;
}

std::string described(const std::vector<Port>& ports) {
  std::string out;
  for (const Port& p : ports)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", p.name, internal::describe(p.type));
  return out;
}

}  // namespace

Result<Program> Program::read(std::string_view bytes, const std::string& name,
                              const LoadOptions& options) {
  std::optional<ir::JaxExport> exported;
  if (ir::is_jax_export(bytes)) {
    auto e = ir::read_jax_export(bytes, name);
    if (!e) return e.status();
    exported = std::move(*e);
  }
  auto module = prepared(
      exported ? ir::read_exported(*exported, name, options.platform) : ir::read(bytes, name),
      name);
  if (!module) return module.status();
  auto state = std::make_shared<State>();
  state->module = std::move(*module);
  const ir::Function* function = state->module->entry();
  if (function == nullptr)
    return Status(Code::invalid, "{}: no function to run: a program has one, as func.func @main is",
                  name);
  const ir::Block& body = function->body;
  state->name = exported ? exported->function : function->name;
  state->inputs =
      exported ? named(exported->inputs, exported->input_types) : numbered(body.argument_values());
  state->outputs =
      exported ? named(exported->outputs, exported->output_types) : numbered(body.results);
  state->specialized.emplace(body, runtime::CompileOptions{.name = state->name});
  return Program(std::move(state));
}

Result<Program> Program::load(const std::string& file, const LoadOptions& options) {
  auto bytes = ir::read_program_file(file);
  if (!bytes) return bytes.status();
  return read(*bytes, file, options);
}

const std::string& Program::name() const { return state_->name; }
const std::vector<Port>& Program::inputs() const { return state_->inputs; }
const std::vector<Port>& Program::outputs() const { return state_->outputs; }
std::string Program::signature() const { return state_->signature(); }

namespace {

std::vector<Type> types_of(const std::vector<Port>& ports) {
  std::vector<Type> out;
  for (const Port& p : ports) out.push_back(p.type);
  return out;
}

}  // namespace

std::string Program::State::signature() const {
  return fmt::format("{}({}) -> ({})", name, described(inputs), described(outputs));
}

void Program::State::expect(std::span<const Type> given) const {
  if (given.size() != inputs.size())
    internal::fail("Program", "{} inputs for {}", given.size(), signature());
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!ir::may_be_same(given[i], inputs[i].type))
      internal::fail("Program", "input {} ({}) is {}, not {}", i, inputs[i].name,
                     internal::describe(given[i]), internal::describe(inputs[i].type));
}

std::vector<Array> Program::operator()(std::span<const Array> given) const {
  std::vector<Type> types;
  for (const Array& a : given) types.push_back(a.type());
  state_->expect(types);
  std::vector<runtime::Buffer> arguments;
  for (const Array& a : given) arguments.push_back(a.buffer());
  runtime::Specialized& specialized = *state_->specialized;
  std::shared_ptr<runtime::Executable> executable = specialized.executable(
      specialized.is_open() ? runtime::known(arguments) : std::vector<op::Known>());
  std::vector<Array> out;
  for (runtime::Buffer& result : executable->run(std::move(arguments)))
    out.push_back(internal::concrete(std::move(result), false));
  return out;
}

void Program::compile(std::span<const Type> inputs) const {
  state_->specialized->executable(state_->known(inputs));
}

Program::Fixed Program::fixed(std::span<const Type> given) const {
  const State& s = *state_;
  Fixed out{state_->specialized->block(s.known(given)), s.inputs, s.outputs};
  for (std::size_t i = 0; i < given.size(); ++i) out.inputs[i].type = given[i];
  for (std::size_t i = 0; i < out.outputs.size(); ++i)
    out.outputs[i].type = out.body->results[i]->type();
  return out;
}

std::vector<op::Known> Program::State::known(std::span<const Type> given) const {
  const std::vector<Type> types =
      given.empty() ? types_of(inputs) : std::vector<Type>(given.begin(), given.end());
  expect(types);
  for (std::size_t i = 0; i < types.size(); ++i)
    if (op::is_dynamic(types[i]))
      internal::fail("Program", "input {} ({}) is {}: say its sizes", i, inputs[i].name,
                     internal::describe(types[i]));
  std::vector<op::Known> out;
  for (const Type& type : types) out.push_back({type, std::nullopt});
  return out;
}

}  // namespace strata
