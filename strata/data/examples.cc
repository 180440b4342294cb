#include "strata/data/examples.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "strata/base/checksum.h"
#include "strata/base/thread_pool.h"
#include "strata/data/packing.h"

namespace strata::data {
namespace {

/// All conversations as examples, in parallel; the first failure by their order.
Result<std::vector<Example>> examples_of(const std::vector<Conversation>& all,
                                         const ExampleOptions& options) {
  struct Work {
    const std::vector<Conversation>& all;
    const ExampleOptions& options;
    std::vector<Example> examples;
    std::vector<Status> statuses;
  };
  Work work{all, options, std::vector<Example>(all.size()), std::vector<Status>(all.size())};
  const auto run = [](void* ctx, std::int64_t begin, std::int64_t end) {
    auto& w = *static_cast<Work*>(ctx);
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      auto one = example_of(w.all[i], w.options);
      if (one)
        w.examples[i] = std::move(*one);
      else
        w.statuses[i] = one.status();
    }
  };
  parallel_for(static_cast<std::int64_t>(all.size()), 1, run, &work);
  for (const Status& s : work.statuses)
    if (!s.ok()) return s;
  return std::move(work.examples);
}

}  // namespace

bool teaches(const Example& e) {
  return e.learned.size() > 1 &&
         std::find(e.learned.begin() + 1, e.learned.end(), 1) != e.learned.end();
}

bool cut_example(Example& e, std::int64_t most, Truncation how,
                 const tokenizer::Tokenizer& tokenizer) {
  const auto n = std::ssize(e.tokens);
  if (n <= most) return true;
  if (how == Truncation::drop) return false;
  const std::ptrdiff_t first = how == Truncation::keep_end ? n - most : 0;
  for (std::ptrdiff_t i = 0; i < first; ++i)
    e.first_byte += std::ssize(text_of_token(e.tokens[static_cast<std::size_t>(i)], tokenizer));
  e.first_token = first;
  e.ended = e.ended && how == Truncation::keep_end;
  const auto keep = [&](auto& v) {
    v.erase(v.begin() + first + most, v.end());
    v.erase(v.begin(), v.begin() + first);
  };
  keep(e.tokens);
  keep(e.learned);
  return true;
}

Result<Examples> Examples::read(const Source& source, const DatasetOptions& o,
                                const std::function<void(const std::string&)>& note) {
  Examples out;
  for (const std::string& pattern : source.patterns) {
    auto files = expand_pattern(pattern);
    if (!files) return files.status();
    out.files_.insert(out.files_.end(), files->begin(), files->end());
  }
  const ExampleOptions how{.tokenizer = o.tokenizer,
                           .chat_template = o.chat_template ? &*o.chat_template : nullptr,
                           .answers_only = o.answers_only};
  std::int64_t cut_ones = 0, dropped = 0;
  for (std::size_t f = 0; f < out.files_.size(); ++f) {
    auto conversations = read_conversations(out.files_[f], o.column);
    if (!conversations && conversations.status().code() == Code::denied)
      return Status(Code::invalid, conversations.status().message());
    if (!conversations) return conversations.status();
    auto examples = examples_of(*conversations, how);
    if (!examples) return examples.status();
    for (std::size_t i = 0; i < examples->size(); ++i) {
      Example& e = (*examples)[i];
      const auto n = std::ssize(e.tokens);
      if (n > o.length && o.truncation == Truncation::refuse)
        return Status(
            Code::invalid,
            "{}: {} tokens are more than max_target_length={}; truncation_mode=keep_start "
            "cuts it, drop leaves it out",
            (*conversations)[i].where, n, o.length);
      if (!cut_example(e, o.length, o.truncation, *o.tokenizer) || !teaches(e)) {
        ++dropped;
        continue;
      }
      cut_ones += n > o.length;
      out.examples_.push_back(std::move(e));
      out.file_.push_back(f);
      out.record_.push_back(static_cast<std::int64_t>(i));
    }
  }
  if (cut_ones + dropped > 0)
    note(
        fmt::format("{}: {} of {} conversations are longer than max_target_length={} and are cut, "
                    "{} are left out as nothing of them is learned",
                    source.name, cut_ones, out.count() + dropped, o.length, dropped));
  if (out.examples_.empty())
    return Status(Code::invalid, "train_files: {} has no conversation to learn from", source.name);
  out.begins_ = {0};
  for (const Example& e : out.examples_) {
    const auto bytes = [](const auto& v) {
      return std::string_view(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(v[0]));
    };
    out.begins_.push_back(out.begins_.back() + std::ssize(e.tokens));
    out.checksum_ = crc32c(bytes(e.learned), crc32c(bytes(e.tokens), out.checksum_));
  }
  const auto share =
      static_cast<std::int64_t>(std::floor(static_cast<double>(out.count()) * o.eval_fraction));
  // One at least, where some are asked for and there are two.
  const std::int64_t kept =
      o.eval_fraction > 0 && out.count() > 1 ? std::max<std::int64_t>(share, 1) : share;
  out.train_count_ = out.count() - kept;
  const auto middle = static_cast<std::size_t>(out.train_count_);
  out.train_rows_ = out.rows_of(0, middle, o);
  out.eval_rows_ = out.rows_of(middle, out.examples_.size(), o);
  return out;
}

