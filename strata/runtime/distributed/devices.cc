#include "strata/runtime/distributed/devices.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "strata/base/error.h"
#include "strata/runtime/cpu_devices.h"

namespace strata::runtime::distributed {
namespace {

/// A device of another process.
class RemoteDevice final : public Device {
 public:
  RemoteDevice(int id, int process) : id_(id), process_(process) {}
  std::string platform() const override { return "cpu"; }
  int id() const override { return id_; }
  std::string kind() const override { return "cpu"; }
  std::string to_string() const override { return fmt::format("CpuDevice(id={})", id_); }
  int process() const { return process_; }
  Client& client() override { refuse(); }
  std::shared_ptr<DeviceBuffer> put(const Buffer&) override { refuse(); }

 private:
  [[noreturn]] void refuse() const {
    throw Error("device",
                "{} is of process {}: process {} computes on its own devices, or on all "
                "together by programs over a mesh",
                to_string(), process_, process_index());
  }
  const int id_, process_;
};

/// Never destroyed: what is joined is left at exit.
struct World {
  std::unique_ptr<Cluster> cluster;
  std::vector<Device*> devices;
};
std::mutex mutex;
std::atomic<World*> world = nullptr;
bool is_counted = false;  // whether somebody has asked for all devices

}  // namespace

Status start(const StartOptions& options) {
  std::lock_guard lock(mutex);
  if (world.load() != nullptr)
    return Status(Code::invalid, "this process is one of several already");
  if (is_counted)
    return Status(
        Code::invalid,
        "devices were asked for, or arrays placed in a mesh, already: join the processes before "
        "that");
  Result<Place> place = find_place(options.place);
  if (!place) return place.status();
  auto cluster = Cluster::join(*place, options.cluster);
  if (!cluster) return cluster.status();
  Cluster& c = **cluster;
  internal::queue_cpu_devices();
  const std::vector<Device*>& own = cpu_devices(options.local_devices);
  const auto key = [](int p) { return fmt::format("strata/devices/{}", p); };
  if (Status s = c.member().set(key(c.process()), std::to_string(own.size())); !s.ok()) return s;
  auto made = std::make_unique<World>();
  int first = 0;
  for (int p = 0; p < c.processes(); ++p) {
    const auto count = c.member().get(key(p), options.cluster.timeout);
    if (!count) return count.status();
    const int n = std::atoi(count->c_str()), before = static_cast<int>(made->devices.size());
    if (p == c.process()) {
      first = before;
      made->devices.insert(made->devices.end(), own.begin(), own.end());
      continue;
    }
    for (int i = 0; i < n; ++i) made->devices.push_back(new RemoteDevice(before + i, p));
  }
  internal::number_cpu_devices(first);
  made->cluster = std::move(*cluster);
  world = made.release();
  std::atexit([] { (void)stop(); });
  return Status();
}

Status stop() {
  World* w = world.load();
  if (w == nullptr) return Status();
  internal::drain_cpu_devices();  // what is under way needs the others
  return w->cluster->leave();
}

Cluster* cluster() {
  World* w = world.load();
  return w == nullptr ? nullptr : w->cluster.get();
}

int process_index() {
  World* w = world.load();
  return w == nullptr ? 0 : w->cluster->process();
}
int process_count() {
  World* w = world.load();
  return w == nullptr ? 1 : w->cluster->processes();
}

const std::vector<Device*>& all_cpu_devices() {
  std::lock_guard lock(mutex);
  is_counted = true;
  World* w = world.load();
  return w == nullptr ? cpu_devices() : w->devices;
}

int process_of(const Device& device) {
  const auto* remote = dynamic_cast<const RemoteDevice*>(&device);
  return remote == nullptr ? process_index() : remote->process();
}

}  // namespace strata::runtime::distributed
