#include "strata/net/object_stores.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "strata/base/object_store/object_store.h"
#include "strata/net/object_store/gcs.h"
#include "strata/net/object_store/s3.h"

namespace strata::net {
namespace {

constexpr int kQuiet = 3;  // so many attempts are nothing to speak of
constexpr std::chrono::seconds kBetween{30};

/// Tells of a store that does not answer, not too often.
class Notes {
 public:
  explicit Notes(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {}
  void operator()(const Status& failure, int attempt, int most) {
    if (attempt < kQuiet) return;
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + kBetween;
    tell_(fmt::format("{} (attempt {} of {}; asking again)", failure.message(), attempt, most + 1));
  }

 private:
  std::function<void(const std::string&)> tell_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_{};
};

/// The policy, telling.
RetryPolicy told(RetryPolicy policy, const std::shared_ptr<Notes>& notes) {
  if (notes)
    policy.tell = [notes, most = policy.most](const Status& failure, int attempt) {
      (*notes)(failure, attempt, most);
    };
  return policy;
}

}  // namespace

void register_object_stores(std::function<void(const std::string&)> tell) {
  const auto notes = tell ? std::make_shared<Notes>(std::move(tell)) : nullptr;
  using Opened = Result<std::shared_ptr<ObjectStore>>;
  register_object_store("gs", [notes](const std::string& bucket) -> Opened {
    Result<GcsOptions> options = gcs_options_from_environment();
    if (!options) return options.status();
    options->retry = told(std::move(options->retry), notes);
    return open_gcs(bucket, *options);
  });
  register_object_store("s3", [notes](const std::string& bucket) -> Opened {
    Result<S3Options> options = s3_options_from_environment();
    if (!options) return options.status();
    options->retry = told(std::move(options->retry), notes);
    return open_s3(bucket, *options);
  });
}

}  // namespace strata::net
