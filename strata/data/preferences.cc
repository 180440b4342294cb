#include "strata/data/preferences.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/data/examples.h"

namespace strata::data {
namespace {

using json = nlohmann::ordered_json;

/// Takes the prompt off the front of two answers that hold it.
json extracted_prompt(json& chosen, json& rejected) {
  if (chosen.is_string()) {
    const auto a = chosen.get<std::string>(), b = rejected.get<std::string>();
    auto n = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                      a.begin());
    while (n > 0 && n < a.size() && (a[n] & 0xc0) == 0x80) --n;  // whole characters
    if (n > 0 && a[n - 1] == ' ') --n;
    chosen = a.substr(n), rejected = b.substr(n);
    return a.substr(0, n);
  }
  json prompt = json::array();
  while (!chosen.empty() && !rejected.empty() && chosen.front() == rejected.front()) {
    prompt.push_back(chosen.front());
    chosen.erase(chosen.begin()), rejected.erase(rejected.begin());
  }
  return prompt;
}

Result<Preference> preference_of(std::string_view text, const std::string& where) {
  auto line = conversation_line(text, where);
  if (!line) return line.status();
  const auto wrong = [&](const std::string& what) {
    return Status(Code::invalid, "{}: {}", where, what);
  };
  json chosen = line->value("chosen", json()), rejected = line->value("rejected", json());
  const bool texts = chosen.is_string() && rejected.is_string(),
             lists = chosen.is_array() && rejected.is_array();
  if (!texts && !lists)
    return wrong("\"chosen\" and \"rejected\" must be texts, or both lists of messages");
  if (chosen == rejected) return wrong("\"chosen\" and \"rejected\" are the same");
  const json prompt =
      line->contains("prompt") ? (*line)["prompt"] : extracted_prompt(chosen, rejected);
  Preference out;
  for (const auto& [answer, to] : {std::pair{&chosen, &out.chosen}, {&rejected, &out.rejected}}) {
    json pair = {{"prompt", prompt}, {"completion", *answer}};
    if (line->contains("tools")) pair["tools"] = (*line)["tools"];
    auto one = conversation_of(pair.dump(), where, "prompt,completion");
    if (!one)
      return Status(one.status().code(), "{} (of \"{}\")", one.status().message(),
                    answer == &chosen ? "chosen" : "rejected");
    *to = std::move(*one);
  }
  return out;
}

/// Half of a pair as a row.
Element row_of(const Example& e, std::int64_t length) {
  const Type type(DType::i32, {length});
  Literal tokens(type), targets(type), segments(type), weights(Type(DType::f32, {length}));
  std::copy(e.tokens.begin(), e.tokens.end(), tokens.mutable_span<std::int32_t>().begin());
  std::copy(e.tokens.begin() + 1, e.tokens.end(), targets.mutable_span<std::int32_t>().begin());
  std::fill_n(segments.mutable_span<std::int32_t>().begin(), std::ssize(e.tokens), 1);
  std::copy(e.learned.begin() + 1, e.learned.end(), weights.mutable_span<float>().begin());
  return Element::dict({{"tokens", std::move(tokens)},
                        {"targets", std::move(targets)},
                        {"weights", std::move(weights)},
                        {"segments", std::move(segments)}});
}

}  // namespace

Result<std::vector<Preference>> preferences_of(std::string_view bytes, const std::string& path) {
  std::vector<Preference> out;
  const Status s = each_conversation_line(
      bytes, path, [&](std::string_view line, const std::string& where) -> Status {
        auto one = preference_of(line, where);
        if (one) out.push_back(std::move(*one));
        return one.status();
      });
  if (!s.ok()) return s;
  return out;
}

Result<std::shared_ptr<const PreferenceSource>> PreferenceSource::open(
    const std::vector<std::string>& files, const PreferenceOptions& o) {
  if (o.length < 2) throw Error("preferences", "a length of {}: allowed is 2 or more", o.length);
  auto out = std::make_shared<PreferenceSource>();
  out->files_ = files;
  out->length_ = o.length;
  const ExampleOptions how{.tokenizer = o.tokenizer, .chat_template = o.chat_template};
  for (std::size_t f = 0; f < files.size(); ++f) {
    auto bytes = read_file(files[f]);
    if (!bytes) return bytes.status();
    auto all = preferences_of(*bytes, files[f]);
    if (!all) return all.status();
    for (std::size_t i = 0; i < all->size(); ++i) {
      Pair pair{.chosen = {}, .rejected = {}, .file = f, .record = static_cast<std::int64_t>(i)};
      bool whole = true;
      for (const auto& [from, to] :
           {std::pair{&(*all)[i].chosen, &pair.chosen}, {&(*all)[i].rejected, &pair.rejected}}) {
        auto example = example_of(*from, how);
        if (!example) return example.status();
        *to = std::move(*example);
        const auto n = std::ssize(to->tokens);
        if (n > o.length && o.truncation == Truncation::refuse)
          return Status(Code::invalid,
                        "{}: {} tokens are more than a row of {}; keep_start cuts them, drop "
                        "leaves the pair out",
                        from->where, n, o.length);
        whole = whole && cut_example(*to, o.length, o.truncation, *o.tokenizer) && teaches(*to);
      }
      if (whole)
        out->pairs_.push_back(std::move(pair));
      else
        ++out->left_out_;
    }
  }
  if (out->pairs_.empty())
    return Status(Code::invalid, "{}: no pair to learn from; {} are left out",
                  files.empty() ? "no file" : files.front(), out->left_out_);
  return std::shared_ptr<const PreferenceSource>(std::move(out));
}

Result<Element> PreferenceSource::read(std::int64_t index) const {
  STRATA_CHECK(index >= 0 && index < size(), "pair {} of {}", index, size());
  const Pair& pair = pairs_[static_cast<std::size_t>(index)];
  return Element::dict(
      {{"chosen", row_of(pair.chosen, length_)}, {"rejected", row_of(pair.rejected, length_)}});
}

std::string PreferenceSource::name() const {
  std::string out;
  for (const std::string& f : files_) out += (out.empty() ? "'" : ", '") + f + "'";
  return fmt::format("PreferenceSource(paths=[{}], length={})", out, length_);
}

RecordOrigin PreferenceSource::origin(std::int64_t index) const {
  const Pair& pair = pairs_[static_cast<std::size_t>(index)];
  return {.file = files_[pair.file], .record = pair.record};
}

}  // namespace strata::data
