#include "strata/image/image_folder.h"

#include <algorithm>
#include <filesystem>

#include "strata/base/file.h"
#include "strata/base/large_file.h"
#include "strata/data/format/json.h"

namespace strata::image {
namespace {

namespace fs = std::filesystem;

bool is_picture(const fs::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

}  // namespace

Result<std::shared_ptr<const ImageFolder>> ImageFolder::open(const std::string& path,
                                                             const data::ReadPolicy& policy,
                                                             const ImageLimits& limits) {
  auto names = list_folder(path);
  if (!names) return names.status();
  std::shared_ptr<ImageFolder> out(new ImageFolder(path, policy, limits));
  std::error_code error;
  for (const std::string& name : *names) {
    const fs::path folder = fs::path(path) / name;
    if (!fs::is_directory(folder, error)) continue;
    const auto label = static_cast<std::int64_t>(out->classes_.size());
    out->classes_.push_back(name);
    std::vector<std::pair<std::string, std::string>> found;  // folder and file, which sort so
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
      if (is_picture(at->path()) && !at->is_directory())
        found.emplace_back(at->path().parent_path().string(), at->path().filename().string());
    if (error) return Status(Code::io, "{}: {}", folder.string(), error.message());
    std::sort(found.begin(), found.end());
    for (const auto& [parent, file] : found)
      out->files_.emplace_back((fs::path(parent) / file).lexically_relative(path).string(), label);
  }
  if (out->files_.empty())
    return Status(Code::invalid, "{}: no pictures in folders that name their classes", path);
  return std::shared_ptr<const ImageFolder>(std::move(out));
}

Result<data::Element> ImageFolder::read(std::int64_t index) const {
  STRATA_CHECK(index >= 0 && index < size(), "record {} of {}", index, size());
  const auto& [name, label] = files_[static_cast<std::size_t>(index)];
  const std::string path = path_ + "/" + name;
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  auto image = decode_image((*file)->bytes(), path, limits_);
  if (image)
    return data::Element::dict({{"image", std::move(*image)}, {"label", label}, {"path", name}});
  if (image.status().code() != Code::corrupt || policy_.damage == data::DamagePolicy::fail)
    return image.status();
  ++skipped_;
  if (policy_.damage == data::DamagePolicy::skip) return data::Element();
  const std::lock_guard lock(mutex_);
  if (Status s = make_folders(policy_.quarantine_folder); !s.ok()) return s;
  auto out = LineWriter::open(policy_.quarantine_folder + "/damaged.jsonl");
  if (!out) return out.status();
  Status added = out->add(data::json_of(
      data::Element::dict({{"error", data::Element(image.status().message())}, {"path", path}})));
  return added.ok() ? Result<data::Element>(data::Element()) : added;
}

std::string ImageFolder::name() const { return "ImageFolder(path='" + path_ + "')"; }

data::RecordOrigin ImageFolder::origin(std::int64_t index) const {
  const std::string path = path_ + "/" + files_[static_cast<std::size_t>(index)].first;
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return {.file = path,
          .record = 0,
          .offset = 0,
          .bytes = error ? -1 : static_cast<std::int64_t>(bytes)};
}

}  // namespace strata::image
