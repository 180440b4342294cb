#include "strata/net/object_store/gcs.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "strata/base/checksum.h"

namespace strata::net {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) return "";
  const json& value = object[key];
  return value.is_string() ? value.get<std::string>() : value.is_number() ? value.dump() : "";
}

Result<ObjectInfo> parse_info(const json& object) {
  ObjectInfo out{text_of(object, "name"), 0, text_of(object, "generation")};
  const std::string size = text_of(object, "size");
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), out.size);
  if (out.key.empty() || error != std::errc() || end != size.data() + size.size())
    return Status(Code::corrupt, "an object of Google Cloud Storage without name or size: {}",
                  object.dump().substr(0, 200));
  return out;
}

/// The checksum in "crc32c=n03x6A==,md5=..."; empty where there is none.
std::string_view crc32c_in(std::string_view hashes) {
  constexpr std::string_view kName = "crc32c=";
  const std::size_t at = hashes.find(kName);
  if (at == std::string_view::npos) return {};
  hashes.remove_prefix(at + kName.size());
  return hashes.substr(0, hashes.find(','));
}

using Parameters = std::vector<std::pair<std::string, std::string>>;

class GcsStore final : public ObjectStore {
 public:
  GcsStore(std::string bucket, GcsOptions options)
      : bucket_(std::move(bucket)), options_(std::move(options)), client_(options_.client) {
    while (options_.endpoint.ends_with('/')) options_.endpoint.pop_back();
  }

  Result<ObjectInfo> stat(const std::string& key) override {
    Result<RepeatedAnswer> sent = call("GET", object_url(key), {});
    if (!sent) return sent.status();
    if (sent->answer.status >= 300) return failure(name(key), sent->answer);
    return parse_info(json::parse(sent->answer.body, nullptr, false));
  }

  Result<std::string> read(const std::string& key, const ObjectRange& range) override {
    if (range.length == 0) return std::string();
    const bool whole = range.offset == 0 && range.length == ObjectRange{}.length;
    Parameters parameters = {{"alt", "media"}};
    if (!range.generation.empty()) parameters.emplace_back("ifGenerationMatch", range.generation);
    HttpHeaders headers;
    if (!whole) headers.emplace_back("range", range_header(range));
    Result<RepeatedAnswer> sent =
        call("GET", object_url(key), parameters, headers, {}, [&](const CurlAnswer& answer) {
          if (Status s = check_range(name(key), range, answer); !s.ok()) return s;
          const std::string_view sum = crc32c_in(answer.header("x-goog-hash"));
          if (answer.status == 200 && !sum.empty() && sum != crc32c_base64(answer.body))
            return Status(Code::corrupt, "{}: the bytes have another checksum than the store says",
                          name(key));
          return Status();
        });
    if (!sent) return sent.status();
    return bytes_of(name(key), std::move(sent->answer));
  }

  Result<std::string> write(const std::string& key, std::string_view bytes,
                            const std::optional<std::string>& expected) override {
    Parameters parameters = {{"uploadType", "media"}, {"name", key}};
    if (expected) parameters.emplace_back("ifGenerationMatch", expected->empty() ? "0" : *expected);
    Result<RepeatedAnswer> sent = call("POST", upload_url(), parameters,
                                       {{"content-type", "application/octet-stream"},
                                        {"x-goog-hash", "crc32c=" + crc32c_base64(bytes)}},
                                       bytes);
    if (!sent) return sent.status();
    if (sent->answer.status == 412 && sent->repeats > 0) {
      const std::string own = generation_with(*this, key, bytes);
      if (!own.empty()) return own;
    }
    return generation_of(key, sent->answer);
  }

  Status remove(const std::string& key) override {
    Result<RepeatedAnswer> sent = call("DELETE", object_url(key), {});
    if (!sent) return sent.status();
    if (sent->answer.status >= 300 && sent->answer.status != 404)
      return failure(name(key), sent->answer);
    return {};
  }

