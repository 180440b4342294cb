// libFuzzer target: any bytes are read, with the text formats of every upstream operation; what
// reads is printed in both forms, read again and printed the same.
//
// The short form may be one that does not read: it is promised of what the catalog's verifier lets
// through, which is not here
// ("stablehlo.concatenate"() without operands). op/evaluate_fuzz.cc has the catalog and asks for
// both forms.
//
//   tools/fuzz.sh strata/ir/text/parser_fuzz.cc strata/ir/text/testdata/seeds -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "strata/ir/testing/text_mutator.h"
#include "strata/ir/testing/upstream_ops.h"
#include "strata/ir/text/parser.h"
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
  for (const ir::TextPart& part : ir::split_parts({reinterpret_cast<const char*>(data), size})) {
    options.first_line = part.first_line;
    auto module = ir::parse(part.text, "fuzz", options);
    if (!module.ok() || !ir::verify(**module).ok()) continue;
    std::string once = ir::print(**module), generic = ir::print(**module, {.generic = true});
    auto again = ir::parse(once, "again", options),
         from_generic = ir::parse(generic, "generic", options);
    if (again.ok() && ir::print(**again) != once) std::abort();
    if (!from_generic.ok() || ir::print(**from_generic) != once) std::abort();
  }
  return 0;
}
