// A bucket in memory whose requests fail, are lost, come twice, or wait, as tests ask.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "strata/base/object_store/object_store.h"

namespace strata::checkpoint::testing_buckets {

/// A bucket in memory. From request `fails_from` on nothing works, until `fails_until`; the first
/// one is done where `answer_lost`. Where `again_after` is not negative, each write and removal is
/// done a second time so many requests later, as by a network that doubles what it carries; with
/// `slow`, each request takes so long.
class Bucket : public ObjectStore {
 public:
  Result<ObjectInfo> stat(const std::string& key) override {
    return asked([&]() -> Result<ObjectInfo> {
      const auto found = objects.find(key);
      if (found == objects.end()) return Status(Code::not_found, "{}: none", key);
      return ObjectInfo{key, found->second.size(), "1"};
    });
  }
  Result<std::string> read(const std::string& key, const ObjectRange& range) override {
    return asked([&]() -> Result<std::string> {
      const auto found = objects.find(key);
      if (found == objects.end()) return Status(Code::not_found, "{}: none", key);
      if (range.offset >= found->second.size()) return std::string();
      bytes_read += std::min<std::uint64_t>(range.length, found->second.size() - range.offset);
      return found->second.substr(range.offset, range.length);
    });
  }
  Result<std::string> write(const std::string& key, std::string_view bytes,
                            const std::optional<std::string>& expected) override {
    if (before_write) before_write(key);
    return asked([&]() -> Result<std::string> {
      bytes_written += bytes.size();
      const auto put = [this, key, expected, all = std::string(bytes)] {
        const auto there = objects.find(key);
        // As of a request that is repeated: one that finds its own bytes has succeeded.
        if (expected && expected->empty() && there != objects.end()) return there->second == all;
        objects[key] = all;
        return true;
      };
      if (!put()) return Status(Code::exists, "{}: is there", key);
      twice(put);
      return std::string("1");
    });
  }
  /// Pieces are one request at `commit`.
  Result<std::unique_ptr<ObjectUpload>> upload(const std::string& key) override {
    struct Upload : ObjectUpload {
      Upload(Bucket& to, std::string key) : to(to), key(std::move(key)) {}
      Status write(std::string_view more) override { return bytes += more, Status(); }
      Result<std::string> commit() override { return to.write(key, bytes, {}); }
      Bucket& to;
      std::string key, bytes;
    };
    return std::unique_ptr<ObjectUpload>(new Upload(*this, key));
  }
  Status remove(const std::string& key) override {
    if (before_remove) before_remove(key);
    return asked([&]() -> Result<int> {
             objects.erase(key);
             twice([this, key] { return objects.erase(key) > 0; });
             return 0;
           })
        .status();
  }
  Result<ObjectListing> list(const std::string& prefix, bool recursive) override {
    return asked([&]() -> Result<ObjectListing> {
      ObjectListing out;
      for (const auto& [key, bytes] : objects) {
        if (!key.starts_with(prefix)) continue;
        const std::size_t slash = key.find('/', prefix.size());
        if (recursive || slash == key.npos) {
          out.objects.push_back({key, bytes.size(), "1"});
        } else if (const std::string folder = key.substr(0, slash + 1);
                   out.folders.empty() || out.folders.back() != folder) {
          out.folders.push_back(folder);
        }
      }
      return out;
    });
  }

  std::map<std::string, std::string> objects;
  int requests = 0, fails_from = -1, fails_until = std::numeric_limits<int>::max();
  bool answer_lost = false;
  int again_after = -1;
  std::chrono::microseconds slow{0};
  std::function<void(const std::string&)> before_remove, before_write;
  std::uint64_t bytes_read = 0, bytes_written = 0;

 private:
  std::mutex mutex_;
  std::multimap<int, std::function<bool()>> again_;  // by the request ahead of which it is done
  void twice(std::function<bool()> what) {
    if (again_after >= 0) again_.emplace(requests + again_after, std::move(what));
  }
  template <class F>
  auto asked(F&& f) -> decltype(f()) {
    if (slow.count() > 0) std::this_thread::sleep_for(slow);
    const std::lock_guard lock(mutex_);
    for (auto at = again_.begin(); at != again_.end() && at->first <= requests;) {
      (void)at->second();
      at = again_.erase(at);
    }
    const int n = requests++;
    if (fails_from < 0 || n < fails_from || n >= fails_until) return f();
    if (answer_lost && n == fails_from) (void)f();
    return Status(Code::io, "request {} failed", n);
  }
};

/// Makes mem://b a new bucket.
inline std::shared_ptr<Bucket> new_bucket() {
  auto out = std::make_shared<Bucket>();
  register_object_store("mem", [out](const std::string&) -> Result<std::shared_ptr<ObjectStore>> {
    return std::shared_ptr<ObjectStore>(out);
  });
  return out;
}

}  // namespace strata::checkpoint::testing_buckets
