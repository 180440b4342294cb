// The pages of a cache: who holds which, and what whole pages hold, so that sequences with equal
// beginnings share them.
//
//   engine::PagePool pool(256, 16);
//   std::vector<std::int32_t> mine = pool.find(prompt);   // whole pages that hold its beginning
//   mine.push_back(*pool.take());
//   pool.release(mine);
//
// A page is known by the page before it, its own tokens and, where a sequence begins, a salt. These
// are compared themselves, not hashes of them: a hit is never wrong, and nobody can aim at
// another's pages. Sequences of different salts share nothing.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::engine {

class PagePool {
 public:
  /// Throws Error unless both are at least 1.
  PagePool(std::int64_t pages, std::int64_t page_size);
  // Pages know their places in lists: a copy would know the original's.
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;
  PagePool(PagePool&&) = default;
  PagePool& operator=(PagePool&&) = default;

  std::int64_t pages() const { return static_cast<std::int64_t>(pages_.size()); }
  std::int64_t page_size() const { return page_size_; }
  /// Pages that `take` can give.
  std::int64_t available() const { return static_cast<std::int64_t>(free_.size()); }

  /// A page that nobody holds, now held once; none: all are held. What it held is forgotten.
  std::optional<std::int32_t> take();
  /// The longest beginning of `tokens` that whole pages hold, less at least one token; each page is
  /// held once more.
  std::vector<std::int32_t> find(std::span<const std::int32_t> tokens, std::string_view salt = {});
  /// How many of the pages that `find` would give are free, and how many it would give.
  std::pair<std::int64_t, std::int64_t> look(std::span<const std::int32_t> tokens,
                                             std::string_view salt = {}) const;
  /// Whole pages that hold `tokens` from their beginning on, the last token among them.
  std::vector<std::int32_t> holding(std::span<const std::int32_t> tokens,
                                    std::string_view salt = {}) const;
  /// A page of which the first tokens go on with a text.
  struct Part {
    std::int32_t page;
    std::int64_t tokens;
  };
  /// Behind the `whole` pages that `find` gave: the page that begins with the most of the tokens
  /// that come next, less at least one. Nobody holds it for that: what it holds may be copied.
  std::optional<Part> find_part(std::span<const std::int32_t> whole,
                                std::span<const std::int32_t> tokens,
                                std::string_view salt = {}) const;
  /// A page that can be found is held once more.
  void hold(std::int32_t page);
  /// Says that `pages` hold `tokens` from position 0 on: whole pages can be found from now on, and
  /// with `with_part` the tokens behind them too, by `find_part`. Then nobody may write more into
  /// that page.
  void keep(std::span<const std::int32_t> pages, std::span<const std::int32_t> tokens,
            std::string_view salt = {}, bool with_part = false);
  /// Nothing that pages hold can be found from now on.
  void forget();
  /// Pages that can be found, and those that were given away though they could be.
  std::int64_t known() const { return static_cast<std::int64_t>(known_.size()); }
  std::int64_t evicted() const { return evicted_; }
  /// Each page is held once less. Of pages that nobody holds, those that can be found are given
  /// away last, the ends of sequences before their beginnings.
  void release(std::span<const std::int32_t> pages);

  /// Throws an internal error unless each page is held as often as `holders` say and free exactly
  /// when nobody holds it.
  void check(std::span<const std::vector<std::int32_t>> holders) const;

 private:
  /// The mark of the page before, the salt and the page's tokens, fewer than a page has where the
  /// rest of it holds nothing. At the beginning the mark is 0;
  /// behind it there is no salt.
  using Key = std::tuple<std::uint64_t, std::string, std::vector<std::int32_t>>;
  struct Page {
    std::int64_t holders = 0;
    std::uint64_t mark = 0;  // of what it holds, a new number each time; 0: cannot be found
    std::map<Key, std::int32_t>::iterator known;
    std::list<std::int32_t>::iterator place;  // among the free ones
  };
  /// The pages that hold the beginning, at most `most` of them.
  std::vector<std::int32_t> chain(std::span<const std::int32_t> tokens, std::string_view salt,
                                  std::size_t most) const;

  std::int64_t page_size_;
  std::vector<Page> pages_;
  std::list<std::int32_t> free_;  // the next one to give first
  std::map<Key, std::int32_t> known_;
  std::uint64_t marks_ = 0;
  std::int64_t evicted_ = 0;
};

}  // namespace strata::engine
