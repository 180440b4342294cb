// The OpenAI-compatible server: a table of routes over an engine.
//
//   serve::Engine engine(lm, engine::options_for(lm, 4096, 32));
//   serve::Server server(engine, {.names = {"smollm2"}});
//   auto http = net::HttpServer::listen({.port = 8000}, server.handler(), serve::refusal);
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "strata/net/http_server.h"
#include "strata/serve/engine.h"
#include "strata/serve/json.h"
#include "strata/serve/parameters.h"
#include "strata/serve/structured.h"
#include "strata/serve/thinking.h"
#include "strata/serve/tools.h"

namespace strata::serve {

struct ServerOptions {
  /// What the model is called; the first is told.
  std::vector<std::string> names = {};
  /// Who may use it; nobody is asked where there is none.
  std::vector<std::string> keys = {};
  /// Requests of a key in a minute; 0: any number.
  std::int64_t requests_per_minute = 0;
  std::vector<std::string> origins = {"*"};
  std::int64_t max_logprobs = 20;
  /// Between which a model thinks.
  std::string think_begin = "<think>", think_end = "</think>";
  /// What is told of tokens that are drawn. Only raw log-probabilities can be verified.
  engine::Sampling::LogprobsMode logprobs_mode = engine::Sampling::LogprobsMode::raw_logprobs;
  /// How calls are written, by one of vLLM's names; empty: as the chat template does.
  std::string tool_parser = {};
  /// Refuses fields that nobody knows; else they are named in the header X-Ignored-Fields.
  bool strict_fields = false;
  /// How tokens are drawn where a request says nothing.
  engine::Sampling usual = {};
};

class Server {
 public:
  /// The engine must outlive it.
  Server(Engine& engine, ServerOptions options);
  /// Refers to this.
  net::HttpHandler handler();

 private:
  using Digest = std::array<unsigned char, 32>;
  void answer(const net::HttpRequest& request, net::HttpReply& reply);
  void admit(const net::HttpRequest& request);
  void generate(const net::HttpRequest& request, net::HttpReply& reply, bool chat);
  std::vector<std::vector<std::int32_t>> prompts_of(const Json& body, bool chat) const;
  std::vector<std::int32_t> encoded(const std::string& text) const;
  Json models() const;
  Json tokenize(const Json& body) const;
  Json detokenize(const Json& body) const;
  Json verify(const Json& body);
  void prepare(Parameters& parameters, const Json& body);
  void truncate(const Parameters& parameters,
                std::vector<std::vector<std::int32_t>>& prompts) const;

  Engine& engine_;
  ServerOptions options_;
  std::vector<Digest> keys_;
  std::mutex mutex_;
  struct Budget {
    double left;
    std::chrono::steady_clock::time_point at;
  };
  std::map<Digest, Budget> budgets_;
  std::vector<std::string> breaker_texts_;  // those that DRY was asked for last
  std::vector<std::vector<std::int32_t>> breakers_;
  std::int64_t requests_ = 0, created_ = 0;
  std::once_flag made_ready_, text_made_ready_;
  std::unique_ptr<Guides> guides_, text_guides_;  // the second of forms within free text,
  std::once_flag tokens_made_ready_;
  std::unique_ptr<Guides> token_guides_;  // and of forms that name tokens
  std::vector<std::int32_t> free_;        // special tokens that no call has
  Marks thinking_;
  CallFormat calls_;
  bool calls_are_special_ = false;  // whether special tokens mark calls
};

/// An error of HTTP in OpenAI's shape.
net::HttpResponse refusal(int status, const std::string& message);

}  // namespace strata::serve
