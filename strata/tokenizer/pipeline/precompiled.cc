// SentencePiece's compiled maps of characters: a u32 with the bytes of a trie, the trie (a
// darts-clone double array of u32), then strings that end in a zero; a leaf's value is where its
// string begins.
#include <cstring>

#include "strata/tokenizer/pipeline/normalizer.h"
#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {
namespace {

class Precompiled : public Normalizer {
 public:
  explicit Precompiled(const std::string& map) {
    std::uint32_t bytes = 0;
    if (map.size() < 4) refuse("has no size");
    std::memcpy(&bytes, map.data(), 4);
    if (bytes % 4 != 0 || bytes == 0 || bytes > map.size() - 4)
      refuse(fmt::format("says that its trie has {} bytes of {}", bytes, map.size() - 4));
    units_.resize(bytes / 4);
    std::memcpy(units_.data(), map.data() + 4, bytes);
    strings_ = map.substr(4 + bytes);
    if (strings_.empty() || strings_.back() != '\0') refuse("its strings do not end in a zero");
    if (const std::string plain = well_formed(strings_); plain != strings_)
      refuse("its strings are not UTF-8");
  }

  std::string apply(std::string text) const override {
    std::string out;
    out.reserve(text.size());
    std::size_t begin = 0;
    for (std::size_t end : clusters(text)) {
      const std::string_view cluster = std::string_view(text).substr(begin, end - begin);
      begin = end;
      if (cluster.size() < 6 && put(out, cluster)) continue;
      for (std::size_t at = 0; at < cluster.size();) {
        const std::size_t n = code_point_at(cluster, at).bytes;
        if (!put(out, cluster.substr(at, n))) out += cluster.substr(at, n);
        at += n;
      }
    }
    return out;
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) {
    throw BadPart{"precompiled_charsmap: " + why};
  }
  static std::vector<std::size_t> clusters(const std::string& text) { return grapheme_ends(text); }

  /// Appends what the shortest entry that `text` begins with stands for.
  bool put(std::string& out, std::string_view text) const {
    const auto offset = [](std::uint32_t unit) { return unit >> 10 << ((unit & 512) >> 6); };
    std::uint32_t node = offset(units_[0]);
    for (char c : text) {
      if (c == '\0') return false;
      const auto label = static_cast<unsigned char>(c);
      node ^= label;
      if (node >= units_.size()) return false;
      const std::uint32_t unit = units_[node];
      if ((unit & 0x800000ffu) != label) return false;
      node ^= offset(unit);
      if ((unit & 256) == 0) continue;
      if (node >= units_.size()) return false;
      const std::uint32_t at = units_[node] & 0x7fffffffu;
      const bool inside =
          at < strings_.size() && (static_cast<unsigned char>(strings_[at]) & 0xc0) == 0x80;
      if (at >= strings_.size() || inside) return false;
      out += strings_.c_str() + at;
      return true;
    }
    return false;
  }

  std::vector<std::uint32_t> units_;
  std::string strings_;
};

}  // namespace

std::shared_ptr<const Normalizer> precompiled_normalizer(std::string map) {
  return std::make_shared<Precompiled>(map);
}

}  // namespace strata::tokenizer
