// What einsum_path prints. Source: opt_einsum 3.4, contract.py (PathInfo) and blas.py (can_blas).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdio>

#include "strata/api/numpy/einsum/einsum_search.h"

namespace strata::numpy::detail {
namespace {

Letters letters_in(const std::string& text) { return Letters(text.begin(), text.end()); }
bool has(const std::string& text, char c) { return text.find(c) != std::string::npos; }

/// Letters that no subscript has, in place of those of an ellipsis. Upstream keeps as many as the
/// largest operand has axes, and takes the last of these.
Equation readable(Equation e) {
  std::string all;
  std::size_t most = 0, dots = 0;
  for (const std::string& in : e.inputs) {
    all += in;
    most = std::max(most, in.size());
    for (char c : in)
      if (c < ' ') dots = std::max(dots, static_cast<std::size_t>(c));
  }
  std::string unused;
  for (const char* first : {"az", "AZ"})
    for (char c = first[0]; c <= first[1]; ++c)
      if (!has(all, c)) unused += c;
  auto rename = [&](std::string& text) {
    for (char& c : text)
      if (c < ' ') c = unused.at(most - dots + static_cast<std::size_t>(c) - 1);
  };
  for (std::string& in : e.inputs) rename(in);
  rename(e.output);
  return e;
}

/// 1.234e+5
std::string scientific(double x) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3e", x);
  const std::string all = text.data();
  const std::size_t e = all.find('e');
  return fmt::format("{}e{:+}", all.substr(0, e), std::stoi(all.substr(e + 1)));
}

/// The routine for x, y -> result, where one takes them without a transpose.
std::string routine(const std::string& x, const std::string& y, const Letters& result) {
  const Letters left = letters_in(x), right = letters_in(y),
                removed = without(either(left, right), result);
  if (left.size() != x.size() || right.size() != y.size()) return "0";
  for (char c : either(left, right))
    if ((left.contains(c) && right.contains(c)) == result.contains(c)) return "0";
  if (removed.empty()) return "OUTER/EINSUM";
  if (x == y) return "DOT";
  if (left == right) return "DOT/EINSUM";
  const std::size_t n = removed.size();
  const std::string first = x.substr(0, n), last = x.substr(x.size() - n),
                    other_first = y.substr(0, n), other_last = y.substr(y.size() - n);
  if (last == other_first || first == other_last || last == other_last || first == other_first)
    return "GEMM";
  return without(left, removed).empty() || without(right, removed).empty() ? "GEMV/EINSUM" : "TDOT";
}

/// Letters in the order of their first occurrence in `order`.
std::string sorted_by(const Letters& letters, const std::string& order) {
  std::string out(letters.begin(), letters.end());
  std::sort(out.begin(), out.end(), [&](char a, char b) { return order.find(a) < order.find(b); });
  return out;
}

/// The lines of the steps.
std::string steps_text(const Equation& e, const EinsumPath& path) {
  constexpr std::size_t kListed = 20, kStep = 22, kWidth = 56;
  std::string out;
  std::vector<std::string> terms = e.inputs;
  for (std::size_t n = 0; n < path.path.size(); ++n) {
    std::vector<std::string> taken;
    for (auto p = path.path[n].rbegin(); p != path.path[n].rend(); ++p) {
      taken.push_back(terms[static_cast<std::size_t>(*p)]);
      terms.erase(terms.begin() + *p);
    }
    const std::string all = fmt::format("{}", fmt::join(taken, ""));
    Letters kept = letters_in(e.output);
    for (const std::string& t : terms) kept = either(kept, letters_in(t));
    const Letters made = both(letters_in(all), kept);
    terms.push_back(n + 1 == path.path.size() ? e.output : sorted_by(made, all));
    const std::string step = fmt::format("{}->{}", fmt::join(taken, ","), terms.back());
    const std::string remaining =
        terms.size() <= kListed ? fmt::format("{}->{}", fmt::join(terms, ","), e.output) : "...";
    out += fmt::format("\n{:>4} {:>14} {:>22}    {:>{}}", letters_in(all).size(),
                       taken.size() == 2 ? routine(taken[0], taken[1], made) : "0", step, remaining,
                       kWidth - std::min(kWidth, std::max(kStep, step.size())));
  }
  return out;
}

}  // namespace

std::string path_text(const Equation& equation, const EinsumPath& path) {
  const Equation e = readable(equation);
  std::string out =
      fmt::format("  Complete contraction:  {}->{}\n", fmt::join(e.inputs, ","), e.output);
  out += fmt::format("         Naive scaling:  {}\n     Optimized scaling:  {}\n",
                     path.naive_scaling, path.optimized_scaling);
  out += fmt::format("      Naive FLOP count:  {}\n  Optimized FLOP count:  {}\n",
                     scientific(path.naive_flop_count), scientific(path.optimized_flop_count));
  out += fmt::format("   Theoretical speedup:  {}\n",
                     scientific(path.naive_flop_count / std::max(path.optimized_flop_count, 1.0)));
  out += fmt::format("  Largest intermediate:  {} elements\n{:-<80}\n",
                     scientific(path.largest_intermediate), "");
  return out +
         fmt::format("{:>6} {:>11} {:>22} {:>37}\n{:-<80}", "scaling", "BLAS", "current",
                     "remaining", "") +
         steps_text(e, path);
}

}  // namespace strata::numpy::detail
