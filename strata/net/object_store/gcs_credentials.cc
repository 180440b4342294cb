// Where tokens for Google Cloud Storage come from, in the order of Google's own clients.
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/net/object_store/gcs.h"

namespace strata::net {
namespace {

using nlohmann::json;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string base64url(std::string_view bytes) {
  std::string out = base64(bytes);
  while (out.ends_with('=')) out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

struct Token {
  std::string text;
  /// 0: it does not end.
  std::time_t ends = 0;
};

std::string text_of(const json& object, const char* key) {
  return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

Result<Token> parse_token(const std::string& from, const Result<CurlAnswer>& answer) {
  if (!answer) return answer.status();
  const json body = json::parse(answer->body, nullptr, false);
  if (answer->status != 200 || !body.is_object() || text_of(body, "access_token").empty())
    return Status(Code::denied, "{} gives no token (status {}): {}", from, answer->status,
                  answer->body.substr(0, 300));
  const std::int64_t lives = body.contains("expires_in") && body["expires_in"].is_number()
                                 ? body["expires_in"].get<std::int64_t>()
                                 : 3600;
  return Token{text_of(body, "access_token"), std::time(nullptr) + lives};
}

Result<Token> ask(CurlClient& client, const std::string& url, const std::string& form) {
  return parse_token(
      url, client.request({.method = "POST",
                           .url = url,
                           .headers = {{"content-type", "application/x-www-form-urlencoded"}},
                           .body = form}));
}

Result<Token> from_file(CurlClient& client, const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) return text.status();
  const json file = json::parse(*text, nullptr, false);
  if (!file.is_object())
    return Status(Code::invalid, "{}: holds no credentials: it is no JSON object", path);
  const std::string type = text_of(file, "type");
  std::string url = text_of(file, "token_uri");
  if (url.empty()) url = "https://oauth2.googleapis.com/token";
  if (type == "service_account") {
    Result<std::string> jwt = service_account_jwt(
        text_of(file, "client_email"), text_of(file, "private_key"), url, std::time(nullptr));
    if (!jwt) return Status(jwt.status().code(), "{}: {}", path, jwt.status().message());
    return ask(client, url,
               "grant_type=" + percent_encode("urn:ietf:params:oauth:grant-type:jwt-bearer") +
                   "&assertion=" + *jwt);
  }
  if (type == "authorized_user")
    return ask(client, url,
               "grant_type=refresh_token&client_id=" + percent_encode(text_of(file, "client_id")) +
                   "&client_secret=" + percent_encode(text_of(file, "client_secret")) +
                   "&refresh_token=" + percent_encode(text_of(file, "refresh_token")));
  return Status(Code::unsupported,
                "{}: credentials of type \"{}\" are not supported; those of service_account and "
                "authorized_user are, or set CLOUDSDK_AUTH_ACCESS_TOKEN",
                path, type);
}

Result<Token> find() {
  if (std::string token = environment("CLOUDSDK_AUTH_ACCESS_TOKEN"); !token.empty())
    return Token{token, 0};
  CurlClient client({.connect_time = std::chrono::milliseconds(10000),
                     .total_time = std::chrono::milliseconds(30000)});
  if (std::string path = environment("GOOGLE_APPLICATION_CREDENTIALS"); !path.empty())
    return from_file(client, path);
  std::string folder = environment("CLOUDSDK_CONFIG");
  if (folder.empty()) folder = environment("HOME") + "/.config/gcloud";
  const std::string login = folder + "/application_default_credentials.json";
  if (file_exists(login)) return from_file(client, login);

  CurlClient near({.connect_time = std::chrono::milliseconds(1000),
                   .total_time = std::chrono::milliseconds(5000)});
  std::string host = environment("GCE_METADATA_HOST");
  if (host.empty()) host = "metadata.google.internal";
  const Result<CurlAnswer> answer = near.request(
      {.url = "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token",
       .headers = {{"metadata-flavor", "Google"}}});
  if (!answer || answer->status != 200) return Token{};  // public objects need none
  return parse_token(host, answer);
}

}  // namespace

Result<std::string> service_account_jwt(const std::string& email, const std::string& key_pem,
                                        const std::string& audience, std::int64_t now) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(
      BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())), &BIO_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(bytes.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  if (!key) return Status(Code::invalid, "the private key of {} is no PEM key", email);
  const json head = {{"alg", "RS256"}, {"typ", "JWT"}};
  const json claims = {{"iss", email},
                       {"scope", "https://www.googleapis.com/auth/cloud-platform"},
                       {"aud", audience},
                       {"iat", now},
                       {"exp", now + 3600}};
  const std::string text = base64url(head.dump()) + "." + base64url(claims.dump());
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  std::size_t size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(text.data());
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, data, text.size()) != 1)
    return Status(Code::invalid, "the private key of {} cannot sign", email);
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, data,
                     text.size()) != 1)
    return Status(Code::invalid, "the private key of {} cannot sign", email);
  signature.resize(size);
  return text + "." + base64url(signature);
}

std::function<Result<std::string>()> find_gcs_token() {
  struct State {
    std::mutex mutex;
    bool known = false;
    Token token;
  };
  return [state = std::make_shared<State>()]() -> Result<std::string> {
    constexpr std::time_t kEarly = 120;  // seconds
    std::lock_guard lock(state->mutex);
    const bool ended = state->token.ends != 0 && std::time(nullptr) + kEarly >= state->token.ends;
    if (state->known && !ended) return state->token.text;
    Result<Token> found = find();
    if (!found) return found.status();
    state->token = *found;
    state->known = true;
    return state->token.text;
  };
}

Result<GcsOptions> gcs_options_from_environment() {
  GcsOptions out;
  std::string endpoint = environment("STORAGE_EMULATOR_HOST");
  if (endpoint.empty()) endpoint = environment("TENSORSTORE_GCS_HTTP_URL");
  const bool emulated = !environment("STORAGE_EMULATOR_HOST").empty();
  if (!endpoint.empty())
    out.endpoint = endpoint.find("://") == std::string::npos ? "http://" + endpoint : endpoint;
  out.user_project = environment("GOOGLE_CLOUD_QUOTA_PROJECT");
  if (!emulated) out.token = find_gcs_token();
  return out;
}

}  // namespace strata::net
