// libFuzzer target: any bytes are read as an export of JAX, and the program inside as bytecode.
//
//   tools/fuzz.sh strata/ir/export/jax_export_fuzz.cc strata/ir/export/testdata -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "strata/ir/bytecode/reader.h"
#include "strata/ir/export/jax_export.h"

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
  (void)strata::ir::is_bytecode(e->program);
  return 0;
}
