#include "strata/train/transfer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "strata/train/config/options.h"

namespace strata::train {
namespace {

constexpr const char* kKey = "optimizer.transfer";
/// They move each number by about the same, however large its gradient is.
constexpr std::string_view kRules[] = {"adam", "adamax", "adamaxw", "adamw", "amsgrad",
                                       "lion", "nadam",  "nadamw",  "radam"};

enum class Role { vector, embedding, inner, branch_end, output };

bool contains(std::string_view path, std::string_view part) {
  return path.find(part) != std::string_view::npos;
}

Role role_of(std::string_view path) {
  for (const char* vector : {"norm", "bias", "sinks", "a_log", "conv"})
    if (contains(path, vector)) return Role::vector;
  if (contains(path, "embedd")) return Role::embedding;
  if (contains(path, "logits") || contains(path, "router") || contains(path, "shared_gate"))
    return Role::output;
  const std::string_view last = path.substr(path.find_last_of("/.") + 1);
  const bool ends =
      contains(path, "/out/") || contains(path, "/down/") || last == "out" || last == "down";
  return ends ? Role::branch_end : Role::inner;
}

/// The factor on the deviation that the model's own first weights have: by their fan-in
/// (decoder_block=llama2), or the same whatever the width.
double init_factor(const Transfer& t, Role role, bool by_fan_in) {
  const double root = std::sqrt(t.width);
  switch (role) {
    case Role::vector: return 1;
    case Role::embedding: return by_fan_in ? root : 1;
    case Role::inner: return by_fan_in ? 1 : 1 / root;
    case Role::branch_end: return (by_fan_in ? 1 : 1 / root) / t.depth;
    case Role::output: return by_fan_in ? 1 / root : 1 / t.width;
  }
  return 1;
}

[[noreturn]] void refuse(const std::string& why) {
  throw ConfigError(fmt::format("{}: {}", kKey, why));
}

/// The two numbers of the small model; 0 for one that is not given.
Transfer numbers_of(const Table& given) {
  if (!given.is_object())
    refuse(fmt::format("{}: allowed is a table {{base_emb_dim: 64, base_num_decoder_layers: 4}}",
                       given.dump()));
  Transfer out;
  for (const auto& [key, value] : given.items()) {
    if (key != "base_emb_dim" && key != "base_num_decoder_layers")
      refuse(
          fmt::format("there is no key {}; allowed are base_emb_dim and "
                      "base_num_decoder_layers",
                      key));
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1)
      refuse(fmt::format("{}={}: allowed is an integer from 1 on", key, value.dump()));
    (key == "base_emb_dim" ? out.base_width : out.base_layers) = value.get<std::int64_t>();
  }
  if (given.empty()) refuse("it needs base_emb_dim, base_num_decoder_layers or both");
  return out;
}

}  // namespace

void check_transfer(const Config& c) {
  const auto given = c.optimizer.find("transfer");
  if (given == c.optimizer.end()) return;
  (void)numbers_of(*given);
  if (std::find(std::begin(kRules), std::end(kRules), c.opt_type) == std::end(kRules))
    refuse(fmt::format("opt_type={} scales its steps otherwise; allowed is {}", c.opt_type,
                       fmt::join(kRules, " or ")));
  if (!c.init.empty()) refuse("it is of runs that draw their first weights, not of init=" + c.init);
  if (c.optimizer.contains("stored_as")) refuse("it is not allowed beside optimizer.stored_as");
}

std::optional<Transfer> transfer_of(const Config& c, const tree::Tree& weights) {
  const auto given = c.optimizer.find("transfer");
  if (given == c.optimizer.end()) return std::nullopt;
  check_transfer(c);
  Transfer out = numbers_of(*given);
  std::int64_t width = 0, layers = 0;
  bool has_logits = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string_view path = weights.entry(i).name;
    const Array& w = weights.value(i);
    if (contains(path, "token_embedder") || contains(path, "embedder/embedding"))
      width = w.shape(-1);
    has_logits |= contains(path, "logits");
    if (contains(path, "attention_norm") && contains(path, "layers") && !contains(path, "bias"))
      layers += w.shape(0);
  }
  if (!has_logits)
    refuse(
        "embeddings that are the logits' matrix too (tie_word_embeddings) are not supported: their "
        "logits would have to be divided by the width's ratio");
  if (width == 0 || (layers == 0 && out.base_layers > 0))
    refuse(fmt::format("it is not supported for this model, whose weights are {}",
                       fmt::join(weights.names(), ", ")));
  if (out.base_width > 0) out.width = static_cast<double>(width) / double(out.base_width);
  if (out.base_layers > 0) out.depth = static_cast<double>(layers) / double(out.base_layers);
  return out;
}

double transfer_factor(const Transfer& t, std::string_view path) {
  switch (role_of(path)) {
    case Role::vector:
    case Role::embedding: return 1;
    case Role::inner:
    case Role::output: return t.width;
    case Role::branch_end: return t.width * t.depth;
  }
  return 1;
}

tree::Tree transferred(const Config& c, tree::Tree first) {
  const std::optional<Transfer> t = transfer_of(c, first);
  if (!t) return first;
  std::vector<Array> values(first.values().begin(), first.values().end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double factor =
        init_factor(*t, role_of(first.entry(i).name), c.decoder_block == "llama2");
    if (factor != 1) values[i] = astype(values[i] * factor, values[i].dtype());
  }
  return first.with_values(std::move(values));
}

}  // namespace strata::train
