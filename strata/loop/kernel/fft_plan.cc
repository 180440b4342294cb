// Roots of unity come from octants in extended precision, so each is the nearest f64 but for a few in a thousand, and they do not
// drift with the length.
#include "strata/loop/kernel/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <deque>
#include <list>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "strata/loop/kernel/fft_run.h"

namespace strata::loop::fft {
namespace {

using Complex = std::complex<double>;

constexpr std::int64_t kSmallest = 64;         // of lines that are split
constexpr std::int64_t kLongestSmall = 512;    // of lines that are not, where too many lanes would be empty
constexpr std::int64_t kLongestColumn = 2048;  // a block of columns stays in a core's cache

/// exp(-2 pi i k / n), 0 <= k < n: the angle is folded into an eighth of the circle.
Complex root(std::int64_t k, std::int64_t n) {
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  std::int64_t eighth = 8 * k / n, rest = 8 * k - eighth * n;  // of n
  if (eighth % 2 == 1) rest = n - rest;
  long double angle = kPi * static_cast<long double>(rest) / (4 * static_cast<long double>(n));
  double c = static_cast<double>(std::cos(angle)), s = static_cast<double>(std::sin(angle));
  if ((eighth + 1) / 2 % 2 == 1) std::swap(c, s);
  bool left = eighth >= 2 && eighth < 6, below = eighth >= 4;
  return {left ? -c : c, below ? s : -s};
}

/// Radices of n, none where a prime factor is too large (or n is 1).
std::vector<int> radices_of(std::int64_t n) {
  std::vector<int> out;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  for (; twos >= 5 || twos == 3; twos -= 3) out.push_back(8);
  for (; twos >= 2; twos -= 2) out.push_back(4);
  if (twos == 1) out.push_back(2);
  for (int p : {3, 5, 7, 11, 13, 17, 19, 23, 29, 31})
    for (; n % p == 0; n /= p) out.push_back(p);
  return n == 1 ? out : std::vector<int>();
}
bool smooth(std::int64_t n) { return n == 1 || !radices_of(n).empty(); }

/// What columns of length n cost, for one of them.
std::int64_t cost_of(std::int64_t n) {
  std::int64_t out = 0;
  for (int radix : radices_of(n)) out += n * (radix == 8 || radix == 4 ? 5 : radix + 2);
  return out;
}

/// What a line of n1 n2 costs, empty lanes included.
std::int64_t split_cost(std::int64_t n, std::int64_t n1) {
  std::int64_t n2 = n / n1;
  return whole_lanes(n2) * cost_of(n1) + whole_lanes(n1) * cost_of(n2);
}

/// n1 of n = n1 n2, by the work of whole lanes; 1 where n is prime.
std::int64_t first_factor(std::int64_t n) {
  std::int64_t best = 1, least = 0;
  for (std::int64_t a = 2; a * a <= n; ++a)
    for (std::int64_t n1 : {a, n / a}) {
      if (n % a != 0) continue;
      std::int64_t n2 = n / n1, cost = split_cost(n, n1);
      if (best != 1 && cost > least) continue;
      if (best != 1 && cost == least && std::max(n1, n2) >= std::max(best, n / best)) continue;
      best = n1, least = cost;
    }
  return best;
}

/// Numbers that begin on a cache line.
struct Table {
  explicit Table(std::int64_t n) : count(n), at(new(std::align_val_t{64}) double[static_cast<std::size_t>(n)]()) {}
  Table(Table&& other) noexcept : count(other.count), at(std::exchange(other.at, nullptr)) {}
  ~Table() { ::operator delete[](at, std::align_val_t{64}); }
  std::int64_t count;
  double* at;
};

struct Made : Plan {
  Made(std::int64_t length, bool real);

  std::int64_t cost = 0;

 private:
  double* table(std::int64_t numbers) {
    cost += numbers;
    return tables_.emplace_back(numbers).at;
  }
  Passes passes_of(std::int64_t length);
  void mixed_radix();
  void split(std::int64_t n1);
  void chirp_and_filter();
  void real_halves();
  void keep(std::int64_t length) {
    held_ = plan_of(length, false);
    inner = held_.get();
  }

