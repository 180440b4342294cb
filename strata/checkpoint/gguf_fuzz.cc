// libFuzzer target: any bytes are read as a GGUF file; what is read has all its bytes and numbers,
// and a header that is written from it says the same.
//
//   tools/fuzz.sh strata/checkpoint/gguf_fuzz.cc strata/checkpoint/testdata/gguf -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string>

#include "strata/checkpoint/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::checkpoint;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  auto file = Gguf::decode(bytes, "fuzz");
  if (!file) return 0;
  std::uint64_t length = 0;
  for (const GgufTensor& t : file->tensors()) {
    if (file->raw(t).size() != t.bytes()) std::abort();
    if (auto numbers = file->numbers_of(t); numbers && numbers->count() != t.elements())
      std::abort();
    length += t.bytes() + file->alignment();
  }
  if (length > (64u << 20)) return 0;  // alignments may be large
  std::vector<GgufTensor> tensors = file->tensors();
  std::string again = encode_gguf_header(file->metadata(), tensors);
  again.resize(again.size() + length);
  auto read = Gguf::decode(again, "again");
  if (!read || read->metadata().size() != file->metadata().size() ||
      read->tensors().size() != tensors.size())
    std::abort();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const GgufTensor& t = read->tensors()[i];
    if (t.name != tensors[i].name || t.shape != tensors[i].shape || !(t.type == tensors[i].type))
      std::abort();
  }
  return 0;
}
