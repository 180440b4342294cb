// Chapter 25: one program in several processes, over one mesh.
// tutorial/25_processes.md walks through it. Alone, the program has the same devices in one
// process.
#include <strata/core.h>

#include <cstdio>

#include "strata/api/sharding/distributed.h"

using namespace strata;

int main() {
  if (distributed::was_launched())
    distributed::initialize();
  else
    cpu_devices(4);
  std::printf("process %d of %d has %zu of %zu devices\n", distributed::process_index(),
              distributed::process_count(), distributed::local_devices().size(), devices().size());

  // Each process makes the rows of its own devices, and nobody holds all.
  Mesh mesh = make_mesh({{"data", 4}});
  NamedSharding rows(mesh, {"data", nullptr});
  Array batch = make_array_from_callback({8, 3}, rows, [](const ShardIndex& index) {
    return sin(arange(6).reshape({2, 3}).astype(float32) + static_cast<float>(index[0].begin));
  });
  for (const Shard& s : addressable_shards(batch))
    std::printf("%s holds %s\n", s.device.to_string().c_str(), to_string(s.index, {8, 3}).c_str());

  // A step of descent. The gradient is a sum over all rows: the processes exchange theirs.
  auto loss = [](const Array& w, const Array& x) { return mean(square(matmul(x, w) - 1.f)); };
  auto step = jit([&](const Array& w, const Array& x) { return w - grad(loss)(w, x); });
  Array w = device_put(zeros({3}), NamedSharding(mesh, PartitionSpec()));
  for (int i = 0; i < 10; ++i) w = step(w, batch);
  if (distributed::process_index() == 0) std::printf("weights %s\n", w.to_string().c_str());

  // Every device holds the weights. The batch lies in parts, which are brought together if asked.
  if (!is_fully_addressable(batch)) {
    try {
      (void)batch.to_vector<float>();
    } catch (const Error& e) {
      if (distributed::process_index() == 0) std::printf("%s\n", e.what());
    }
  }
  Array all = distributed::process_allgather(batch);
  if (distributed::process_index() == 0) std::printf("last row %s\n", all[7].to_string().c_str());
  return 0;
}
