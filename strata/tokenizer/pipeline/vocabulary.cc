#include "strata/tokenizer/pipeline/model.h"

namespace strata::tokenizer {

constexpr std::int32_t kMostTokens = 1 << 24;

void Vocabulary::add(std::string token, std::int32_t id) {
  if (id < 0 || id >= kMostTokens)
    throw BadPart{fmt::format("token '{}' has the number {}: allowed is 0 to {}", token, id,
                              kMostTokens - 1)};
  if (id >= end()) tokens_.resize(static_cast<std::size_t>(id) + 1, nullptr);
  const auto at = static_cast<std::size_t>(id);
  if (tokens_[at] != nullptr)
    throw BadPart{
        fmt::format("tokens '{}' and '{}' have the same number {}", *tokens_[at], token, id)};
  const auto [place, fresh] = ids_.emplace(std::move(token), id);
  if (!fresh)
    throw BadPart{
        fmt::format("token '{}' has the numbers {} and {}", place->first, place->second, id)};
  tokens_[at] = &place->first;
}

void Vocabulary::add_next(std::string token) {
  const std::int32_t id = end();
  const auto [place, fresh] = ids_.insert_or_assign(std::move(token), id);
  if (!fresh) twins_.push_back(std::make_unique<std::string>(place->first));
  tokens_.push_back(fresh ? &place->first : twins_.back().get());
}

std::optional<std::int32_t> Vocabulary::id_of(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* Vocabulary::token_of(std::int32_t id) const {
  return id < 0 || id >= end() ? nullptr : tokens_[static_cast<std::size_t>(id)];
}

void Model::forbid(const std::vector<std::int32_t>& tokens) {
  for (std::int32_t token : tokens) {
    if (token >= vocabulary_.end()) continue;
    forbidden_.resize(static_cast<std::size_t>(vocabulary_.end()));
    forbidden_[static_cast<std::size_t>(token)] = true;
  }
}

std::string byte_token(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

}  // namespace strata::tokenizer
