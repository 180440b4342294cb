#include "strata/net/object_store/s3.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <pugixml.hpp>

#include "strata/base/checksum.h"

namespace strata::net {
namespace {

/// ETags come in quotes, which conditions carry as well.
std::string etag_of(const CurlAnswer& answer) { return std::string(answer.header("etag")); }

class S3Store final : public ObjectStore {
 public:
  S3Store(std::string bucket, S3Options options)
      : bucket_(std::move(bucket)),
        options_(std::move(options)),
        client_(options_.client),
        region_(options_.region) {}

  Result<ObjectInfo> stat(const std::string& key) override {
    Result<RepeatedAnswer> sent = call({.method = "HEAD"}, key);
    if (!sent) return sent.status();
    const CurlAnswer& answer = sent->answer;
    if (answer.status != 200) return failure(name(key), answer);
    const std::string size(answer.header("content-length"));
    return ObjectInfo{key, std::strtoull(size.c_str(), nullptr, 10), etag_of(answer)};
  }

  Result<std::string> read(const std::string& key, const ObjectRange& range) override {
    if (range.length == 0) return std::string();
    S3Request request;
    const bool whole = range.offset == 0 && range.length == ObjectRange{}.length;
    if (!whole) request.headers.emplace_back("range", range_header(range));
    if (!range.generation.empty()) request.headers.emplace_back("if-match", range.generation);
    request.headers.emplace_back("x-amz-checksum-mode", "ENABLED");
    Result<RepeatedAnswer> sent = call(request, key, [&](const CurlAnswer& answer) {
      if (Status s = check_range(name(key), range, answer); !s.ok()) return s;
      const std::string_view sum = answer.header("x-amz-checksum-crc32c");
      const bool of_whole = answer.status == 200 && sum.find('-') == std::string_view::npos;
      if (of_whole && !sum.empty() && sum != crc32c_base64(answer.body))
        return Status(Code::corrupt, "{}: the bytes have another checksum than the store says",
                      name(key));
      return Status();
    });
    if (!sent) return sent.status();
    return bytes_of(name(key), std::move(sent->answer));
  }

  Result<std::string> write(const std::string& key, std::string_view bytes,
                            const std::optional<std::string>& expected) override {
    S3Request request{.method = "PUT", .body = bytes};
    request.headers.emplace_back("x-amz-checksum-crc32c", crc32c_base64(bytes));
    if (expected && expected->empty()) request.headers.emplace_back("if-none-match", "*");
    if (expected && !expected->empty()) request.headers.emplace_back("if-match", *expected);
    Result<RepeatedAnswer> sent = call(request, key);
    if (!sent) return sent.status();
    const CurlAnswer& answer = sent->answer;
    if (answer.status == 412 && sent->repeats > 0) {
      const std::string own = generation_with(*this, key, bytes);
      if (!own.empty()) return own;
    }
    // S3 answers a missing object with 404 where another generation of it was expected.
    if (answer.status == 404 && expected && !expected->empty())
      return Status(Code::exists, "{}: was removed by somebody else", name(key));
    if (answer.status >= 300) return failure(name(key), answer);
    return etag_of(answer);
  }

  Status remove(const std::string& key) override {
    Result<RepeatedAnswer> sent = call({.method = "DELETE"}, key);
    if (!sent) return sent.status();
    if (sent->answer.status >= 300 && sent->answer.status != 404)
      return failure(name(key), sent->answer);
    return {};
  }

  Result<ObjectListing> list(const std::string& prefix, bool recursive) override {
    return all_pages([&](const std::string& next) -> Result<ObjectPage> {
      S3Request request{.parameters = {{"list-type", "2"}, {"prefix", prefix}}};
      if (!recursive) request.parameters.emplace_back("delimiter", "/");
      if (!next.empty()) request.parameters.emplace_back("continuation-token", next);
      Result<RepeatedAnswer> sent = call(request, "");
      if (!sent) return sent.status();
      if (sent->answer.status >= 300) return failure(name(prefix), sent->answer);
      return parse_s3_page(sent->answer.body);
    });
  }

  Result<std::unique_ptr<ObjectUpload>> upload(const std::string& key) override;

  std::string name(const std::string& key) const { return "s3://" + bucket_ + "/" + key; }
  const S3Options& options() const { return options_; }

  /// Signs and sends; follows the bucket to its region.
  Result<RepeatedAnswer> call(S3Request request, const std::string& key,
                              const CheckAnswer& check = {}) {
    request.path = base_path() + "/" + percent_encode(key, "/");
    for (int moves = 0;; ++moves) {
      const MakeCall make = [&]() -> Result<CurlCall> {
        Result<S3Credentials> who = S3Credentials{};
        if (options_.credentials) who = options_.credentials();
        if (!who) return who.status();
        const std::string region = this->region(), base = address(region);
        request.host = base.substr(base.find("://") + 3);
        const std::string query = s3_query(request);
        return CurlCall{request.method, base + request.path + (query.empty() ? "" : "?" + query),
                        sign_s3(request, *who, region, s3_time()), request.body};
      };
      Result<RepeatedAnswer> sent = send(client_, options_.retry, make, check);
      if (!sent) return sent;
      const std::string_view elsewhere = sent->answer.header("x-amz-bucket-region");
      const int status = sent->answer.status;
      const bool moved = (status == 301 || status == 307 || status == 400) && !elsewhere.empty() &&
                         elsewhere != region() && moves == 0;
      if (!moved) return sent;
      std::lock_guard lock(mutex_);
      region_ = elsewhere;
    }
  }