  Result<ObjectListing> list(const std::string& prefix, bool recursive) override {
    Result<ObjectListing> out = all_pages([&](const std::string& next) -> Result<ObjectPage> {
      Parameters parameters = {{"prefix", prefix}};
      if (!recursive) parameters.emplace_back("delimiter", "/");
      if (!next.empty()) parameters.emplace_back("pageToken", next);
      Result<RepeatedAnswer> sent = call("GET", bucket_url() + "/o", parameters);
      if (!sent) return sent.status();
      if (sent->answer.status >= 300) return failure(name(prefix), sent->answer);
      return parse_gcs_page(sent->answer.body);
    });
    if (!out) return out;
    std::sort(out->objects.begin(), out->objects.end(),
              [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
    std::sort(out->folders.begin(), out->folders.end());
    return out;
  }

  Result<std::unique_ptr<ObjectUpload>> upload(const std::string& key) override;

  Result<RepeatedAnswer> call(const std::string& method, const std::string& url,
                              const Parameters& parameters, const HttpHeaders& headers = {},
                              std::string_view body = {}, const CheckAnswer& check = {}) {
    const MakeCall make = [&]() -> Result<CurlCall> {
      CurlCall out{method, url, headers, body};
      char sign = url.find('?') == std::string::npos ? '?' : '&';
      for (const auto& [key, value] : parameters) {
        out.url += sign + percent_encode(key) + "=" + percent_encode(value);
        sign = '&';
      }
      if (!options_.user_project.empty())
        out.headers.emplace_back("x-goog-user-project", options_.user_project);
      if (!options_.token) return out;
      Result<std::string> token = options_.token();
      if (!token) return token.status();
      if (!token->empty()) out.headers.emplace_back("authorization", "Bearer " + *token);
      return out;
    };
    return send(client_, options_.retry, make, check);
  }

  Result<std::string> generation_of(const std::string& key, const CurlAnswer& answer) const {
    if (answer.status >= 300) return failure(name(key), answer);
    return text_of(json::parse(answer.body, nullptr, false), "generation");
  }

  std::string name(const std::string& key) const { return "gs://" + bucket_ + "/" + key; }
  std::string upload_url() const {
    return options_.endpoint + "/upload/storage/v1/b/" + percent_encode(bucket_) + "/o";
  }
  const GcsOptions& options() const { return options_; }

 private:
  std::string bucket_url() const {
    return options_.endpoint + "/storage/v1/b/" + percent_encode(bucket_);
  }
  std::string object_url(const std::string& key) const {
    return bucket_url() + "/o/" + percent_encode(key);
  }

  const std::string bucket_;
  GcsOptions options_;
  CurlClient client_;
};

/// A resumable upload: after a failure the store says how many bytes it has, and the rest follows.
class GcsUpload final : public PartUpload {
 public:
  GcsUpload(GcsStore& store, std::string key)
      : PartUpload(store.options().part_bytes), store_(store), key_(std::move(key)) {}
  ~GcsUpload() override {
    if (!session_.empty()) (void)store_.call("DELETE", session_, {});
  }

  Result<std::string> commit() override {
    if (session_.empty()) return store_.write(key_, waiting_, std::nullopt);
    return send_waiting(true);
  }

 private:
  Status send_part() override { return send_waiting(false).status(); }

  Status begin() {
    Result<RepeatedAnswer> begun =
        store_.call("POST", store_.upload_url(), {{"uploadType", "resumable"}, {"name", key_}},
                    {{"x-upload-content-type", "application/octet-stream"}});
    if (!begun) return begun.status();
    if (begun->answer.status >= 300) return failure(store_.name(key_), begun->answer);
    session_ = begun->answer.header("location");
    if (session_.empty())
      return Status(Code::io, "{}: the store begins an upload without a place", store_.name(key_));
    return {};
  }

  /// Sends what waits; the generation where it is the last.
  Result<std::string> send_waiting(bool last) {
    if (session_.empty())
      if (Status s = begin(); !s.ok()) return s;
    while (!waiting_.empty() || last) {
      const std::string total = last ? std::to_string(sent_ + waiting_.size()) : "*";
      const std::string range = waiting_.empty() ? fmt::format("bytes */{}", total)
                                                 : fmt::format("bytes {}-{}/{}", sent_,
                                                               sent_ + waiting_.size() - 1, total);
      Result<RepeatedAnswer> sent =
          store_.call("PUT", session_, {}, {{"content-range", range}}, waiting_);
      if (!sent) return sent.status();
      const CurlAnswer& answer = sent->answer;
      if (answer.status != 308) {
        if (answer.status < 300) session_.clear();
        return store_.generation_of(key_, answer);
      }
      // "bytes=0-99": so far it has come; without the header, nothing has.
      std::uint64_t has = 0;
      const std::string_view said = answer.header("range");
      if (const std::size_t dash = said.find('-'); dash != std::string_view::npos) {
        std::from_chars(said.data() + dash + 1, said.data() + said.size(), has);
        ++has;
      }
      if (has < sent_ || has > sent_ + waiting_.size() || (has == sent_ && ++stalls_ > kMostStalls))
        return Status(Code::io,
                      "{}: the store has {} bytes of an upload that stands between {} "
                      "and {}",
                      store_.name(key_), has, sent_, sent_ + waiting_.size());
      waiting_.erase(0, has - sent_);
      sent_ = has;
      if (!last && waiting_.empty()) break;
    }
    return std::string();
  }

  static constexpr int kMostStalls = 8;
  GcsStore& store_;
  const std::string key_;
  std::string session_;
  std::uint64_t sent_ = 0;
  int stalls_ = 0;
};

Result<std::unique_ptr<ObjectUpload>> GcsStore::upload(const std::string& key) {
  return std::unique_ptr<ObjectUpload>(std::make_unique<GcsUpload>(*this, key));
}

}  // namespace

Result<ObjectPage> parse_gcs_page(std::string_view text) {
  const json page = json::parse(text, nullptr, false);
  if (!page.is_object())
    return Status(Code::corrupt, "a listing of Google Cloud Storage is no JSON object");
  ObjectPage out;
  if (page.contains("items") && page["items"].is_array()) {
    for (const json& item : page["items"]) {
      Result<ObjectInfo> info = parse_info(item);
      if (!info) return info.status();
      out.listing.objects.push_back(*info);
    }
  }
  if (page.contains("prefixes") && page["prefixes"].is_array())
    for (const json& prefix : page["prefixes"])
      if (prefix.is_string()) out.listing.folders.push_back(prefix.get<std::string>());
  out.next = text_of(page, "nextPageToken");
  return out;
}

std::shared_ptr<ObjectStore> open_gcs(const std::string& bucket, GcsOptions options) {
  return std::make_shared<GcsStore>(bucket, std::move(options));
}

}  // namespace strata::net
