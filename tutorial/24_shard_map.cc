// Chapter 24: writes a program for one device of a mesh, with the exchanges
// between devices by name. tutorial/24_shard_map.md walks through it.
#include <strata/core.h>

#include <cstdio>

#include "strata/api/sharding/shard_map.h"

using namespace strata;

int main() {
  cpu_devices(8);
  Mesh mesh = make_mesh({{"data", 2}, {"model", 4}});
  Array x = arange(32).reshape({4, 8}).astype(float32) / 32.f;
  Array w = arange(48).reshape({8, 6}).astype(float32) / 48.f;

  // Each device multiplies its block of x by its rows of w; the sum over
  // `model` is the product.
  auto product = shard_map(
      [](const Array& block, const Array& rows) { return lax::psum(matmul(block, rows), "model"); },
      {.mesh = mesh, .in_specs = {P{"data", "model"}, P{"model"}}, .out_specs = P{"data"}});
  Array y = product(x, w);
  std::printf(
      "the result is %s, %s\n", named_sharding(y).spec().to_string().c_str(),
      allclose(device_get(y), matmul(x, w)).item<bool>() ? "and the whole product" : "and wrong");

  // Where a device stands, and what its neighbour has.
  auto ring = shard_map(
      [](const Array& part) {
        Array left = lax::ppermute(part, "model", {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
        return left * 10 + lax::axis_index("model");
      },
      {.mesh = mesh, .in_specs = P{"model"}, .out_specs = P{"model"}});
  Array places = ring(arange(4));
  std::printf("from the left, and where it came: %s\n", device_get(places).to_string().c_str());

  // Derivatives are those of the whole.
  auto loss = [&](const Array& a) { return sum(square(product(a, w))); };
  auto whole = [&](const Array& a) { return sum(square(matmul(a, w))); };
  Array g = jit(grad(loss))(x);
  std::printf("the gradient is that of the whole: %s\n",
              allclose(device_get(g), grad(whole)(x)).item<bool>() ? "yes" : "no");

  // One axis by hand, the other one left to the compiler.
  auto centred = shard_map(
      [](const Array& rows) { return rows - lax::pmean(rows.mean(0), "data"); },
      {.mesh = mesh, .in_specs = P{"data"}, .out_specs = P{"data"}, .axis_names = {"data"}});
  std::printf("columns have the mean 0: %s\n",
              allclose(device_get(jit(centred)(x)).mean(0), zeros({8}), {.atol = 1e-6}).item<bool>()
                  ? "yes"
                  : "no");

  // A sum of the device's own rows is not the same everywhere, and its spec
  // says it were.
  try {
    (void)shard_map([](const Array& rows) { return sum(rows); },
                    {.mesh = mesh, .in_specs = P{"data"}, .out_specs = P()})(x);
  } catch (const Error& e) {
    std::printf("%s\n", e.what());
  }

  // A function on a device for each row.
  auto each = pmap([](const Array& row) { return row / lax::psum(row, "i"); }, {.axis_name = "i"});
  Array shares = each(x);
  std::printf("%zu devices hold a row each\n", shares.devices().size());
  return 0;
}
