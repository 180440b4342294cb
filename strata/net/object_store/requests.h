// Requests to object stores, repeated where that may help.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "strata/base/object_store/object_store.h"
#include "strata/net/curl_client.h"

namespace strata::net {

/// How often and how patiently failed requests are repeated: what is lost, and statuses 408, 409,
/// 429 and 500 to 599.
struct RetryPolicy {
  int most = 32;
  std::chrono::milliseconds first{1000}, last{32000};
  /// Waits; tests put another in its place.
  std::function<void(std::chrono::milliseconds)> wait = {};
  /// Hears of each failure that is about to be waited for, and the number of the attempt.
  std::function<void(const Status& failure, int attempt)> tell = {};
};

/// A request as it is to be sent now: called again for each attempt, since signatures carry times.
using MakeCall = std::function<Result<CurlCall>()>;
/// Whether an answer of success is whole, else why not: then the request is repeated.
using CheckAnswer = std::function<Status(const CurlAnswer&)>;

/// An answer, and how often the request was sent before it.
struct RepeatedAnswer {
  CurlAnswer answer;
  int repeats = 0;
};

/// Sends until an answer comes that repeating would not change. Waits are twice as long each time.
Result<RepeatedAnswer> send(CurlClient& client, const RetryPolicy& policy, const MakeCall& make,
                            const CheckAnswer& check = {});

/// What an answer of failure means: Code::not_found, Code::denied, Code::exists for a failed
/// condition, else Code::io, with the beginning of what the store says. `what` is "s3://b/key".
Status failure(const std::string& what, const CurlAnswer& answer);

/// Whether the bytes of an answer to a ranged read are those of the range: by Content-Range and
/// the object's size in it.
Status check_range(const std::string& what, const ObjectRange& range, const CurlAnswer& answer);

/// "bytes=0-99".
std::string range_header(const ObjectRange& range);

/// "Zm9v" of "foo".
std::string base64(std::string_view bytes);

/// The CRC-32C of the bytes as both stores write it: base64 of four bytes, the highest first.
std::string crc32c_base64(std::string_view bytes);

/// A page of a listing. `next` asks for the page behind it, and is empty on the last one.
struct ObjectPage {
  ObjectListing listing;
  std::string next;
};

/// All pages one after the other; `fetch` gets the `next` of the page before, empty for the first.
Result<ObjectListing> all_pages(
    const std::function<Result<ObjectPage>(const std::string& next)>& fetch);

/// What a ranged read came to: its bytes, none where the range begins behind the object's end, or
/// why there are none.
Result<std::string> bytes_of(const std::string& what, CurlAnswer answer);

/// The generation of an object that has exactly these bytes; empty for another. What a conditional
/// write asks whose condition failed after a repeat: the answer to an attempt that succeeded may be
/// what was lost.
std::string generation_with(ObjectStore& store, const std::string& key, std::string_view bytes);

/// An upload whose pieces go up in parts of one size, but the last, which waits for `commit`.
class PartUpload : public ObjectUpload {
 public:
  explicit PartUpload(std::uint64_t part_bytes) : part_bytes_(part_bytes) {}
  Status write(std::string_view bytes) final;

 protected:
  /// Sends what waits, which is a whole part and not the last, and empties it.
  virtual Status send_part() = 0;
  std::string waiting_;

 private:
  const std::uint64_t part_bytes_;
};

}  // namespace strata::net
