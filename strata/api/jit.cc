#include "strata/api/jit.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "strata/api/debug.h"
#include "strata/api/debug_nans.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/client.h"

namespace strata::internal {

namespace {

/// Of a program whose arguments still have their elements also which operation made a NaN.
void look_for_nans(const Bound& bound, std::span<void* const> addresses,
                   std::span<const runtime::Buffer> results) {
  const std::vector<Type>& types = bound.executable->argument_types();
  std::vector<runtime::Buffer> arguments;
  for (std::size_t i = 0; !bound.donates && i < types.size(); ++i) {
    Literal l(types[i]);
    if (types[i].bytes() > 0) std::memcpy(l.mutable_data(), addresses[i], types[i].bytes());
    arguments.emplace_back(std::move(l));
  }
  check_nans(bound.donates ? nullptr : kept_graph(bound.executable.get()), arguments, results,
             bound.name);
}

bool any(const std::vector<bool>& of) { return std::find(of.begin(), of.end(), true) != of.end(); }

}  // namespace

void append_type(std::string& key, const Array& leaf) {
  const Type& type = leaf.type();
  const auto byte = [&](auto number) { key += static_cast<char>(number); };
  byte(type.dtype());
  byte(leaf.weak());
  byte(type.rank());
  for (const Dim& d : type.shape().dims()) {
    const std::int64_t size = d.size();
    key.append(reinterpret_cast<const char*>(&size), sizeof size);
  }
}

Bound::Bound(std::shared_ptr<runtime::Executable> e, std::string name,
             std::shared_ptr<const Program> p, std::vector<bool> donated)
    : executable(std::move(e)),
      name(std::move(name)),
      program(std::move(p)),
      donated(std::move(donated)),
      weak(program->weak),
      donates(any(this->donated)),
      maker(maker_of(*program->block)) {
  for (const Type& type : executable->result_types()) bytes.push_back(type.bytes());
}

Bound compile(Program program, const std::string& name, std::vector<bool> donated) {
  STRATA_CHECK(program.captured.empty(), "the program of jit captured {} arrays",
               program.captured.size());
  runtime::CompileOptions options;
  options.donated = donated;
  options.name = name;
  std::shared_ptr<runtime::Executable> executable =
      runtime::default_client().compile(*program.block, options);
  if (debug_nans::enabled() && !any(donated)) keep_graph(executable, *program.block);
  return Bound(std::move(executable), name, std::make_shared<const Program>(std::move(program)),
               std::move(donated));
}

void check_donated(const std::vector<std::size_t>& donated, std::size_t arguments) {
  for (std::size_t number : donated)
    if (number >= arguments)
      fail("jit", "donate_argnums names argument {}, but the function is called with {} arguments",
           number, arguments);
}

Call::Call(const Bound& bound) : bound_(bound) {
  arguments_.reserve(bound.executable->argument_types().size());
  addresses_.reserve(bound.bytes.size());
  results_.reserve(bound.bytes.size());
  if (bound.donates) given_.reserve(bound.executable->argument_types().size());
}

void Call::add(const Array& argument, bool check) {
  if (check) {
    const std::vector<Type>& types = bound_.executable->argument_types();
    const std::size_t i = arguments_.size();
    if (i >= types.size()) throw Error(bound_.name, "takes {} arrays, got more", types.size());
    if (!(argument.type() == types[i]))
      throw Error(bound_.name, "argument {} was compiled as {}, got {}", i, describe(types[i]),
                  describe(argument.type()));
  }
  const ArrayState* state = argument.state().get();
  const bool in_memory = state != nullptr && state->value == nullptr && !state->scalar;
  if (!in_memory) made_.push_back(argument.buffer());
  arguments_.push_back(
      const_cast<std::byte*>(in_memory ? state->buffer.data() : made_.back().data()));
}

void Call::give(Array argument) {
  given_.push_back(std::move(argument).buffer());
  arguments_.push_back(const_cast<std::byte*>(given_.back().data()));
}

runtime::Buffer Call::result(std::size_t r) {
  const int from = given_.empty() ? -1 : bound_.executable->donor_of(r);
  if (from >= 0 && given_[static_cast<std::size_t>(from)].unique()) {
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever held it before, on another
                                                          // thread, has read to the end
    return std::move(given_[static_cast<std::size_t>(from)]);
  }
  return runtime::Buffer(
      Literal(bound_.executable->result_types()[r], runtime::allocate(bound_.bytes[r])));
}

void Call::run() {
  if (arguments_.size() != bound_.executable->argument_types().size())
    throw Error(bound_.name, "takes {} arrays, got {}", bound_.executable->argument_types().size(),
                arguments_.size());
  with_memory([&] { return bound_.maker; }, *bound_.executable,
              [&] {
                for (std::size_t r = 0; r < bound_.bytes.size(); ++r) {
                  results_.push_back(result(r));
                  addresses_.push_back(results_.back().mutable_data());
                }
                bound_.executable->run_at(arguments_.data(), addresses_.data());
              });
  if (debug_nans::enabled()) look_for_nans(bound_, arguments_, results_);
}

Array Call::take() {
  Array out = concrete(std::move(results_[next_]), bound_.weak[next_]);
  ++next_;
  return out;
}

}  // namespace strata::internal
