// Chapter 21: shards arrays over the devices of a mesh, and runs programs on all of them.
// tutorial/21_meshes.md walks through it.
#include <strata/core.h>

#include <cstdio>

#include "strata/api/sharding/explicit.h"
#include "strata/api/sharding/sharding.h"

using namespace strata;

int main() {
  // Eight devices of one processor as a grid of four by two.
  cpu_devices(8);
  Mesh mesh = make_mesh({{"data", 4}, {"model", 2}});

  // A batch cut by rows over the one axis, weights by columns over the other.
  Array batch = device_put(arange(64).reshape({8, 8}).astype(float32),
                           NamedSharding(mesh, {"data", nullptr}));
  Array weights = device_put(eye(8) * 2.f, NamedSharding(mesh, {nullptr, "model"}));
  for (const Shard& s : addressable_shards(weights))
    if (s.replica_id == 0)
      std::printf("%s holds %s\n", s.device.to_string().c_str(),
                  to_string(s.index, {8, 8}).c_str());

  // One program for all of them: each computes its part.
  auto layer = jit([](const Array& x, const Array& w) { return tanh(matmul(x, w) * 0.01f); });
  Array y = layer(batch, weights);
  std::printf("the result is %s\n", named_sharding(y).spec().to_string().c_str());

  // Where a value is to lie may be said inside of a program. This mean needs all rows, so that the
  // devices exchange their sums.
  NamedSharding whole(mesh, PartitionSpec());
  auto mean = jit([&](const Array& x) { return lax::with_sharding_constraint(x.mean(0), whole); });
  Array m = mean(y);
  std::printf("its mean is %s\n", named_sharding(m).spec().to_string().c_str());

  // What the devices hold together is what one computes.
  Array alone = tanh(matmul(arange(64).reshape({8, 8}).astype(float32), eye(8) * 2.f) * 0.01f);
  bool same = y.to_vector<float>() == alone.to_vector<float>();
  std::printf("the same bits as on one device: %s\n", same ? "yes" : "no");

  // Four rows do not divide by eight devices: the message says what does not fit.
  try {
    (void)device_put(ones({4, 3}), NamedSharding(mesh, {{"data", "model"}}));
  } catch (const Error& e) {
    std::printf("%s\n", e.what());
  }

  // Explicit axes: shardings are part of types, and each operation says how its result lies.
  Mesh grid = make_mesh({{"data", 4, AxisType::Explicit}, {"model", 2, AxisType::Explicit}});
  Array rows = device_put(ones({8, 16}), NamedSharding(grid, {"data", nullptr}));
  Array columns = device_put(ones({16, 4}), NamedSharding(grid, {nullptr, "model"}));
  auto product = jit([](const Array& x, const Array& w) {
    Array out = tanh(matmul(x, w) * 0.01f);
    std::printf("traced as %s\n", spec_of_type(out).to_string().c_str());
    return out;
  });
  (void)product(rows, columns);
  Array half = reshard(rows, PartitionSpec{nullptr, "model"}),
        other = reshard(columns, PartitionSpec{"model", nullptr});
  try {
    (void)matmul(half, other);
  } catch (const Error& e) {
    std::printf("%s\n", e.what());
  }
  Array chosen = matmul(half, other, OutSharding(PartitionSpec{"data", nullptr}));
  std::printf("chosen: %s\n", spec_of_type(chosen).to_string().c_str());

  // Each device keeps its addend of a gradient until all of them are summed, once.
  auto gradients = jit([](const Array& w, const Array& x) {
    return grad([&](const Array& v) { return sum(tanh(matmul(x, v))); })(w);
  });
  Array replica =
      reshard(ones({16, 4}), NamedSharding(grid, PartitionSpec{}.with_reduced({"data"})));
  Array twice = gradients(replica, rows) + gradients(replica, rows);
  std::printf("a gradient is %s\n", spec_of_type(twice).to_string().c_str());
  Array total = reshard(twice, PartitionSpec{});  // one all-reduce
  same &= is_fully_replicated(total);
  return same && spec_of_type(chosen) == PartitionSpec{"data", nullptr} ? 0 : 1;
}
