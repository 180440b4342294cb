#include "strata/runtime/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace strata::runtime {
namespace {

class Reported : public Executable {
 public:
  Reported(std::shared_ptr<Executable> inner, std::string name)
      : inner_(std::move(inner)), name_(std::move(name)) {}
  ~Reported() override { fmt::print(stderr, "{}", report(name_, inner_->launches(), totals_)); }

  std::vector<Buffer> results_for(std::vector<Buffer>& arguments) override {
    return inner_->results_for(arguments);
  }
  int donor_of(std::size_t r) const override { return inner_->donor_of(r); }
  void run_at(void* const* arguments, void* const* results) override {
    LaunchTimes times;
    run_timed(arguments, results, times);
  }
  void run_timed(void* const* arguments, void* const* results, LaunchTimes& times) override {
    LaunchTimes mine;
    inner_->run_timed(arguments, results, mine);
    times.spans.insert(times.spans.end(), mine.spans.begin(), mine.spans.end());
    add(mine.totals, times.totals);
    std::lock_guard lock(mutex_);
    add(mine.totals, totals_);
  }
  const std::vector<Launch>& launches() const override { return inner_->launches(); }
  const std::vector<Type>& argument_types() const override { return inner_->argument_types(); }
  const std::vector<Type>& result_types() const override { return inner_->result_types(); }
  std::size_t temporary_bytes() const override { return inner_->temporary_bytes(); }

 private:
  static void add(const std::vector<LaunchTimes::Total>& more,
                  std::vector<LaunchTimes::Total>& all) {
    if (all.size() < more.size()) all.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i) {
      all[i].runs += more[i].runs;
      all[i].ns += more[i].ns;
    }
  }

  std::shared_ptr<Executable> inner_;
  std::string name_;
  std::mutex mutex_;
  std::vector<LaunchTimes::Total> totals_;
};

}  // namespace

bool is_reported(std::string_view name) {
  const char* wanted = std::getenv("STRATA_PROFILE");
  return wanted != nullptr && name == wanted;
}

std::shared_ptr<Executable> reported(std::shared_ptr<Executable> executable, std::string name) {
  return std::make_shared<Reported>(std::move(executable), std::move(name));
}

std::string report(std::string_view name, const std::vector<Launch>& launches,
                   const std::vector<LaunchTimes::Total>& totals) {
  std::vector<std::size_t> order;
  std::int64_t all = 0;
  for (std::size_t i = 0; i < std::min(totals.size(), launches.size()); ++i) {
    if (totals[i].runs == 0) continue;
    order.push_back(i);
    all += totals[i].ns;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return totals[a].ns > totals[b].ns; });
  std::string out =
      fmt::format("{}: {:.6f} s in launches\n", name, static_cast<double>(all) * 1e-9);
  for (std::size_t i : order) {
    const double ns = static_cast<double>(totals[i].ns);
    out += fmt::format("{:8.3f} ms {:5.1f} %  {} runs  {}\n", ns * 1e-6,
                       all > 0 ? 100 * ns / static_cast<double>(all) : 0, totals[i].runs,
                       launches[i].text);
  }
  return out;
}

}  // namespace strata::runtime
