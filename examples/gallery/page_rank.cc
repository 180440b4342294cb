// PageRank: where a reader is who follows links at random, and now and then begins anew on any
// page. The web is a list of links; a step scatters each page's rank over what it links to, and a
// while_loop repeats it until nothing moves. Forward derivatives go through that loop: here, how
// the ranks change with the reader's patience. Source: Page, Brin, Motwani and Winograd, The
// PageRank Citation Ranking (1999); the eleven pages of Wikipedia's article on it.
#include <strata/core.h>

#include <string>

#include "require.h"

using namespace strata;

const std::string kPages = "ABCDEFGHIJK";
const std::vector<std::string> kLinks = {"BC", "CB", "DA", "DB", "EB", "ED", "EF", "FB", "FE",
                                         "GB", "GE", "HB", "HE", "IB", "IE", "JE", "KE"};

struct Web {
  Array from, to;  // i32[links]
  STRATA_FIELDS(from, to)
};

Web read_links() {
  std::vector<std::int32_t> from, to;
  for (const std::string& link : kLinks) {
    from.push_back(static_cast<std::int32_t>(kPages.find(link[0])));
    to.push_back(static_cast<std::int32_t>(kPages.find(link[1])));
  }
  return {array(from), array(to)};
}

// A reader follows a link with probability `damping`; from a page without links every page is as
// likely.
Array follow(const Web& web, const Array& rank, const Array& damping) {
  const auto pages = static_cast<int>(kPages.size());
  Array links = zeros_like(rank).at(web.from).add(1);
  Array share = where(links > 0, rank / maximum(links, 1), 0);
  Array lost = sum(where(links == 0, rank, 0));
  Array arrived = zeros_like(rank).at(web.to).add(share[web.from]);
  return damping * (arrived + lost / pages) + (1 - damping) / pages;
}

Array page_rank(const Web& web, const Array& damping) {
  using State = std::pair<Array, Array>;  // ranks, and how much the last step moved
  auto moving = [](const State& s) { return s.second > 1e-12; };
  auto step = [&](const State& s) {
    Array next = follow(web, s.first, damping);
    return State(next, sum(abs(next - s.first)));
  };
  return while_loop(moving, step,
                    State(full({static_cast<std::int64_t>(kPages.size())},
                               1.0 / static_cast<double>(kPages.size())),
                          1.0))
      .first;
}

int main() {
  EnableX64 wide;
  Web web = read_links();
  auto rank_of = [&](Array damping) { return page_rank(web, damping); };
  auto [rank, change] = jit([&](Array damping) {
    return jvp(rank_of, std::tuple(damping), std::tuple(Array(1.0)));
  })(0.85);

  const std::vector<double> ranks = rank.to_vector<double>(), changes = change.to_vector<double>();
  std::printf("page  rank  its derivative by the damping\n");
  for (std::size_t i = 0; i < kPages.size(); ++i)
    std::printf("%c  %6.1f%% %7.3f\n", kPages[i], 100 * ranks[i], changes[i]);

  require(abs(sum(rank) - 1).item<double>() < 1e-12, "ranks are probabilities");
  Array published = array({3.3, 38.4, 34.3, 3.9, 8.1, 3.9, 1.6, 1.6, 1.6, 1.6, 1.6}) / 100;
  require(max(abs(rank - published)).item<double>() < 6e-4, "the ranks of the article");
  require(max(abs(follow(web, rank, 0.85) - rank)).item<double>() < 1e-12,
          "one more step changes nothing");
  Array difference = (rank_of(0.86) - rank_of(0.84)) / 0.02;
  require(max(abs(change - difference)).item<double>() < 5e-3,
          "the derivative, beside a difference");
}
