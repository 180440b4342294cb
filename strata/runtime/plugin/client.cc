#include "strata/runtime/plugin/client.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>

#include "strata/base/error.h"
#include "strata/ir/bytecode/writer.h"
#include "strata/ir/pass/pass.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/plugin/compile_options.h"
#include "strata/runtime/plugin/types.h"
#include "strata/transform/export.h"

namespace strata::runtime::plugin {
namespace {

/// The client's objects, which go in the order that plugins ask for: what was made of a client
/// before the client.
struct Connection {
  Connection(LibraryPtr l, PJRT_Client* c) : library(std::move(l)), client(c) {}
  ~Connection() {
    auto destroy = args<PJRT_Client_Destroy_Args>();
    destroy.client = client;
    library->drop(kClient_Destroy, destroy);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  LibraryPtr library;
  PJRT_Client* client;
  PJRT_Device* device = nullptr;
  int device_id = 0;
  std::string platform, release;
};
using ConnectionPtr = std::shared_ptr<Connection>;

/// Throws for a failure.
void require(const std::string& name, const Status& status) {
  if (status.ok()) return;
  Error error(name, "{}", status.message());
  if (status.code() == Code::unsupported) error.unsupported();
  throw error;
}

/// A buffer of the plugin's.
class DeviceBuffer {
 public:
  DeviceBuffer(const Connection& c, PJRT_Buffer* buffer) : c_(&c), buffer_(buffer) {}
  DeviceBuffer(DeviceBuffer&& o) noexcept : c_(o.c_), buffer_(std::exchange(o.buffer_, nullptr)) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  ~DeviceBuffer() {
    if (buffer_ == nullptr) return;
    auto destroy = args<PJRT_Buffer_Destroy_Args>();
    destroy.buffer = buffer_;
    c_->library->drop(kBuffer_Destroy, destroy);
  }
  PJRT_Buffer* get() const { return buffer_; }

 private:
  const Connection* c_;
  PJRT_Buffer* buffer_;
};

DeviceBuffer to_device(const Connection& c, const Type& type, const void* data,
                       const std::string& name) {
  auto of = args<PJRT_Client_BufferFromHostBuffer_Args>();
  const std::vector<std::int64_t> dims = type.shape().sizes();
  static const std::byte nothing[64] = {};
  of.client = c.client;
  of.data = type.bytes() == 0 ? nothing : data;
  of.type = buffer_type(type.dtype());
  of.dims = dims.data();
  of.num_dims = dims.size();
  of.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
  of.device = c.device;
  require(name, c.library->call(kClient_BufferFromHostBuffer, of));
  DeviceBuffer out(c, of.buffer);
  require(name, c.library->await(of.done_with_host_buffer));
  return out;
}

void to_host(const Connection& c, const DeviceBuffer& buffer, const Type& type, void* data,
             const std::string& name) {
  if (type.bytes() == 0) return;
  std::vector<std::int64_t> order;  // row-major, whatever the device prefers
  for (int d = type.rank() - 1; d >= 0; --d) order.push_back(d);
  PJRT_Buffer_MemoryLayout layout{};
  layout.struct_size = sizeof layout;
  layout.type = PJRT_Buffer_MemoryLayout::kTiled;
  layout.tiled.struct_size = sizeof layout.tiled;
  layout.tiled.minor_to_major = order.data();
  layout.tiled.minor_to_major_size = order.size();
  auto of = args<PJRT_Buffer_ToHostBuffer_Args>();
  of.src = buffer.get();
  of.host_layout = &layout;
  require(name, c.library->call(kBuffer_ToHostBuffer, of));  // asks the size
  if (of.dst_size != type.bytes())
    throw Error(name, "plugin {} keeps {} in {} bytes; {} are expected", c.library->path(),
                type.to_string(), of.dst_size, type.bytes());
  of.dst = data;
  require(name, c.library->call(kBuffer_ToHostBuffer, of));
  require(name, c.library->await(of.event));
}

void check_type(const Type& type, const char* what, std::size_t i, const std::string& name) {
  if (type.is_tensor()) return;
  throw Error(name, "{} {} is {}: programs with effects run on the embedded CPU alone", what, i,
              type.to_string())
      .unsupported();
}

class PluginExecutable : public Executable {
 public:
  PluginExecutable(ConnectionPtr c, PJRT_LoadedExecutable* executable, const ir::Block& block,
                   std::string name)
      : c_(std::move(c)),
        executable_(executable),
        results_(block.result_types()),
        name_(std::move(name)) {
    for (const auto& a : block.arguments()) arguments_.push_back(a->type());
  }
  ~PluginExecutable() override {
    auto destroy = args<PJRT_LoadedExecutable_Destroy_Args>();
    destroy.executable = executable_;
    c_->library->drop(kLoadedExecutable_Destroy, destroy);
  }
  PluginExecutable(const PluginExecutable&) = delete;
  PluginExecutable& operator=(const PluginExecutable&) = delete;

  std::vector<Buffer> results_for(std::vector<Buffer>& arguments) override {
    if (arguments.size() != arguments_.size())
      throw Error(name_, "takes {} arguments, got {}", arguments_.size(), arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].type() != arguments_[i])
        throw Error(name_, "argument {} is {}, got {}", i, arguments_[i].to_string(),
                    arguments[i].type().to_string());
    std::vector<Buffer> out;
    for (const Type& type : results_) out.emplace_back(Literal(type, allocate(type.bytes())));
    return out;
  }

