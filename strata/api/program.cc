#include "strata/api/program.h"

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
  std::vector<int> taken;                  // the inputs that the function takes, behind its constants
  std::vector<runtime::Buffer> constants;  // in front
  bool open = false;                       // has shapes that the arguments decide
  bool by_value = false;                   // by their elements, not by their sizes alone

  std::mutex mutex;
  std::map<std::string, std::shared_ptr<runtime::Executable>> compiled;  // by what `key` says

  /// Takes names, types and the order of arguments from an export.
  Status follow(const ir::JaxExport& e);
  std::string key(const std::vector<runtime::Buffer>& arguments) const;
  std::unique_ptr<ir::Block> refined(const std::vector<runtime::Buffer>& arguments) const;
  std::shared_ptr<runtime::Executable> executable(const std::vector<runtime::Buffer>& arguments);
};

namespace {

using Port = Program::Port;

Result<std::unique_ptr<ir::Module>> module_of(std::string_view bytes, const std::string& name) {
  auto module = ir::read(bytes, name);
  if (!module) return module.status();
  if (Status s = ir::verify(**module); !s.ok()) return s;
  try {
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
  for (const Port& p : ports) out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", p.name, internal::describe(p.type));
  return out;
}

/// Where `platforms` has the CPU; an export of one platform does not ask for it.
Result<std::vector<runtime::Buffer>> platform_number(const ir::JaxExport& e) {
  const auto it = std::find(e.platforms.begin(), e.platforms.end(), "cpu");
  if (it == e.platforms.end()) return Status(Code::unsupported, "exported for {}, not for cpu", fmt::join(e.platforms, ", "));
  std::vector<runtime::Buffer> out;
  if (e.platforms.size() > 1) out.emplace_back(Literal::scalar(static_cast<std::int32_t>(it - e.platforms.begin())));
  return out;
}

}  // namespace

Status Program::State::follow(const ir::JaxExport& e) {
  if (!e.ordered_effects.empty()) return Status(Code::unsupported, "ordered effects: {}", fmt::join(e.ordered_effects, ", "));
  auto front = platform_number(e);
  if (!front) return front.status();
  const std::size_t takes = front->size() + e.kept.size(), returns = e.outputs.size();
  const std::size_t has = static_cast<std::size_t>(function->body.num_arguments()), gives = function->body.results.size();
  if (takes != has || returns != gives)
    return Status(Code::corrupt, "@{} has {} arguments and {} results, not {} and {}", function->name, has, gives, takes, returns);
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
    if (Status s = state->follow(*exported); !s.ok()) return Status(s.code(), "{}: {}", name, s.message());
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
std::string Program::signature() const { return fmt::format("{}({}) -> ({})", name(), described(inputs()), described(outputs())); }

std::vector<Array> Program::operator()(std::span<const Array> given) const {
  if (given.size() != inputs().size()) internal::fail("Program", "{} inputs for {}", given.size(), signature());
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!ir::may_be_same(given[i].type(), inputs()[i].type))
      internal::fail("Program", "input {} ({}) is {}, not {}", i, inputs()[i].name, internal::describe(given[i].type()), internal::describe(inputs()[i].type));
  std::vector<runtime::Buffer> arguments = state_->constants;
  for (int i : state_->taken) arguments.push_back(given[static_cast<std::size_t>(i)].buffer());
  std::shared_ptr<runtime::Executable> executable = state_->executable(arguments);
  std::vector<Array> out;
  for (runtime::Buffer& result : executable->run(std::move(arguments))) out.push_back(internal::concrete(std::move(result), false));
  return out;
}

/// What the compiled form depends on besides the program.
std::string Program::State::key(const std::vector<runtime::Buffer>& arguments) const {
  std::string out;
  if (!open) return out;
  for (const runtime::Buffer& b : arguments) {
    out += b.type().to_string() + ';';
    if (by_value && op::may_be_shape(b.type())) out.append(reinterpret_cast<const char*>(b.data()), b.literal().bytes());
  }
  return out;
}

std::unique_ptr<ir::Block> Program::State::refined(const std::vector<runtime::Buffer>& arguments) const {
  std::vector<op::Known> known;
  for (const runtime::Buffer& b : arguments) known.push_back({b.type(), by_value ? std::optional(b.literal()) : std::nullopt});
  return transform::refine(function->body, known);
}

std::shared_ptr<runtime::Executable> Program::State::executable(const std::vector<runtime::Buffer>& arguments) {
  std::lock_guard lock(mutex);
  if (auto it = compiled.find(key(arguments)); it != compiled.end()) return it->second;
  auto compile = [&](const ir::Block& block) { return compiled[key(arguments)] = runtime::default_client().compile(block, {.name = name}); };
  if (!open) return compile(function->body);
  if (!by_value) {
    try {
      return compile(*refined(arguments));
    } catch (const Error& e) {
      if (!e.is_unsupported()) throw;
      by_value = true;  // a shape is made of elements
    }
  }
  return compile(*refined(arguments));
}

}  // namespace strata
