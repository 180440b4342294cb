// libFuzzer target: any bytes are read as gguf.json and as tokenizer.json; what is read as the
// first is written and read again the same.
//
//   tools/fuzz.sh strata/model/convert/convert_fuzz.cc strata/model/convert/testdata
//   -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string>

#include "strata/base/error.h"
#include "strata/model/convert/gguf_tokenizer.h"
#include "strata/model/convert/keys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::model::conversion;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (auto read = decode_sidecar(bytes, "fuzz")) {
    if (auto written = encode_sidecar(*read)) {
      auto again = decode_sidecar(*written, "again");
      if (!again || again->metadata != read->metadata || again->types != read->types) std::abort();
    }
    std::string why;
    (void)tokenizer_files(read->metadata, why);
  }
  try {
    const auto keys = tokenizer_keys({{"tokenizer.json", bytes}});
    std::string why;
    if (!tokenizer_files(keys, why).contains("tokenizer.json")) std::abort();
  } catch (const strata::Error&) {
  }
  return 0;
}
