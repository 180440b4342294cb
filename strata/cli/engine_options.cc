#include "strata/cli/engine_options.h"

#include <fmt/format.h>

namespace strata::cli {
namespace {

constexpr std::string_view kDraft = "draft=";

std::optional<DType> pages_dtype(const std::string& name) {
  if (name == "bf16" || name == "bfloat16") return DType::bf16;
  if (name == "fp8" || name == "fp8_e4m3") return DType::f8E4M3FN;
  if (name == "int8") return DType::i8;
  return std::nullopt;
}

}  // namespace

void EngineOptions::add_to(CommandLine& command) {
  command
      .add_option("--speculate", speculate,
                  "guess tokens ahead, which changes the speed and no token: ngram (what followed "
                  "the same tokens before), suffix (the same by counts), draft=MODEL (a smaller "
                  "model with the same tokens)")
      .check([](const std::string& s) -> std::string {
        const bool known = s == "none" || s == "ngram" || s == "suffix" ||
                           (s.starts_with(kDraft) && s.size() > kDraft.size());
        return known ? "" : fmt::format("'{}' is none of none, ngram, suffix, draft=MODEL", s);
      })
      .show_default();
  command.add_option("--speculative_tokens", speculative_tokens, "tokens that are guessed at most")
      .in_range(std::int64_t{1}, std::int64_t{32})
      .show_default();
  command
      .add_option("--kv_cache_dtype", kv_cache_dtype,
                  "how keys and values are kept: auto (as they are computed), bf16, fp8, int8 (a "
                  "quarter of the memory; other tokens may be drawn)")
      .check([](const std::string& s) -> std::string {
        return s == "auto" || pages_dtype(s)
                   ? ""
                   : fmt::format("'{}' is none of auto, bf16, fp8, int8", s);
      })
      .show_default();
}

Status EngineOptions::put_into(engine::Options& o, const engine::LanguageModel& lm) const {
  using Method = engine::Speculation::Method;
  o.pages_dtype = pages_dtype(kv_cache_dtype);
  o.speculation.tokens = speculative_tokens;
  if (speculate == "ngram") o.speculation.method = Method::ngram;
  if (speculate == "suffix") o.speculation.method = Method::suffix;
  if (!speculate.starts_with(kDraft)) return Status();
  const std::string path = speculate.substr(kDraft.size());
  auto draft = engine::load_language_model(path, {.length = o.max_length + speculative_tokens});
  if (!draft) return draft.status();
  if (draft->model->vocab_size() != lm.model->vocab_size())
    return Status(Code::invalid,
                  "--speculate: {} has {} tokens, but {} has {}: guesses are of no use", path,
                  draft->model->vocab_size(), lm.name, lm.model->vocab_size());
  o.speculation.method = Method::model;
  o.speculation.model = std::move(draft->model);
  o.speculation.params = std::move(draft->params);
  return Status();
}

std::string guesses_of(const engine::Statistics& s) {
  if (s.guessed == 0) return {};
  return fmt::format("of {} guessed tokens {} were right", s.guessed, s.accepted);
}

}  // namespace strata::cli
