// What clients are told of a completion or a chat: events of the engine become OpenAI's objects,
// whole or as a stream.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "strata/net/http_server.h"
#include "strata/serve/engine.h"
#include "strata/serve/json.h"
#include "strata/serve/parameters.h"
#include "strata/serve/tools.h"

namespace strata::serve {

/// One answer with its choices. Events come from the engine's thread.
class Answer {
 public:
  Answer(Engine& engine, net::HttpReply reply, Parameters parameters, bool chat, std::string id,
         std::string model, std::int64_t created, std::vector<std::vector<std::int32_t>> prompts,
         bool with_ids);
  /// What happened to choice i.
  void hear(std::size_t i, const Event& event);
  /// What a beam search for prompt i found.
  void hear_beams(std::size_t i, const Event& event);
  /// Begins a stream.
  void begin();
  /// The job of a choice, so that it ends where the client leaves.
  void holds(std::int64_t job);
  void leave();

 private:
  struct Choice {
    std::string text, finish;
    Json logprobs, stop_reason;
    std::size_t offset = 0;
    std::vector<std::int32_t> tokens;
    bool begun = false, ended = false;
    double sum = 0;  // of its tokens' log-probabilities
    Json prompt_logprobs = nullptr;
    std::optional<CallReader> reader = {};  // where the answer may call tools
    std::vector<ToolCall> calls = {};
    // Of a stream: what is not told yet, and of how many tokens it is.
    std::string held = {};
    Json held_logprobs = nullptr;
    std::vector<CallPiece> held_calls = {};
    std::vector<std::int32_t> held_tokens = {};
    std::int64_t held_events = 0;
  };
  Json calls_json(const std::vector<ToolCall>& calls) const;
  Json logprobs_of(Choice& choice, const std::vector<TokenLogprob>& tokens, bool first_unknown,
                   std::int32_t first) const;
  Json prompt_logprobs_of(const std::vector<std::int32_t>& prompt,
                          const std::vector<engine::PromptLogprob>& all) const;
  Json whole(const Choice& choice, std::size_t prompt, std::size_t index) const;
  std::vector<std::size_t> told(std::size_t prompt) const;
  Json frame(bool chunk) const;
  Json usage() const;
  void stream(std::size_t i, const Event& event, const std::string& text, Json logprobs,
              const std::vector<CallPiece>& calls);
  void send(const Json& json);
  void finish();

  Engine& engine_;
  net::HttpReply reply_;
  Parameters parameters_;
  bool chat_;
  std::string id_, model_;
  std::int64_t created_;
  std::vector<std::vector<std::int32_t>> prompts_;
  bool with_ids_;
  std::vector<Choice> choices_;
  std::size_t ended_ = 0;
  std::int64_t prompt_tokens_ = 0, drawn_ = 0;
  std::string error_;
  std::mutex mutex_;
  std::vector<std::int64_t> jobs_;
  bool left_ = false;
};

/// A token as text, which need not be whole characters.
std::string text_of(const engine::LanguageModel& lm, std::int32_t token);

}  // namespace strata::serve
