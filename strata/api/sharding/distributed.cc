#include "strata/api/sharding/distributed.h"

#include <algorithm>
#include <utility>

#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/api/sharding/placement.h"
#include "strata/api/trace/trace.h"
#include "strata/runtime/cpu_devices.h"
#include "strata/runtime/distributed/devices.h"
#include "strata/runtime/sharded.h"

namespace strata::distributed {
namespace {

using internal::describe;
using internal::fail;
using internal::Site;
namespace run = runtime::distributed;

void expect(const char* self, const Status& status) {
  if (!status.ok()) fail(self, "{}", status.message());
}
run::Member& member(const char* self) {
  run::Cluster* c = run::cluster();
  if (c == nullptr) fail(self, "this process is by itself: distributed::initialize comes first");
  return c->member();
}
/// The devices of all processes in a row.
Mesh all_devices() {
  return Mesh({{"all", static_cast<std::int64_t>(run::all_cpu_devices().size())}});
}

}  // namespace

bool was_launched() { return run::is_place_told(); }

void initialize(const Options& options, Where where) {
  Site site(where);
  expect("distributed::initialize",
         run::start({.place = {.coordinator = options.coordinator_address,
                               .processes = options.num_processes.value_or(-1),
                               .process = options.process_id.value_or(-1)},
                     .local_devices = options.local_devices,
                     .cluster = {.timeout = options.initialization_timeout,
                                 .shutdown_timeout = options.shutdown_timeout,
                                 .silence = options.heartbeat_timeout}}));
}
void shutdown() { expect("distributed::shutdown", run::stop()); }
bool is_initialized() { return run::cluster() != nullptr; }

int process_index() { return run::process_index(); }
int process_count() { return run::process_count(); }
int process_index(const Device& device) { return run::process_of(device.get()); }
std::vector<Device> local_devices() {
  if (process_count() > 1) return cpu_devices();
  std::vector<Device> out;
  for (runtime::Device* d : runtime::mesh_devices()) out.emplace_back(*d);
  return out;
}

void sync_global_devices(const std::string& name, std::chrono::milliseconds timeout, Where where) {
  Site site(where);
  if (is_initialized())
    expect("sync_global_devices", member("sync_global_devices").barrier("user/" + name, timeout));
}

Array process_allgather(const Array& x, Where where) {
  Site site(where);
  const auto there = internal::sharded(x);
  if (there == nullptr) return x;
  if (is_fully_addressable(x)) return device_get(x);
  const NamedSharding sharding(named_sharding(x).mesh(), PartitionSpec());
  return device_get(device_put(x, sharding, where), where);
}

Array broadcast_one_to_all(const Array& x, Where where) {
  Site site(where);
  if (process_count() == 1) return device_get(x, where);
  // One part for each device, of which the first is of process 0.
  const Mesh mesh = all_devices();
  std::vector<std::int64_t> sizes = x.shape().sizes();
  sizes.insert(sizes.begin(), mesh.size());
  const Array part = numpy::expand_dims(device_get(x, where), 0);
  const Array all = make_array_from_callback(
      Sizes(sizes), NamedSharding(mesh, {"all"}), [&](const ShardIndex&) { return part; }, where);
  const NamedSharding whole(mesh, PartitionSpec());
  const Array first = jit(
      [&](const Array& a) {
        Array one = lax::index_in_dim(a, 0, 0, false);
        return lax::with_sharding_constraint(one, whole);
      },
      JitOptions{.name = "broadcast_one_to_all"})(all);
  return device_get(first, where);
}

Array make_array_from_process_local_data(const NamedSharding& sharding, const Array& local,
                                         const Sizes& global_shape, Where where) {
  constexpr const char* self = "make_array_from_process_local_data";
  Site site(where);
  const Shape shape = Shape::of(global_shape.get());
  if (local.ndim() != shape.rank())
    fail(self, "{} is a process's part of {}, which has {} dimensions", describe(local.type()),
         describe(shape), shape.rank());
  const std::vector<ShardIndex> indices = sharding.indices(shape.sizes());
  const internal::Placement& placement = internal::Placement::of(sharding);
  // Of each dimension the pieces that are here, in order; where all of it was given, they are
  // at their places in the whole.
  std::vector<std::vector<std::int64_t>> begins(static_cast<std::size_t>(shape.rank()));
  for (std::size_t d = 0; d < indices.size(); ++d)
    for (std::size_t i = 0; placement.is_here(d) && i < begins.size(); ++i)
      begins[i].push_back(indices[d][i].begin);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    std::vector<std::int64_t>& b = begins[i];
    std::sort(b.begin(), b.end());
    b.erase(std::unique(b.begin(), b.end()), b.end());
    if (b.empty()) fail(self, "no device of {} is of this process", sharding.mesh().to_string());
    const std::int64_t piece = indices[0][i].end - indices[0][i].begin,
                       have = local.shape()[static_cast<int>(i)], size = shape[static_cast<int>(i)];
    if (have != size && have != piece * static_cast<std::int64_t>(b.size()))
      fail(self,
           "dimension {} of {} has size {}: this process holds {} pieces of {} of {}, or gives all "
           "{}",
           i, describe(local.type()), have, b.size(), piece, describe(shape), size);
  }
  const Array here = device_get(local, where);
  return make_array_from_callback(
      global_shape, sharding,
      [&](const ShardIndex& index) {
        std::vector<std::int64_t> from, to;
        for (std::size_t i = 0; i < index.size(); ++i) {
          const std::vector<std::int64_t>& b = begins[i];
          const std::int64_t piece = index[i].end - index[i].begin;
          const bool whole = here.shape()[static_cast<int>(i)] == shape[static_cast<int>(i)];
          from.push_back(
              whole ? index[i].begin
                    : piece * (std::lower_bound(b.begin(), b.end(), index[i].begin) - b.begin()));
          to.push_back(from.back() + piece);
        }
        return lax::slice(here, from, to);
      },
      where);
}

void key_value_set(const std::string& key, const std::string& value, bool allow_overwrite,
                   Where where) {
  Site site(where);
  expect("key_value_set", member("key_value_set").set("user/" + key, value, allow_overwrite));
}
std::string key_value_get(const std::string& key, std::chrono::milliseconds timeout, Where where) {
  Site site(where);
  auto value = member("key_value_get").get("user/" + key, timeout);
  expect("key_value_get", value.status());
  return *value;
}
std::optional<std::string> key_value_try_get(const std::string& key, Where where) {
  Site site(where);
  auto value = member("key_value_try_get").try_get("user/" + key);
  if (value.status().code() == Code::not_found) return std::nullopt;
  expect("key_value_try_get", value.status());
  return *value;
}
void key_value_delete(const std::string& key, Where where) {
  Site site(where);
  expect("key_value_delete", member("key_value_delete").erase("user/" + key));
}

}  // namespace strata::distributed
