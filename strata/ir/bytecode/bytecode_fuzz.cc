// libFuzzer target: any bytes are read as bytecode; what reads is printed, written and read again,
// and printed the same.
//
//   tools/fuzz.sh strata/ir/bytecode/bytecode_fuzz.cc strata/ir/bytecode/testdata/artifacts
//   -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "strata/ir/bytecode/reader.h"
#include "strata/ir/bytecode/writer.h"
#include "strata/ir/testing/upstream_ops.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  static const ir::Registry& upstream = []() -> const ir::Registry& {
    if (ir::Registry::global()
            .all()
            .empty())  // else the catalog is there; combiners are looked up there
      for (const ir::OpInfo* info : ir::testing::upstream_ops().all())
        ir::Registry::global().add(*info);
    return ir::testing::upstream_ops();
  }();
  ir::ParseOptions options{.registry = &upstream,
                           .limits = {.depth = 64, .literal_bytes = std::size_t{1} << 20}};
  auto module = ir::read_bytecode({reinterpret_cast<const char*>(data), size}, "fuzz", options);
  if (!module.ok() || !ir::verify(**module).ok()) return 0;
  std::string once = ir::print(**module);
  Result<std::string> bytes = ir::write_bytecode(**module);
  if (!bytes.ok()) return 0;
  auto again = ir::read_bytecode(*bytes, "again", options);
  if (!again.ok() || ir::print(**again) != once) std::abort();
  return 0;
}
