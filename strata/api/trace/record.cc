// Records arguments and operations in the innermost trace, with their types where meshes have
// Explicit axes, and runs operations outside of any trace (trace.h).
#include "strata/api/sharding/explicit_types.h"
#include "strata/api/sharding/placement.h"
#include "strata/api/trace/call.h"
#include "strata/api/trace/client.h"
#include "strata/api/trace/memory.h"
#include "strata/api/trace/trace.h"
#include "strata/api/transform/debug_nans.h"
#include "strata/api/transform/graph.h"
#include "strata/base/recycle.h"
#include "strata/runtime/client.h"
#include "strata/runtime/device.h"

namespace strata::internal {

Array Trace::argument(const Type& type, bool weak, std::string hint) {
  ArrayState state;
  state.argument = true;
  if (outer_site_) state.where = ir::Location(strata::describe(*outer_site_));
  const std::optional<Typed> lies =
      read_for(type, static_cast<std::size_t>(block_->num_arguments()));
  ir::Value* value = block_->add_argument(type, std::move(hint));
  return wrap(lies ? with_type(builder_, value, *lies) : value, weak, std::move(state));
}

Array concrete(runtime::Buffer buffer, bool weak) {
  auto state = std::allocate_shared<ArrayState>(Recycled<ArrayState>());
  state->type = buffer.type();
  state->weak = weak;
  state->buffer = std::move(buffer);
  return Array(std::shared_ptr<const ArrayState>(std::move(state)));
}

namespace {

ir::Location current_location() { return ir::Location(named_scope::current() + Site::text()); }

/// A mistake that an operation found, with types as users of arrays write them: operations speak
/// of programs' text.
Error in_array_notation(const Error& e) {
  Error out(e.operation(), with_array_text(e.message()));
  if (e.is_unsupported()) out.unsupported();
  return out.at(e.where().empty() ? Site::text() : e.where());
}

std::vector<Array> record(Trace& trace, std::span<const Array> operands, const EmitFunction& f,
                          const std::vector<bool>& weak) {
  trace.builder().set_location(current_location());
  const ir::Values results = [&] {
    try {
      if (!has_explicit()) return f(trace.builder(), trace.values(operands));
      const ir::Values given = trace.values(operands);
      const std::size_t first = trace.block().ops().size();
      return with_types(trace, first, operands, f(trace.builder(), given));
    } catch (const Error& e) {
      throw in_array_notation(e);
    }
  }();
  std::vector<Array> out;
  for (std::size_t i = 0; i < results.size(); ++i)
    out.push_back(trace.wrap(results[i], i < weak.size() && weak[i]));
  return out;
}

Program traced_operation(std::span<const Array> operands, const EmitFunction& f,
                         const std::vector<bool>& weak) {
  Trace trace(Trace::Kind::operation);
  return trace.finish(record(trace, operands, f, weak));
}

std::vector<Array> run(const Program& program) {
  std::vector<runtime::Buffer> arguments;
  for (const Array& a : program.captured) arguments.push_back(a.buffer());
  const std::vector<runtime::Buffer> given =
      debug_nans::enabled() ? arguments : std::vector<runtime::Buffer>();
  CallDevice device;
  for (const Array& a : program.captured) device.add(a, "the operation");
  runtime::Client* mesh = device.bound() ? nullptr : client_of_constraints(*program.block);
  const std::shared_ptr<runtime::Executable> executable =
      (mesh ? *mesh : client_for(device.device())).compile(*program.block, {.any_size = true});
  std::vector<runtime::Buffer> results =
      with_memory([&] { return maker_of(*program.block); }, *executable,
                  [&] { return executable->run(std::move(arguments)); });
  if (debug_nans::enabled()) check_nans(program.block.get(), given, results, "the operation");
  std::vector<Array> out;
  for (std::size_t i = 0; i < results.size(); ++i)
    out.push_back(
        concrete(std::move(results[i]).bound(device.bound() || mesh != nullptr), program.weak[i]));
  return out;
}

}  // namespace

std::vector<Array> emit(std::span<const Array> operands, const EmitFunction& f,
                        const std::vector<bool>& weak) {
  if (Trace* trace = Trace::current()) return record(*trace, operands, f, weak);
  return run(traced_operation(operands, f, weak));
}

Program operation_program(std::span<const Array> operands, const EmitOneFunction& f, bool weak) {
  return traced_operation(
      operands, [&](ir::Builder& b, const ir::Values& v) { return ir::Values{f(b, v)}; }, {weak});
}

Array emit_one(std::span<const Array> operands, bool weak, const EmitOneFunction& f) {
  return emit(operands, [&](ir::Builder& b, const ir::Values& v) { return ir::Values{f(b, v)}; },
              {weak})[0];
}

std::vector<Array> call(const Program& program, std::span<const Array> arguments) {
  std::vector<Array> operands(arguments.begin(), arguments.end());
  operands.insert(operands.end(), program.captured.begin(), program.captured.end());
  return emit(
      operands,
      [&](ir::Builder& b, const ir::Values& v) { return ir::inline_block(b, *program.block, v); },
      program.weak);
}

}  // namespace strata::internal
