// libFuzzer target: any bytes are read as a page of a listing, in S3's form and in Google's.
//
//   tools/fuzz.sh strata/net/object_store/listing_fuzz.cc strata/net/object_store/testdata/pages \
//       -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "strata/net/object_store/gcs.h"
#include "strata/net/object_store/s3.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::net;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto page = parse_s3_page(bytes);
      page && page->listing.objects.size() + page->listing.folders.size() > size)
    std::abort();
  if (const auto page = parse_gcs_page(bytes)) {
    for (const strata::ObjectInfo& object : page->listing.objects)
      if (object.key.empty()) std::abort();
  }
  return 0;
}
