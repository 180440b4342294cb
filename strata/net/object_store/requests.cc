#include "strata/net/object_store/requests.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <thread>

#include "strata/base/checksum.h"

namespace strata::net {
namespace {

bool repeat_may_help(int status) {
  return status == 408 || status == 409 || status == 429 || status >= 500;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kMost = 300;
  std::string out(text.substr(0, kMost));
  std::replace_if(out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return out;
}

}  // namespace

Result<RepeatedAnswer> send(CurlClient& client, const RetryPolicy& policy, const MakeCall& make,
                            const CheckAnswer& check) {
  std::chrono::milliseconds wait = policy.first;
  for (int repeats = 0;; ++repeats) {
    Result<CurlCall> call = make();
    if (!call) return call.status();
    Result<CurlAnswer> answer = client.request(*call);
    Status status = answer.status();
    if (answer) {
      if (!repeat_may_help(answer->status)) {
        if (check && answer->status < 300) status = check(*answer);
        if (status.ok()) return RepeatedAnswer{std::move(*answer), repeats};
      } else {
        status = failure(call->method + " " + call->url, *answer);
      }
    } else if (status.code() != Code::io) {
      return status;
    }
    if (repeats >= policy.most)
      return Status(status.code(), "{} (after {} attempts)", status.message(), repeats + 1);
    if (policy.tell) policy.tell(status, repeats + 1);
    policy.wait ? policy.wait(wait) : std::this_thread::sleep_for(wait);
    wait = std::min(2 * wait, policy.last);
  }
}

Status failure(const std::string& what, const CurlAnswer& answer) {
  const int s = answer.status;
  const std::string said = excerpt(answer.body);
  if (s == 404) return Status(Code::not_found, "{}: there is no such object or bucket", what);
  if (s == 401 || s == 403)
    return Status(Code::denied, "{}: the store refuses access (status {}): {}", what, s, said);
  if (s == 412 || s == 409)
    return Status(Code::exists, "{}: was changed by somebody else (status {})", what, s);
  return Status(Code::io, "{}: the store answers with status {}: {}", what, s, said);
}

Status check_range(const std::string& what, const ObjectRange& range, const CurlAnswer& answer) {
  std::uint64_t expected = answer.body.size();
  if (answer.status == 206) {
    // "bytes 0-99/1234"
    std::string_view said = answer.header("content-range");
    std::uint64_t first = 0, last = 0, size = 0;
    const auto number = [&](std::string_view before, std::uint64_t& out) {
      if (!said.starts_with(before)) return false;
      said.remove_prefix(before.size());
      const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), out);
      said.remove_prefix(static_cast<std::size_t>(end - said.data()));
      return error == std::errc();
    };
    if (!number("bytes ", first) || !number("-", last) || !number("/", size) || last < first ||
        last >= size)
      return Status(Code::io, "{}: the store's Content-Range is \"{}\"", what,
                    answer.header("content-range"));
    const std::uint64_t end =
        range.length > size - std::min(size, range.offset) ? size : range.offset + range.length;
    if (first != range.offset || last + 1 != end)
      return Status(Code::io, "{}: asked for bytes {} to {}, the store sends {} to {}", what,
                    range.offset, end, first, last + 1);
    expected = end - first;
  } else if (range.offset != 0 || answer.body.size() > range.length) {
    return Status(Code::io, "{}: the store ignores the range that was asked for", what);
  }
  if (answer.body.size() != expected)
    return Status(Code::io, "{}: {} of {} bytes came", what, answer.body.size(), expected);
  return {};
}

std::string range_header(const ObjectRange& range) {
  std::string out = fmt::format("bytes={}-", range.offset);
  const std::uint64_t last = range.offset + (range.length - 1);
  if (last >= range.offset && range.length != std::numeric_limits<std::uint64_t>::max())
    out += std::to_string(last);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      out += i + j > bytes.size() ? '=' : digits[three >> (18 - 6 * j) & 63];
  }
  return out;
}

std::string crc32c_base64(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  const char big_endian[4] = {static_cast<char>(crc >> 24), static_cast<char>(crc >> 16),
                              static_cast<char>(crc >> 8), static_cast<char>(crc)};
  return base64({big_endian, 4});
}

Result<ObjectListing> all_pages(
    const std::function<Result<ObjectPage>(const std::string& next)>& fetch) {
  ObjectListing out;
  std::string next;
  do {
    Result<ObjectPage> page = fetch(next);
    if (!page) return page.status();
    const bool ends = page->next.empty() || page->next == next;
    std::move(page->listing.objects.begin(), page->listing.objects.end(),
              std::back_inserter(out.objects));
    std::move(page->listing.folders.begin(), page->listing.folders.end(),
              std::back_inserter(out.folders));
    next = ends ? "" : page->next;
  } while (!next.empty());
  return out;
}

Result<std::string> bytes_of(const std::string& what, CurlAnswer answer) {
  if (answer.status == 416) return std::string();
  if (answer.status == 412)
    return Status(Code::not_found, "{}: was replaced while it was read", what);
  if (answer.status >= 300) return failure(what, answer);
  return std::move(answer.body);
}

std::string generation_with(ObjectStore& store, const std::string& key, std::string_view bytes) {
  const Result<ObjectInfo> there = store.stat(key);
  if (!there || there->size != bytes.size()) return "";
  const Result<std::string> content = store.read(key, {.generation = there->generation});
  return content && *content == bytes ? there->generation : "";
}

Status PartUpload::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t n = std::min<std::size_t>(bytes.size(), part_bytes_ - waiting_.size());
    waiting_.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
    // The last part may be short, a full one may be the last: so it waits for a successor.
    if (waiting_.size() == part_bytes_ && !bytes.empty())
      if (Status s = send_part(); !s.ok()) return s;
  }
  return {};
}

}  // namespace strata::net