 private:
  std::string region() {
    std::lock_guard lock(mutex_);
    return region_;
  }
  bool in_path() const {
    return !options_.endpoint.empty() || bucket_.find('.') != std::string::npos;
  }
  std::string base_path() const { return in_path() ? "/" + percent_encode(bucket_) : ""; }
  std::string address(const std::string& region) const {
    std::string base = options_.endpoint;
    while (base.ends_with('/')) base.pop_back();
    if (base.empty())
      base = "https://" + (in_path() ? "" : bucket_ + ".") + "s3." + region + ".amazonaws.com";
    return base;
  }

  const std::string bucket_;
  const S3Options options_;
  CurlClient client_;
  std::mutex mutex_;
  std::string region_;
};

/// A multipart upload; what fits one part is one ordinary write.
class S3Upload final : public PartUpload {
 public:
  S3Upload(S3Store& store, std::string key)
      : PartUpload(store.options().part_bytes), store_(store), key_(std::move(key)) {}
  ~S3Upload() override {
    if (!id_.empty())
      (void)store_.call({.method = "DELETE", .parameters = {{"uploadId", id_}}}, key_);
  }

  Result<std::string> commit() override {
    if (id_.empty()) return store_.write(key_, waiting_, std::nullopt);
    if (Status s = send_part(); !s.ok()) return s;
    std::string list = "<CompleteMultipartUpload>";
    for (std::size_t i = 0; i < etags_.size(); ++i)
      list +=
          fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, etags_[i]);
    list += "</CompleteMultipartUpload>";
    Result<RepeatedAnswer> sent =
        store_.call({.method = "POST", .parameters = {{"uploadId", id_}}, .body = list}, key_,
                    [&](const CurlAnswer& answer) {  // S3 may fail after it has said 200
                      const bool failed = answer.body.find("<Error>") != std::string::npos;
                      return failed ? failure(store_.name(key_), {500, {}, answer.body}) : Status();
                    });
    if (!sent) return sent.status();
    if (sent->answer.status >= 300) {
      // A repeated end of an upload that has ended: the object of these parts is there.
      const bool ended = sent->answer.status == 404 && sent->repeats > 0;
      Result<ObjectInfo> there = store_.stat(key_);
      if (!ended || !there || there->size != sent_) return failure(store_.name(key_), sent->answer);
      id_.clear();
      return there->generation;
    }
    id_.clear();
    pugi::xml_document xml;
    xml.load_buffer(sent->answer.body.data(), sent->answer.body.size());
    return std::string(xml.document_element().child_value("ETag"));
  }

 private:
  Status send_part() override {
    if (id_.empty()) {
      Result<RepeatedAnswer> begun =
          store_.call({.method = "POST", .parameters = {{"uploads", ""}}}, key_);
      if (!begun) return begun.status();
      if (begun->answer.status >= 300) return failure(store_.name(key_), begun->answer);
      pugi::xml_document xml;
      xml.load_buffer(begun->answer.body.data(), begun->answer.body.size());
      id_ = xml.document_element().child_value("UploadId");
      if (id_.empty())
        return Status(Code::io, "{}: the store begins an upload without a name", store_.name(key_));
    }
    const std::string number = std::to_string(etags_.size() + 1);
    Result<RepeatedAnswer> sent =
        store_.call({.method = "PUT",
                     .parameters = {{"partNumber", number}, {"uploadId", id_}},
                     .body = waiting_},
                    key_);
    if (!sent) return sent.status();
    if (sent->answer.status >= 300) return failure(store_.name(key_), sent->answer);
    etags_.push_back(etag_of(sent->answer));
    sent_ += waiting_.size();
    waiting_.clear();
    return {};
  }

  S3Store& store_;
  const std::string key_;
  std::string id_;
  std::uint64_t sent_ = 0;
  std::vector<std::string> etags_;
};

Result<std::unique_ptr<ObjectUpload>> S3Store::upload(const std::string& key) {
  return std::unique_ptr<ObjectUpload>(std::make_unique<S3Upload>(*this, key));
}

}  // namespace

Result<ObjectPage> parse_s3_page(std::string_view xml) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size());
  const pugi::xml_node root = document.document_element();
  if (!parsed || std::string_view(root.name()) != "ListBucketResult")
    return Status(Code::corrupt, "a listing of S3 is no ListBucketResult: {}",
                  parsed ? root.name() : parsed.description());
  ObjectPage page;
  for (pugi::xml_node node : root.children("Contents"))
    page.listing.objects.push_back(
        {node.child_value("Key"), node.child("Size").text().as_ullong(), node.child_value("ETag")});
  for (pugi::xml_node node : root.children("CommonPrefixes"))
    page.listing.folders.emplace_back(node.child_value("Prefix"));
  page.next = root.child_value("NextContinuationToken");
  return page;
}

std::shared_ptr<ObjectStore> open_s3(const std::string& bucket, S3Options options) {
  return std::make_shared<S3Store>(bucket, std::move(options));
}

}  // namespace strata::net
