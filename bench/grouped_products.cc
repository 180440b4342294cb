// Products of groups of rows with a matrix for each, as layers of experts do them: gmm and tgmm
// beside one dense product of as many operations.
//
//   grouped-products [--rows 4096] [--in 512] [--out 1024] [--groups 64] [--runs 9] [--cpu 0]
//
// A line for each kind of sizes: equal ones, and skewed ones (the first of G groups gets half, the
// next half of the rest, ...). GFLOP/s of gmm, of gmm with rhs turned, of tgmm and of the dense
// product, medians of runs that alternate, and their ratios to the dense product.
//
// `--cpu 1` counts the process's processor time instead of the wall's: with STRATA_NUM_THREADS=1,
// what a core does while others use the machine.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "strata/strata.h"

namespace {

using namespace strata;

std::vector<std::int32_t> sizes_of(bool skewed, std::int64_t rows, std::int64_t groups) {
  std::vector<std::int32_t> out;
  std::int64_t left = rows;
  for (std::int64_t g = 0; g < groups; ++g) {
    const bool last = g + 1 == groups;
    const std::int64_t size = last ? left : skewed ? (left + 1) / 2 : rows / groups;
    out.push_back(static_cast<std::int32_t>(size));
    left -= size;
  }
  return out;
}

template <class F>
double seconds(clockid_t clock, F&& f) {
  timespec begin, end;
  clock_gettime(clock, &begin);
  f();
  clock_gettime(clock, &end);
  return static_cast<double>(end.tv_sec - begin.tv_sec) +
         1e-9 * static_cast<double>(end.tv_nsec - begin.tv_nsec);
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::int64_t> options = {{"--rows", 4096}, {"--in", 512}, {"--out", 1024},
                                                 {"--groups", 64}, {"--runs", 9}, {"--cpu", 0}};
  for (int i = 1; i + 1 < argc; i += 2) options.at(argv[i]) = std::atoll(argv[i + 1]);
  const std::int64_t rows = options["--rows"], in = options["--in"], out = options["--out"],
                     groups = options["--groups"], runs = options["--runs"];
  const clockid_t clock = options["--cpu"] != 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  const Array key = random::key(1);
  const Array x = random::normal(key, {rows, in}), y = random::normal(key, {rows, out}),
              w = random::normal(key, {groups, in, out}),
              turned = random::normal(key, {groups, out, in}), one = random::normal(key, {in, out});
  const lax::RaggedDotDimensionNumbers by_rows{
      .dot_dimension_numbers = {.lhs_contracting = {0}, .rhs_contracting = {0}},
      .lhs_ragged_dimensions = {0}};
  const lax::RaggedDotDimensionNumbers rhs_turned{
      .dot_dimension_numbers = {.lhs_contracting = {1}, .rhs_contracting = {2}},
      .lhs_ragged_dimensions = {0},
      .rhs_group_dimensions = {0}};
  auto gmm = jit([](Array a, Array b, Array s) { return lax::ragged_dot(a, b, s); });
  auto gmm_turned =
      jit([&](Array a, Array b, Array s) { return lax::ragged_dot_general(a, b, s, rhs_turned); });
  auto tgmm =
      jit([&](Array a, Array b, Array s) { return lax::ragged_dot_general(a, b, s, by_rows); });
  auto dense = jit([](Array a, Array b) { return dot(a, b); });
  const double operations = 2.0 * static_cast<double>(rows * in * out) / 1e9;

  std::printf("rows %ld, in %ld, out %ld, groups %ld: GFLOP/s (ratio to dense)\n", rows, in, out,
              groups);
  for (const bool skewed : {false, true}) {
    const std::vector<std::int32_t> numbers = sizes_of(skewed, rows, groups);
    const Array sizes = array(numbers);
    std::vector<double> times[4];
    for (std::int64_t run = -1; run < runs; ++run) {
      const double now[] = {
          seconds(clock, [&] { gmm(x, w, sizes).block_until_ready(); }),
          seconds(clock, [&] { gmm_turned(x, turned, sizes).block_until_ready(); }),
          seconds(clock, [&] { tgmm(x, y, sizes).block_until_ready(); }),
          seconds(clock, [&] { dense(x, one).block_until_ready(); })};
      for (int i = 0; run >= 0 && i < 4; ++i) times[i].push_back(now[i]);
    }
    const double base = median(times[3]);
    std::printf("%-8s", skewed ? "skewed" : "equal");
    const char* names[] = {"gmm", "gmm turned", "tgmm", "dense"};
    for (int i = 0; i < 4; ++i)
      std::printf("  %s %.0f (%.2f)", names[i], operations / median(times[i]),
                  base / median(times[i]));
    std::printf("\n");
  }
}
