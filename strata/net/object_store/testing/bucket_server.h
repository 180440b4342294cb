// A server of buckets for tests: S3's REST and Google's JSON interface over one memory, strict
// about conditions, ranges, checksums and parts, with failures as planned.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "strata/net/http_server.h"

namespace strata::net::testing {

/// What goes wrong with a request.
enum class Fault {
  none,
  /// Refused before anything is done.
  unavailable,
  /// Done, but the answer says otherwise.
  lost_answer,
  /// Half of the body comes.
  short_body,
  /// A byte of the body is another.
  flipped_byte,
};

class BucketServer {
 public:
  BucketServer();
  std::string url() const { return server_->url(); }
  /// The next requests fail so, one after the other.
  void plan(std::vector<Fault> faults);
  /// Requests that came, "PUT /bucket/key".
  std::vector<std::string> requests() const;
  /// Uploads that were begun and neither ended nor given up.
  std::size_t open_uploads() const;
  /// The bytes of an object, "bucket/key"; throws where there is none.
  std::string object(const std::string& path) const;
  void put(const std::string& path, const std::string& bytes);
  std::size_t objects() const;
  /// Entries of a page of a listing.
  std::size_t page = 3;
  /// The region that buckets are in; others are sent there.
  std::string region;

 private:
  struct Object {
    std::string bytes;
    std::int64_t generation = 0;
  };
  struct Upload {
    std::string path;
    std::map<int, std::string> parts;
    std::string bytes;
  };
  HttpResponse answer(const HttpRequest& request);
  HttpResponse s3(const HttpRequest& request);
  HttpResponse gcs(const HttpRequest& request);
  HttpResponse ranged(const HttpRequest& request, const Object& object, HttpResponse head) const;
  HttpResponse list(const std::string& bucket, const std::map<std::string, std::string>& query,
                    bool xml) const;
  Object& store(const std::string& path, const std::string& bytes);

  mutable std::mutex mutex_;
  std::map<std::string, Object> objects_;
  std::map<std::string, Upload> uploads_;
  std::vector<Fault> faults_;
  std::vector<std::string> requests_;
  std::int64_t clock_ = 0;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace strata::net::testing
