#include "strata/pjrt/executable.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

#include "strata/base/format/protobuf.h"
#include "strata/op/collective/lockstep.h"
#include "strata/op/foreign/foreign.h"
#include "strata/pjrt/buffer.h"
#include "strata/pjrt/functions.h"
#include "strata/pjrt/profiler/profile.h"
#include "strata/pjrt/types.h"

namespace strata::pjrt {
namespace {

/// Shorter runs are done by the caller: handing one over and waiting for it costs about 0.1 ms, a
/// tenth of such a run.
constexpr double kShort_s = 1e-3;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::size_t bytes_of_all(const std::vector<Type>& types) {
  std::size_t out = 0;
  for (const Type& t : types) out += bytes_of(t);
  return out;
}

void kinds(const std::vector<std::string>& from, std::vector<const char*>& names,
           std::vector<std::size_t>& sizes) {
  for (const std::string& kind : from) {
    names.push_back(kind.data());
    sizes.push_back(kind.size());
  }
}

PJRT_NamedValue named(const char* name, double value) {
  PJRT_NamedValue out{sizeof(PJRT_NamedValue), nullptr, name, std::strlen(name),
                      PJRT_NamedValue::kFloat, {},      1};
  out.float_value = static_cast<float>(value);
  return out;
}

/// Types as the framework sees them: compiled, a token is an array of no elements.
std::vector<Type> result_types(const Program& program) {
  std::vector<Type> out = program.executable->result_types();
  for (std::size_t r = 0; r < out.size(); ++r)
    out[r] =
        program.result_tokens[r] ? Type::token() : as_it_is_seen(out[r], program.result_orders[r]);
  return out;
}

std::unique_ptr<PJRT_Executable> described(std::shared_ptr<Program> program) {
  auto out = std::make_unique<PJRT_Executable>();
  kinds(program->result_kinds, out->result_kinds, out->result_kind_sizes);
  kinds(program->argument_kinds, out->argument_kinds, out->argument_kind_sizes);
  for (const Type& type : result_types(*program)) {
    out->result_types.push_back(buffer_type(type));
    const std::vector<std::int64_t> dims =
        type.is_token() ? std::vector<std::int64_t>() : type.shape().sizes();
    out->result_dims.insert(out->result_dims.end(), dims.begin(), dims.end());
    out->result_ranks.push_back(dims.size());
  }
  out->cost = {named("flops", program->flops), named("bytes accessed", program->bytes_accessed)};
  out->program = std::move(program);
  return out;
}

PJRT_LoadedExecutable* loaded(PJRT_Client& client, std::shared_ptr<Program> program) {
  auto out = std::make_unique<PJRT_LoadedExecutable>();
  out->client = &client;
  const CompileOptions& options = program->options;
  for (std::int64_t id : options.devices) {
    PJRT_Device* device =
        device_of(client, static_cast<int>(std::clamp<std::int64_t>(id, -1, 1 << 20)));
    if (std::find(out->devices.begin(), out->devices.end(), device) != out->devices.end())
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "{}: device {} stands twice in the assignment",
           program->name, id);
    const auto i = static_cast<std::int64_t>(out->devices.size());
    out->logical_ids.push_back(
        {static_cast<int>(i / options.partitions), static_cast<int>(i % options.partitions)});
    out->devices.push_back(device);
  }
  out->program = std::move(program);
  return out.release();
}

// ---- a run -------------------------------------------------------------------------------------

/// All that a run needs, whoever asked for it.
struct Run {
  std::shared_ptr<Program> program;
  std::vector<std::shared_ptr<Contents>> arguments, results;
  std::vector<std::shared_ptr<Ready>> before;  // what must be there
  std::vector<void*> in, out;
  FfiRun ffi;                                        // for handlers of custom calls
  std::shared_ptr<op::Lockstep> together = nullptr;  // of a program of several devices
  int place = 0;                                     // which of them this is
  std::shared_ptr<Ready> done = std::make_shared<Ready>();

