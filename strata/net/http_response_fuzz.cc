// libFuzzer target: any bytes are read as a response, whole and in pieces with the same outcome.
//
//   tools/fuzz.sh strata/net/http_response_fuzz.cc strata/net/testdata/responses
#include <cstdint>
#include <cstdlib>
#include <string>

#include "strata/net/http_parse.h"

namespace {

struct Outcome {
  bool good = true, done = false;
  std::string body;
};

Outcome read(const std::string& bytes, std::size_t step) {
  strata::net::ResponseReader reader;
  Outcome out;
  std::string buffer;
  for (std::size_t at = 0; at < bytes.size() && out.good && !reader.done(); at += step) {
    buffer += bytes.substr(at, step);
    out.good = reader.take(buffer, out.body).ok();
  }
  if (out.good) out.good = reader.closed().ok();
  if (reader.head_done() && (reader.status() < 0 || reader.status() > 999)) std::abort();
  out.done = reader.done();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = read(bytes, size + 1),
                pieces = read(bytes, size == 0 ? 1 : 1 + data[size - 1] % 16);
  if (whole.good != whole.done || pieces.good != pieces.done) std::abort();
  if (whole.good && pieces.good && whole.body != pieces.body) std::abort();
  if (whole.body.size() > size) std::abort();
  return 0;
}
