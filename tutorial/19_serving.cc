// Chapter 19: serving. The page beside this file (19_serving.md) explains it.
#include <strata/core.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <nlohmann/json.hpp>

#include "strata/engine/language_model.h"
#include "strata/engine/text.h"
#include "strata/net/http_client.h"
#include "strata/net/http_server.h"
#include "strata/serve/engine.h"
#include "strata/serve/server.h"

using namespace strata;
using Json = nlohmann::json;

/// A tiny published model of random weights, with a tokenizer of 48 words.
void make_model(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const char* file : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(
        std::filesystem::path("strata/model/testdata/published/qwen3") / file, folder / file,
        std::filesystem::copy_options::overwrite_existing);
  Json words;
  for (int i = 0; i < 48; ++i) words[i == 0 ? "<unk>" : "w" + std::to_string(i)] = i;
  std::ofstream(folder / "tokenizer.json")
      << Json{{"version", "1.0"},
              {"added_tokens", Json::array()},
              {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
              {"model", {{"type", "WordLevel"}, {"vocab", words}, {"unk_token", "<unk>"}}}};
}

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "strata_tutorial_19";
  make_model(folder);

  // The engine, the routes over it, and the door to the network.
  const auto lm = engine::load_language_model(folder);
  if (!lm) {
    std::cerr << lm.status().message() << "\n";
    return 1;
  }
  serve::Engine engine(*lm, engine::options_for(*lm, 64, 4));
  serve::Server server(engine, {.names = {"tiny"}});
  const auto http = net::HttpServer::listen({.port = 0}, server.handler(), serve::refusal);

  // A whole answer.
  auto client = net::HttpClient::of((*http)->url());
  const Json asked = {{"prompt", "w1 w2 w3"}, {"max_tokens", 6},    {"seed", 7},
                      {"logprobs", 1},        {"ignore_eos", true}, {"return_token_ids", true}};
  const auto whole =
      client->ask({.path = "/v1/completions", .method = "POST", .body = asked.dump()});
  const Json answer = Json::parse(whole->body);
  const Json choice = answer["choices"][0];
  std::cout << "status " << whole->status << ", " << answer["usage"]["completion_tokens"]
            << " tokens, ended by " << choice["finish_reason"] << "\n";

  // The same as a stream: piece by piece, and the same text.
  Json streamed = asked;
  streamed["stream"] = true;
  std::string events;
  const auto hear = [&](std::string_view piece) {
    events += piece;
    return true;
  };
  (void)client->ask(
      {.path = "/v1/completions", .method = "POST", .body = streamed.dump(), .on_piece = hear});
  std::string text;
  for (std::size_t at = 0; (at = events.find("data: {", at)) != events.npos; ++at)
    text +=
        Json::parse(events.substr(at + 6, events.find('\n', at) - at - 6))["choices"][0]["text"];
  std::cout << "the stream is the whole: " << std::boolalpha
            << (text == choice["text"].get<std::string>()) << "\n";

  // What was logged, read again in one pass and compared to the bit.
  const Json logged = {{"prompt_token_ids", choice["prompt_token_ids"]},
                       {"token_ids", choice["token_ids"]},
                       {"logprobs", choice["logprobs"]["token_logprobs"]}};
  const auto verified =
      client->ask({.path = "/v1/verify", .method = "POST", .body = logged.dump()});
  std::cout << "verified: " << Json::parse(verified->body)["equal"] << "\n";

  // A mistake is told with its field.
  const auto wrong = client->ask({.path = "/v1/completions",
                                  .method = "POST",
                                  .body = R"({"prompt": "w1", "temperature": 3})"});
  std::cout << wrong->status << ": " << Json::parse(wrong->body)["error"]["param"] << "\n";

  // Without HTTP: events of a request, as its tokens are drawn.
  std::promise<void> done;
  engine.submit({.tokens = lm->prompt("w1 w2 w3"), .sampling = {.seed = 7}, .max_tokens = 6},
                [&](const serve::Event& e) {
                  if (e.ended) done.set_value();
                });
  done.get_future().wait();

  std::cout << "drained: " << (*http)->drain(std::chrono::seconds(5)) << "\n";
  std::filesystem::remove_all(folder);
  return text == choice["text"].get<std::string>() ? 0 : 1;
}
