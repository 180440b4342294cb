#include "strata/compile/cpu/hot_compilation.h"

#include <atomic>
#include <mutex>

namespace strata::compile {
namespace {

class Warming : public runtime::Executable {
 public:
  Warming(std::shared_ptr<runtime::Executable> first, std::chrono::nanoseconds limit,
          std::function<std::shared_ptr<runtime::Executable>()> make)
      : first_(std::move(first)), left_ns_(limit.count()), make_(std::move(make)) {}

  const std::vector<Type>& argument_types() const override { return first_->argument_types(); }
  const std::vector<Type>& result_types() const override { return first_->result_types(); }
  std::size_t temporary_bytes() const override { return first_->temporary_bytes(); }
  std::vector<runtime::Buffer> results_for(std::vector<runtime::Buffer>& arguments) override {
    return first_->results_for(arguments);
  }
  int donor_of(std::size_t r) const override { return first_->donor_of(r); }

  void run_at(void* const* arguments, void* const* results) override {
    if (left_ns_.load(std::memory_order_relaxed) > 0) {
      const auto begin = std::chrono::steady_clock::now();
      first_->run_at(arguments, results);
      const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
      left_ns_.fetch_sub(took.count(), std::memory_order_relaxed);
      return;
    }
    std::call_once(made_, [this] { often_ = std::exchange(make_, nullptr)(); });
    often_->run_at(arguments, results);
  }

 private:
  std::shared_ptr<runtime::Executable> first_, often_;
  std::atomic<std::int64_t> left_ns_;
  std::function<std::shared_ptr<runtime::Executable>()> make_;
  std::once_flag made_;
};

}  // namespace

std::shared_ptr<runtime::Executable> warming(
    std::shared_ptr<runtime::Executable> first, std::chrono::nanoseconds limit,
    std::function<std::shared_ptr<runtime::Executable>()> make) {
  return std::make_shared<Warming>(std::move(first), limit, std::move(make));
}

}  // namespace strata::compile
