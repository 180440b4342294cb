#include "strata/checkpoint/store/commit.h"

#include "strata/base/object_store/object_store.h"

namespace strata::checkpoint {

Status commit_object(const std::string& path, std::string_view bytes) {
  const auto at = find_object(path);
  if (!at) return at.status();
  const Status written = at->store->write(at->key, bytes, "").status();
  if (written.code() == Code::exists)
    return Status(Code::exists, "{}: another process saved this step meanwhile", path);
  return written.code() == Code::io ? at->store->write(at->key, bytes, {}).status() : written;
}

}  // namespace strata::checkpoint