  void operator()() {
    Problem problem;
    for (const auto& ready : before)
      if (const PJRT_Error* error = ready->wait()) problem = *error;
    if (!problem) {
      try {
        const double start = now();
        op::foreign::WithContext with(&ffi);
        const op::WithParticipant here({together.get(), place});
        if (const auto profile = running_profile())
          profile->run(program, static_cast<int>(ffi.device), in.data(), out.data());
        else
          program->executable->run_at(in.data(), out.data());
        program->last_s = now() - start;
      } catch (...) {
        problem = caught();
        if (ffi.error_code != 0) problem->code = static_cast<PJRT_Error_Code>(ffi.error_code);
      }
    }
    if (together) together->end(place, problem ? problem->message : "");
    arguments.clear();  // what was given away is gone before anybody hears that the run is done
    done->set(std::move(problem));
  }
};

/// Whether memory given away by this call may be taken.
bool may_take(const PJRT_Buffer& buffer, const Contents& contents) {
  return !buffer.has_external_references() && !contents.foreign && contents.array.unique();
}

/// The arguments that the call gives away, which must be given once.
std::vector<bool> donations(const Program& program, const PJRT_ExecuteOptions* options,
                            std::span<PJRT_Buffer* const> arguments) {
  std::vector<bool> out = program.donated;
  if (options != nullptr)
    for (std::size_t i = 0; i < options->num_non_donatable_input_indices; ++i)
      if (const std::int64_t at = options->non_donatable_input_indices[i];
          at >= 0 && at < static_cast<std::int64_t>(out.size()))
        out[static_cast<std::size_t>(at)] = false;
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t k = 0; out[i] && k < arguments.size(); ++k)
      if (k != i && arguments[k] == arguments[i])
        fail(PJRT_Error_Code_INVALID_ARGUMENT, "{}: argument {} is donated and is argument {} too",
             program.name, i, k);
  return out;
}

/// Sets up a run; buffers that it takes are deleted, unless someone outside looks at them.
Run prepare(const PJRT_LoadedExecutable& loaded, std::size_t place,
            const PJRT_ExecuteOptions* options, std::span<PJRT_Buffer* const> arguments) {
  PJRT_Device* const device = loaded.devices[place];
  const Program& program = *loaded.program;
  if (arguments.size() != program.donated.size())
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} takes {} arguments, got {}", program.name,
         program.donated.size(), arguments.size());
  const std::vector<bool> donated = donations(program, options, arguments);
  Run run{.program = loaded.program};
  if (options != nullptr && options->context != nullptr) run.ffi = options->context->user_data;
  if (options != nullptr) run.ffi.run_id = options->launch_id;
  run.ffi.device = device->description.id;
  run.place = static_cast<int>(place);
  std::vector<runtime::Buffer> arrays;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i]->memory->device != device)
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "{}: argument {} lies on {}, the program runs on {}",
           program.name, i, arguments[i]->memory->device->description.debug,
           device->description.debug);
    if (const Order& order = program.argument_orders[i];
        !program.argument_tokens[i] && arguments[i]->minor_to_major != order)
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "{}: argument {} lies in the order {}, not {}",
           program.name, i, to_string(arguments[i]->minor_to_major), to_string(order));
    run.arguments.push_back(arguments[i]->hold());
    run.in.push_back(const_cast<std::byte*>(run.arguments[i]->array.data()));
    if (!arguments[i]->ready->is_set() || arguments[i]->ready->outcome())
      run.before.push_back(arguments[i]->ready);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (program.argument_tokens[i] && bytes_of(arguments[i]->type) == 0) {
      arrays.emplace_back(Literal(program.executable->argument_types()[i],
                                  run.arguments[i]->array.literal().storage()));
      continue;
    }
    const bool take = donated[i] && may_take(*arguments[i], *run.arguments[i]);
    if (take)
      arrays.push_back(std::move(run.arguments[i]->array));
    else
      arrays.push_back(run.arguments[i]->array);
    if (donated[i] && !arguments[i]->has_external_references()) arguments[i]->drop();
  }
  std::vector<runtime::Buffer> results = program.executable->results_for(arrays);
  for (std::size_t i = 0; i < arrays.size();
       ++i)  // taken, but for no result: it lives as long as the run
    if (run.arguments[i]->array.data() == nullptr) run.arguments[i]->array = std::move(arrays[i]);
  for (std::size_t r = 0; r < results.size(); ++r) {
    run.out.push_back(results[r].mutable_data());
    run.results.push_back(std::make_shared<Contents>());
    run.results.back()->array =
        program.result_tokens[r]
            ? runtime::Buffer(Literal(Type::token(), results[r].literal().storage()))
            : std::move(results[r]);
  }
  return run;
}

}  // namespace

void LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args& args) {
  PJRT_LoadedExecutable& loaded = *args.executable;
  if (loaded.deleted)
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} was deleted", loaded.program->name);
  const std::size_t n = loaded.devices.size();
  if (args.num_devices != n)
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} runs on {} devices, got arguments for {}",
         loaded.program->name, n, args.num_devices);
  if (args.execute_device != nullptr && (n != 1 || args.execute_device != loaded.devices[0]))
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} was compiled for {}", loaded.program->name,
         loaded.devices[0]->description.debug);
  struct Asked {
    std::vector<std::shared_ptr<Contents>> results;
    std::shared_ptr<Ready> done;
  };
  std::vector<Asked> asked;
  if (n == 1) {
    Run run = prepare(loaded, 0, args.options, {args.argument_lists[0], args.num_args});
    asked.push_back({run.results, run.done});
    Queue& queue = *loaded.devices[0]->queue;
    if (queue.is_mine() || (loaded.program->last_s < kShort_s && queue.idle()))
      run();
    else
      queue.submit(std::move(run));
  } else {
    std::vector<Run> runs;
    const auto together = std::make_shared<op::Lockstep>(loaded.program->options.replicas,
                                                         loaded.program->options.partitions);
    for (std::size_t d = 0; d < n; ++d) {
      runs.push_back(prepare(loaded, d, args.options, {args.argument_lists[d], args.num_args}));
      runs.back().together = together;
      asked.push_back({runs.back().results, runs.back().done});
    }
    std::lock_guard lock(op::Lockstep::order());
    for (std::size_t d = 0; d < n; ++d) loaded.devices[d]->queue->submit(std::move(runs[d]));
  }
  // Who brought a handler hears of its failure from this call, as by XLA's CPU: nothing may be left
  // that runs it when a process ends.
  if (loaded.program->calls_out) {
    const PJRT_Error* first = nullptr;
    for (const Asked& a : asked)
      if (const PJRT_Error* error = a.done->wait(); error != nullptr && first == nullptr)
        first = error;
    if (first) throw Failure(*first);
  }
  for (std::size_t d = 0; d < n; ++d) {
    for (std::size_t r = 0; r < asked[d].results.size(); ++r)
      args.output_lists[d][r] =
          make_buffer(*memory_of(*loaded.devices[d], loaded.program->result_kinds[r]),
                      asked[d].results[r], asked[d].done, loaded.program->result_orders[r])
              .release();
    if (args.device_complete_events != nullptr)
      args.device_complete_events[d] = new PJRT_Event{{}, asked[d].done};
  }
}

// ---- compilation -------------------------------------------------------------------------------

void Client_Compile(PJRT_Client_Compile_Args& args) {
  const std::string_view format(args.program->format, args.program->format_size);
  if (format != "mlir")
    fail(PJRT_Error_Code_UNIMPLEMENTED, "programs in format {}; there is mlir", format);
  args.executable =
      loaded(*args.client, compile_program({args.program->code, args.program->code_size},
                                           {args.compile_options, args.compile_options_size}));
}

void Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args& args) {
  std::string_view other;
  if (args.struct_size >= offsetof(PJRT_Executable_DeserializeAndLoad_Args, load_options) &&
      args.overridden_serialized_compile_options != nullptr)
    other = {args.overridden_serialized_compile_options,
             args.overridden_serialized_compile_options_size};
  args.loaded_executable =
      loaded(*args.client,
             read_program({args.serialized_executable, args.serialized_executable_size}, other));
}

}  // namespace strata::pjrt

struct PJRT_SerializedExecutable : PJRT_Object {
  std::string bytes;
};
struct PJRT_DeviceAssignmentSerialized : PJRT_Object {
  std::string bytes;
};
struct PJRT_SerializedCompileOptions : PJRT_Object {
  std::string bytes;
};

