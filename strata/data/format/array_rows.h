// Elements that are rows of arrays: what NumPy's and safetensors' readers and writers share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/format/elements.h"
#include "strata/type/npy.h"

namespace strata::data {

/// Elements by number, one after the other.
template <class At>
class ByNumber : public ElementScanner {
 public:
  ByNumber(std::int64_t size, At at) : size_(size), read_(std::move(at)) {}
  Result<bool> next(Element& out) override {
    if (at_ >= size_) return false;
    out = read_(at_++);
    return true;
  }
  std::uint64_t passed() const override { return static_cast<std::uint64_t>(at_); }
  std::uint64_t total() const override { return static_cast<std::uint64_t>(size_); }

 private:
  std::int64_t size_, at_ = 0;
  At read_;
};

template <class At>
std::unique_ptr<ElementScanner> by_number(std::int64_t size, At at) {
  return std::make_unique<ByNumber<At>>(size, std::move(at));
}

/// Records put below each other: an array for each member.
class ArrayColumns {
 public:
  /// `format` is what messages call the file: "NumPy's files".
  explicit ArrayColumns(std::string format) : format_(std::move(format)) {}
  /// A dict of arrays and numbers, or one alone, which is called `alone`. Code::invalid for others,
  /// and for one whose members have other names or types than the first record's.
  Status add(const Element& record, const std::string& alone = "arr_0");
  /// The whole arrays, in the order of the members; what was added is gone.
  NamedLiterals take();

 private:
  struct Column {
    std::string name;
    Type type;
    std::string bytes;
  };
  std::string format_;
  std::vector<Column> columns_;
  std::int64_t rows_ = 0;
};

}  // namespace strata::data
