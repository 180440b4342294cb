#include "strata/runtime/plugin/sharded.h"

#include <algorithm>
#include <set>

#include "strata/ir/bytecode/writer.h"
#include "strata/ir/pass/pass.h"
#include "strata/partition/program.h"
#include "strata/runtime/plugin/client.h"
#include "strata/runtime/plugin/compile_options.h"
#include "strata/runtime/plugin/device_client.h"
#include "strata/transform/export.h"

namespace strata::runtime::plugin {
namespace {

/// The clients of devices that run together.
std::vector<PluginClient*> clients_of(const std::vector<Device*>& devices) {
  std::vector<PluginClient*> out;
  std::set<Device*> seen;
  for (Device* d : devices) {
    auto* client = dynamic_cast<PluginClient*>(d);
    if (client == nullptr ||
        client->connection() != dynamic_cast<PluginClient*>(devices.front())->connection())
      throw Error("compile_sharded", "{} and {} are of different platforms",
                  devices.front()->to_string(), d->to_string());
    if (!seen.insert(d).second)
      throw Error("compile_sharded", "{} stands twice among the devices", d->to_string());
    out.push_back(client);
  }
  return out;
}

class PluginSharded final : public ShardedExecutable {
 public:
  PluginSharded(ir::Module& module, const std::vector<Device*>& devices,
                const ShardedOptions& options)
      : devices_(devices),
        clients_(clients_of(devices)),
        options_(options),
        c_(clients_.front()->connection()) {
    ir::Function* f = module.entry();
    if (f == nullptr) throw Error("compile_sharded", "the module has no function to run");
    for (const auto& a : f->body.arguments()) argument_types_.push_back(a->type());
    result_types_ = f->body.result_types();
    options_.donated.resize(argument_types_.size());
    for (std::size_t i = 0; i < argument_types_.size(); ++i)
      check_type(argument_types_[i], "argument", i, options_.name);
    for (std::size_t i = 0; i < result_types_.size(); ++i)
      check_type(result_types_[i], "result", i, options_.name);
    refuse_callbacks(f->body, options_.name);
    choose_shardings(*f, module);
    compile(module, *f);
  }
  ~PluginSharded() override {
    auto destroy = args<PJRT_LoadedExecutable_Destroy_Args>();
    destroy.executable = executable_;
    c_->library->drop(kLoadedExecutable_Destroy, destroy);
  }
  PluginSharded(const PluginSharded&) = delete;
  PluginSharded& operator=(const PluginSharded&) = delete;

  ShardedBuffers execute(ShardedBuffers arguments) override {
    expect_types(arguments);
    std::vector<std::vector<PluginBufferPtr>> in(devices_.size());
    std::vector<bool> gives = options_.donated;
    for (std::size_t d = 0; d < devices_.size(); ++d)
      for (std::size_t i = 0; i < argument_types_.size(); ++i) {
        Buffer& buffer = arguments[d][i];
        const bool last = buffer.there() && buffer.unique();
        in[d].push_back(clients_[d]->put(buffer, options_.name));
        buffer = Buffer();
        // Donation is of all devices' parts or of none.
        if (!last || in[d].back().use_count() != 1) gives[i] = false;
      }
    return launch(in, gives);
  }

  const std::vector<Device*>& devices() const override { return devices_; }
  const mesh::Mesh& mesh() const override { return mesh_; }
  const std::vector<mesh::TensorSharding>& argument_shardings() const override {
    return argument_shardings_;
  }
  const std::vector<mesh::TensorSharding>& result_shardings() const override {
    return result_shardings_;
  }
  const std::vector<Type>& argument_types() const override { return argument_types_; }
  const std::vector<Type>& result_types() const override { return result_types_; }
  const std::vector<Type>& local_argument_types() const override { return local_argument_types_; }
  const std::vector<Type>& local_result_types() const override { return local_result_types_; }
  const std::string& explanation() const override { return explanation_; }

 private:
  void choose_shardings(const ir::Function& f, const ir::Module& module) {
    const spmd::PartitionedProgram p =
        spmd::partition_program(f, module, {.exact = options_.exact});
    const spmd::Meshes meshes(module);
    const auto lying = [&](const spmd::Sharding& s) {
      if (s.mesh.empty()) return mesh::TensorSharding::all_closed("", s.dims.size());
      mesh_ = *meshes.find(s.mesh);
      return spmd::to_mesh(s, meshes);
    };
    for (const spmd::Sharding& s : p.argument_shardings) argument_shardings_.push_back(lying(s));
    for (const spmd::Sharding& s : p.result_shardings) result_shardings_.push_back(lying(s));
    const std::int64_t n = p.grid.devices();
    if (n != 1 && n != static_cast<std::int64_t>(devices_.size()))
      throw Error("compile_sharded", "the program is for the {} devices of {}, got {} devices", n,
                  mesh_.to_shardy(), devices_.size());
    const auto part = [&](const Type& type, const mesh::TensorSharding& s) {
      return s.mesh_name().empty() ? type
                                   : type.with(Shape::of(mesh::local_shape(s, mesh_.abstract(),
                                                                           type.shape().sizes())));
    };
    for (std::size_t i = 0; i < argument_types_.size(); ++i)
      local_argument_types_.push_back(part(argument_types_[i], argument_shardings_[i]));
    for (std::size_t r = 0; r < result_types_.size(); ++r)
      local_result_types_.push_back(part(result_types_[r], result_shardings_[r]));
  }