namespace strata::pjrt {

void Executable_Serialize(PJRT_Executable_Serialize_Args& args) {
  auto* out = new PJRT_SerializedExecutable{{}, args.executable->program->serialize()};
  give(out->bytes, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable = out;
  args.serialized_executable_deleter = [](PJRT_SerializedExecutable* e) { delete e; };
}

void Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args& args) {
  auto* out = new PJRT_SerializedCompileOptions{{}, args.executable->program->options_bytes};
  give(out->bytes, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_compile_options = out;
  args.serialized_compile_options_deleter = [](PJRT_SerializedCompileOptions* o) { delete o; };
}

// ---- what a program is -------------------------------------------------------------------------

void Executable_Destroy(PJRT_Executable_Destroy_Args& args) { delete args.executable; }
void Executable_Name(PJRT_Executable_Name_Args& args) {
  give(args.executable->program->name, args.executable_name, args.executable_name_size);
}
void Executable_NumReplicas(PJRT_Executable_NumReplicas_Args& args) {
  args.num_replicas = static_cast<std::size_t>(args.executable->program->options.replicas);
}
void Executable_NumPartitions(PJRT_Executable_NumPartitions_Args& args) {
  args.num_partitions = static_cast<std::size_t>(args.executable->program->options.partitions);
}
void Executable_NumOutputs(PJRT_Executable_NumOutputs_Args& args) {
  args.num_outputs = args.executable->result_types.size();
}
void Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args&) {
  fail(PJRT_Error_Code_UNIMPLEMENTED, "code is shared by programs: its size is not one program's");
}
void Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args& args) {
  args.properties = args.executable->cost.data();
  args.num_properties = args.executable->cost.size();
}
void Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args& args) {
  args.num_outputs = args.executable->result_kinds.size();
  args.memory_kinds = args.executable->result_kinds.data();
  args.memory_kind_sizes = args.executable->result_kind_sizes.data();
}
void Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args& args) {
  args.num_parameters = args.executable->argument_kinds.size();
  args.memory_kinds = args.executable->argument_kinds.data();
  args.memory_kind_sizes = args.executable->argument_kind_sizes.data();
}
void Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args& args) {
  static constexpr std::string_view kFormat = "mlir";
  std::string& shown = args.executable->shown;
  if (args.program->code == nullptr) {
    shown = shown_program(*args.executable->program);
    args.program->code_size = shown.size();
  } else {
    if (args.program->code_size < shown.size())
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} bytes do not hold the program",
           args.program->code_size);
    std::memcpy(args.program->code, shown.data(), shown.size());
  }
  args.program->format = kFormat.data();
  args.program->format_size = kFormat.size();
}
void Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args& args) {
  args.output_types = args.executable->result_types.data();
  args.num_output_types = args.executable->result_types.size();
}
void Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args& args) {
  args.num_outputs = args.executable->result_ranks.size();
  args.dims = args.executable->result_dims.data();
  args.dim_sizes = args.executable->result_ranks.data();
}
void Executable_Fingerprint(PJRT_Executable_Fingerprint_Args& args) {
  give(args.executable->program->fingerprint, args.executable_fingerprint,
       args.executable_fingerprint_size);
}
void Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args& args) {
  const Program& program = *args.executable->program;
  const runtime::Executable& e = *program.executable;
  const auto size = args.struct_size;
  std::size_t donated = 0;
  for (std::size_t i = 0; i < program.donated.size(); ++i)
    if (program.donated[i]) donated += bytes_of(e.argument_types()[i]);
  std::memset(reinterpret_cast<char*>(&args) + offsetof(PJRT_Executable_GetCompiledMemoryStats_Args,
                                                        generated_code_size_in_bytes),
              0,
              std::min(size, sizeof(args)) - offsetof(PJRT_Executable_GetCompiledMemoryStats_Args,
                                                      generated_code_size_in_bytes));
  args.argument_size_in_bytes = static_cast<std::int64_t>(bytes_of_all(e.argument_types()));
  args.output_size_in_bytes = static_cast<std::int64_t>(bytes_of_all(e.result_types()));
  args.alias_size_in_bytes =
      static_cast<std::int64_t>(std::min(donated, bytes_of_all(e.result_types())));
  args.temp_size_in_bytes = static_cast<std::int64_t>(e.temporary_bytes());
  if (size > offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, peak_memory_in_bytes))
    args.peak_memory_in_bytes = args.argument_size_in_bytes + args.output_size_in_bytes +
                                args.temp_size_in_bytes - args.alias_size_in_bytes;
}

void LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args& args) { delete args.executable; }
void LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args& args) {
  args.executable = described(args.loaded_executable->program).release();
}
void LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args& args) {
  args.addressable_devices = args.executable->devices.data();
  args.num_addressable_devices = args.executable->devices.size();
}
void LoadedExecutable_AddressableDeviceLogicalIds(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args& args) {
  args.addressable_device_logical_ids = args.executable->logical_ids.data();
  args.num_addressable_device_logical_ids = args.executable->logical_ids.size();
}
void LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args& args) {
  args.executable->deleted = true;
}
void LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args& args) {
  args.is_deleted = args.executable->deleted;
}
void LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args& args) {
  give(args.executable->program->fingerprint, args.executable_fingerprint,
       args.executable_fingerprint_size);
}
void LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args& args) {
  // xla.DeviceAssignmentProto {replica_count, computation_count, computation_devices of each
  // partition {replica_device_ids}}
  const CompileOptions& options = args.executable->program->options;
  protobuf::Writer all;
  all.integer(1, options.replicas).integer(2, options.partitions);
  for (std::int64_t p = 0; p < options.partitions; ++p) {
    protobuf::Writer devices;
    for (std::int64_t r = 0; r < options.replicas; ++r) {
      const auto at = static_cast<std::size_t>(r * options.partitions + p);
      devices.integer(1, args.executable->devices[at]->description.id);
    }
    all.message(3, devices);
  }
  auto* out = new PJRT_DeviceAssignmentSerialized{{}, std::move(all).take()};
  give(out->bytes, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_device_assignment = out;
  args.serialized_device_assignment_deleter = [](PJRT_DeviceAssignmentSerialized* a) { delete a; };
}

void ExecuteContext_Create(PJRT_ExecuteContext_Create_Args& args) {
  args.context = new PJRT_ExecuteContext;
}
void ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args& args) { delete args.context; }

}  // namespace strata::pjrt