  void run_at(void* const* arguments, void* const* results) override {
    std::vector<DeviceBuffer> in, out;
    std::vector<PJRT_Buffer*> given, made(results_.size());
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      in.push_back(to_device(*c_, arguments_[i], arguments[i], name_));
      given.push_back(in.back().get());
    }
    auto options = args<PJRT_ExecuteOptions>();
    PJRT_Buffer* const* argument_list = given.data();
    PJRT_Buffer** result_list = made.data();
    PJRT_Event* done = nullptr;
    auto execute = args<PJRT_LoadedExecutable_Execute_Args>();
    execute.executable = executable_;
    execute.options = &options;
    execute.argument_lists = &argument_list;
    execute.num_devices = 1;
    execute.num_args = given.size();
    execute.output_lists = &result_list;
    execute.device_complete_events = &done;
    require(name_, c_->library->call(kLoadedExecutable_Execute, execute));
    for (PJRT_Buffer* b : made) out.emplace_back(*c_, b);
    require(name_, c_->library->await(done));
    for (std::size_t r = 0; r < out.size(); ++r)
      to_host(*c_, out[r], results_[r], results[r], name_);
  }
  const std::vector<Type>& argument_types() const override { return arguments_; }
  const std::vector<Type>& result_types() const override { return results_; }

 private:
  ConnectionPtr c_;
  PJRT_LoadedExecutable* executable_;
  std::vector<Type> arguments_, results_;
  std::string name_;
};

/// The number of results as the plugin has compiled it.
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

class PluginClient : public Client {
 public:
  explicit PluginClient(ConnectionPtr c) : c_(std::move(c)) {}
  std::string platform() const override { return c_->platform; }

  std::shared_ptr<Executable> compile(const ir::Block& block,
                                      const CompileOptions& options) override {
    for (std::size_t i = 0; i < block.arguments().size(); ++i)
      check_type(block.arguments()[i]->type(), "argument", i, options.name);
    const std::vector<Type> results = block.result_types();
    for (std::size_t i = 0; i < results.size(); ++i)
      check_type(results[i], "result", i, options.name);
    std::string code = portable_program(block, options.name, c_->release);
    if (auto it = kept(code)) return it;
    std::string format = "mlir";
    const std::string request = compile_options({.devices = {c_->device_id}});
    PJRT_Program program{sizeof program, nullptr,       code.data(),
                         code.size(),    format.data(), format.size()};
    auto of = args<PJRT_Client_Compile_Args>();
    of.client = c_->client;
    of.program = &program;
    of.compile_options = request.data();
    of.compile_options_size = request.size();
    require(options.name, c_->library->call(kClient_Compile, of));
    auto out = std::make_shared<PluginExecutable>(c_, of.executable, block, options.name);
    require(options.name, check_results(*c_->library, of.executable, results.size()));
    if (options.keep) {
      std::lock_guard lock(mutex_);
      kept_.emplace(std::move(code), out);
    }
    return out;
  }

 private:
  std::shared_ptr<Executable> kept(const std::string& code) {
    std::lock_guard lock(mutex_);
    auto it = kept_.find(code);
    return it == kept_.end() ? nullptr : it->second;
  }
  ConnectionPtr c_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Executable>> kept_;  // by their programs
};

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
                             const std::string& release) {
  ir::Module module;
  module.name = name;
  ir::Function& f = module.add("main");
  ir::Builder b(f.body);
  ir::Values arguments;
  for (const auto& a : block.arguments()) arguments.push_back(f.body.add_argument(a->type()));
  f.body.results = ir::inline_block(b, block, arguments);
  transform::export_stablehlo(f.body);
  ir::outline_composites(module);
  auto bytes = ir::write_bytecode(module, {.release = release});
  require(name, bytes.status());
  return *std::move(bytes);
}

Result<std::unique_ptr<Client>> make_client(const ClientOptions& options) {
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
  auto devices = args<PJRT_Client_AddressableDevices_Args>();
  devices.client = c->client;
  if (Status s = c->library->call(kClient_AddressableDevices, devices); !s.ok()) return s;
  if (options.device < 0 ||
      static_cast<std::size_t>(options.device) >= devices.num_addressable_devices)
    return Status(Code::invalid, "plugin {}: no device {}: it has {}", options.library,
                  options.device, devices.num_addressable_devices);
  c->device = devices.addressable_devices[options.device];
  auto description = args<PJRT_Device_GetDescription_Args>();
  description.device = c->device;
  if (Status s = c->library->call(kDevice_GetDescription, description); !s.ok()) return s;
  auto id = args<PJRT_DeviceDescription_Id_Args>();
  id.device_description = description.device_description;
  if (Status s = c->library->call(kDeviceDescription_Id, id); !s.ok()) return s;
  c->device_id = id.id;
  c->release = release_for(*c->library);
  return std::unique_ptr<Client>(std::make_unique<PluginClient>(std::move(c)));
}

}  // namespace strata::runtime::plugin
