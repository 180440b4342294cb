// Compiles a program for several devices (sharded.h): CPUs here, or a plugin's by its own compiler.
#include <algorithm>
#include <mutex>
#include <set>

#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/ir/fingerprint.h"
#include "strata/ir/pass/pass.h"
#include "strata/op/collective/collective_calls.h"
#include "strata/op/collective/lockstep.h"
#include "strata/partition/addends/join_reduces.h"
#include "strata/partition/program.h"
#include "strata/runtime/cpu_devices.h"
#include "strata/runtime/device.h"
#include "strata/runtime/distributed/devices.h"
#include "strata/runtime/plugin/sharded.h"
#include "strata/runtime/sharded.h"

namespace strata::runtime {
namespace {

class CpuSharded final : public ShardedExecutable {
 public:
  CpuSharded(ir::Module& module, const std::vector<Device*>& devices, const ShardedOptions& options)
      : devices_(devices), options_(options) {
    ir::Function* f = module.entry();
    if (f == nullptr) throw Error("compile_sharded", "the module has no function to run");
    for (const auto& a : f->body.arguments()) argument_types_.push_back(a->type());
    result_types_ = f->body.result_types();
    spmd::PartitionedProgram p = spmd::partition_program(*f, module, {.exact = options.exact});
    const spmd::Meshes meshes(module);
    const auto lying = [&](const spmd::Sharding& s) {
      return s.mesh.empty() ? mesh::TensorSharding::all_closed("", s.dims.size())
                            : spmd::to_mesh(s, meshes);
    };
    for (const spmd::Sharding& s : p.argument_shardings) {
      if (!s.mesh.empty()) mesh_ = *meshes.find(s.mesh);
      argument_shardings_.push_back(lying(s));
    }
    for (const spmd::Sharding& s : p.result_shardings) {
      if (!s.mesh.empty()) mesh_ = *meshes.find(s.mesh);
      result_shardings_.push_back(lying(s));
    }
    explanation_ = std::move(p.explanation);
    const std::int64_t n = p.grid.devices();
    if (n != 1 && n != static_cast<std::int64_t>(devices.size()))
      throw Error("compile_sharded", "the program is for the {} devices of {}, got {} devices", n,
                  mesh_.to_shardy(), devices.size());
    spmd::join_all_reduces(p.function->body);
    compile(p.function->body);
  }
  CpuSharded(ir::Block& body, const std::vector<Device*>& devices, const ShardedOptions& options)
      : devices_(devices), options_(options) {
    for (const auto& a : body.arguments()) argument_types_.push_back(a->type());
    result_types_ = body.result_types();
    const auto whole = [](const Type& t) {
      return mesh::TensorSharding::all_closed(
          "", t.is_tensor() ? static_cast<std::size_t>(t.rank()) : 0);
    };
    for (const Type& t : argument_types_) argument_shardings_.push_back(whole(t));
    for (const Type& t : result_types_) result_shardings_.push_back(whole(t));
    compile(body);
  }

  ShardedBuffers execute(ShardedBuffers arguments) override {
    if (arguments.size() != devices_.size())
      throw Error(options_.name, "runs on {} devices, got arguments for {}", devices_.size(),
                  arguments.size());
    for (std::size_t d = 0; d < arguments.size(); ++d)
      if (distributed::is_here(*devices_[d])) expect_types(arguments[d], d);
    ShardedBuffers results(devices_.size());
    std::lock_guard lock(op::Lockstep::order());
    auto run = std::make_shared<op::Lockstep>(1, static_cast<std::int64_t>(devices_.size()),
                                              next_launch());
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (!distributed::is_here(*devices_[d])) continue;
      const int device = static_cast<int>(d);
      results[d] =
          internal::run_on_cpu_device(*devices_[d], inner_, options_.name, std::move(arguments[d]),
                                      [run, device](const std::function<void()>& work) {
                                        try {
                                          op::WithParticipant here({run.get(), device});
                                          work();
                                        } catch (const std::exception& e) {
                                          run->end(device, e.what());
                                          throw;
                                        }
                                        run->end(device);
                                      });
    }
    return results;
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
  const std::vector<Type>& local_argument_types() const override {
    return inner_->argument_types();
  }
  const std::vector<Type>& local_result_types() const override { return inner_->result_types(); }
  const std::string& explanation() const override { return explanation_; }

