// Chat templates: how a model wants a conversation written, as a Jinja template that came with it.
//
//   auto chat = ChatTemplate::parse(text);                       // of tokenizer_config.json, GGUF
//   if (!chat) return fail(chat.status());
//   auto prompt = chat->apply(messages, {.add_generation_prompt = true});
//   std::cout << prompt->text;
//
// The template runs in a sandbox with limits: it reads no file, imports nothing, and ends. The
// bytes are those of jinja2 in the environment of Hugging Face transformers
// (utils/chat_template_utils.py): trim_blocks, lstrip_blocks, loop controls, tojson without HTML,
// raise_exception, strftime_now, {% generation %}.
//
// Deviations: integers have 64 bits; autoescape, include, import, extends, block are refused;
// strftime_now prints the time that is given, so that the same request gives the same text;
// joiner, cycler, lipsum, and the filters filesizeformat, forceescape, pprint, random, striptags,
// urlize, wordwrap, xmlattr are missing.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/result.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::tokenizer {

/// A conversation as the model is to read it.
struct RenderedChat {
  std::string text;
  /// What came from messages, tools and documents, not from the template: a tokenizer that looks
  /// for special tokens outside of them alone takes a typed "<|im_end|>" as text.
  std::vector<Span> input;
  /// What the template puts inside {% generation %}: the answers, for training on them alone.
  std::vector<Span> generation;
};

struct ChatOptions {
  /// Whether the text ends where the assistant begins to speak.
  bool add_generation_prompt = false;
  /// Whether the text ends with the last message's, which is to be continued.
  bool continue_final_message = false;
  /// The special tokens by name ("bos_token": "<s>"); they are the template's, not input.
  std::map<std::string, std::string> special_tokens = {};
  /// What strftime_now prints.
  std::tm now = {};
};

class ChatTemplate {
 public:
  /// Fails for what is no template, with the line, and for more than 1 MiB.
  static Result<ChatTemplate> parse(std::string_view text);

  /// `messages`: a list of {"role", "content", ...}. `more`: further names (`tools`, `documents`,
  /// `enable_thinking`, ...), which override. Keys of messages whose value is null are dropped; of
  /// reasoning_content, thinking and reasoning the first present is copied to the first two. Fails
  /// where the template does (raise_exception, too many steps), with the line.
  Result<RenderedChat> apply(const nlohmann::ordered_json& messages, const ChatOptions& options,
                             const nlohmann::ordered_json& more) const;
  Result<RenderedChat> apply(const nlohmann::ordered_json& messages,
                             const ChatOptions& options = {}) const;
  /// Renders with these names alone; strings in them are input.
  Result<RenderedChat> render(const nlohmann::ordered_json& names, std::tm now = {}) const;

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace strata::tokenizer
