#include "strata/net/curl_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <cstring>
#include <mutex>

namespace strata::net {
namespace {

struct Transfer {
  CurlAnswer answer;
  std::uint64_t most = 0;
  bool too_long = false;
  std::string_view unsent;
  std::string_view body;
};

std::size_t take_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& to = *static_cast<Transfer*>(user);
  std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) to.answer.headers.clear();  // "100 Continue" came before
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size * count;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.front())))
    value.remove_prefix(1);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back())))
    value.remove_suffix(1);
  to.answer.headers.emplace_back(std::move(name), value);
  return size * count;
}

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& to = *static_cast<Transfer*>(user);
  if (to.answer.body.size() + size * count > to.most) {
    to.too_long = true;
    return 0;
  }
  to.answer.body.append(data, size * count);
  return size * count;
}

std::size_t give_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& from = *static_cast<Transfer*>(user);
  const std::size_t n = std::min(size * count, from.unsent.size());
  std::memcpy(data, from.unsent.data(), n);
  from.unsent.remove_prefix(n);
  return n;
}

int rewind_body(void* user, curl_off_t offset, int origin) {
  auto& from = *static_cast<Transfer*>(user);
  if (origin != SEEK_SET || offset < 0 || static_cast<std::size_t>(offset) > from.body.size())
    return CURL_SEEKFUNC_FAIL;
  from.unsent = from.body.substr(static_cast<std::size_t>(offset));
  return CURL_SEEKFUNC_OK;
}

struct Headers {
  ~Headers() { curl_slist_free_all(list); }
  void add(const std::string& line) { list = curl_slist_append(list, line.c_str()); }
  curl_slist* list = nullptr;
};

void begin_curl_once() {
  static const CURLcode begun = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)begun;
}

}  // namespace

std::string_view CurlAnswer::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

struct CurlClient::Inner {
  CurlOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<CURL*> idle;
  int under_way = 0;

  CURL* take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return under_way < options.most_at_once; });
    ++under_way;
    if (idle.empty()) return curl_easy_init();
    CURL* out = idle.back();
    idle.pop_back();
    return out;
  }
  void give_back(CURL* handle) {
    {
      std::lock_guard lock(mutex);
      --under_way;
      if (handle) idle.push_back(handle);
    }
    changed.notify_one();
  }
};

CurlClient::CurlClient(const CurlOptions& options) : inner_(new Inner{.options = options}) {
  begin_curl_once();
}

CurlClient::~CurlClient() {
  for (CURL* handle : inner_->idle) curl_easy_cleanup(handle);
}

Result<CurlAnswer> CurlClient::request(const CurlCall& call) {
  CURL* handle = inner_->take();
  if (!handle) {
    inner_->give_back(nullptr);
    return Status(Code::io, "{} {}: libcurl gives no handle", call.method, call.url);
  }
  const CurlOptions& options = inner_->options;
  Transfer transfer{.most = options.body_bytes, .unsent = call.body, .body = call.body};
  Headers headers;
  for (const auto& [name, value] : call.headers)
    headers.add(value.empty() ? name + ";" : name + ": " + value);
  headers.add("Expect:");  // no waiting for "100 Continue"
  char why[CURL_ERROR_SIZE] = "";

  curl_easy_reset(handle);  // connections stay
  curl_easy_setopt(handle, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options.connect_time.count()));
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(options.total_time.count()));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.stall_time.count()));
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, why);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "strata");
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  if (call.method == "HEAD") {
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  } else if (call.method == "PUT" || call.method == "POST") {
    curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, give_body);
    curl_easy_setopt(handle, CURLOPT_READDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, rewind_body);
    curl_easy_setopt(handle, CURLOPT_SEEKDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  } else {
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  }
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.list);

  const CURLcode code = curl_easy_perform(handle);
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  inner_->give_back(handle);
  if (transfer.too_long)
    return Status(Code::invalid, "{} {}: the answer is over {} bytes", call.method, call.url,
                  options.body_bytes);
  if (code != CURLE_OK)
    return Status(Code::io, "{} {}: {}", call.method, call.url,
                  why[0] ? why : curl_easy_strerror(code));
  transfer.answer.status = static_cast<int>(status);
  return std::move(transfer.answer);
}

std::string percent_encode(std::string_view text, std::string_view keep) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte < 128 && std::isalnum(byte)) ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       keep.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

}  // namespace strata::net
