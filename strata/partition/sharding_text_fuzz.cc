// libFuzzer target: any text is read as a sharding rule and as one of HLO's sharding strings; what
// does not fit throws strata::Error, and nothing else happens.
//
//   tools/fuzz.sh strata/partition/sharding_text_fuzz.cc strata/partition/testdata/texts
//   -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "strata/base/error.h"
#include "strata/partition/gspmd.h"
#include "strata/partition/rule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    spmd::Rule rule = spmd::parse_rule(text);
    for (const auto* side : {&rule.factors.operands, &rule.factors.results})
      for (const auto& value : *side)
        for (const auto& dim : value)
          for (int f : dim)
            if (f < 0 || f >= static_cast<int>(rule.factors.kinds.size())) std::abort();
  } catch (const Error&) {
  }
  try {
    spmd::HloSharding s = spmd::parse_hlo_sharding(text);
    std::int64_t tiles = 1, devices = 1;
    for (std::int64_t n : s.tiles) tiles *= n;
    for (std::int64_t n : s.devices) devices *= n;
    if (s.is_tiled && tiles > devices) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
