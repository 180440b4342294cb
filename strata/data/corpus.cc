#include "strata/data/corpus.h"

#include <glob.h>

#include <cmath>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/base/text.h"
#include "strata/data/tokenizer.h"

namespace strata::data {
namespace {

constexpr double kMostInvalid = 0.01;

Status check_text(const std::string& path, const std::string& bytes) {
  if (bytes.empty()) return Status(Code::invalid, "{}: the file is empty; training needs text", path);
  if (std::size_t at = bytes.find('\0'); at != std::string::npos) {
    return Status(Code::invalid, "{}: not a text file: byte {} of {} is NUL", path, at, bytes.size());
  }
  const std::size_t invalid = invalid_utf8(bytes);
  if (static_cast<double>(invalid) > kMostInvalid * static_cast<double>(bytes.size())) {
    return Status(Code::invalid, "{}: not a text file: {} of {} bytes are not UTF-8", path, invalid, bytes.size());
  }
  return {};
}

}  // namespace

Corpus::Corpus(std::string tokens, double eval_fraction, std::vector<std::string> files)
    : tokens_(std::make_shared<const std::string>(std::move(tokens))),
      cut_(tokens_->size() - static_cast<std::size_t>(std::floor(static_cast<double>(tokens_->size()) * eval_fraction))),
      files_(std::move(files)),
      checksum_(crc32c(*tokens_)) {}

Result<std::vector<std::string>> expand_globs(const std::vector<std::string>& patterns) {
  std::vector<std::string> out;
  for (const std::string& pattern : patterns) {
    glob_t found{};
    // GLOB_NOMAGIC: a plain name stands for itself, so that a missing file is reported by whoever opens it.
    const int status = ::glob(pattern.c_str(), GLOB_NOMAGIC | GLOB_TILDE, nullptr, &found);
    for (std::size_t i = 0; i < found.gl_pathc; ++i) out.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    if (status != 0) return Status(Code::not_found, "{}: no file matches", pattern);
  }
  return out;
}

Result<Corpus> read_corpus(const std::vector<std::string>& patterns, const CorpusOptions& options) {
  STRATA_CHECK(options.eval_fraction >= 0 && options.eval_fraction < 1, "eval_fraction is {}", options.eval_fraction);
  auto files = expand_globs(patterns);
  if (!files) return files.status();
  if (files->empty()) return Status(Code::invalid, "no text files were given");
  std::string tokens;
  for (const std::string& path : *files) {
    auto bytes = read_file(path);
    if (!bytes) return bytes.status();
    if (Status s = check_text(path, *bytes); !s.ok()) return s;
    if (!tokens.empty()) tokens.push_back(static_cast<char>(ByteTokenizer::kSeparator));
    tokens += *bytes;
  }
  return Corpus(std::move(tokens), options.eval_fraction, std::move(*files));
}

}  // namespace strata::data
