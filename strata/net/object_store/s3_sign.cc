#include "strata/net/object_store/s3_sign.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>

namespace strata::net {
namespace {

std::string hex(std::string_view bytes) {
  std::string out;
  for (char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, 32> out{};
  EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

std::string hmac(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, 32> out{};
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), out.data(), nullptr);
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

}  // namespace

std::string sha256_hex(std::string_view bytes) { return hex(sha256(bytes)); }

std::string s3_time() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char out[32];
  return {out, std::strftime(out, sizeof out, "%Y%m%dT%H%M%SZ", &utc)};
}

std::string s3_query(const S3Request& request) {
  std::vector<std::pair<std::string, std::string>> sorted;
  for (const auto& [name, value] : request.parameters)
    sorted.emplace_back(percent_encode(name), percent_encode(value));
  std::sort(sorted.begin(), sorted.end());
  std::string out;
  for (const auto& [name, value] : sorted) out += (out.empty() ? "" : "&") + name + "=" + value;
  return out;
}

HttpHeaders sign_s3(const S3Request& request, const S3Credentials& who, const std::string& region,
                    const std::string& time) {
  HttpHeaders out = request.headers;
  if (who.key_id.empty()) return out;
  const std::string content = sha256_hex(request.body), day = time.substr(0, 8);
  out.emplace_back("x-amz-content-sha256", content);
  out.emplace_back("x-amz-date", time);
  if (!who.session_token.empty()) out.emplace_back("x-amz-security-token", who.session_token);

  HttpHeaders signed_ones = out;
  signed_ones.emplace_back("host", request.host);
  for (auto& [name, value] : signed_ones)
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::sort(signed_ones.begin(), signed_ones.end());
  std::string lines, names;
  for (const auto& [name, value] : signed_ones) {
    lines += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical = request.method + "\n" + request.path + "\n" + s3_query(request) +
                                "\n" + lines + "\n" + names + "\n" + content;
  const std::string scope = day + "/" + region + "/s3/aws4_request";
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n" + sha256_hex(canonical);
  std::string key = "AWS4" + who.secret;
  for (const std::string& part : {day, region, std::string("s3"), std::string("aws4_request")})
    key = hmac(key, part);
  out.emplace_back("authorization", "AWS4-HMAC-SHA256 Credential=" + who.key_id + "/" + scope +
                                        ",SignedHeaders=" + names +
                                        ",Signature=" + hex(hmac(key, to_sign)));
  return out;
}

}  // namespace strata::net
