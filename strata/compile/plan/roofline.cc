#include "strata/compile/plan/roofline.h"

#include <fmt/format.h>

#include <algorithm>

namespace strata::compile {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

const char* name(Bound bound) {
  switch (bound) {
    case Bound::fma: return "FMA";
    case Bound::memory: return "memory";
    case Bound::latency: return "latency";
  }
  return "";
}

/// The smallest arrays measured that are as large as these bytes.
const MachinePeaks::Traffic& traffic_for(double bytes, const MachinePeaks& peaks) {
  for (const MachinePeaks::Traffic& t : peaks.traffic)
    if (bytes <= t.bytes) return t;
  return peaks.traffic.back();
}

/// The launch without the places of its operands, which stand in the plan.
std::string short_text(const runtime::Launch& launch) {
  return launch.text.substr(0, launch.text.find('('));
}

std::string heading(const MachinePeaks& peaks) {
  std::string out = fmt::format("peaks of {} threads: {:.0f} GFLOP/s f32, {:.0f} by pairs of bf16",
                                peaks.threads, peaks.slots.all * 2e-9, peaks.pairs.all * 4e-9);
  if (peaks.tiles.all > 0) out += fmt::format(", {:.0f} by tiles", peaks.tiles.all * 1e-9);
  for (const MachinePeaks::Traffic& t : peaks.traffic)
    out += fmt::format("; {:.3g} MB: {:.0f} GB/s read, {:.0f} written", t.bytes / (1 << 20),
                       t.read.all * 1e-9, t.written.all * 1e-9);
  return out + fmt::format("; a parallel call {:.1f} us\n", 1e6 / peaks.call.all);
}

}  // namespace

double Prediction::seconds() const { return std::max({arithmetic, memory, call}); }

Prediction predict(const LaunchCost& work, const MachinePeaks& peaks) {
  const bool all = work.parallel;
  Prediction out{.arithmetic = work.slots / peaks.slots.of(all) + work.pairs / peaks.pairs.of(all),
                 .call = 1 / peaks.call.of(all)};
  if (work.tiles > 0 && peaks.tiles.one > 0) out.arithmetic += work.tiles / peaks.tiles.of(all);
  const MachinePeaks::Traffic& t = traffic_for(work.read + work.written, peaks);
  out.memory = work.read / t.read.of(all) + work.written / t.written.of(all);
  return out;
}

Bound bound_of(const LaunchCost& work, const Prediction& prediction, double measured) {
  const double explained = std::max(prediction.arithmetic, prediction.memory);
  if (explained < prediction.call || (!work.parallel && 4 * explained < measured))
    return Bound::latency;
  return prediction.arithmetic >= prediction.memory ? Bound::fma : Bound::memory;
}

void Measured::add(double seconds, const runtime::LaunchTimes& times, double busy_seconds) {
  runs_.push_back({seconds, busy_seconds, times.totals});
}

double Measured::seconds() const {
  std::vector<double> all;
  for (const Run& run : runs_) all.push_back(run.seconds);
  return median(std::move(all));
}

double Measured::launch_seconds(std::size_t launch) const {
  std::vector<double> all;
  for (const Run& run : runs_)
    all.push_back(launch < run.totals.size() ? static_cast<double>(run.totals[launch].ns) * 1e-9
                                             : 0);
  return median(std::move(all));
}

std::int64_t Measured::turns(std::size_t launch) const {
  return !runs_.empty() && launch < runs_.back().totals.size() ? runs_.back().totals[launch].runs
                                                               : 0;
}

double Measured::parallel_seconds(const Run& run, std::span<const LaunchCost> works) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(works.size(), run.totals.size()); ++i)
    if (works[i].parallel) sum += static_cast<double>(run.totals[i].ns) * 1e-9;
  return sum;
}

double Measured::serial_share(std::span<const LaunchCost> works) const {
  std::vector<double> all;
  for (const Run& run : runs_) all.push_back(1 - parallel_seconds(run, works) / run.seconds);
  return median(std::move(all));
}

double Measured::waiting_share(std::span<const LaunchCost> works, int threads) const {
  std::vector<double> all;
  for (const Run& run : runs_)
    all.push_back((parallel_seconds(run, works) - run.busy_seconds / threads) / run.seconds);
  return median(std::move(all));
}

std::string roofline(const std::vector<runtime::Launch>& launches,
                     const std::vector<LaunchCost>& works, const Measured& measured,
                     const MachinePeaks& peaks) {
  const double whole = measured.seconds();
  std::vector<std::pair<double, std::size_t>> order;
  double told = 0, predicted_sum = 0;
  for (std::size_t i = 0; i < std::min(launches.size(), works.size()); ++i)
    if (measured.turns(i) > 0) order.push_back({measured.launch_seconds(i), i});
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out = heading(peaks) +
                    "        ms   share    runs      GFLOP        MB   GFLOP/s     GB/s  predicted "
                    "ms  bound    launch\n";
  std::size_t few = 0;
  double few_seconds = 0, by_bound[3] = {};
  for (const auto& [seconds, i] : order) {
    const double turns = static_cast<double>(measured.turns(i)),
                 bytes = turns * (works[i].read + works[i].written), flops = turns * works[i].flops;
    const Prediction prediction = predict(works[i], peaks);
    const Bound bound = bound_of(works[i], prediction, seconds / turns);
    told += seconds;
    predicted_sum += turns * prediction.seconds();
    by_bound[static_cast<int>(bound)] += seconds;
    if (seconds < 1e-3 * whole) {
      ++few;
      few_seconds += seconds;
      continue;
    }
    out +=
        fmt::format("{:10.3f} {:6.2f}% {:7} {:10.3f} {:9.2f} {:9.1f} {:8.1f} {:13.3f}  {:<7}  {}\n",
                    seconds * 1e3, 100 * seconds / whole, measured.turns(i), flops * 1e-9,
                    bytes * 1e-6, flops / seconds * 1e-9, bytes / seconds * 1e-9,
                    turns * prediction.seconds() * 1e3, name(bound), short_text(launches[i]));
  }
  if (few > 0)
    out += fmt::format("{:10.3f} {:6.2f}% of {} launches below a thousandth each\n",
                       few_seconds * 1e3, 100 * few_seconds / whole, few);
  out += fmt::format(
      "bound by FMA {:.1f} %, by memory {:.1f} %, by latency {:.1f} %; predicted {:.3f} ms of "
      "{:.3f} ms\n",
      100 * by_bound[0] / whole, 100 * by_bound[1] / whole, 100 * by_bound[2] / whole,
      predicted_sum * 1e3, told * 1e3);
  out += fmt::format("serial {:.2f} %, waiting for threads {:.2f} %\n",
                     100 * measured.serial_share(works),
                     100 * measured.waiting_share(works, peaks.threads));
  return out +
         fmt::format("{:.1f} % of the measured time is accounted for ({:.3f} ms of {:.3f} ms)\n",
                     100 * told / whole, told * 1e3, whole * 1e3);
}

}  // namespace strata::compile