Examples::Rows Examples::rows_of(std::size_t first, std::size_t last,
                                 const DatasetOptions& o) const {
  Rows rows;
  if (o.packing) {
    std::vector<std::int64_t> lengths;
    for (std::size_t i = first; i < last; ++i) lengths.push_back(std::ssize(examples_[i].tokens));
    rows = pack_best_fit(lengths, o.length);
    for (std::vector<std::size_t>& row : rows)
      for (std::size_t& i : row) i += first;
    return rows;
  }
  for (std::size_t i = first; i < last; ++i) rows.push_back({i});
  return rows;
}

void Examples::fill(bool eval, std::int64_t row, std::int64_t b, Batch& out) const {
  const std::int64_t length = out.tokens.type().shape().sizes()[1];
  std::int64_t at = b * length;
  std::int32_t segment = 0;
  for (const std::size_t i : (eval ? eval_rows_ : train_rows_)[static_cast<std::size_t>(row)]) {
    const Example& e = examples_[i];
    const auto n = std::ssize(e.tokens);
    ++segment;
    std::copy(e.tokens.begin(), e.tokens.end(),
              out.tokens.mutable_span<std::int32_t>().begin() + at);
    std::copy(e.tokens.begin() + 1, e.tokens.end(),
              out.targets.mutable_span<std::int32_t>().begin() + at);
    for (std::ptrdiff_t t = 1; t < n; ++t) {
      const std::uint8_t counts = e.learned[static_cast<std::size_t>(t)];
      out.weights->mutable_span<float>()[static_cast<std::size_t>(at + t - 1)] = counts;
      out.total_weights += counts;
    }
    if (out.segments) {
      const auto segments = out.segments->mutable_span<std::int32_t>().begin() + at;
      const auto positions = out.positions->mutable_span<std::int32_t>().begin() + at;
      std::fill_n(segments, n, segment);
      std::iota(positions, positions + n, 0);
    }
    at += n;
  }
}

std::int64_t Examples::first_example(std::int64_t row) const {
  return static_cast<std::int64_t>(train_rows_[static_cast<std::size_t>(row)].front());
}
std::int64_t Examples::first_token(std::int64_t row) const {
  return begins_[static_cast<std::size_t>(first_example(row))];
}
const std::string& Examples::file_of(std::int64_t example) const {
  return files_[file_[static_cast<std::size_t>(example)]];
}

std::vector<TokenPlace> Examples::where(std::int64_t row,
                                        const tokenizer::Tokenizer& tokenizer) const {
  std::vector<TokenPlace> out;
  std::int64_t at = 0;
  for (const std::size_t i : train_rows_[static_cast<std::size_t>(row)]) {
    const Example& e = examples_[i];
    TokenPlace place{.first = at,
                     .count = std::ssize(e.tokens),
                     .file = files_[file_[i]],
                     .record = record_[i],
                     .token = e.first_token,
                     .bytes = {e.first_byte}};
    for (std::size_t t = 0; t < e.tokens.size(); ++t) {
      const bool end = e.ended && t + 1 == e.tokens.size();
      place.bytes.push_back(place.bytes.back() +
                            (end ? 0 : std::ssize(text_of_token(e.tokens[t], tokenizer))));
    }
    at += place.count;
    out.push_back(std::move(place));
  }
  return out;
}

void Examples::copy(std::int64_t from, std::span<std::int32_t> out) const {
  auto i = static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), from) -
                                    begins_.begin() - 1);
  while (!out.empty()) {
    const std::vector<std::int32_t>& tokens = examples_[i].tokens;
    const std::ptrdiff_t skip = from - begins_[i];
    const std::ptrdiff_t n = std::min(std::ssize(tokens) - skip, std::ssize(out));
    std::copy_n(tokens.begin() + skip, n, out.begin());
    out = out.subspan(static_cast<std::size_t>(n));
    from += n;
    ++i;
  }
}

}  // namespace strata::data