 private:
  void compile(ir::Block& body) {
    op::collective::to_calls(body, 1, static_cast<std::int64_t>(devices_.size()));
    for (Device* d : devices_) of_device_.push_back(distributed::process_of(*d));
    processes_ = of_device_;
    std::sort(processes_.begin(), processes_.end());
    processes_.erase(std::unique(processes_.begin(), processes_.end()), processes_.end());
    if (is_split()) {
      const std::string text = ir::fingerprint(body);
      fingerprint_ = hex32(crc32c(text)) + " " + std::to_string(text.size());
    }
    inner_ = internal::cpu_client().compile(
        body, {.donated = options_.donated, .name = options_.name, .keep = false});
  }
  /// Whether some devices are of other processes.
  bool is_split() const { return processes_ != std::vector<int>{distributed::process_index()}; }
  /// How the devices here meet those of other processes; null where there are none, or none here.
  std::shared_ptr<op::Peers> next_launch() const {
    const int self = distributed::process_index();
    if (!is_split() || !std::binary_search(processes_.begin(), processes_.end(), self))
      return nullptr;
    return distributed::cluster()->launch(processes_, of_device_, options_.name, fingerprint_);
  }
  void expect_types(const std::vector<Buffer>& arguments, std::size_t device) const {
    const std::vector<Type>& types = inner_->argument_types();
    if (arguments.size() != types.size())
      throw Error(options_.name, "takes {} arguments, got {} for device {}", types.size(),
                  arguments.size(), device);
    for (std::size_t i = 0; i < types.size(); ++i)
      if (!(arguments[i].type() == types[i]))
        throw Error(options_.name, "a device's part of argument {} is {}, got {} for device {}", i,
                    types[i].to_string(), arguments[i].type().to_string(), device);
  }

  const std::vector<Device*> devices_;
  const ShardedOptions options_;
  mesh::Mesh mesh_;
  std::vector<mesh::TensorSharding> argument_shardings_, result_shardings_;
  std::vector<Type> argument_types_, result_types_;
  std::string explanation_;
  std::vector<int> of_device_, processes_;  // the process of each device, and all of them
  std::string fingerprint_;
  std::shared_ptr<Executable> inner_;
};

void expect_cpus(const std::vector<Device*>& devices) {
  if (devices.empty()) throw Error("compile_sharded", "needs a device, got {}", devices.size());
  const std::vector<Device*>& cpus = distributed::all_cpu_devices();
  std::set<Device*> seen;
  for (Device* d : devices) {
    if (!seen.insert(d).second)
      throw Error("compile_sharded", "{} stands twice among the devices", d->to_string());
    if (std::find(cpus.begin(), cpus.end(), d) == cpus.end())
      throw Error("compile_sharded",
                  "{} is of a plugin: what is one device's already runs on CPU devices",
                  d->to_string())
          .unsupported();
  }
}

}  // namespace

std::shared_ptr<ShardedExecutable> compile_sharded(ir::Module& module,
                                                   const std::vector<Device*>& devices,
                                                   const ShardedOptions& options) {
  const bool by_plugin = !devices.empty() && plugin::is_of_plugin(*devices.front());
  if (!by_plugin) expect_cpus(devices);
  ir::inline_calls(module);
  spmd::normalize(module);
  if (by_plugin) return plugin::compile_sharded(module, devices, options);
  return std::make_shared<CpuSharded>(module, devices, options);
}

std::shared_ptr<ShardedExecutable> compile_sharded_body(ir::Block& body,
                                                        const std::vector<Device*>& devices,
                                                        const ShardedOptions& options) {
  expect_cpus(devices);
  return std::make_shared<CpuSharded>(body, devices, options);
}

}  // namespace strata::runtime
