#include "strata/api/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "strata/api/trace.h"
#include "strata/base/file.h"
#include "strata/ir/export/jax_export.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/read.h"
#include "strata/ir/verify.h"
#include "strata/op/refine.h"
#include "strata/runtime/client.h"
#include "strata/transform/refine.h"

namespace strata {

struct Program::State {
  std::unique_ptr<ir::Module> module;
  ir::Function* function = nullptr;  // of the module
  std::string name;
  std::vector<Port> inputs, outputs;
  std::vector<int> taken;  // the inputs that the function takes, behind its constants
  std::vector<runtime::Buffer> constants;  // in front
  bool open = false;                       // has shapes that the arguments decide
  bool by_value = false;                   // by their elements, not by their sizes alone

  std::mutex mutex;
  std::map<std::string, std::shared_ptr<runtime::Executable>> compiled;  // by what `key` says

  /// Takes names, types and the order of arguments from an export.
  Status follow(const ir::JaxExport& e);
  std::string signature() const;
  /// Throws where types are not those of the inputs.
  void expect(std::span<const Type> given) const;
  /// What is known of the arguments when inputs have these types.
  std::vector<op::Known> known(std::span<const Type> inputs) const;
  std::string key(const std::vector<op::Known>& arguments) const;
  /// The block for these arguments; by elements where types do not say enough.
  std::unique_ptr<ir::Block> refined(const std::vector<op::Known>& arguments);
  std::shared_ptr<runtime::Executable> executable(const std::vector<op::Known>& arguments);
};

namespace {

using Port = Program::Port;

Result<std::unique_ptr<ir::Module>> module_of(std::string_view bytes, const std::string& name) {
  auto module = ir::read(bytes, name);
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

/// Where `platforms` has the CPU; an export of one platform does not ask for it.
Result<std::vector<runtime::Buffer>> platform_number(const ir::JaxExport& e) {
  const auto it = std::find(e.platforms.begin(), e.platforms.end(), "cpu");
  if (it == e.platforms.end())
    return Status(Code::unsupported,
                  "exported for {}, not for cpu: give jax.export platforms with \"cpu\" among them",
                  fmt::join(e.platforms, ", "));
  std::vector<runtime::Buffer> out;
  if (e.platforms.size() > 1)
    out.emplace_back(Literal::scalar(static_cast<std::int32_t>(it - e.platforms.begin())));
  return out;
}

}  // namespace

Status Program::State::follow(const ir::JaxExport& e) {
  if (!e.ordered_effects.empty())
    return Status(Code::unsupported, "ordered effects: {}", fmt::join(e.ordered_effects, ", "));
  auto front = platform_number(e);
  if (!front) return front.status();
  const std::size_t takes = front->size() + e.kept.size(), returns = e.outputs.size();
  const std::size_t has = static_cast<std::size_t>(function->body.num_arguments()),
                    gives = function->body.results.size();
  if (takes != has || returns != gives)
    return Status(Code::corrupt, "@{} has {} arguments and {} results, not {} and {}",
                  function->name, has, gives, takes, returns);
  name = e.function;
  inputs = named(e.inputs, e.input_types);
  outputs = named(e.outputs, e.output_types);
  taken = e.kept;
  constants = std::move(*front);
  return Status();
}

Result<Program> Program::read(std::string_view bytes, const std::string& name) {
  std::optional<ir::JaxExport> exported;
  if (ir::is_jax_export(bytes)) {
    auto e = ir::read_jax_export(bytes, name);
    if (!e) return e.status();
    exported = std::move(*e);
  }
  auto module = module_of(exported ? exported->program : bytes, name);
  if (!module) return module.status();
  auto state = std::make_shared<State>();
  state->module = std::move(*module);
  state->function = state->module->entry();
  if (state->function == nullptr) return Status(Code::invalid, "{}: no function to run", name);
  const ir::Block& body = state->function->body;
  state->name = state->function->name;
  state->inputs = numbered(body.argument_values());
  state->outputs = numbered(body.results);
  for (int i = 0; i < body.num_arguments(); ++i) state->taken.push_back(i);
  if (exported)
    if (Status s = state->follow(*exported); !s.ok())
      return Status(s.code(), "{}: {}", name, s.message());
  state->by_value = op::needs_values(body);
  state->open = state->by_value || op::is_dynamic(body);
  return Program(std::move(state));
}

Result<Program> Program::load(const std::string& file) {
  auto bytes = read_file(file);
  if (!bytes) return bytes.status();
  return read(*bytes, file);
}

const std::string& Program::name() const { return state_->name; }
const std::vector<Port>& Program::inputs() const { return state_->inputs; }
const std::vector<Port>& Program::outputs() const { return state_->outputs; }
std::string Program::signature() const { return state_->signature(); }

namespace {

std::vector<op::Known> known_of(const std::vector<runtime::Buffer>& arguments) {
  std::vector<op::Known> out;
  for (const runtime::Buffer& b : arguments) out.push_back({b.type(), b.literal()});
  return out;
}

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
  std::vector<runtime::Buffer> arguments = state_->constants;
  for (int i : state_->taken) arguments.push_back(given[static_cast<std::size_t>(i)].buffer());
  std::shared_ptr<runtime::Executable> executable =
      state_->executable(state_->open ? known_of(arguments) : std::vector<op::Known>());
  std::vector<Array> out;
  for (runtime::Buffer& result : executable->run(std::move(arguments)))
    out.push_back(internal::concrete(std::move(result), false));
  return out;
}

void Program::compile(std::span<const Type> inputs) const {
  state_->executable(state_->known(inputs));
}

Program::Fixed Program::fixed(std::span<const Type> given) const {
  const State& s = *state_;
  std::vector<op::Known> known = s.known(given);
  Fixed out{s.open ? transform::refine(s.function->body, known) : ir::clone(s.function->body),
            {},
            s.taken,
            s.inputs,
            s.outputs};
  for (const runtime::Buffer& b : s.constants) out.constants.push_back(b.literal());
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
  std::vector<op::Known> out = known_of(constants);
  for (int i : taken) out.push_back({types[static_cast<std::size_t>(i)], std::nullopt});
  return out;
}

/// What the compiled form depends on besides the program.
std::string Program::State::key(const std::vector<op::Known>& arguments) const {
  std::string out;
  if (!open) return out;
  for (const op::Known& a : arguments) {
    out += a.type.to_string() + ';';
    if (by_value && a.value && op::may_be_shape(a.type))
      out.append(reinterpret_cast<const char*>(a.value->data()), a.value->bytes());
  }
  return out;
}

std::unique_ptr<ir::Block> Program::State::refined(const std::vector<op::Known>& arguments) {
  if (!by_value) {
    std::vector<op::Known> types;
    for (const op::Known& a : arguments) types.push_back({a.type, std::nullopt});
    try {
      return transform::refine(function->body, types);
    } catch (const Error& e) {
      if (!e.is_unsupported()) throw;
      by_value = true;  // a shape is made of elements
    }
  }
  return transform::refine(function->body, arguments);
}

std::shared_ptr<runtime::Executable> Program::State::executable(
    const std::vector<op::Known>& arguments) {
  std::lock_guard lock(mutex);
  if (auto it = compiled.find(key(arguments)); it != compiled.end()) return it->second;
  std::unique_ptr<ir::Block> block = open ? refined(arguments) : nullptr;
  return compiled[key(arguments)] =
             runtime::default_client().compile(block ? *block : function->body, {.name = name});
}

}  // namespace strata
