#include "strata/runtime/plugin/client.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "strata/base/error.h"
#include "strata/ir/bytecode/writer.h"
#include "strata/ir/pass/pass.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/plugin/compile_options.h"
#include "strata/runtime/plugin/device_client.h"
#include "strata/runtime/plugin/executable_cache.h"
#include "strata/runtime/plugin/types.h"
#include "strata/transform/export.h"

namespace strata::runtime::plugin {

void check_type(const Type& type, const char* what, std::size_t i, const std::string& name) {
  if (type.is_tensor()) return;
  throw Error(name,
              "{} {} is {}: programs with effects run on the embedded CPU alone (--device=cpu)",
              what, i, type.to_string())
      .unsupported();
}

void refuse_callbacks(const ir::Block& block, const std::string& name) {
  for (const auto& op : block.ops()) {
    if (op->name() == "stablehlo.custom_call" &&
        op->attrs.get_or<std::string>("call_target_name", "") == "strata.host_callback")
      throw Error(
          name,
          "a callback or print: plugins cannot call this process; leave it out, or run the "
          "program on the embedded CPU (--device=cpu, or arguments put on devices(\"cpu\"))")
          .at(op->where.text())
          .unsupported();
    for (const auto& region : op->regions) refuse_callbacks(*region, name);
  }
}

Status PluginClient::ask() {
  auto description = args<PJRT_Device_GetDescription_Args>();
  description.device = device_;
  if (Status s = c_->library->call(kDevice_GetDescription, description); !s.ok()) return s;
  auto id = args<PJRT_DeviceDescription_Id_Args>();
  id.device_description = description.device_description;
  if (Status s = c_->library->call(kDeviceDescription_Id, id); !s.ok()) return s;
  id_ = id.id;
  // Words for people, which a plugin may lack.
  auto kind = args<PJRT_DeviceDescription_Kind_Args>();
  kind.device_description = description.device_description;
  kind_ = c_->platform;
  if (c_->library->call(kDeviceDescription_Kind, kind).ok())
    kind_.assign(kind.device_kind, kind.device_kind_size);
  auto text = args<PJRT_DeviceDescription_ToString_Args>();
  text.device_description = description.device_description;
  text_ = fmt::format("{}:{}", c_->platform, id_);
  if (c_->library->call(kDeviceDescription_ToString, text).ok())
    text_.assign(text.to_string, text.to_string_size);
  ask_memories();
  return {};
}

/// The device's memories and their kinds. A plugin that does not tell has the one.
void PluginClient::ask_memories() {
  const Library& library = *c_->library;
  auto first = args<PJRT_Device_DefaultMemory_Args>();
  auto all = args<PJRT_Device_AddressableMemories_Args>();
  first.device = all.device = device_;
  if (!library.call(kDevice_DefaultMemory, first).ok() ||
      !library.call(kDevice_AddressableMemories, all).ok())
    return;
  std::vector<PJRT_Memory*> memories{first.memory};
  for (std::size_t i = 0; i < all.num_memories; ++i)
    if (all.memories[i] != first.memory) memories.push_back(all.memories[i]);
  std::vector<std::string> kinds;
  for (PJRT_Memory* memory : memories) {
    auto kind = args<PJRT_Memory_Kind_Args>();
    kind.memory = memory;
    if (!library.call(kMemory_Kind, kind).ok()) return;
    kinds.emplace_back(kind.kind, kind.kind_size);
  }
  kinds_ = std::move(kinds);
  memories_ = std::move(memories);
}

PluginBufferPtr PluginClient::take(const Type& type, const void* data, const Literal* keep,
                                   const std::string& name, std::size_t memory) {
  auto of = args<PJRT_Client_BufferFromHostBuffer_Args>();
  const std::vector<std::int64_t> dims = type.shape().sizes();
  static const std::byte nothing[64] = {};
  of.client = c_->client;
  of.data = type.bytes() == 0 ? nothing : data;
  of.type = buffer_type(type.dtype());
  of.dims = dims.data();
  of.num_dims = dims.size();
  // Arrays do not change, so the plugin may use the memory in place for as long as it likes.
  of.host_buffer_semantics = keep != nullptr && c_->library->has(kEvent_OnReady)
                                 ? PJRT_HostBufferSemantics_kImmutableZeroCopy
                                 : PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
  of.device = device_;
  if (memory != 0) of.memory = memories_[memory];
  c_->need(name, c_->library->call(kClient_BufferFromHostBuffer, of));
  auto out = std::make_shared<PluginBuffer>(c_, *this, of.buffer, type, name, memory);
  if (of.host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableOnlyDuringCall) {
    c_->need(name, c_->library->await(of.done_with_host_buffer));
  } else if (of.done_with_host_buffer != nullptr) {
    struct Held {
      Literal literal;
      LibraryPtr library;
    };
    auto* held = new Held{*keep, c_->library};
    auto ready = args<PJRT_Event_OnReady_Args>();
    ready.event = of.done_with_host_buffer;
    ready.user_arg = held;
    ready.callback = [](PJRT_Error* error, void* given) {
      std::unique_ptr<Held> mine(static_cast<Held*>(given));
      if (error == nullptr) return;
      auto destroy = args<PJRT_Error_Destroy_Args>();
      destroy.error = error;
      mine->library->drop(kError_Destroy, destroy);
    };
    const Status told = c_->library->call(kEvent_OnReady, ready);
    auto destroy = args<PJRT_Event_Destroy_Args>();
    destroy.event = of.done_with_host_buffer;
    c_->library->drop(kEvent_Destroy, destroy);
    if (!told.ok()) c_->need(name, told);  // `held` stays: the plugin may still read it
  }
  return out;
}

PluginBufferPtr PluginClient::put(const Buffer& buffer, const std::string& name,
                                  std::size_t memory) {
  auto there = std::dynamic_pointer_cast<PluginBuffer>(buffer.there());
  if (there && &there->device() == this && there->memory() == memory) return there;
  if (there && &there->connection() == c_.get() && memories_[memory] != nullptr &&
      c_->library->has(kBuffer_CopyToMemory)) {
    auto copy = args<PJRT_Buffer_CopyToMemory_Args>();
    copy.buffer = there->get();
    copy.dst_memory = memories_[memory];
    c_->need(name, c_->library->call(kBuffer_CopyToMemory, copy));
    return std::make_shared<PluginBuffer>(c_, *this, copy.dst_buffer, buffer.type(), name, memory);
  }
  if (memory == 0 && there && &there->connection() == c_.get() &&
      c_->library->has(kBuffer_CopyToDevice)) {
    auto copy = args<PJRT_Buffer_CopyToDevice_Args>();
    copy.buffer = there->get();
    copy.dst_device = device_;
    c_->need(name, c_->library->call(kBuffer_CopyToDevice, copy));
    return std::make_shared<PluginBuffer>(c_, *this, copy.dst_buffer, buffer.type(), name);
  }
  const Literal& literal = buffer.literal();
  return take(buffer.type(), literal.data(), &literal, name, memory);
}

namespace {

class PluginExecutable final : public Executable {
 public:
  PluginExecutable(PluginClient& client, PJRT_LoadedExecutable* executable, const ir::Block& block,
                   const CompileOptions& options)
      : client_(client),
        c_(client.connection()),
        executable_(executable),
        results_(block.result_types()),
        donated_(options.donated),
        name_(options.name) {
    for (const auto& a : block.arguments()) arguments_.push_back(a->type());
    donated_.resize(arguments_.size());
  }
  ~PluginExecutable() override {
    auto destroy = args<PJRT_LoadedExecutable_Destroy_Args>();
    destroy.executable = executable_;
    c_->library->drop(kLoadedExecutable_Destroy, destroy);
  }
  PluginExecutable(const PluginExecutable&) = delete;
  PluginExecutable& operator=(const PluginExecutable&) = delete;

