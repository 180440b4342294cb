// libFuzzer target: any text is read as a mesh, a sharding and a list of shardings; what is read is
// printed and read again the same, and verified against meshes of its own axes.
//
//   tools/fuzz.sh strata/mesh/sharding_fuzz.cc strata/mesh/testdata -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "strata/mesh/sharding.h"
#include "strata/mesh/spec.h"

namespace {

using namespace strata::mesh;

void check(const TensorSharding& s, const AbstractMesh& mesh) {
  const std::vector<std::int64_t> shape(s.rank(), 64);
  if (!verify(s, mesh, shape).ok()) return;
  for (std::int64_t i = 0; i < mesh.size() && i < 64; ++i) {
    const std::vector<std::int64_t> tile = tile_of(s, mesh, i);
    for (std::size_t d = 0; d < tile.size(); ++d)
      if (tile[d] < 0 || tile[d] >= s.dims[d].size(mesh)) std::abort();
  }
  if (!verify(s, mesh, shape, true).ok()) return;
  for (std::int64_t n : local_shape(s, mesh, shape))
    if (n < 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto mesh = parse_mesh(text)) {
    auto again = parse_mesh(mesh->to_shardy());
    if (!again || !(*again == *mesh)) std::abort();
  }
  auto shardings = parse_shardings(text);
  if (auto one = parse_sharding(text)) {
    auto again = parse_sharding(one->to_attribute());
    if (!again || !(*again == *one)) std::abort();
    (void)to_spec(*one);
    check(*one, AbstractMesh({{"a", 2}, {"b", 4}, {"c", 8}}));
    if (const Mesh* mesh = std::get_if<Mesh>(&one->mesh)) check(*one, mesh->abstract());
  }
  if (shardings) {
    auto again = parse_shardings(per_value_attribute(*shardings));
    if (!again || !(*again == *shardings)) std::abort();
  }
  return 0;
}