  std::deque<Table> tables_;
  std::shared_ptr<const Plan> held_;
};

Made::Made(std::int64_t length, bool real) : Plan{} {
  n = length;
  real ? real_halves() : smooth(n) ? mixed_radix() : chirp_and_filter();
}

void Made::mixed_radix() {
  std::int64_t n1 = n < kSmallest ? 1 : first_factor(n);
  kind = n1 == 1 || (n <= kLongestSmall && 4 * cost_of(n) < 3 * split_cost(n, n1)) ? kSmall : kSplit;
  if (kind == kSmall || n <= kLongestColumn) whole = passes_of(n);
  if (kind == kSplit) split(n1);
  std::int64_t longest = std::max({whole.n, first.n, second.n});
  scratch = 5 * kRow * whole_lanes(longest) + 2 * whole_lanes(first.n) * whole_lanes(second.n);
}

Passes Made::passes_of(std::int64_t length) {
  Passes out;
  out.n = length;
  std::int64_t rest = length, s = 1;
  for (int radix : radices_of(length)) {
    Pass& p = out.pass[out.count++];
    p = {radix, s, rest / radix, nullptr, nullptr};
    double* turns = table(2 * p.m * (radix - 1));
    p.turns = turns;
    for (std::int64_t q = 0; q < p.m; ++q)
      for (std::int64_t k = 1; k < radix; ++k) {
        Complex w = root(q * k, rest);
        *turns++ = w.real(), *turns++ = w.imag();
      }
    if (radix % 2 == 1) {
      double* roots = table(2 * radix);
      p.roots = roots;
      for (std::int64_t t = 0; t < radix; ++t) roots[2 * t] = root(t, radix).real(), roots[2 * t + 1] = root(t, radix).imag();
    }
    rest = p.m;
    s *= radix;
  }
  return out;
}

void Made::split(std::int64_t n1) {
  std::int64_t n2 = n / n1;
  first = passes_of(n1);
  second = passes_of(n2);
  std::int64_t rows = whole_lanes(n1);
  double* rows_of = table(2 * rows * whole_lanes(n2));
  twist = rows_of;
  for (std::int64_t k1 = 0; k1 < n1; ++k1)
    for (std::int64_t j2 = 0; j2 < n2; ++j2) {
      Complex w = root(k1 * j2, n);
      double* row = rows_of + (j2 / kLanes * rows + k1) * kRow + j2 % kLanes;
      row[0] = w.real(), row[kLanes] = w.imag();
    }
}

void Made::chirp_and_filter() {
  kind = kChirp;
  std::int64_t size = kSmallest;
  while (size < 2 * n - 1) size *= 2;
  keep(size);
  std::int64_t lanes = whole_lanes(n);
  double *c = table(2 * lanes), *f = table(2 * size);
  for (std::int64_t k = 0; k < n; ++k) {
    auto square = static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) % static_cast<unsigned __int128>(2 * n);
    Complex w = root(static_cast<std::int64_t>(square), 2 * n);
    c[k] = w.real(), c[lanes + k] = w.imag();
    for (std::int64_t at : {k, (size - k) % size}) f[at] = w.real(), f[size + at] = -w.imag();
  }
  Table scratch_of_inner(inner->scratch);
  transform_planes(*inner, f, f + size, scratch_of_inner.at);
  chirp = c, filter = f;
  scratch = 2 * size + inner->scratch;
}

void Made::real_halves() {
  kind = kReal;
  std::int64_t half = n / 2, lanes = whole_lanes(half + 1);
  keep(half);
  double* w = table(2 * lanes);
  for (std::int64_t k = 0; k <= half; ++k) w[k] = root(k, n).real(), w[lanes + k] = root(k, n).imag();
  halves = w;
  scratch = inner->scratch;
}

}  // namespace

std::shared_ptr<const Plan> plan_of(std::int64_t n, bool real) {
  constexpr std::int64_t kKept = 1 << 23;  // numbers
  static std::mutex mutex;
  static std::list<std::shared_ptr<const Made>> plans;
  auto wanted = [&](const Plan& p) { return p.n == n && (p.kind == Plan::kReal) == real; };
  {
    std::lock_guard lock(mutex);
    for (auto it = plans.begin(); it != plans.end(); ++it)
      if (wanted(**it)) {
        plans.splice(plans.begin(), plans, it);
        return plans.front();
      }
  }
  auto made = std::make_shared<const Made>(n, real);
  std::lock_guard lock(mutex);
  plans.push_front(made);
  std::int64_t kept = 0;
  for (auto it = plans.begin(); it != plans.end();) {
    kept += (*it)->cost;
    it = kept > kKept && it != plans.begin() ? plans.erase(it) : std::next(it);
  }
  return made;
}

}  // namespace strata::loop::fft
