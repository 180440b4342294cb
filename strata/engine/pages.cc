#include "strata/engine/pages.h"

#include <algorithm>
#include <iterator>

#include "strata/base/check.h"
#include "strata/base/error.h"

namespace strata::engine {

PagePool::PagePool(std::int64_t pages, std::int64_t page_size) : page_size_(page_size) {
  if (pages < 1 || page_size < 1)
    throw Error("engine", "pages={} and page_size={} must be at least 1", pages, page_size);
  pages_.resize(static_cast<std::size_t>(pages));
  for (std::size_t i = 0; i < pages_.size(); ++i)
    pages_[i].place = free_.insert(free_.end(), static_cast<std::int32_t>(i));
}

std::optional<std::int32_t> PagePool::take() {
  if (free_.empty()) return std::nullopt;
  const std::int32_t number = free_.front();
  free_.pop_front();
  Page& page = pages_[static_cast<std::size_t>(number)];
  if (page.mark != 0) {
    known_.erase(page.known);
    ++evicted_;
  }
  page.mark = 0;
  page.holders = 1;
  return number;
}

std::vector<std::int32_t> PagePool::chain(std::span<const std::int32_t> tokens,
                                          std::string_view salt, std::size_t most) const {
  std::vector<std::int32_t> out;
  const auto size = static_cast<std::size_t>(page_size_);
  for (std::uint64_t mark = 0; out.size() < most;) {
    const auto part = tokens.subspan(out.size() * size, size);
    const auto it = known_.find(
        Key(mark, out.empty() ? std::string(salt) : std::string(), {part.begin(), part.end()}));
    if (it == known_.end()) break;
    out.push_back(it->second);
    mark = pages_[static_cast<std::size_t>(it->second)].mark;
  }
  return out;
}

std::vector<std::int32_t> PagePool::find(std::span<const std::int32_t> tokens,
                                         std::string_view salt) {
  if (tokens.empty()) return {};
  std::vector<std::int32_t> out =
      chain(tokens, salt, (tokens.size() - 1) / static_cast<std::size_t>(page_size_));
  for (std::int32_t number : out) hold(number);
  return out;
}

void PagePool::hold(std::int32_t number) {
  Page& page = pages_[static_cast<std::size_t>(number)];
  if (page.holders++ == 0) free_.erase(page.place);
}

std::optional<PagePool::Part> PagePool::find_part(std::span<const std::int32_t> whole,
                                                  std::span<const std::int32_t> tokens,
                                                  std::string_view salt) const {
  const auto size = static_cast<std::size_t>(page_size_);
  const std::size_t from = whole.size() * size;
  if (tokens.size() < from + 2) return std::nullopt;
  const auto next = tokens.subspan(from, std::min(size, tokens.size() - 1 - from));
  const std::uint64_t mark =
      whole.empty() ? 0 : pages_[static_cast<std::size_t>(whole.back())].mark;
  const Key wanted(mark, whole.empty() ? std::string(salt) : std::string(),
                   {next.begin(), next.end()});
  Part best{-1, 0};
  const auto compare = [&](std::map<Key, std::int32_t>::const_iterator it) {
    const auto& [its_mark, its_salt, held] = it->first;
    if (its_mark != mark || its_salt != std::get<1>(wanted)) return;
    const auto same =
        std::mismatch(held.begin(), held.end(), next.begin(), next.end()).first - held.begin();
    if (same > best.tokens) best = {it->second, same};
  };
  // In their order the keys with the longest equal beginning are neighbours.
  const auto behind = known_.lower_bound(wanted);
  if (behind != known_.end()) compare(behind);
  if (behind != known_.begin()) compare(std::prev(behind));
  if (best.tokens == 0) return std::nullopt;
  return best;
}

std::pair<std::int64_t, std::int64_t> PagePool::look(std::span<const std::int32_t> tokens,
                                                     std::string_view salt) const {
  if (tokens.empty()) return {0, 0};
  const std::vector<std::int32_t> found =
      chain(tokens, salt, (tokens.size() - 1) / static_cast<std::size_t>(page_size_));
  const auto unheld = std::count_if(found.begin(), found.end(), [&](std::int32_t number) {
    return pages_[static_cast<std::size_t>(number)].holders == 0;
  });
  return {unheld, static_cast<std::int64_t>(found.size())};
}

std::vector<std::int32_t> PagePool::holding(std::span<const std::int32_t> tokens,
                                            std::string_view salt) const {
  return chain(tokens, salt, tokens.size() / static_cast<std::size_t>(page_size_));
}

void PagePool::forget() {
  known_.clear();
  for (Page& page : pages_) page.mark = 0;
}

void PagePool::keep(std::span<const std::int32_t> pages, std::span<const std::int32_t> tokens,
                    std::string_view salt, bool with_part) {
  const auto size = static_cast<std::size_t>(page_size_);
  std::uint64_t mark = 0;
  for (std::size_t i = 0; i < pages.size() && i * size < tokens.size(); ++i) {
    const auto part = tokens.subspan(i * size, std::min(size, tokens.size() - i * size));
    if (part.size() < size && !with_part) break;
    const auto [it, is_new] = known_.try_emplace(
        Key(mark, i == 0 ? std::string(salt) : std::string(), {part.begin(), part.end()}),
        pages[i]);
    Page& page = pages_[static_cast<std::size_t>(pages[i])];
    if (is_new && page.mark == 0) {
      page.mark = ++marks_;
      page.known = it;
    } else if (is_new) {
      // The page is known behind another beginning with equal tokens, whose page is gone.
      known_.erase(page.known);
      page.known = it;
    }
    // Of two pages with equal tokens the first one known is found.
    mark = pages_[static_cast<std::size_t>(it->second)].mark;
  }
}

void PagePool::release(std::span<const std::int32_t> pages) {
  for (std::size_t i = pages.size(); i-- > 0;) {
    Page& page = pages_[static_cast<std::size_t>(pages[i])];
    STRATA_CHECK(page.holders > 0, "a page is released that nobody holds");
    if (--page.holders > 0) continue;
    page.place = free_.insert(page.mark == 0 ? free_.begin() : free_.end(), pages[i]);
  }
}

void PagePool::check(std::span<const std::vector<std::int32_t>> holders) const {
  std::vector<std::int64_t> held(pages_.size());
  for (const auto& list : holders)
    for (std::int32_t number : list) ++held.at(static_cast<std::size_t>(number));
  for (std::int32_t number : free_)
    STRATA_CHECK(held[static_cast<std::size_t>(number)] == 0, "a page that is held is free");
  std::int64_t unheld = 0;
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    STRATA_CHECK(pages_[i].holders == held[i], "a page's holders are not those who hold it");
    unheld += held[i] == 0;
    if (pages_[i].mark != 0)
      STRATA_CHECK(pages_[i].known->second == static_cast<std::int32_t>(i),
                   "a page is found under another's tokens");
  }
  STRATA_CHECK(unheld == available(), "a page is lost: nobody holds it and it is not free");
}

}  // namespace strata::engine
