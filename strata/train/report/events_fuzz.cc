// libFuzzer target: any bytes are read as an event file; what is read is written and read again the
// same.
//
//   tools/fuzz.sh strata/train/report/events_fuzz.cc strata/ir/text/testdata -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "strata/train/report/events.h"

namespace {

using namespace strata::train;

bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }
bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

void check_again(const Event& event) {
  auto again = decode_event(encode_event(event), "fuzz");
  if (!again || again->step != event.step || !same(again->wall_time, event.wall_time) ||
      again->file_version != event.file_version || again->scalars.size() != event.scalars.size())
    std::abort();
  for (std::size_t i = 0; i < event.scalars.size(); ++i) {
    if (again->scalars[i].first != event.scalars[i].first ||
        !same(again->scalars[i].second, event.scalars[i].second))
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  // As a message, as one in a true record, and as a file.
  if (auto event = decode_event(bytes, "fuzz")) check_again(*event);
  if (read_events(encode_record(bytes) + bytes, "fuzz").events.size() > 1 + size / 16) std::abort();
  for (const Event& event : read_events(bytes, "fuzz").events) check_again(event);
  return 0;
}
