#include "strata/data/chat_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace strata::data {
namespace {

using json = nlohmann::ordered_json;
using tokenizer::RenderedChat;
using tokenizer::Span;
using Tokens = std::vector<std::int32_t>;

std::tm fixed_day() {
  std::tm out{};
  out.tm_year = 124, out.tm_mon = 6, out.tm_mday = 26, out.tm_wday = 5, out.tm_yday = 207;
  return out;
}

Status at(const Conversation& c, const Status& s) {
  return Status(s.code(), "{}: {}", c.where, s.message());
}

/// Renders the first messages of a conversation.
class Renderer {
 public:
  Renderer(const Conversation& c, const ExampleOptions& o)
      : c_(c), o_(o), messages_(json::parse(c.messages)) {
    if (!c.tools.empty()) more_["tools"] = json::parse(c.tools);
  }
  const json& messages() const { return messages_; }
  Result<RenderedChat> operator()(std::size_t count, bool generation_prompt) const {
    const json some(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(count));
    auto out = o_.chat_template->apply(some.is_array() ? some : json::array(),
                                       {.add_generation_prompt = generation_prompt,
                                        .special_tokens = o_.tokenizer->special_tokens(),
                                        .now = fixed_day()},
                                       more_);
    if (!out) return at(c_, out.status());
    return out;
  }

 private:
  const Conversation& c_;
  const ExampleOptions& o_;
  json messages_, more_ = json::object();
};

Status no_bounds(const Conversation& c, std::size_t message) {
  return Status(
      Code::invalid,
      "{}: where the answer in message {} begins and ends cannot be told, as the chat template "
      "writes it otherwise once more follows; mark answers in the template with {{% generation %}} "
      "and {{% endgeneration %}} and give it as chat_template_path, or learn all tokens with "
      "sft_train_on_completion_only=false",
      c.where, message + 1);
}

/// What the assistant's messages from number `first` on add to the text.
Result<std::vector<Span>> spans_of(const Conversation& c, const Renderer& render,
                                   const std::string& all) {
  std::vector<Span> out;
  const std::size_t count = render.messages().size();
  const auto begins = [&](const std::string& text) { return all.starts_with(text); };
  if (c.prompt_messages) {
    auto prompt = render(*c.prompt_messages, true);
    if (!prompt) return prompt.status();
    if (!begins(prompt->text)) return no_bounds(c, *c.prompt_messages);
    return std::vector<Span>{{prompt->text.size(), all.size()}};
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (render.messages()[i]["role"] != "assistant") continue;
    if (i == 0)
      return Status(Code::invalid, "{}: message 1 is the assistant's: it answers nothing", c.where);
    auto before = render(i, true);
    if (!before) return before.status();
    std::size_t end = all.size();
    if (i + 1 < count) {
      auto until = render(i + 1, false);
      if (!until) return until.status();
      if (!begins(until->text)) return no_bounds(c, i);
      end = until->text.size();
    }
    if (!begins(before->text) || before->text.size() > end) return no_bounds(c, i);
    out.push_back({before->text.size(), end});
  }
  return out;
}

/// Where each token begins in the text, and the text's end; nothing where tokens are not the text's
/// bytes one after the other.
std::optional<std::vector<std::size_t>> offsets_of(const Tokens& tokens, std::string_view text,
                                                   const tokenizer::Tokenizer& t) {
  std::vector<std::size_t> out = {0};
  for (const std::int32_t token : tokens) {
    const std::string piece = text_of_token(token, t);
    if (text.substr(std::min(out.back(), text.size()), piece.size()) != piece) return std::nullopt;
    out.push_back(out.back() + piece.size());
  }
  return out.back() == text.size() ? std::optional(out) : std::nullopt;
}

/// Tokens of the text's first bytes.
Tokens tokens_until(const RenderedChat& chat, std::size_t end, const tokenizer::Tokenizer& t) {
  std::vector<Span> literal;
  for (const Span& s : chat.input)
    if (s.begin < end) literal.push_back({s.begin, std::min(s.end, end)});
  return t.encode_with(std::string_view(chat.text).substr(0, end), {.literal = literal});
}

/// The first token that begins at or behind a byte, where the tokens until it begin those of all.
std::optional<std::size_t> border(const RenderedChat& chat, std::size_t byte, const Tokens& all,
                                  const tokenizer::Tokenizer& t) {
  const Tokens before = tokens_until(chat, byte, t);
  const bool begins =
      before.size() <= all.size() && std::equal(before.begin(), before.end(), all.begin());
  return begins ? std::optional(before.size()) : std::nullopt;
}

Status mark(const Conversation& c, const RenderedChat& chat, const std::vector<Span>& spans,
            const tokenizer::Tokenizer& t, Example& out) {
  out.learned.assign(out.tokens.size(), 0);
  const auto offsets = offsets_of(out.tokens, chat.text, t);
  for (const Span& s : spans) {
    if (offsets) {
      for (std::size_t i = 0; i < out.tokens.size(); ++i)
        if ((*offsets)[i + 1] > s.begin && (*offsets)[i] < s.end) out.learned[i] = 1;
      continue;
    }
    const auto begin = border(chat, s.begin, out.tokens, t),
               end = border(chat, s.end, out.tokens, t);
    if (!begin || !end)
      return Status(Code::invalid,
                    "{}: the answer at byte {} of the rendered conversation begins or ends within "
                    "a token; learn all tokens with sft_train_on_completion_only=false",
                    c.where, s.begin);
    std::fill(out.learned.begin() + static_cast<std::ptrdiff_t>(*begin),
              out.learned.begin() + static_cast<std::ptrdiff_t>(*end), std::uint8_t{1});
  }
  return {};
}

Result<Example> of_texts(const Conversation& c, const ExampleOptions& o) {
  const tokenizer::Tokenizer& t = *o.tokenizer;
  const Tokens prompt = t.encode_with(c.prompt, {.match_special = false});
  Example out{.tokens = t.encode_with(c.prompt + c.completion, {.match_special = false}),
              .learned = {},
              .ended = true};
  const std::size_t first = static_cast<std::size_t>(
      std::mismatch(prompt.begin(), prompt.end(), out.tokens.begin(), out.tokens.end()).first -
      prompt.begin());
  if (first != prompt.size() && o.answers_only)
    return Status(Code::invalid,
                  "{}: \"completion\" begins within a token of the two texts together; begin it "
                  "with a space or a line end",
                  c.where);
  out.tokens.push_back(t.special_id("eos_token").value_or(t.separator()));
  out.learned.assign(out.tokens.size(), 1);
  if (o.answers_only)
    std::fill_n(out.learned.begin(), static_cast<std::ptrdiff_t>(prompt.size()), std::uint8_t{0});
  return out;
}

}  // namespace

