// Signatures of requests to S3: AWS Signature Version 4.
//
// Source: AWS's documentation of SigV4 with its example requests.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/net/curl_client.h"

namespace strata::net {

/// Who asks; without `key_id` requests are not signed.
struct S3Credentials {
  std::string key_id, secret, session_token;
};

/// A request before it is signed. The path is encoded already, parameters are not.
struct S3Request {
  std::string method = "GET", host, path = "/";
  std::vector<std::pair<std::string, std::string>> parameters = {};
  HttpHeaders headers = {};
  std::string_view body = {};
};

/// "key=value&..." sorted and encoded as signatures want it.
std::string s3_query(const S3Request& request);

/// The request's headers with x-amz-date, x-amz-content-sha256, the session's token and
/// Authorization. `time` is "20130524T000000Z".
HttpHeaders sign_s3(const S3Request& request, const S3Credentials& who, const std::string& region,
                    const std::string& time);

/// Lower-case hexadecimal SHA-256.
std::string sha256_hex(std::string_view bytes);

/// Now, as signatures write it.
std::string s3_time();

}  // namespace strata::net
