#include "strata/base/object_store/object_store.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <utility>

namespace strata {
namespace {

struct Scheme {
  OpenBucket open;
  std::map<std::string, std::shared_ptr<ObjectStore>> buckets;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Scheme> schemes;
};

Registry& registry() {
  static Registry r;
  return r;
}

std::size_t scheme_length(std::string_view path) {
  const std::size_t at = path.find("://");
  if (at == std::string_view::npos || at < 2) return 0;  // one letter is a drive of other systems
  const bool plain = std::all_of(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(at),
                                 [](unsigned char c) { return std::isalnum(c) != 0; });
  return plain ? at : 0;
}

std::string known(const Registry& r) {
  std::string out;
  for (const auto& [name, scheme] : r.schemes) out += (out.empty() ? "" : ", ") + name + "://";
  return out.empty() ? "none is registered in this program" : "known here: " + out;
}

}  // namespace

void register_object_store(const std::string& scheme, OpenBucket open) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.schemes[scheme] = {std::move(open), {}};
}

bool is_object_path(std::string_view path) { return scheme_length(path) != 0; }

Result<ObjectPath> find_object(const std::string& path) {
  const std::size_t length = scheme_length(path);
  if (length == 0) return Status(Code::invalid, "{}: is no path of an object store", path);
  const std::string scheme = path.substr(0, length);
  const std::size_t begin = length + 3, slash = std::min(path.find('/', begin), path.size());
  const std::string bucket = path.substr(begin, slash - begin);
  if (bucket.empty())
    return Status(Code::invalid, "{}: names no bucket; write {}://BUCKET/KEY", path, scheme);

  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  const auto found = r.schemes.find(scheme);
  if (found == r.schemes.end())
    return Status(Code::unsupported, "{}: no object store for {}://; {}", path, scheme, known(r));
  std::shared_ptr<ObjectStore>& store = found->second.buckets[bucket];
  if (!store) {
    Result<std::shared_ptr<ObjectStore>> opened = found->second.open(bucket);
    if (!opened) return opened.status();
    store = *opened;
  }
  return ObjectPath{store, slash < path.size() ? path.substr(slash + 1) : ""};
}

}  // namespace strata