  bool on_device() const override { return true; }

  std::size_t temporary_bytes() const override {
    const Library& library = *c_->library;
    auto get = args<PJRT_LoadedExecutable_GetExecutable_Args>();
    get.loaded_executable = executable_;
    if (!library.call(kLoadedExecutable_GetExecutable, get).ok()) return 0;
    auto memory = args<PJRT_Executable_GetCompiledMemoryStats_Args>();
    memory.executable = get.executable;
    const bool told = library.call(kExecutable_GetCompiledMemoryStats, memory).ok();
    auto destroy = args<PJRT_Executable_Destroy_Args>();
    destroy.executable = get.executable;
    library.drop(kExecutable_Destroy, destroy);
    return told ? static_cast<std::size_t>(memory.temp_size_in_bytes) : 0;
  }

  std::vector<Buffer> run(std::vector<Buffer> arguments) override {
    check(arguments);
    std::vector<PluginBufferPtr> in;
    std::vector<bool> gives;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool last = arguments[i].there() && arguments[i].unique();
      in.push_back(client_.put(arguments[i], name_));
      arguments[i] = Buffer();
      // What was taken from memory may be that memory, which is not ours to give.
      gives.push_back(donated_[i] && last && in.back().use_count() == 1);
    }
    std::vector<Buffer> out;
    for (PluginBufferPtr& made : execute(in, gives)) {
      const Type& type = results_[out.size()];
      out.emplace_back(type, std::move(made));
    }
    return out;
  }

