// Buckets of Google Cloud Storage, by its JSON interface.
//
// Source: Google's reference of the JSON API; TensorStore's driver asks the same requests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "strata/base/object_store/object_store.h"
#include "strata/net/object_store/requests.h"

namespace strata::net {

struct GcsOptions {
  std::string endpoint = "https://storage.googleapis.com";
  /// The token of "Authorization: Bearer"; empty: none. Called before each request.
  std::function<Result<std::string>()> token = {};
  /// The project that pays (GOOGLE_CLOUD_QUOTA_PROJECT); empty: the bucket's.
  std::string user_project = {};
  RetryPolicy retry = {};
  CurlOptions client = {};
  /// Pieces of an upload but the last: a multiple of 256 KiB.
  std::uint64_t part_bytes = std::uint64_t{16} << 20;
};

/// Endpoint (STORAGE_EMULATOR_HOST, TENSORSTORE_GCS_HTTP_URL), project, and tokens as
/// `find_gcs_token` finds them.
Result<GcsOptions> gcs_options_from_environment();

/// Tokens from CLOUDSDK_AUTH_ACCESS_TOKEN; from the file of GOOGLE_APPLICATION_CREDENTIALS or
/// gcloud's application-default login (a service account or a user's refresh token); from the
/// metadata server; empty where nothing is found: then only public objects can be read. Kept until
/// shortly before they end. Files of another kind are Code::unsupported, by name.
std::function<Result<std::string>()> find_gcs_token();

/// The JWT by which a service account asks for a token: RS256, for an hour from `now`.
Result<std::string> service_account_jwt(const std::string& email, const std::string& key_pem,
                                        const std::string& audience, std::int64_t now);

/// Opens a bucket. Generations are Google's numbers.
std::shared_ptr<ObjectStore> open_gcs(const std::string& bucket, GcsOptions options);

/// A page of a listing as Google writes it (JSON).
Result<ObjectPage> parse_gcs_page(std::string_view json);

}  // namespace strata::net
