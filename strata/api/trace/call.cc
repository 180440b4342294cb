#include "strata/api/trace/call.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "strata/api/sharding/explicit_types.h"
#include "strata/api/sharding/placement.h"
#include "strata/api/trace/client.h"
#include "strata/api/transform/debug_nans.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/client.h"
#include "strata/runtime/device.h"

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

/// Whether both are shardings over one mesh: a program of such arguments is partitioned over it.
bool on_one_mesh(runtime::Device* a, runtime::Device* b) {
  const Placement *x = Placement::of(a), *y = Placement::of(b);
  return x != nullptr && y != nullptr && x->mesh() == y->mesh();
}

bool any(const std::vector<bool>& of) { return std::find(of.begin(), of.end(), true) != of.end(); }

}  // namespace

void append_type(std::string& key, const Array& leaf) {
  const Type& type = leaf.type();
  const auto byte = [&](auto number) { key += static_cast<char>(number); };
  const runtime::Device* bound = leaf.state()->buffer.committed();
  byte(type.dtype());
  byte((leaf.weak() ? 1 : 0) + (bound != nullptr ? 2 : 0));
  if (bound != nullptr) key.append(reinterpret_cast<const char*>(&bound), sizeof bound);
  byte(type.rank());
  for (const Dim& d : type.shape().dims()) {
    const std::int64_t size = d.size();
    key.append(reinterpret_cast<const char*>(&size), sizeof size);
  }
}

void append_settings(std::string& key) {
  const runtime::Device* device = runtime::thread_device();
  key += static_cast<char>((x64_enabled() ? 'w' : 'n') - (device != nullptr ? 32 : 0));
  if (device != nullptr) key.append(reinterpret_cast<const char*>(&device), sizeof device);
  append_explicit_settings(key);
}

void CallDevice::add(const Array& x, const std::string& program) {
  runtime::Device* device = x.has_value() ? x.state()->buffer.committed() : nullptr;
  if (device == nullptr) return;
  if (device_ != nullptr && device_ != device && !on_one_mesh(device_, device))
    throw Error(program,
                "arguments lie on different {}: {} on {}, and {} on {}; arrays of one call "
                "lie on one {}, and device_put moves them",
                Placement::of(device_) && Placement::of(device) ? "meshes" : "devices",
                describe(first_), device_->to_string(), describe(x.type()), device->to_string(),
                Placement::of(device_) || Placement::of(device) ? "mesh" : "device")
        .at(Site::text());
  device_ = device;
  first_ = x.type();
}
runtime::Device* CallDevice::device() const {
  return device_ != nullptr ? device_ : runtime::thread_device();
}

Bound::Bound(std::shared_ptr<runtime::Executable> e, std::string name,
             std::shared_ptr<const Program> p, std::vector<bool> donated)
    : executable(std::move(e)),
      name(std::move(name)),
      program(std::move(p)),
      donated(std::move(donated)),
      weak(program->weak),
      donates(any(this->donated)),
      on_device(executable->on_device()),
      maker(maker_of(*program->block)) {
  for (const Type& type : executable->result_types()) bytes.push_back(type.bytes());
}

Bound compile(Program program, const std::string& name, std::vector<bool> donated,
              const CallDevice& where) {
  STRATA_CHECK(program.captured.empty(), "the program of jit captured {} arrays",
               program.captured.size());
  runtime::CompileOptions options;
  options.donated = donated;
  options.name = name;
  runtime::Client* mesh = where.bound() ? nullptr : client_of_constraints(*program.block);
  std::shared_ptr<runtime::Executable> executable =
      (mesh ? *mesh : internal::client_for(where.device())).compile(*program.block, options);
  if (debug_nans::enabled() && !any(donated)) keep_graph(executable, *program.block);
  Bound out(std::move(executable), name, std::make_shared<const Program>(std::move(program)),
            std::move(donated));
  out.binds = where.bound() || mesh != nullptr;
  return out;
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
  if (bound_.on_device) {
    made_.push_back(argument.buffer());
    arguments_.push_back(nullptr);
    return;
  }
  const ArrayState* state = argument.state().get();
  const bool in_memory = state != nullptr && state->value == nullptr && !state->scalar;
  if (!in_memory) made_.push_back(argument.buffer());
  arguments_.push_back(
      const_cast<std::byte*>(in_memory ? state->buffer.data() : made_.back().data()));
}

void Call::give(Array argument) {
  if (bound_.on_device) {
    made_.push_back(std::move(argument).buffer());
    arguments_.push_back(nullptr);
    return;
  }
  given_.push_back(std::move(argument).buffer());
  if (given_.back().there()) given_.back() = runtime::Buffer(given_.back().literal());
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
                if (bound_.on_device) {
                  std::vector<runtime::Buffer> in(std::make_move_iterator(made_.begin()),
                                                  std::make_move_iterator(made_.end()));
                  for (runtime::Buffer& b : bound_.executable->run(std::move(in)))
                    results_.push_back(std::move(b).bound(bound_.binds));
                  return;
                }
                for (std::size_t r = 0; r < bound_.bytes.size(); ++r) {
                  if (given_.empty())
                    results_.emplace_back(Literal(bound_.executable->result_types()[r],
                                                  runtime::allocate(bound_.bytes[r])));
                  else
                    results_.push_back(result(r));
                  addresses_.push_back(results_.back().mutable_data());
                }
                bound_.executable->run_at(arguments_.data(), addresses_.data());
              });
  if (!debug_nans::enabled()) return;
  if (bound_.on_device)
    check_nans(nullptr, {}, results_, bound_.name);
  else
    look_for_nans(bound_, arguments_, results_);
}

Array Call::take() {
  Array out = concrete(std::move(results_[next_]), bound_.weak[next_]);
  ++next_;
  return out;
}

}  // namespace strata::internal