  std::vector<Buffer> results_for(std::vector<Buffer>& arguments) override {
    check(arguments);
    std::vector<Buffer> out;
    for (const Type& type : results_) out.emplace_back(Literal(type, allocate(type.bytes())));
    return out;
  }

  void run_at(void* const* arguments, void* const* results) override {
    std::vector<PluginBufferPtr> in;
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      in.push_back(client_.take(arguments_[i], arguments[i], nullptr, name_));
    const std::vector<PluginBufferPtr> out = execute(in, std::vector<bool>(in.size()));
    for (std::size_t r = 0; r < out.size(); ++r)
      if (results_[r].bytes() > 0)
        std::memcpy(results[r], out[r]->host().data(), results_[r].bytes());
  }
  const std::vector<Type>& argument_types() const override { return arguments_; }
  const std::vector<Type>& result_types() const override { return results_; }

 private:
  void check(const std::vector<Buffer>& arguments) const {
    if (arguments.size() != arguments_.size())
      throw Error(name_, "takes {} arguments, got {}", arguments_.size(), arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].type() != arguments_[i])
        throw Error(name_, "argument {} is {}, got {}", i, arguments_[i].to_string(),
                    arguments[i].type().to_string());
  }

  std::vector<PluginBufferPtr> execute(const std::vector<PluginBufferPtr>& in,
                                       const std::vector<bool>& gives) {
    std::vector<PJRT_Buffer*> given, made(results_.size());
    std::vector<std::int64_t> keeps;
    for (std::size_t i = 0; i < in.size(); ++i) {
      given.push_back(in[i]->get());
      if (!gives[i]) keeps.push_back(static_cast<std::int64_t>(i));
    }
    auto options = args<PJRT_ExecuteOptions>();
    options.non_donatable_input_indices = keeps.data();
    options.num_non_donatable_input_indices = keeps.size();
    PJRT_Buffer* const* argument_list = given.data();
    PJRT_Buffer** result_list = made.data();
    auto execute = args<PJRT_LoadedExecutable_Execute_Args>();
    execute.executable = executable_;
    execute.options = &options;
    execute.argument_lists = &argument_list;
    execute.num_devices = 1;
    execute.num_args = given.size();
    execute.output_lists = &result_list;
    c_->need(name_, c_->library->call(kLoadedExecutable_Execute, execute));
    std::vector<PluginBufferPtr> out;
    for (std::size_t r = 0; r < made.size(); ++r)
      out.push_back(std::make_shared<PluginBuffer>(c_, client_, made[r], results_[r], name_));
    return out;
  }

  PluginClient& client_;
  ConnectionPtr c_;
  PJRT_LoadedExecutable* executable_;
  std::vector<Type> arguments_, results_;
  std::vector<bool> donated_;
  std::string name_;
};

}  // namespace

Status check_results(const Library& library, PJRT_LoadedExecutable* loaded, std::size_t expected) {
  auto get = args<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = loaded;
  if (Status s = library.call(kLoadedExecutable_GetExecutable, get); !s.ok()) return s;
  auto count = args<PJRT_Executable_NumOutputs_Args>();
  count.executable = get.executable;
  Status out = library.call(kExecutable_NumOutputs, count);
  auto destroy = args<PJRT_Executable_Destroy_Args>();
  destroy.executable = get.executable;
  library.drop(kExecutable_Destroy, destroy);
  if (out.ok() && count.num_outputs != expected)
    return Status(Code::io, "plugin {}: the program has {} results, {} are expected",
                  library.path(), count.num_outputs, expected);
  return out;
}