  void compile(ir::Module& module, ir::Function& f) {
    f.arg_attrs.resize(argument_types_.size());
    f.result_attrs.resize(result_types_.size());
    const auto say = [](ir::Attrs& attrs, const mesh::TensorSharding& s) {
      if (!s.mesh_name().empty()) attrs.set("sdy.sharding", ir::Opaque{s.to_attribute()});
    };
    for (std::size_t i = 0; i < f.arg_attrs.size(); ++i) {
      say(f.arg_attrs[i], argument_shardings_[i]);
      if (options_.donated[i]) f.arg_attrs[i].set("jax.buffer_donor", true);
    }
    for (std::size_t r = 0; r < f.result_attrs.size(); ++r)
      say(f.result_attrs[r], result_shardings_[r]);
    transform::export_stablehlo(f.body, transform::products_of(c_->platform));
    ir::outline_composites(module);
    auto code = ir::write_bytecode(module, {.release = c_->release});
    require(options_.name, code.status());
    CompileRequest request{.partitions = static_cast<std::int64_t>(devices_.size()),
                           .shardy = true};
    for (Device* d : devices_) request.devices.push_back(d->id());
    executable_ = clients_.front()->compiled(*code, compile_options(request), options_.name);
    if (Status s = check_results(*c_->library, executable_, result_types_.size()); !s.ok()) {
      auto destroy = args<PJRT_LoadedExecutable_Destroy_Args>();
      destroy.executable = executable_;
      c_->library->drop(kLoadedExecutable_Destroy, destroy);
      require(options_.name, s);
    }
  }

  ShardedBuffers launch(const std::vector<std::vector<PluginBufferPtr>>& in,
                        const std::vector<bool>& gives) {
    const std::size_t n = devices_.size();
    std::vector<std::vector<PJRT_Buffer*>> given(n), made(n);
    std::vector<PJRT_Buffer* const*> argument_lists;
    std::vector<PJRT_Buffer**> result_lists;
    for (std::size_t d = 0; d < n; ++d) {
      for (const PluginBufferPtr& buffer : in[d]) given[d].push_back(buffer->get());
      made[d].resize(result_types_.size());
      argument_lists.push_back(given[d].data());
      result_lists.push_back(made[d].data());
    }
    std::vector<std::int64_t> keeps;
    for (std::size_t i = 0; i < gives.size(); ++i)
      if (!gives[i]) keeps.push_back(static_cast<std::int64_t>(i));
    auto options = args<PJRT_ExecuteOptions>();
    options.non_donatable_input_indices = keeps.data();
    options.num_non_donatable_input_indices = keeps.size();
    auto execute = args<PJRT_LoadedExecutable_Execute_Args>();
    execute.executable = executable_;
    execute.options = &options;
    execute.argument_lists = argument_lists.data();
    execute.num_devices = n;
    execute.num_args = argument_types_.size();
    execute.output_lists = result_lists.data();
    c_->need(options_.name, c_->library->call(kLoadedExecutable_Execute, execute));
    ShardedBuffers out(n);
    for (std::size_t d = 0; d < n; ++d)
      for (std::size_t r = 0; r < result_types_.size(); ++r)
        out[d].emplace_back(local_result_types_[r],
                            std::make_shared<PluginBuffer>(c_, *clients_[d], made[d][r],
                                                           local_result_types_[r], options_.name));
    return out;
  }

  void expect_types(const ShardedBuffers& arguments) const {
    if (arguments.size() != devices_.size())
      throw Error(options_.name, "runs on {} devices, got arguments for {}", devices_.size(),
                  arguments.size());
    for (std::size_t d = 0; d < arguments.size(); ++d) {
      if (arguments[d].size() != argument_types_.size())
        throw Error(options_.name, "takes {} arguments, got {} for device {}",
                    argument_types_.size(), arguments[d].size(), d);
      for (std::size_t i = 0; i < argument_types_.size(); ++i)
        if (!(arguments[d][i].type() == local_argument_types_[i]))
          throw Error(options_.name, "a device's part of argument {} is {}, got {} for device {}",
                      i, local_argument_types_[i].to_string(), arguments[d][i].type().to_string(),
                      d);
    }
  }

  const std::vector<Device*> devices_;
  const std::vector<PluginClient*> clients_;
  ShardedOptions options_;
  const ConnectionPtr c_;
  PJRT_LoadedExecutable* executable_ = nullptr;
  mesh::Mesh mesh_;
  std::vector<mesh::TensorSharding> argument_shardings_, result_shardings_;
  std::vector<Type> argument_types_, result_types_, local_argument_types_, local_result_types_;
  const std::string explanation_;
};

}  // namespace

bool is_of_plugin(const Device& device) {
  return dynamic_cast<const PluginClient*>(&device) != nullptr;
}

std::shared_ptr<ShardedExecutable> compile_sharded(ir::Module& module,
                                                   const std::vector<Device*>& devices,
                                                   const ShardedOptions& options) {
  return std::make_shared<PluginSharded>(module, devices, options);
}

}  // namespace strata::runtime::plugin
