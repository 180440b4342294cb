#include "strata/data/format/arrow_rows.h"

#include <algorithm>

namespace strata::data {
namespace {

constexpr std::size_t kGroupsKept = 8;

}  // namespace

Result<std::shared_ptr<const ArrowRows>> ArrowRows::open(const std::vector<std::string>& paths) {
  auto out = std::make_shared<ArrowRows>();
  for (const std::string& path : paths) {
    auto file = ArrowFile::open(path);
    if (!file) return file.status();
    const std::size_t number = out->files_.size();
    out->files_.push_back(*file);
    out->file_begins_.push_back(out->size_);
    const auto add = [&](std::int64_t group, std::int64_t rows,
                         std::shared_ptr<const ArrowBatch> batch) {
      out->groups_.push_back({number, group, out->size_, rows, std::move(batch)});
      out->size_ += rows;
    };
    for (std::int64_t g = 0; g < (*file)->groups(); ++g) {
      auto rows = (*file)->rows(g);
      if (!rows) return rows.status();
      if (*rows > 0) add(g, *rows, nullptr);
    }
    for (std::int64_t g = 0; (*file)->groups() < 0; ++g) {
      auto batch = (*file)->next();
      if (!batch) return batch.status();
      if (!*batch) break;
      if ((*batch)->rows() > 0) add(g, (*batch)->rows(), *batch);
    }
  }
  return std::shared_ptr<const ArrowRows>(std::move(out));
}

std::size_t ArrowRows::group_of(std::int64_t index) const {
  STRATA_CHECK(index >= 0 && index < size_, "row {} of {}", index, size_);
  const auto after = std::upper_bound(groups_.begin(), groups_.end(), index,
                                      [](std::int64_t i, const Group& g) { return i < g.first; });
  return static_cast<std::size_t>(after - groups_.begin()) - 1;
}

Result<Element> ArrowRows::read(std::int64_t index) const {
  const std::size_t number = group_of(index);
  const Group& group = groups_[number];
  if (group.always) return group.always->row(index - group.first);
  std::shared_ptr<const ArrowBatch> batch;
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(recent_.begin(), recent_.end(),
                                 [&](const auto& r) { return r.first == number; });
    if (at != recent_.end()) {
      recent_.splice(recent_.begin(), recent_, at);
    } else {
      auto read = files_[group.file]->read_group(group.number);
      if (!read) return read.status();
      if ((*read)->rows() != group.rows)
        return Status(Code::corrupt, "{}: group {} has {} rows, its head says {}",
                      files_[group.file]->path(), group.number, (*read)->rows(), group.rows);
      recent_.emplace_front(number, std::move(*read));
      if (recent_.size() > kGroupsKept) recent_.pop_back();
    }
    batch = recent_.front().second;
  }
  return batch->row(index - group.first);
}

std::pair<std::string, std::int64_t> ArrowRows::place(std::int64_t index) const {
  const Group& group = groups_[group_of(index)];
  return {files_[group.file]->path(), index - file_begins_[group.file]};
}

}  // namespace strata::data
