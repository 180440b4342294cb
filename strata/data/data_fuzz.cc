// libFuzzer target: any bytes are read as a token file, as JSONL, as plain text and as a list of
// sources, and as the state of a checkpoint. What is read as a token file is written and read again
// the same.
//
//   tools/fuzz.sh strata/data/data_fuzz.cc strata/tokenizer/testdata -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "strata/base/checksum.h"
#include "strata/data/dataset.h"
#include "strata/data/documents.h"
#include "strata/data/sources.h"
#include "strata/data/tokens/token_file.h"
#include "strata/tokenizer/utf8.h"

namespace {

using namespace strata;
using namespace strata::data;

/// With true checksums, so that the checks behind them are reached.
std::string with_checksums(std::string bytes) {
  if (bytes.size() < 64) return bytes;
  std::memcpy(bytes.data(), "STRATOK1", 8);
  const std::uint32_t body = crc32c(std::string_view(bytes).substr(64));
  std::memcpy(bytes.data() + 40, &body, 4);
  const std::uint32_t header = crc32c(std::string_view(bytes).substr(0, 60));
  std::memcpy(bytes.data() + 60, &header, 4);
  return bytes;
}

void check_tokens(const std::string& bytes) {
  auto tokens = Tokens::decode(std::make_shared<const std::string>(bytes), "fuzz");
  if (!tokens) return;
  for (std::int64_t d = 0; d < tokens->documents(); ++d) {
    if (tokens->document(d) >= tokens->document(d + 1)) std::abort();
  }
  for (std::int64_t i = 0; i < tokens->size(); ++i) {
    if (tokens->at(i) < 0 || tokens->at(i) >= tokens->vocab_size()) std::abort();
  }
}

void check_documents(const std::string& bytes) {
  for (const char* name : {"fuzz.txt", "fuzz.jsonl"}) {
    auto documents = documents_of(bytes, name);
    if (!documents) continue;
    for (const std::string& d : *documents) {
      if (d.empty() || d.find('\0') != std::string::npos ||
          tokenizer::first_invalid(d) != std::string::npos)
        std::abort();
    }
  }
}

void check_stream(const std::string& bytes) {
  const tokenizer::ByteTokenizer tokenizer;
  tokenizer::StreamDecoder stream(tokenizer);
  std::string all;
  for (unsigned char c : bytes) all += stream.add(c == 0 ? 1 : c);
  all += stream.finish();
  if (tokenizer::first_invalid(all) != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_tokens(bytes);
  check_tokens(with_checksums(bytes));
  check_documents(bytes);
  check_stream(bytes);
  (void)parse_sources({bytes});
  static const auto dataset =
      Dataset::of_documents({std::string(100, 'x')}, {.batch = 1, .length = 4});
  (void)dataset->check_state(bytes);
  return 0;
}
