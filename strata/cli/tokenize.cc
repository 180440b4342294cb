#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/cli/command.h"
#include "strata/engine/language_model.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::cli {
namespace {

using nlohmann::json;

struct TokenizeOptions {
  std::string model;
  bool decode = false, json_text = false, special = false, skip_special = false;
};

/// The text of a line: itself, or the JSON string that it is.
Result<std::string> text_of(const std::string& line, bool as_json, std::int64_t number) {
  if (!as_json) return line;
  const json parsed = json::parse(line, nullptr, false);
  if (!parsed.is_string()) return Status(Code::invalid, "line {} is no JSON string", number);
  return parsed.get<std::string>();
}

Result<std::vector<std::int32_t>> tokens_of(const std::string& line, std::int64_t vocab_size,
                                            std::int64_t number) {
  const json parsed = json::parse(line, nullptr, false);
  if (!parsed.is_array()) return Status(Code::invalid, "line {} is no JSON list", number);
  std::vector<std::int32_t> out;
  for (const json& item : parsed) {
    if (!item.is_number_integer() || item.get<std::int64_t>() < 0 ||
        item.get<std::int64_t>() >= vocab_size)
      return Status(Code::invalid, "line {}: {} is no token (0 to {})", number, item.dump(),
                    vocab_size - 1);
    out.push_back(item.get<std::int32_t>());
  }
  return out;
}

int tokenize(const TokenizeOptions& o) {
  auto t = o.model.ends_with(".model") ? tokenizer::load_tokenizer("sentencepiece", o.model)
                                       : engine::load_tokenizer(o.model);
  if (!t) return fail(t.status());
  std::string line;
  for (std::int64_t number = 1; std::getline(std::cin, line); ++number) {
    if (o.decode) {
      auto tokens = tokens_of(line, (*t)->vocab_size(), number);
      if (!tokens) return fail(tokens.status());
      const std::string text = (*t)->decode_with(*tokens, o.skip_special);
      std::cout << (o.json_text ? json(text).dump(-1, ' ', false, json::error_handler_t::replace)
                                : text)
                << "\n";
    } else {
      auto text = text_of(line, o.json_text, number);
      if (!text) return fail(text.status());
      std::cout << json((*t)->encode_with(*text, {.add_special = o.special})).dump() << "\n";
    }
  }
  return kDone;
}

}  // namespace

void add_tokenize_text(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("tokenize", "writes the tokens of lines, or their text");
  command.description(
      "Reads lines from standard input and writes the tokens of each as a JSON list; with "
      "--decode, lists become text.\n\nExample:\n  echo 'Hello, world!' | strata tokenize --model "
      "SmolLM2-135M-Instruct\n");
  auto o = std::make_shared<TokenizeOptions>();
  command
      .add_option("--model", o->model,
                  "a folder with tokenizer.json, that file, a GGUF file, or a .model file")
      .required();
  command.add_flag("--decode", o->decode, "lines are lists of tokens, and text is written");
  command.add_flag("--json", o->json_text, "text is a JSON string, on one line whatever it holds");
  command.add_flag("--special", o->special, "put the tokenizer's special tokens around each text");
  command.add_flag("--skip-special", o->skip_special, "leave special tokens out of decoded text");
  command.callback([o, &action] { action = [o] { return tokenize(*o); }; });
}

}  // namespace strata::cli
