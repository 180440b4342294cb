// The file of damaged records that a conversion puts aside; made when there is one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strata/data/compression/stream.h"
#include "strata/data/format/json.h"

namespace strata::data {

class Quarantine {
 public:
  explicit Quarantine(std::string path) : path_(std::move(path)) {}
  /// A line with what is wrong, and the record's bytes where they are known.
  Status add(const Status& why, std::string_view bytes) {
    if (!output_) {
      auto output = Output::create(path_, nullptr);
      if (!output) return output.status();
      output_.emplace(std::move(*output));
    }
    Element line = Element::dict({{"error", Element(why.message())}});
    if (!bytes.empty()) line.set("bytes", Element::bytes(std::string(bytes)));
    return output_->write(json_of(line) + "\n");
  }
  Status close() { return output_ ? output_->close() : Status(); }

 private:
  std::string path_;
  std::optional<Output> output_;
};

}  // namespace strata::data
