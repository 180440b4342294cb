// Roots of unity come from octants in extended precision, so each is the nearest number but for a
// few in a thousand, and they do not drift with the length.
#include "strata/loop/kernel/fft/fft_plan_of.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <deque>
#include <list>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "strata/base/check.h"
#include "strata/loop/kernel/fft/fft_run.h"

namespace strata::loop::fft {
namespace {

using Complex = std::complex<double>;

constexpr std::int64_t kSmallest = 64;  // of lines that are split
constexpr std::int64_t kLongestSmall =
    512;  // of lines that are not, where too many lanes would be empty
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

/// At a place, and its imaginary part `apart` numbers on.
template <class N>
void store(Complex z, N* at, std::int64_t apart) {
  at[0] = static_cast<N>(z.real()), at[apart] = static_cast<N>(z.imag());
}

/// Radices of n, none where a prime factor is too large (or n is 1).
std::vector<int> radices_of(std::int64_t n) {
  std::vector<int> out;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  for (; twos >= 5 || twos == 3; twos -= 3) out.push_back(8);
  for (; twos >= 2; twos -= 2) out.push_back(4);
  if (twos == 1) out.push_back(2);
  for (int p = 3; p <= kLargestRadix; p += 2)  // composite ones divide nothing that is left
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
template <class N>
std::int64_t split_cost(std::int64_t n, std::int64_t n1) {
  std::int64_t n2 = n / n1;
  return whole_lanes<N>(n2) * cost_of(n1) + whole_lanes<N>(n1) * cost_of(n2);
}

/// n1 of n = n1 n2, by the work of whole lanes; 1 where n is prime.
template <class N>
std::int64_t first_factor(std::int64_t n) {
  std::int64_t best = 1, least = 0;
  for (std::int64_t a = 2; a * a <= n; ++a)
    for (std::int64_t n1 : {a, n / a}) {
      if (n % a != 0) continue;
      std::int64_t n2 = n / n1, cost = split_cost<N>(n, n1);
      if (best != 1 && cost > least) continue;
      if (best != 1 && cost == least && std::max(n1, n2) >= std::max(best, n / best)) continue;
      best = n1, least = cost;
    }
  return best;
}

/// Numbers that begin on a cache line.
template <class N>
struct Table {
  explicit Table(std::int64_t n)
      : count(n), at(new(std::align_val_t{64}) N[static_cast<std::size_t>(n)]()) {}
  Table(Table&& other) noexcept : count(other.count), at(std::exchange(other.at, nullptr)) {}
  ~Table() { ::operator delete[](at, std::align_val_t{64}); }
  std::int64_t count;
  N* at;
};

template <class N>
struct Made : Plan<N> {
  using P = Plan<N>;
  using P::n, P::kind, P::whole, P::first, P::second, P::twist, P::inner, P::chirp, P::filter,
      P::halves, P::scratch;

  Made(std::int64_t length, bool real);

  std::int64_t cost = 0;

 private:
  N* table(std::int64_t numbers) {
    cost += numbers;
    return tables_.emplace_back(numbers).at;
  }
  Passes<N> passes_of(std::int64_t length);
  void mixed_radix();
  void split(std::int64_t n1);
  void chirp_and_filter();
  void real_halves();
  void keep(std::int64_t length) {
    held_ = plan_of<N>(length, false);
    inner = held_.get();
  }

  std::deque<Table<N>> tables_;
  std::shared_ptr<const Plan<N>> held_;
};

template <class N>
Made<N>::Made(std::int64_t length, bool real) : Plan<N>{} {
  n = length;
  real ? real_halves() : smooth(n) ? mixed_radix() : chirp_and_filter();
}

template <class N>
void Made<N>::mixed_radix() {
  std::int64_t n1 = n < kSmallest ? 1 : first_factor<N>(n);
  kind = n1 == 1 || (n <= kLongestSmall && 4 * cost_of(n) < 3 * split_cost<N>(n, n1)) ? P::kSmall
                                                                                      : P::kSplit;
  if (kind == P::kSmall || n <= kLongestColumn) whole = passes_of(n);
  if (kind == P::kSplit) split(n1);
  std::int64_t longest = std::max({whole.n, first.n, second.n});
  scratch = 5 * kRow<N> * whole_lanes<N>(longest) +
            2 * whole_lanes<N>(first.n) * whole_lanes<N>(second.n);
}

template <class N>
Passes<N> Made<N>::passes_of(std::int64_t length) {
  Passes<N> out;
  out.n = length;
  std::int64_t rest = length, s = 1;
  for (int radix : radices_of(length)) {
    Pass<N>& p = out.pass[out.count++];
    p = {radix, s, rest / radix, nullptr, nullptr};
    N* turns = table(2 * p.m * (radix - 1));
    p.turns = turns;
    for (std::int64_t q = 0; q < p.m; ++q)
      for (std::int64_t k = 1; k < radix; ++k) {
        store(root(q * k, rest), turns, 1);
        turns += 2;
      }
    if (radix % 2 == 1) {
      N* roots = table(2 * radix);
      p.roots = roots;
      for (std::int64_t t = 0; t < radix; ++t) store(root(t, radix), roots + 2 * t, 1);
    }
    rest = p.m;
    s *= radix;
  }
  return out;
}

template <class N>
void Made<N>::split(std::int64_t n1) {
  constexpr std::int64_t kRow = fft::kRow<N>, kLanes = fft::kLanes<N>;
  std::int64_t n2 = n / n1;
  first = passes_of(n1);
  second = passes_of(n2);
  std::int64_t rows = whole_lanes<N>(n1);
  N* rows_of = table(2 * rows * whole_lanes<N>(n2));
  twist = rows_of;
  for (std::int64_t k1 = 0; k1 < n1; ++k1)
    for (std::int64_t j2 = 0; j2 < n2; ++j2)
      store(root(k1 * j2, n), rows_of + (j2 / kLanes * rows + k1) * kRow + j2 % kLanes, kLanes);
}

/// The filter is made in f64, whatever N is.
template <class N>
void Made<N>::chirp_and_filter() {
  kind = P::kChirp;
  std::int64_t size = kLanes<N> * kLanes<N>;
  while (size < 2 * n - 1) size *= 2;
  keep(size);
  STRATA_CHECK(inner->kind == P::kSplit);
  std::int64_t lanes = whole_lanes<N>(n);
  N *c = table(2 * lanes), *rounded = table(2 * size);
  std::shared_ptr<const Plan<double>> exact = plan_of<double>(size, false);
  Table<double> f(2 * size), scratch_of_exact(exact->scratch);
  for (std::int64_t k = 0; k < n; ++k) {
    auto square = static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) %
                  static_cast<unsigned __int128>(2 * n);
    Complex w = root(static_cast<std::int64_t>(square), 2 * n);
    store(w, c + k, lanes);
    for (std::int64_t at : {k, (size - k) % size}) store(std::conj(w), f.at + at, size);
  }
  transform_planes(*exact, f.at, f.at + size, scratch_of_exact.at);
  for (std::int64_t i = 0; i < 2 * size; ++i) rounded[i] = static_cast<N>(f.at[i]);
  chirp = c, filter = rounded;
  scratch = 2 * size + inner->scratch;
}

template <class N>
void Made<N>::real_halves() {
  kind = P::kReal;
  std::int64_t half = n / 2, lanes = whole_lanes<N>(half + 1);
  keep(half);
  N* w = table(2 * lanes);
  for (std::int64_t k = 0; k <= half; ++k) store(root(k, n), w + k, lanes);
  halves = w;
  scratch = inner->scratch;
}

}  // namespace

template <class N>
std::shared_ptr<const Plan<N>> plan_of(std::int64_t n, bool real) {
  constexpr std::int64_t kKept = 1 << 23;  // numbers
  static std::mutex mutex;
  static std::list<std::shared_ptr<const Made<N>>> plans;
  auto wanted = [&](const Plan<N>& p) { return p.n == n && (p.kind == Plan<N>::kReal) == real; };
  {
    std::lock_guard lock(mutex);
    for (auto it = plans.begin(); it != plans.end(); ++it)
      if (wanted(**it)) {
        plans.splice(plans.begin(), plans, it);
        return plans.front();
      }
  }
  auto made = std::make_shared<const Made<N>>(n, real);
  std::lock_guard lock(mutex);
  plans.push_front(made);
  std::int64_t kept = 0;
  for (auto it = plans.begin(); it != plans.end();) {
    kept += (*it)->cost;
    it = kept > kKept && it != plans.begin() ? plans.erase(it) : std::next(it);
  }
  return made;
}

template std::shared_ptr<const Plan<float>> plan_of<float>(std::int64_t n, bool real);
template std::shared_ptr<const Plan<double>> plan_of<double>(std::int64_t n, bool real);

}  // namespace strata::loop::fft
