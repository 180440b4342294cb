#include "strata/tokenizer/pipeline/post_processor.h"

#include <algorithm>

namespace strata::tokenizer {
namespace {

using Piece = Template::Piece;

std::vector<Piece> read_pieces(const Fields& f, const char* key) {
  const Json& tokens = f.has("special_tokens") ? f.object("special_tokens") : Json::object();
  std::vector<Piece> out;
  for (const Json& item : f.list(key)) {
    if (!item.is_object() || item.size() != 1) f.refuse(fmt::format("{} has {}", key, item.dump()));
    const Fields piece(item.begin().value(), f.name() + "'s piece");
    const auto type = static_cast<std::int32_t>(piece.number("type_id", 0, INT32_MAX, 0));
    const std::string id = piece.text("id");
    if (item.begin().key() == "Sequence") {
      if (id != "A" && id != "B") f.refuse(fmt::format("there is no sequence {}", id));
      out.push_back({id == "A" ? Template::kFirst : Template::kSecond, type});
      continue;
    }
    const auto found = tokens.find(id);
    if (item.begin().key() != "SpecialToken" || found == tokens.end())
      f.refuse(fmt::format("special_tokens has no {}", id));
    const Fields token(*found, f.name() + "'s special token " + id);
    for (const Json& number : token.list("ids")) {
      if (!number.is_number_integer() || number.get<std::int64_t>() < 0 ||
          number.get<std::int64_t>() > INT32_MAX)
        f.refuse(fmt::format("special token {} has the number {}", id, number.dump()));
      out.push_back({number.get<std::int32_t>(), type});
    }
  }
  return out;
}

std::int32_t token_of(const Fields& f, const char* key) {
  const Json& pair = f.list(key);
  if (pair.size() != 2 || !pair[1].is_number_integer() || pair[1].get<std::int64_t>() < 0 ||
      pair[1].get<std::int64_t>() > INT32_MAX)
    f.refuse(fmt::format("{} is no pair of a text and a number", key));
  return pair[1].get<std::int32_t>();
}

Template bert(const Fields& f, bool roberta) {
  const std::int32_t cls = token_of(f, "cls"), sep = token_of(f, "sep");
  const std::int32_t second = roberta ? 0 : 1;
  Template out;
  out.single = {{cls}, {Template::kFirst}, {sep}};
  out.pair = out.single;
  if (roberta) out.pair.push_back({sep});
  out.pair.push_back({Template::kSecond, second});
  out.pair.push_back({sep, second});
  return out;
}

}  // namespace

std::int64_t Template::added(bool two) const {
  const auto& pieces = two ? pair : single;
  return std::count_if(pieces.begin(), pieces.end(), [](const Piece& p) { return p.token >= 0; });
}

Template read_post_processor(const Json& part) {
  const std::string type = type_of(part, "post_processor");
  const Fields f(part, "post_processor " + type);
  if (type == "ByteLevel") return {};
  if (type == "BertProcessing" || type == "RobertaProcessing")
    return bert(f, type == "RobertaProcessing");
  if (type == "TemplateProcessing") {
    Template out;
    out.single = read_pieces(f, "single");
    out.pair = read_pieces(f, "pair");
    return out;
  }
  if (type != "Sequence") throw BadPart{"post_processor " + type + " is unknown"};
  Template out;
  bool adding = false;
  for (const Json& step : f.list("processors")) {
    if (type_of(step, "post_processor") == "ByteLevel") continue;
    if (adding) f.refuse("two of its processors add tokens, which is not supported");
    out = read_post_processor(step);
    adding = true;
  }
  return out;
}

}  // namespace strata::tokenizer
