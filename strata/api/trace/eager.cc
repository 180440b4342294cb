#include "strata/api/trace/eager.h"

#include <array>
#include <unordered_map>

#include "strata/api/trace/call.h"
#include "strata/api/trace/client.h"
#include "strata/api/trace/memory.h"
#include "strata/api/transform/debug_nans.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/device.h"

namespace strata::internal {
namespace {

constexpr std::size_t kMostOperands = 4;
/// Forms that a thread keeps; they go when there are more, and come again from the client's cache.
constexpr std::size_t kMostKnown = 4096;

using Table = std::unordered_map<std::string, Known>;  // lookup only
Table& table() {
  thread_local Table known;
  return known;
}

bool is_number(const Array& x) { return x.state()->scalar.has_value(); }

}  // namespace

std::string& EagerKey::bytes() {
  thread_local std::string text;
  return text;
}

EagerKey::EagerKey() {
  bytes().clear();
  append_settings(bytes());
}

EagerKey& EagerKey::add(const char* text) {
  bytes().append(text, std::strlen(text) + 1);
  return *this;
}

EagerKey& EagerKey::add(std::span<const std::int64_t> numbers) {
  add(numbers.size());
  bytes().append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  return *this;
}

EagerKey& EagerKey::add(const Array& operand) {
  append_type(bytes(), operand);
  bytes() += is_number(operand) ? 's' : 'a';
  return *this;
}

bool needs_graph() { return debug_nans::enabled(); }

const Known* find_known(const std::string& key) {
  const auto it = table().find(key);
  return it == table().end() ? nullptr : &it->second;
}

const Known& remember(const std::string& key, const Emitted& emitted,
                      std::span<const Array* const> operands) {
  STRATA_CHECK(emitted.operands.size() == operands.size() && operands.size() <= kMostOperands,
               "{} operands, {} emitted", operands.size(), emitted.operands.size());
  const Program program = operation_program(emitted.operands, emitted.f, emitted.weak);
  Known known;
  for (const Array& captured : program.captured) {
    int i = 0;
    while (emitted.operands[static_cast<std::size_t>(i)].state() != captured.state()) ++i;
    known.from.push_back(i);
  }
  known.name = maker_of(*program.block).operation;
  CallDevice device;
  for (const Array* x : operands) device.add(*x, known.name);
  known.executable = client_for(device.device()).compile(*program.block, {.any_size = true});
  known.on_device = known.executable->on_device();
  known.binds = device.bound();
  known.bytes = known.executable->result_types()[0].bytes();
  known.weak = emitted.weak;
  if (table().size() >= kMostKnown) table().clear();
  return table().insert_or_assign(key, std::move(known)).first->second;
}

namespace {

/// Numbers of C++ go over in the dtypes that the form asks for.
Array run_on_device(const Known& known, std::span<const Array* const> operands) {
  std::vector<runtime::Buffer> in;
  for (std::size_t k = 0; k < known.from.size(); ++k) {
    const Array& x = *operands[static_cast<std::size_t>(known.from[k])];
    if (x.state()->scalar) {
      Literal number(known.executable->argument_types()[k]);
      write_scalar(*x.state()->scalar, number.dtype(), number.mutable_data());
      in.emplace_back(std::move(number));
    } else {
      in.push_back(x.buffer());
    }
  }
  std::vector<runtime::Buffer> out = known.executable->run(std::move(in));
  return concrete(std::move(out[0]).bound(known.binds), known.weak);
}

}  // namespace

Array run_known(const Known& known, std::span<const Array* const> operands) {
  if (known.on_device)
    return with_memory([&] { return Maker{known.name, {}}; }, *known.executable,
                       [&] { return run_on_device(known, operands); });
  std::array<void*, kMostOperands> in;
  alignas(16) std::array<std::byte[16], kMostOperands> numbers;
  for (std::size_t k = 0; k < known.from.size(); ++k) {
    const Array& x = *operands[static_cast<std::size_t>(known.from[k])];
    const ArrayState& state = *x.state();
    if (state.scalar) {
      write_scalar(*state.scalar, known.executable->argument_types()[k].dtype(), numbers[k]);
      in[k] = numbers[k];
    } else {
      in[k] = const_cast<std::byte*>(
          state.value ? x.buffer().data() : state.buffer.data());  // buffer() refuses traced ones
    }
  }
  const auto run = [&] {
    runtime::Buffer result(
        Literal(known.executable->result_types()[0], runtime::allocate(known.bytes)));
    void* out = result.mutable_data();
    known.executable->run_at(in.data(), &out);
    return concrete(std::move(result), known.weak);
  };
  return with_memory([&] { return Maker{known.name, {}}; }, *known.executable, run);
}

}  // namespace strata::internal
