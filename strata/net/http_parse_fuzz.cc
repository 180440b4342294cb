// libFuzzer target: any bytes are read as a request, as they would arrive in two pieces.
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
  std::string buffer = bytes.substr(0, bytes.size() / 2);
  for (int piece = 0; head.has_body && piece < 2; ++piece) {
    const BodyPiece got = head.take_body(buffer, limits);
    if (got.status != 0 || got.done) break;
    buffer += bytes.substr(bytes.size() / 2);
  }
  if (head.request.body.size() > limits.body_bytes) std::abort();
  return 0;
}
