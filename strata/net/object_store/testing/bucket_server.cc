#include "strata/net/object_store/testing/bucket_server.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/base/check.h"
#include "strata/base/checksum.h"
#include "strata/net/object_store/requests.h"
#include "strata/net/object_store/s3_sign.h"

namespace strata::net::testing {
namespace {

using nlohmann::json;
using Query = std::map<std::string, std::string>;

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Query query_of(std::string_view text) {
  Query out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    out[decoded(pair.substr(0, equals))] =
        equals < pair.size() ? decoded(pair.substr(equals + 1)) : "";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string crc_of(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  const char big_endian[4] = {static_cast<char>(crc >> 24), static_cast<char>(crc >> 16),
                              static_cast<char>(crc >> 8), static_cast<char>(crc)};
  return base64({big_endian, 4});
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return out;
}

std::string etag(std::int64_t generation) { return "\"" + std::to_string(generation) + "\""; }

HttpResponse refuse(int status, const std::string& why) {
  return {.status = status, .type = "text/plain", .body = why};
}

}  // namespace

BucketServer::BucketServer() {
  Result<std::unique_ptr<HttpServer>> server = HttpServer::listen(
      {.port = 0},
      [this](const HttpRequest& request, HttpReply& reply) { reply.send(answer(request)); });
  server_ = std::move(server).value();
}

void BucketServer::plan(std::vector<Fault> faults) {
  std::lock_guard lock(mutex_);
  faults_ = std::move(faults);
}

std::vector<std::string> BucketServer::requests() const {
  std::lock_guard lock(mutex_);
  return requests_;
}

std::size_t BucketServer::open_uploads() const {
  std::lock_guard lock(mutex_);
  return uploads_.size();
}

std::size_t BucketServer::objects() const {
  std::lock_guard lock(mutex_);
  return objects_.size();
}

std::string BucketServer::object(const std::string& path) const {
  std::lock_guard lock(mutex_);
  return objects_.at(path).bytes;
}

void BucketServer::put(const std::string& path, const std::string& bytes) {
  std::lock_guard lock(mutex_);
  store(path, bytes);
}

BucketServer::Object& BucketServer::store(const std::string& path, const std::string& bytes) {
  return objects_[path] = {bytes, ++clock_};
}

HttpResponse BucketServer::answer(const HttpRequest& request) {
  std::lock_guard lock(mutex_);
  requests_.push_back(request.method + " " + request.path);
  Fault fault = Fault::none;
  if (!faults_.empty()) {
    fault = faults_.front();
    faults_.erase(faults_.begin());
  }
  if (fault == Fault::unavailable) return refuse(503, "planned");
  const bool google =
      request.path.starts_with("/storage/v1/") || request.path.starts_with("/upload/");
  HttpResponse out = google ? gcs(request) : s3(request);
  if (fault == Fault::lost_answer) return refuse(500, "planned, after the work");
  if (fault == Fault::short_body) out.body.resize(out.body.size() / 2);
  if (fault == Fault::flipped_byte && !out.body.empty()) out.body[0] ^= 1;
  return out;
}

HttpResponse BucketServer::ranged(const HttpRequest& request, const Object& object,
                                  HttpResponse head) const {
  head.type = "application/octet-stream";
  head.headers.emplace_back("x-goog-hash", "crc32c=" + crc_of(object.bytes) + ",md5=x");
  head.headers.emplace_back("x-amz-checksum-crc32c", crc_of(object.bytes));
  const std::string range(request.header("range"));
  head.body = object.bytes;
  if (range.empty()) return head;
  STRATA_CHECK(range.starts_with("bytes="), "a range of bytes");
  char* rest = nullptr;
  const std::uint64_t first = std::strtoull(range.c_str() + 6, &rest, 10), size = head.body.size();
  if (first >= size) return refuse(416, "behind the end");
  const std::uint64_t last =
      rest[1] ? std::min<std::uint64_t>(std::strtoull(rest + 1, nullptr, 10), size - 1) : size - 1;
  head.status = 206;
  head.body = head.body.substr(first, last + 1 - first);
  head.headers.emplace_back("content-range", fmt::format("bytes {}-{}/{}", first, last, size));
  return head;
}

HttpResponse BucketServer::list(const std::string& bucket, const Query& query, bool xml) const {
  const auto get = [&](const char* key) {
    const auto found = query.find(key);
    return found == query.end() ? std::string() : found->second;
  };
  const std::string prefix = get("prefix"), delimiter = get("delimiter");
  const std::string after = get(xml ? "continuation-token" : "pageToken");
  std::set<std::string> entries;  // keys and prefixes alike count as entries of a page
  for (const auto& [path, object] : objects_) {
    if (!path.starts_with(bucket + "/")) continue;
    std::string key = path.substr(bucket.size() + 1);
    if (!key.starts_with(prefix)) continue;
    const std::size_t cut =
        delimiter.empty() ? std::string::npos : key.find(delimiter, prefix.size());
    entries.insert(cut == std::string::npos ? key : key.substr(0, cut + 1));
  }
  std::string text, next, last;
  json items = json::array(), prefixes = json::array();
  std::size_t count = 0;
  for (const std::string& entry : entries) {
    if (!after.empty() && entry <= after) continue;
    if (count++ == page) {
      next = last;
      break;
    }
    last = entry;
    const auto object = objects_.find(bucket + "/" + entry);
    if (object == objects_.end()) {
      prefixes.push_back(entry);
      text += "<CommonPrefixes><Prefix>" + escaped(entry) + "</Prefix></CommonPrefixes>";
    } else {
      const auto& [bytes, generation] = object->second;
      items.push_back({{"name", entry},
                       {"size", std::to_string(bytes.size())},
                       {"generation", std::to_string(generation)}});
      text += fmt::format("<Contents><Key>{}</Key><Size>{}</Size><ETag>{}</ETag></Contents>",
                          escaped(entry), bytes.size(), etag(generation));
    }
  }
  if (xml) {
    if (!next.empty())
      text += "<NextContinuationToken>" + escaped(next) + "</NextContinuationToken>";
    return {.type = "application/xml",
            .body = "<?xml version=\"1.0\"?><ListBucketResult>" + text + "</ListBucketResult>"};
  }
  json out = {{"kind", "storage#objects"}};
  if (!items.empty()) out["items"] = items;
  if (!prefixes.empty()) out["prefixes"] = prefixes;
  if (!next.empty()) out["nextPageToken"] = next;
  return {.body = out.dump()};
}

HttpResponse BucketServer::s3(const HttpRequest& request) {
  const Query query = query_of(request.query);
  const std::string path = decoded(request.path.substr(1));
  const std::size_t slash = std::min(path.find('/'), path.size());
  const std::string bucket = path.substr(0, slash);
  const bool whole_bucket = slash + 1 >= path.size();
  const std::string authorization(request.header("authorization"));
  if (!region.empty() && authorization.find("/" + region + "/s3/") == std::string::npos)
    return {.status = 301, .body = "elsewhere", .headers = {{"x-amz-bucket-region", region}}};
  if (!authorization.empty() && request.header("x-amz-content-sha256") != sha256_hex(request.body))
    return refuse(400, "x-amz-content-sha256 is of other bytes");
  if (whole_bucket && request.method == "GET") return list(bucket, query, true);

  const auto there = objects_.find(path);
  if (request.method == "POST" && query.contains("uploads")) {
    const std::string id = "upload" + std::to_string(++clock_);
    uploads_[id].path = path;
    return {.type = "application/xml",
            .body = "<InitiateMultipartUploadResult><UploadId>" + id +
                    "</UploadId></InitiateMultipartUploadResult>"};
  }
  if (query.contains("uploadId")) {
    const std::string id = query.at("uploadId");
    const auto upload = uploads_.find(id);
    if (upload == uploads_.end() || upload->second.path != path) return refuse(404, "NoSuchUpload");
    if (request.method == "PUT") {
      const int number = std::stoi(query.at("partNumber"));
      upload->second.parts[number] = request.body;
      return {.headers = {{"etag", "\"part" + std::to_string(number) + "\""}}};
    }
    if (request.method == "POST") {
      std::string bytes;
      int number = 0;
      for (const auto& [key, part] : upload->second.parts) {
        const std::string name =
            fmt::format("<PartNumber>{}</PartNumber><ETag>\"part{}\"</ETag>", key, key);
        if (key != ++number || request.body.find(name) == std::string::npos)
          return refuse(400, "InvalidPart");
        bytes += part;
      }
      uploads_.erase(upload);
      const Object& object = store(path, bytes);
      return {.type = "application/xml",
              .body = "<CompleteMultipartUploadResult><ETag>" + etag(object.generation) +
                      "</ETag></CompleteMultipartUploadResult>"};
    }
    uploads_.erase(upload);
    return {.status = 204};
  }
  if (request.method == "PUT") {
    const std::string_view match = request.header("if-match"),
                           none = request.header("if-none-match");
    if (none == "*" && there != objects_.end()) return refuse(412, "PreconditionFailed");
    if (!match.empty() && there == objects_.end()) return refuse(404, "NoSuchKey");
    if (!match.empty() && match != etag(there->second.generation))
      return refuse(412, "PreconditionFailed");
    const std::string_view sum = request.header("x-amz-checksum-crc32c");
    if (!sum.empty() && sum != crc_of(request.body)) return refuse(400, "BadDigest");
    return {.headers = {{"etag", etag(store(path, request.body).generation)}}};
  }
  if (request.method == "DELETE") {
    objects_.erase(path);
    return {.status = 204};
  }
  if (there == objects_.end()) return refuse(404, "NoSuchKey");
  const std::string_view match = request.header("if-match");
  if (!match.empty() && match != etag(there->second.generation))
    return refuse(412, "PreconditionFailed");
  HttpResponse head{.headers = {{"etag", etag(there->second.generation)}}};
  return ranged(request, there->second, head);
}

HttpResponse BucketServer::gcs(const HttpRequest& request) {
  const Query query = query_of(request.query);
  const bool upload_path = request.path.starts_with("/upload/");
  std::string rest = request.path.substr(upload_path ? 21 : 14);  // ".../storage/v1/b/"
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string bucket = decoded(rest.substr(0, slash));
  rest = rest.substr(slash);
  const auto made = [](const std::string& name, const Object& object) {
    return HttpResponse{.body = json{{"name", name},
                                     {"size", std::to_string(object.bytes.size())},
                                     {"generation", std::to_string(object.generation)}}
                                    .dump()};
  };
  const auto other = [&](const std::string& path) {
    const auto wanted = query.find("ifGenerationMatch");
    if (wanted == query.end()) return false;
    const auto there = objects_.find(path);
    const std::int64_t has = there == objects_.end() ? 0 : there->second.generation;
    return wanted->second != std::to_string(has);
  };

  if (upload_path && query.contains("upload_id")) {
    const auto upload = uploads_.find(query.at("upload_id"));
    if (upload == uploads_.end()) return refuse(404, "no such upload");
    if (request.method == "DELETE") {
      uploads_.erase(upload);
      return refuse(499, "given up");
    }
    const std::string range(request.header("content-range"));
    std::uint64_t first = 0, last = 0;
    char total[32] = "";
    std::string& bytes = upload->second.bytes;
    if (std::sscanf(range.c_str(), "bytes %lu-%lu/%31s", &first, &last, total) == 3) {
      if (last + 1 - first != request.body.size() || first > bytes.size())
        return refuse(400, "the range is not the body's");
      const bool is_last = std::string(total) != "*";
      if (!is_last && request.body.size() % (256 << 10) != 0)
        return refuse(400, "pieces are multiples of 256 KiB");
      if (last + 1 > bytes.size()) bytes += request.body.substr(bytes.size() - first);
    } else {
      STRATA_CHECK(std::sscanf(range.c_str(), "bytes */%31s", total) == 1, "a range");
    }
    if (std::string(total) == std::to_string(bytes.size())) {
      const std::string path = upload->second.path, content = bytes;
      const Object& object = store(path, content);
      return made(path.substr(bucket.size() + 1), object);  // the session stays, as Google's do
    }
    return {.status = 308, .headers = {{"range", fmt::format("bytes=0-{}", bytes.size() - 1)}}};
  }
  if (upload_path) {
    const std::string path = bucket + "/" + query.at("name");
    if (other(path)) return refuse(412, "conditionNotMet");
    if (query.at("uploadType") == "resumable") {
      const std::string id = "upload" + std::to_string(++clock_);
      uploads_[id].path = path;
      return {.headers = {{"location", server_->url() + "/upload/storage/v1/b/" + bucket +
                                           "/o?uploadType=resumable&upload_id=" + id}}};
    }
    const std::string_view sum = request.header("x-goog-hash");
    if (!sum.empty() && sum != "crc32c=" + crc_of(request.body)) return refuse(400, "BadDigest");
    return made(query.at("name"), store(path, request.body));
  }
  if (rest == "/o") return list(bucket, query, false);
  const std::string name = decoded(rest.substr(3)), path = bucket + "/" + name;  // "/o/"
  const auto there = objects_.find(path);
  if (there == objects_.end()) return refuse(404, "no such object");
  if (other(path)) return refuse(412, "conditionNotMet");
  if (request.method == "DELETE") {
    objects_.erase(there);
    return {.status = 204};
  }
  if (query.contains("alt")) return ranged(request, there->second, {});
  return made(name, there->second);
}

}  // namespace strata::net::testing
