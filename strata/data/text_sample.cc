#include "strata/data/text_sample.h"

#include <algorithm>

namespace strata::data {
namespace {

class Count : public TextSink {
 public:
  Status add(std::string_view piece) override {
    bytes += piece.size();
    return {};
  }
  Status end_document() override { return {}; }
  std::uint64_t bytes = 0;
};

class Sample : public TextSink {
 public:
  Sample(double total, double bytes, std::vector<std::string>& out)
      : total_(total), bytes_(bytes), out_(out) {}

  Status add(std::string_view text) override {
    const std::size_t looked = std::max(rest_.size(), kPiece);
    rest_ += text;
    for (std::size_t from = looked; rest_.size() > kPiece; from = kPiece) {
      const std::size_t line = rest_.find('\n', from);
      if (line == std::string::npos) break;
      piece(line + 1);
    }
    return {};
  }

  Status end_document() override {
    while (!rest_.empty())
      piece(std::min(rest_.find('\n', std::min(kPiece, rest_.size() - 1)), rest_.size() - 1) + 1);
    return {};
  }

  double passed() const { return before_; }

 private:
  static constexpr std::size_t kPiece = 65536;

  /// The first `size` bytes of what is held are a piece.
  void piece(std::size_t size) {
    before_ += static_cast<double>(size);
    if (taken_ < before_ / total_ * bytes_) {
      out_.emplace_back(rest_, 0, size);
      taken_ += static_cast<double>(size);
    }
    rest_.erase(0, size);
  }

  double total_, bytes_, before_ = 0, taken_ = 0;
  std::string rest_;
  std::vector<std::string>& out_;
};

Status stream_all(const std::vector<std::string>& files, const DocumentOptions& options,
                  TextSink& sink) {
  for (const std::string& file : files)
    if (Status s = stream_documents(file, options, sink); !s.ok()) return s;
  return {};
}

}  // namespace

Result<std::vector<std::string>> sample_documents(const std::vector<std::string>& files,
                                                  const DocumentOptions& options, double bytes) {
  std::vector<std::string> out;
  Count count;
  if (Status s = stream_all(files, options, count); !s.ok()) return s;
  if (count.bytes == 0 || bytes <= 0) return out;
  const auto total = static_cast<double>(count.bytes);
  Sample sample(total, bytes, out);
  if (Status s = stream_all(files, options, sample); !s.ok()) return s;
  if (sample.passed() != total)
    return Status(Code::invalid, "{} or a file beside it changed while it was read", files.front());
  return out;
}

}  // namespace strata::data
