// libFuzzer target: any bytes are read as a safetensors file and as a manifest; what is read is written and read again
// the same.
//
//   tools/fuzz.sh strata/checkpoint/checkpoint_fuzz.cc strata/ir/text/testdata -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string>

#include "strata/checkpoint/manifest.h"
#include "strata/checkpoint/safetensors.h"

namespace {

using namespace strata::checkpoint;

void check_tensors(const std::string& bytes) {
  auto file = decode_safetensors(bytes, "fuzz");
  if (!file) return;
  auto written = encode_safetensors(*file);
  if (!written) std::abort();
  auto again = decode_safetensors(*written, "fuzz");
  if (!again || again->metadata != file->metadata || again->tensors.size() != file->tensors.size()) std::abort();
  for (const auto& [name, tensor] : file->tensors) {
    if (!tensor.same_bits(again->tensors.at(name))) std::abort();
  }
}

void check_manifest(const std::string& bytes) {
  // With a true checksum at the end, so that the reader behind it is reached.
  for (const std::string& text : {bytes, with_checksum(bytes)}) {
    auto manifest = decode_manifest(text, "fuzz");
    if (manifest && !decode_manifest(encode_manifest(*manifest), "fuzz")) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_tensors(bytes);
  check_manifest(bytes);
  return 0;
}
