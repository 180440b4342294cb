// What a request says of the form of its answer: response_format, structured_outputs and what older
// clients call them.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>

#include "strata/engine/grammar/guide.h"
#include "strata/serve/json.h"

namespace strata::serve {

/// A form that answers have, before it is made ready.
struct Form {
  /// Equal for equal forms.
  std::string key;
  /// The field that asks for it, for errors.
  std::string field;
  std::function<engine::grammar::Grammar()> make;
  /// A structural tag that names tokens, which a tokenizer has to know; null: none.
  Json token_tag = nullptr;
};

/// The form that a request asks for; none where it does not. Read are response_format (text,
/// json_object, json_schema, structural_tag), structured_outputs with one of json, regex, choice,
/// grammar, json_object, structural_tag, and guided_json, guided_regex, guided_choice,
/// guided_grammar, and llama.cpp's grammar and json_schema. Throws ApiError (400) for several of
/// them, and for what they cannot be.
std::optional<Form> read_form(const Json& body);

/// Forms that were made ready, the last ones used; at most four are made at once. For any thread.
class Guides {
 public:
  static constexpr std::size_t kKept = 16;

  explicit Guides(std::shared_ptr<const engine::grammar::Vocabulary> vocabulary)
      : vocabulary_(std::move(vocabulary)) {}
  /// Throws ApiError (400) for a form that cannot be followed, with what it says.
  std::shared_ptr<engine::grammar::Guide> get(const Form& form);

 private:
  using Kept = std::pair<std::string, std::shared_ptr<engine::grammar::Guide>>;
  std::shared_ptr<const engine::grammar::Vocabulary> vocabulary_;
  std::mutex mutex_;
  std::list<Kept> kept_;  // the last used first
  std::counting_semaphore<4> making_{4};
};

}  // namespace strata::serve
