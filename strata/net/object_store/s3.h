// Buckets of Amazon S3 and of servers that speak its REST interface (MinIO, Ceph, R2).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "strata/base/object_store/object_store.h"
#include "strata/net/object_store/requests.h"
#include "strata/net/object_store/s3_sign.h"

namespace strata::net {

struct S3Options {
  /// "http://127.0.0.1:9000", with buckets in the path; empty: Amazon's, with buckets in the host.
  std::string endpoint = {};
  std::string region = "us-east-1";
  /// Called before each request, since credentials end.
  std::function<Result<S3Credentials>()> credentials = {};
  RetryPolicy retry = {};
  CurlOptions client = {};
  /// Pieces of an upload but the last; S3 takes none below 5 MiB and 10 000 at most.
  std::uint64_t part_bytes = std::uint64_t{16} << 20;
};

/// Endpoint (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL), region (AWS_REGION, AWS_DEFAULT_REGION) and
/// credentials as `find_s3_credentials` finds them.
Result<S3Options> s3_options_from_environment();

/// Credentials from AWS_ACCESS_KEY_ID and its kin, from the profile of AWS_PROFILE in the file of
/// credentials, from a container's or an instance's metadata; none where nothing is found: then
/// only public objects can be read. Kept until shortly before they end.
std::function<Result<S3Credentials>()> find_s3_credentials();

/// Opens a bucket. Where Amazon says that it is in another region, requests are signed for that.
std::shared_ptr<ObjectStore> open_s3(const std::string& bucket, S3Options options);

/// A page of a listing as S3 writes it (XML).
Result<ObjectPage> parse_s3_page(std::string_view xml);

}  // namespace strata::net
