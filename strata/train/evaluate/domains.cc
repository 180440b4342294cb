#include "strata/train/evaluate/domains.h"

#include <algorithm>

#include "strata/train/evaluate/evaluate.h"

namespace strata::train {
namespace {

/// Prompt i of n, spread over the evaluation part.
std::string prompt_of(const data::Dataset& data, std::size_t source, std::int64_t i,
                      const DomainOptions& o) {
  const data::SourceInfo& s = data.sources()[source];
  const std::int64_t length = std::min(o.prompt_tokens, s.eval_tokens);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(length));
  data.copy(source,
            s.train_tokens + (s.eval_tokens - length) * i / std::max<std::int64_t>(1, o.samples),
            tokens);
  return data.tokenizer().decode(tokens);
}

}  // namespace

std::size_t judge(const std::vector<Ngram>& models, std::span<const std::int32_t> text) {
  auto less = [&](const Ngram& a, const Ngram& b) { return a.bigram(text) < b.bigram(text); };
  return static_cast<std::size_t>(std::min_element(models.begin(), models.end(), less) -
                                  models.begin());
}

std::vector<DomainSample> write_samples(const Generator& generator, const data::Dataset& data,
                                        const DomainOptions& o) {
  std::vector<Ngram> models;
  for (std::size_t s = 0; s < data.sources().size(); ++s)
    models.push_back(count_training_part(data, s));
  const auto& sources = data.sources();
  const std::int64_t all =
      o.samples * std::count_if(sources.begin(), sources.end(),
                                [](const data::SourceInfo& s) { return s.eval_tokens > 0; });
  std::vector<DomainSample> out;
  for (std::size_t s = 0; s < data.sources().size(); ++s) {
    if (data.sources()[s].eval_tokens == 0) continue;
    for (std::int64_t i = 0; i < o.samples; ++i) {
      if (o.progress) o.progress(std::ssize(out), all);
      DomainSample& sample =
          out.emplace_back(DomainSample{.source = s, .prompt = prompt_of(data, s, i, o)});
      GenerateOptions options = o.generate;
      options.seed += out.size() - 1;
      generator.generate(sample.prompt, options,
                         [&](std::string_view piece) { sample.text += piece; });
      sample.judged = judge(models, data.tokenizer().encode(sample.text));
    }
  }
  return out;
}

}  // namespace strata::train
