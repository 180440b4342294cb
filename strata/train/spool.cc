#include "strata/train/spool.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "strata/base/file.h"
#include "strata/base/io_status.h"
#include "strata/base/object_store/object_store.h"

namespace strata::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolders[] = {"metrics", "tensorboard"};

}  // namespace

Spool::~Spool() {
  std::error_code ignored;
  if (!local_.empty()) fs::remove_all(local_, ignored);
}

Status Spool::fetch() {
  if (!is_object_path(run_)) return {};
  std::string name = (fs::temp_directory_path() / "strata_run_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return io_status(errno, name, "make the folder");
  local_ = name;
  for (const char* folder : kFolders) {
    if (Status s = make_folders(path(folder)); !s.ok()) return s;
    auto names = list_folder(run_ + "/" + folder);
    if (!names && names.status().code() == Code::not_found) continue;
    if (!names) return names.status();
    for (const std::string& file : *names) {
      const std::string inside = std::string(folder) + "/" + file;
      auto bytes = read_file(run_ + "/" + inside);
      if (!bytes) return bytes.status();
      if (Status s = write_file_atomic(path(inside), *bytes); !s.ok()) return s;
    }
  }
  return {};
}

std::string Spool::path(const std::string& name) const {
  return (local_.empty() ? run_ : local_) + "/" + name;
}

Status Spool::publish() {
  if (local_.empty()) return {};
  for (const char* folder : kFolders) {
    auto names = list_folder(path(folder));
    if (!names) return names.status();
    for (const std::string& file : *names) {
      const std::string inside = std::string(folder) + "/" + file;
      std::error_code error;  // a file that cannot be asked is read, which says why
      const auto [at, first] = published_.try_emplace(inside, 0);
      if (!first && at->second == fs::file_size(path(inside), error) && !error) continue;
      auto bytes = read_file(path(inside));
      if (!bytes) return bytes.status();
      if (Status s = write_file_atomic(run_ + "/" + inside, *bytes); !s.ok()) return s;
      at->second = bytes->size();
    }
  }
  return {};
}

}  // namespace strata::train
