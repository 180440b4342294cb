#include "strata/net/http_parse.h"

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cctype>

namespace strata::net {
namespace {

namespace http = boost::beast::http;

/// Bytes without which a parser that asked for more is not asked again: with fewer behind the head
/// of a last chunk, "0\r\n", Boost.Beast's assertion ends the process. No message ends with less.
constexpr std::size_t kLeast = 5;

RequestHead refused(int status, std::string message) {
  return {.status = status, .message = std::move(message)};
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

struct RequestHead::Body {
  http::request_parser<http::string_body> parser;
  std::size_t least = 1;  // bytes that are worth another look
};

RequestHead parse_head(const std::string& bytes, const HttpLimits& most) {
  const std::size_t end = bytes.find("\r\n\r\n");
  const std::size_t length = end == bytes.npos ? bytes.size() : end + 4;
  // What other parsers read in another way is no request.
  for (std::size_t i = 0; i < length; ++i) {
    const char c = bytes[i];
    if (c == '\n' && (i == 0 || bytes[i - 1] != '\r'))
      return refused(400, "a line of the head ends without a carriage return");
    if (c == '\0') return refused(400, "the head holds a zero byte");
    if ((c == ' ' || c == '\t') && i > 0 && bytes[i - 1] == '\n')
      return refused(400, "a header is folded over lines");
  }
  const std::size_t line = std::min(bytes.find("\r\n"), bytes.size());
  if (line > most.url_bytes + 64)
    return refused(414, "the address is longer than " + std::to_string(most.url_bytes) + " bytes");
  if (length > most.header_bytes)
    return refused(431, "headers are longer than " + std::to_string(most.header_bytes) + " bytes");
  if (end == bytes.npos) return {};
  RequestHead out;
  out.body = std::make_shared<RequestHead::Body>();
  auto& parser = out.body->parser;
  parser.header_limit(static_cast<std::uint32_t>(most.header_bytes));
  parser.body_limit(most.body_bytes);
  boost::system::error_code error;
  out.bytes = parser.put(boost::asio::buffer(bytes.data(), length), error);
  if (error == http::error::body_limit)
    return refused(413, "the body is longer than " + std::to_string(most.body_bytes) + " bytes");
  if (error == http::error::bad_version)
    return refused(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
  if (error || !parser.is_header_done() || out.bytes != length)
    return refused(400, "the request's head is not HTTP/1.1");
  const auto& message = parser.get();
  if (parser.content_length() && *parser.content_length() > most.body_bytes)
    return refused(413, "the body is longer than " + std::to_string(most.body_bytes) + " bytes");
  HttpRequest& r = out.request;
  r.method = std::string(message.method_string());
  const std::string target(message.target());
  if (target.empty() || (target[0] != '/' && target != "*"))
    return refused(400, "the address is no path");
  const std::size_t query = target.find('?');
  r.path = target.substr(0, query);
  if (query != target.npos) r.query = target.substr(query + 1);
  std::size_t hosts = 0, lengths = 0, codings = 0;
  for (const auto& field : message) {
    r.headers.emplace_back(
        lower(std::string_view(field.name_string().data(), field.name_string().size())),
        std::string(field.value()));
    const std::string& name = r.headers.back().first;
    hosts += name == "host", lengths += name == "content-length";
    codings += name == "transfer-encoding";
  }
  if (r.headers.size() > most.headers)
    return refused(431, "there are more than " + std::to_string(most.headers) + " headers");
  out.http_1_1 = message.version() == 11;
  if (message.version() != 11 && message.version() != 10)
    return refused(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
  if (hosts > 1 || (out.http_1_1 && hosts != 1))
    return refused(400, "there must be one Host header");
  if (lengths > 1 || codings > 1 || (lengths > 0 && codings > 0))
    return refused(400, "the body's length is said more than once");
  if (codings > 0 && (!out.http_1_1 || lower(r.header("transfer-encoding")) != "chunked"))
    return refused(501, "the only Transfer-Encoding here is chunked");
  const std::string expect = lower(r.header("expect"));
  if (!expect.empty() && expect != "100-continue")
    return refused(417, "the only expectation that is met here is 100-continue");
  out.expects_continue = !expect.empty();
  out.keep_alive = message.keep_alive();
  out.has_body = !parser.is_done();
  return out;
}

BodyPiece RequestHead::take_body(std::string& buffer, const HttpLimits& most) {
  auto& parser = body->parser;
  parser.eager(true);
  boost::system::error_code error;
  while (buffer.size() >= body->least && !parser.is_done()) {
    body->least = 1;
    const std::size_t taken = parser.put(boost::asio::buffer(buffer.data(), buffer.size()), error);
    buffer.erase(0, taken);
    if (error == http::error::need_more) {
      if (buffer.size() > (64u << 10))
        return {.status = 400, .message = "a chunk's head is too long"};
      body->least = kLeast;
      break;
    }
    if (error == http::error::body_limit)
      return {.status = 413,
              .message = "the body is longer than " + std::to_string(most.body_bytes) + " bytes"};
    if (error) return {.status = 400, .message = "the request's body is not HTTP/1.1"};
    if (taken == 0) break;
  }
  if (!parser.is_done()) return {};
  request.body = std::move(parser.get().body());
  return {.done = true};
}

struct ResponseReader::Inner {
  std::size_t least = 1;
  std::unique_ptr<http::response_parser<http::string_body>> parser;

  void renew() {
    parser = std::make_unique<http::response_parser<http::string_body>>();
    parser->header_limit(64u << 10);
    parser->body_limit(boost::none);
    parser->eager(true);
  }
};

ResponseReader::ResponseReader() : inner_(std::make_unique<Inner>()) { inner_->renew(); }
ResponseReader::~ResponseReader() = default;

Status ResponseReader::take(std::string& buffer, std::string& body) {
  boost::system::error_code error;
  while (buffer.size() >= inner_->least && !done()) {
    inner_->least = 1;
    auto& parser = *inner_->parser;
    const std::size_t taken = parser.put(boost::asio::buffer(buffer.data(), buffer.size()), error);
    buffer.erase(0, taken);
    if (parser.is_header_done()) {
      body += parser.get().body();
      parser.get().body().clear();
    }
    if (error == http::error::need_more) {
      if (buffer.size() > (64u << 10)) return {Code::corrupt, "a line of the response is too long"};
      inner_->least = kLeast;
      break;
    }
    if (error) return {Code::corrupt, "the response is not HTTP/1.1: {}", error.message()};
    // What a server says before the response itself.
    if (parser.is_done() && parser.get().result_int() < 200)
      inner_->renew();
    else if (taken == 0)
      break;
  }
  return {};
}

Status ResponseReader::closed() {
  boost::system::error_code error;
  if (inner_->parser->got_some() && !done()) inner_->parser->put_eof(error);
  if (error || !done()) return {Code::corrupt, "the connection was closed amid a response"};
  return {};
}

bool ResponseReader::head_done() const { return inner_->parser->is_header_done(); }
bool ResponseReader::done() const { return inner_->parser->is_done(); }
int ResponseReader::status() const { return static_cast<int>(inner_->parser->get().result_int()); }
bool ResponseReader::keep_alive() const { return inner_->parser->keep_alive(); }
std::string ResponseReader::header(std::string_view name) const {
  const auto value = inner_->parser->get()[boost::string_view(name.data(), name.size())];
  return std::string(value.data(), value.size());
}

}  // namespace strata::net