std::shared_ptr<Executable> PluginClient::compile(const ir::Block& block,
                                                  const CompileOptions& options) {
  for (std::size_t i = 0; i < block.arguments().size(); ++i)
    check_type(block.arguments()[i]->type(), "argument", i, options.name);
  const std::vector<Type> results = block.result_types();
  for (std::size_t i = 0; i < results.size(); ++i)
    check_type(results[i], "result", i, options.name);
  refuse_callbacks(block, options.name);
  std::string code =
      portable_program(block, options.name, c_->release, c_->platform, options.donated);
  if (auto it = kept(code)) return it;
  const std::string request = compile_options({.devices = {id_}});
  PJRT_LoadedExecutable* loaded = compiled(code, request, options.name);
  auto out = std::make_shared<PluginExecutable>(*this, loaded, block, options);
  require(options.name, check_results(*c_->library, loaded, results.size()));
  if (options.keep) {
    std::lock_guard lock(mutex_);
    kept_.emplace(std::move(code), out);
  }
  return out;
}

namespace {

/// As bytes, where the plugin can say them.
std::optional<std::string> serialized(const Library& library, PJRT_LoadedExecutable* loaded) {
  auto get = args<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = loaded;
  if (!library.has(kExecutable_Serialize) || !library.has(kExecutable_DeserializeAndLoad) ||
      !library.call(kLoadedExecutable_GetExecutable, get).ok())
    return std::nullopt;
  std::optional<std::string> out;
  auto of = args<PJRT_Executable_Serialize_Args>();
  of.executable = get.executable;
  if (library.call(kExecutable_Serialize, of).ok()) {
    out.emplace(of.serialized_bytes, of.serialized_bytes_size);
    if (of.serialized_executable_deleter != nullptr)
      of.serialized_executable_deleter(of.serialized_executable);
  }
  auto destroy = args<PJRT_Executable_Destroy_Args>();
  destroy.executable = get.executable;
  library.drop(kExecutable_Destroy, destroy);
  return out;
}

}  // namespace

PJRT_LoadedExecutable* PluginClient::compiled(std::string& code, const std::string& request,
                                              const std::string& name) {
  const ExecutableCache cache = ExecutableCache::standard();
  const std::string key =
      fmt::format("{}{}\n{}\n", plugin_identity(c_->library->path(), c_->version, kind_), id_,
                  request.size()) +
      request + code;
  if (const std::optional<std::string> bytes = cache.read(key)) {
    auto of = args<PJRT_Executable_DeserializeAndLoad_Args>();
    of.client = c_->client;
    of.serialized_executable = bytes->data();
    of.serialized_executable_size = bytes->size();
    if (c_->library->call(kExecutable_DeserializeAndLoad, of).ok()) return of.loaded_executable;
    cache.remove(key);
  }
  std::string format = "mlir";
  PJRT_Program program{sizeof program, nullptr,       code.data(),
                       code.size(),    format.data(), format.size()};
  auto of = args<PJRT_Client_Compile_Args>();
  of.client = c_->client;
  of.program = &program;
  of.compile_options = request.data();
  of.compile_options_size = request.size();
  c_->need(name, c_->library->call(kClient_Compile, of));
  if (const std::optional<std::string> bytes = serialized(*c_->library, of.executable))
    cache.write(key, *bytes);
  return of.executable;
}

namespace {

template <class T>
std::optional<T> number(const std::string& text) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

/// Major, minor, patch of "1.12.1".
std::optional<std::array<int, 3>> release_numbers(const std::string& text) {
  std::array<int, 3> out{};
  if (std::sscanf(text.c_str(), "%d.%d.%d", &out[0], &out[1], &out[2]) != 3) return std::nullopt;
  return out;
}

}  // namespace

NamedValues::NamedValues(const std::vector<std::pair<std::string, std::string>>& values)
    : texts_(values) {
  for (const auto& [name, text] : texts_) {
    auto v = args<PJRT_NamedValue>();
    v.name = name.data();
    v.name_size = name.size();
    v.value_size = 1;
    if (const auto whole = number<std::int64_t>(text)) {
      v.type = PJRT_NamedValue::kInt64;
      v.int64_value = *whole;
    } else if (const auto real = number<float>(text)) {
      v.type = PJRT_NamedValue::kFloat;
      v.float_value = *real;
    } else if (text == "true" || text == "false") {
      v.type = PJRT_NamedValue::kBool;
      v.bool_value = text == "true";
    } else {
      v.type = PJRT_NamedValue::kString;
      v.string_value = text.data();
      v.value_size = text.size();
    }
    values_.push_back(v);
  }
}

