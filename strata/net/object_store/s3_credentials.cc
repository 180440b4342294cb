// Where credentials for S3 come from, in the order of AWS's own clients.
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "strata/base/file.h"
#include "strata/net/object_store/s3.h"

namespace strata::net {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The file that is named, or the one below the home folder.
std::string home_file(const std::string& named, const std::string& below_home) {
  const std::string home = environment("HOME");
  return !named.empty() ? named : home.empty() ? "" : home + below_home;
}

std::string trimmed(std::string text) {
  const char* blank = " \t\r\n";
  text.erase(0, text.find_first_not_of(blank));
  const std::size_t end = text.find_last_not_of(blank);
  return text.substr(0, end == std::string::npos ? 0 : end + 1);
}

/// A section of AWS's files of settings.
std::map<std::string, std::string> section(const std::string& path, const std::string& name) {
  std::map<std::string, std::string> out;
  const Result<std::string> text = path.empty() ? std::string() : read_file(path);
  if (!text) return out;
  std::istringstream lines(*text);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.starts_with('[')) inside = line == "[" + name + "]";
    const std::size_t equals = line.find('=');
    if (inside && equals != std::string::npos && line[0] != '#')
      out[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
  }
  return out;
}

std::string profile() {
  const std::string named = environment("AWS_PROFILE");
  return named.empty() ? "default" : named;
}

/// "2030-01-02T03:04:05Z" as seconds since 1970; 0 for what is none.
std::time_t time_of(const std::string& text) {
  std::tm utc{};
  return strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &utc) ? timegm(&utc) : 0;
}

struct Found {
  S3Credentials who;
  /// 0: they do not end.
  std::time_t ends = 0;
};

Found parse_metadata(const std::string& body) {
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return {};
  const auto text = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
  };
  return {{text("AccessKeyId"), text("SecretAccessKey"), text("Token")},
          time_of(text("Expiration"))};
}

/// The address of Amazon's containers, and of instances.
constexpr const char* kContainer = "http://169.254.170.2";
constexpr const char* kInstance = "http://169.254.169.254";

Found from_metadata() {
  CurlClient client({.connect_time = std::chrono::milliseconds(1000),
                     .total_time = std::chrono::milliseconds(5000)});
  const std::string relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  std::string url = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!relative.empty()) url = kContainer + relative;
  if (!url.empty()) {
    CurlCall call{.url = url};
    std::string token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    const std::string file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    if (Result<std::string> text = file.empty() ? std::string() : read_file(file);
        text && token.empty())
      token = trimmed(*text);
    if (!token.empty()) call.headers.emplace_back("authorization", token);
    const Result<CurlAnswer> answer = client.request(call);
    return answer && answer->status == 200 ? parse_metadata(answer->body) : Found{};
  }
  if (environment("AWS_EC2_METADATA_DISABLED") == "true") return {};
  std::string base = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (base.empty()) base = kInstance;
  while (base.ends_with('/')) base.pop_back();
  const Result<CurlAnswer> token =
      client.request({.method = "PUT",
                      .url = base + "/latest/api/token",
                      .headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}}});
  if (!token || token->status != 200) return {};
  const HttpHeaders headers = {{"x-aws-ec2-metadata-token", token->body}};
  const std::string roles = base + "/latest/meta-data/iam/security-credentials/";
  const Result<CurlAnswer> role = client.request({.url = roles, .headers = headers});
  if (!role || role->status != 200) return {};
  const Result<CurlAnswer> answer = client.request(
      {.url = roles + trimmed(role->body.substr(0, role->body.find('\n'))), .headers = headers});
  return answer && answer->status == 200 ? parse_metadata(answer->body) : Found{};
}

Found find() {
  Found out{{environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
             environment("AWS_SESSION_TOKEN")},
            0};
  if (!out.who.key_id.empty()) return out;
  const auto file = section(
      home_file(environment("AWS_SHARED_CREDENTIALS_FILE"), "/.aws/credentials"), profile());
  if (file.contains("aws_access_key_id") && file.contains("aws_secret_access_key")) {
    const auto token = file.find("aws_session_token");
    return {{file.at("aws_access_key_id"), file.at("aws_secret_access_key"),
             token == file.end() ? "" : token->second},
            0};
  }
  return from_metadata();
}

}  // namespace

std::function<Result<S3Credentials>()> find_s3_credentials() {
  struct State {
    std::mutex mutex;
    bool known = false;
    Found found;
  };
  return [state = std::make_shared<State>()]() -> Result<S3Credentials> {
    constexpr std::time_t kEarly = 300;  // seconds
    std::lock_guard lock(state->mutex);
    const bool ended = state->found.ends != 0 && std::time(nullptr) + kEarly >= state->found.ends;
    if (!state->known || ended) state->found = find();
    state->known = true;
    return state->found.who;
  };
}

Result<S3Options> s3_options_from_environment() {
  S3Options out{.credentials = find_s3_credentials()};
  out.endpoint = environment("AWS_ENDPOINT_URL_S3");
  if (out.endpoint.empty()) out.endpoint = environment("AWS_ENDPOINT_URL");
  if (!out.endpoint.empty() && !out.endpoint.starts_with("http://") &&
      !out.endpoint.starts_with("https://"))
    return Status(Code::invalid,
                  "AWS_ENDPOINT_URL is \"{}\", which begins with neither http:// "
                  "nor https://",
                  out.endpoint);
  std::string region = environment("AWS_REGION");
  if (region.empty()) region = environment("AWS_DEFAULT_REGION");
  if (region.empty()) {
    const std::string name = profile() == "default" ? "default" : "profile " + profile();
    const auto config = section(home_file(environment("AWS_CONFIG_FILE"), "/.aws/config"), name);
    if (const auto found = config.find("region"); found != config.end()) region = found->second;
  }
  if (!region.empty()) out.region = region;
  return out;
}

}  // namespace strata::net