std::string text_of_token(std::int32_t token, const tokenizer::Tokenizer& t) {
  return t.is_special(token) ? t.token_of(token) : t.bytes(token);
}

Result<Example> example_of(const Conversation& c, const ExampleOptions& o) {
  if (c.messages.empty()) return of_texts(c, o);
  if (o.chat_template == nullptr)
    return Status(Code::invalid,
                  "{}: the model has no chat template to write messages with; give one as "
                  "chat_template_path=FILE",
                  c.where);
  const Renderer render(c, o);
  auto chat = render(render.messages().size(), false);
  if (!chat) return chat.status();
  Example out{.tokens = o.tokenizer->encode_with(chat->text, {.literal = chat->input}),
              .learned = {}};
  if (!o.answers_only) {
    out.learned.assign(out.tokens.size(), 1);
    return out;
  }
  std::vector<Span> spans = chat->generation;
  if (spans.empty() || c.prompt_messages) {
    auto found = spans_of(c, render, chat->text);
    if (!found) return found.status();
    spans = std::move(*found);
  }
  if (Status s = mark(c, *chat, spans, *o.tokenizer, out); !s.ok()) return s;
  if (std::accumulate(out.learned.begin(), out.learned.end(), 0) == 0)
    return Status(Code::invalid, "{}: the rendered conversation has no answer to learn", c.where);
  return out;
}

}  // namespace strata::data
