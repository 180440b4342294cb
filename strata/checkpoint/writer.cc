#include "strata/checkpoint/writer.h"

#include <chrono>

namespace strata::checkpoint {

Writer::Writer(std::string root, Keep keep, std::function<void(const std::string& folder)> saved,
               any_format::Format format)
    : root_(std::move(root)), keep_(keep), saved_(std::move(saved)), format_(format) {}

Status Writer::save(Checkpoint c, Still still) {
  if (Status s = wait(); !s.ok()) return s;
  folder_ = fmt::format("{}/{}", root_, c.step);
  under_way_ =
      std::async(std::launch::async, [root = root_, keep = keep_, format = format_,
                                      c = std::move(c), still = std::move(still)]() mutable {
        const Checkpoint mine =
            std::move(c);  // so that its memory goes with this call, not with the answer
        return any_format::save(root, mine, keep, format, still);
      });
  return {};
}

Status Writer::poll() {
  if (!under_way_.valid() ||
      under_way_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return {};
  return wait();
}

Status Writer::wait() {
  if (!under_way_.valid()) return {};
  Status s = under_way_.get();
  if (s.ok() && saved_) saved_(folder_);
  return s;
}

}  // namespace strata::checkpoint
