#include "strata/data/source.h"

#include "strata/base/check.h"

namespace strata::data {

RecordSource::~RecordSource() = default;
RecordReader::~RecordReader() = default;
RecordStream::~RecordStream() = default;

Status RecordSource::read_many(std::span<const std::int64_t> indices,
                               std::span<Element> out) const {
  STRATA_CHECK(indices.size() == out.size(), "{} indices for {} places", indices.size(),
               out.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    Result<Element> record = read(indices[i]);
    if (!record) return record.status();
    out[i] = *std::move(record);
  }
  return {};
}

RecordOrigin RecordSource::origin(std::int64_t index) const {
  return {.file = name(), .record = index};
}

}  // namespace strata::data