std::string release_for(const Library& library) {
  constexpr std::array<int, 3> newest = {1, 20, 0};
  for (const auto& [name, value] : library.attributes()) {
    if (name != "stablehlo_current_version") continue;
    const auto theirs = release_numbers(value);
    if (theirs) return *theirs < newest ? value : "1.20.0";
  }
  return "1.10.0";  // a plugin that says nothing is taken for an old one
}

std::string portable_program(const ir::Block& block, const std::string& name,
                             const std::string& release, const std::string& platform,
                             const std::vector<bool>& donated) {
  ir::Module module;
  module.name = name;
  ir::Function& f = module.add("main");
  ir::Builder b(f.body);
  ir::Values arguments;
  for (const auto& a : block.arguments()) arguments.push_back(f.body.add_argument(a->type()));
  f.body.results = ir::inline_block(b, block, arguments);
  f.arg_attrs.resize(block.arguments().size());
  for (std::size_t i = 0; i < donated.size() && i < f.arg_attrs.size(); ++i)
    if (donated[i]) f.arg_attrs[i].set("jax.buffer_donor", true);
  transform::export_stablehlo(f.body, transform::products_of(platform));
  ir::outline_composites(module);
  auto bytes = ir::write_bytecode(module, {.release = release});
  require(name, bytes.status());
  return *std::move(bytes);
}

namespace {

struct Opened {
  ConnectionPtr connection;
  std::vector<PJRT_Device*> devices;
};

Result<Opened> open(const ClientOptions& options) {
  auto library = Library::open(options.library);
  if (!library) return library.status();
  const NamedValues create_options(options.create);
  auto create = args<PJRT_Client_Create_Args>();
  create.create_options = create_options.data();
  create.num_options = create_options.size();
  if (Status s = (*library)->call(kClient_Create, create); !s.ok()) return s;
  auto c = std::make_shared<Connection>(*library, create.client);
  auto name = args<PJRT_Client_PlatformName_Args>();
  name.client = c->client;
  if (Status s = c->library->call(kClient_PlatformName, name); !s.ok()) return s;
  c->platform.assign(name.platform_name, name.platform_name_size);
  auto version = args<PJRT_Client_PlatformVersion_Args>();
  version.client = c->client;
  if (c->library->call(kClient_PlatformVersion, version).ok())
    c->version.assign(version.platform_version, version.platform_version_size);
  auto devices = args<PJRT_Client_AddressableDevices_Args>();
  devices.client = c->client;
  if (Status s = c->library->call(kClient_AddressableDevices, devices); !s.ok()) return s;
  c->release = release_for(*c->library);
  return Opened{
      c, std::vector<PJRT_Device*>(devices.addressable_devices,
                                   devices.addressable_devices + devices.num_addressable_devices)};
}

Result<std::unique_ptr<Client>> client_of(const Opened& opened, PJRT_Device* device) {
  auto out = std::make_unique<PluginClient>(opened.connection, device);
  if (Status s = out->ask(); !s.ok()) return s;
  return std::unique_ptr<Client>(std::move(out));
}

}  // namespace

Result<std::unique_ptr<Client>> make_client(const ClientOptions& options) {
  auto opened = open(options);
  if (!opened) return opened.status();
  if (options.device < 0 || static_cast<std::size_t>(options.device) >= opened->devices.size())
    return Status(Code::invalid, "plugin {}: no device {}: it has {}", options.library,
                  options.device, opened->devices.size());
  return client_of(*opened, opened->devices[static_cast<std::size_t>(options.device)]);
}

Result<std::vector<std::unique_ptr<Client>>> make_clients(const ClientOptions& options) {
  auto opened = open(options);
  if (!opened) return opened.status();
  std::vector<std::unique_ptr<Client>> out;
  for (PJRT_Device* device : opened->devices) {
    auto client = client_of(*opened, device);
    if (!client) return client.status();
    out.push_back(std::move(*client));
  }
  return out;
}

}  // namespace strata::runtime::plugin
