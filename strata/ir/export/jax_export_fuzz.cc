// libFuzzer target: any bytes are read as an export of JAX, and the program inside as that of its
// first platform, which takes every input.
//
//   tools/fuzz.sh strata/ir/export/jax_export_fuzz.cc strata/ir/export/testdata -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "strata/ir/export/entry.h"
#include "strata/ir/testing/upstream_ops.h"
#include "strata/ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto e = strata::ir::read_jax_export(bytes);
  if (!e) return 0;
  if (e->input_types.size() != e->inputs.size() || e->output_types.size() != e->outputs.size())
    std::abort();
  for (int i : e->kept)
    if (i < 0 || static_cast<std::size_t>(i) >= e->inputs.size()) std::abort();
  if (e->program.data() < bytes.data() ||
      e->program.data() + e->program.size() > bytes.data() + bytes.size())
    std::abort();
  static const strata::ir::Registry& upstream = []() -> const strata::ir::Registry& {
    using strata::ir::Registry;
    if (Registry::global().all().empty())
      for (const strata::ir::OpInfo* info : strata::ir::testing::upstream_ops().all())
        Registry::global().add(*info);
    return strata::ir::testing::upstream_ops();
  }();
  auto module = strata::ir::read_exported(
      *e, "fuzz", e->platforms.empty() ? "cpu" : e->platforms[0],
      {.registry = &upstream, .limits = {.depth = 64, .literal_bytes = std::size_t{1} << 20}});
  if (!module || !strata::ir::verify(**module).ok()) return 0;
  const strata::ir::Function* f = (*module)->entry();
  if (static_cast<std::size_t>(f->body.num_arguments()) != e->inputs.size()) std::abort();
  return 0;
}
