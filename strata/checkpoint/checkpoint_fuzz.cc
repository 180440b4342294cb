// libFuzzer target: any bytes are read as a safetensors file and as a manifest; what is read is
// written and read again the same, measured, and compared with zeros.
//
//   tools/fuzz.sh strata/checkpoint/checkpoint_fuzz.cc strata/checkpoint/testdata
//   -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string>

#include "strata/checkpoint/diff.h"
#include "strata/checkpoint/manifest.h"
#include "strata/checkpoint/safetensors.h"

namespace {

using namespace strata::checkpoint;
using strata::Literal;

void check_tensors(const std::string& bytes) {
  auto file = decode_safetensors(bytes, "fuzz");
  if (!file) return;
  auto written = encode_safetensors(*file);
  if (!written) std::abort();
  auto again = decode_safetensors(*written, "fuzz");
  if (!again || again->metadata != file->metadata || again->tensors.size() != file->tensors.size())
    std::abort();
  Checkpoint read, zeros;
  for (const auto& [name, tensor] : file->tensors) {
    if (!tensor.same_bits(again->tensors.at(name))) std::abort();
    read.parts["part"][name] = tensor;
    zeros.parts["part"][name] = Literal(tensor.type());
    if (norms(tensor).not_finite > tensor.count()) std::abort();
  }
  if (!diff(read, read).same() ||
      diff(read, zeros).tensors.size() != diff(zeros, read).tensors.size())
    std::abort();
}

void check_manifest(const std::string& bytes) {
  // With a true checksum at the end, so that the reader behind it is reached.
  for (const std::string& text : {bytes, with_checksum(bytes)}) {
    auto manifest = decode_manifest(text, "fuzz");
    if (!manifest) continue;
    if (!decode_manifest(encode_manifest(*manifest), "fuzz")) std::abort();
    Checkpoint read, none;
    read.notes = manifest->notes;
    if (!diff(read, read).same() ||
        diff(read, none).others.size() != diff(none, read).others.size())
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_tensors(bytes);
  check_manifest(bytes);
  return 0;
}
