// A folder of pictures as records: FOLDER/CLASS/any/where.png, a class each folder.
//
//   auto folder = ImageFolder::open("pictures");
//   folder->classes();                                 // ("cat", "dog"), sorted
//   folder->read(0);       // {"image": ui8[h, w, 3], "label": 0, "path": "cat/1.png"}
//
// Order and labels are those of torchvision's ImageFolder: classes sorted, in each the files of
// folder after folder, sorted.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/source.h"
#include "strata/image/image.h"

namespace strata::image {

/// Any threads may read at once.
class ImageFolder : public data::RecordSource {
 public:
  /// Files that end as .png, .jpg or .jpeg, in any case. Code::not_found where there is no folder,
  /// Code::invalid for one without classes or pictures.
  static Result<std::shared_ptr<const ImageFolder>> open(const std::string& path,
                                                         const data::ReadPolicy& policy = {},
                                                         const ImageLimits& limits = {});
  const std::vector<std::string>& classes() const { return classes_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  Result<data::Element> read(std::int64_t index) const override;
  std::string name() const override;
  data::RecordOrigin origin(std::int64_t index) const override;
  std::int64_t skipped() const override { return skipped_; }

 private:
  ImageFolder(std::string path, data::ReadPolicy policy, ImageLimits limits)
      : path_(std::move(path)), policy_(std::move(policy)), limits_(limits) {}
  std::string path_;
  data::ReadPolicy policy_;
  ImageLimits limits_;
  std::vector<std::string> classes_;
  /// Below the folder, each with its class.
  std::vector<std::pair<std::string, std::int64_t>> files_;
  mutable std::atomic<std::int64_t> skipped_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace strata::image
