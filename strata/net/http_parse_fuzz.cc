// libFuzzer target: any bytes are read as a request, as they would arrive in pieces.
//
//   tools/fuzz.sh strata/net/http_parse_fuzz.cc strata/net/testdata/requests -max_total_time=60
#include <cstdint>
#include <cstdlib>

#include "strata/net/http_parse.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::net;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const HttpLimits limits{.body_bytes = 4096};
  RequestHead head = parse_head(bytes, limits);
  if (head.status != 0 || head.bytes == 0) return 0;
  if (head.bytes > bytes.size() || head.request.path.empty()) std::abort();
  bytes.erase(0, head.bytes);
  // In pieces of as many bytes as the last one says, since a parser goes on from where it was.
  const std::size_t step = 1 + data[size - 1] % 16;
  std::string buffer;
  for (std::size_t at = 0; head.has_body && at < bytes.size(); at += step) {
    buffer += bytes.substr(at, step);
    const BodyPiece got = head.take_body(buffer, limits);
    if (got.status != 0 || got.done) break;
  }
  if (head.request.body.size() > limits.body_bytes) std::abort();
  return 0;
}
