#include "strata/checkpoint/ocdbt/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace strata::checkpoint::ocdbt {
namespace {

std::array<char, 16> random_bytes() {
  std::random_device device;
  std::array<char, 16> out;
  for (char& c : out) c = static_cast<char>(device());
  return out;
}

std::size_t shared_prefix(std::string_view a, std::string_view b) {
  const std::size_t n = std::min(a.size(), b.size());
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.begin() + n, b.begin()).first -
                                  a.begin());
}

/// What an entry counts towards the size of its node.
std::uint64_t estimate(const Entry& e, bool leaf) {
  return 16 + e.key.size() + (!leaf ? 48 : e.inline_value ? e.value.size() : 16);
}

}  // namespace

Writer::Writer(KeyValueStore& store, std::string folder, Configuration configuration)
    : store_(store), folder_(std::move(folder)), configuration_(configuration) {
  if (configuration_.uuid == std::array<char, 16>{}) configuration_.uuid = random_bytes();
}

std::string Writer::new_file() {
  std::string out = "d/";
  for (char c : random_bytes()) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

Status Writer::flush() {
  if (pieces_.empty()) return {};
  if (Status s = wait(kFilesAtOnce - 1); !s.ok()) return s;
  written_.push_back(std::async(
      std::launch::async, [&store = store_, key = folder_ + file_, pieces = std::move(pieces_)] {
        std::vector<std::string_view> views;
        for (const Payload& piece : pieces) views.push_back(piece.view());
        return store.write(key, views);
      }));
  pieces_.clear();
  bytes_ = 0;
  file_.clear();
  return {};
}

Status Writer::wait(std::size_t most) {
  while (written_.size() > most) {
    Status s = written_.front().get();
    written_.erase(written_.begin());
    if (!s.ok()) return s;
  }
  return {};
}

Result<Place> Writer::append(Payload bytes) {
  if (bytes_ > 0 && bytes_ + bytes.size() > kFileBytes)
    if (Status s = flush(); !s.ok()) return s;
  if (file_.empty()) file_ = new_file();
  Place out{{"", file_}, bytes_, bytes.size()};
  bytes_ += bytes.size();
  pieces_.push_back(std::move(bytes));
  return out;
}

Status Writer::write(const std::string& key, Payload value) {
  Entry e;
  e.key = key;
  e.inline_value = value.size() <= configuration_.max_inline_bytes;
  if (e.inline_value) {
    e.value = std::move(value).own();
  } else {
    auto place = append(std::move(value));
    if (!place) return place.status();
    e.place = std::move(*place);
  }
  entries_[key] = std::move(e);
  return {};
}

Status Writer::copy(const Database& from, const std::string& below) {
  auto entries = from.entries();
  if (!entries) return entries.status();
  for (Entry& e : *entries) {
    if (!e.inline_value) e.place.file.base = below + e.place.file.base;
    std::string key = e.key;
    entries_[std::move(key)] = std::move(e);
  }
  return {};
}

Result<Entry> Writer::put(const Node& node, bool root) {
  // All but the root leave out what all of their keys begin with.
  Node cut = node;
  const std::string& first = node.entries.front().key;
  std::size_t common = root ? 0 : shared_prefix(first, node.entries.back().key);
  if (node.height > 0)
    for (const Entry& e : node.entries) common = std::min<std::size_t>(common, e.common_prefix);
  Entry out;
  out.key = first;
  out.common_prefix = common;
  for (Entry& e : cut.entries) {
    e.key.erase(0, common);
    if (node.height > 0) {
      e.common_prefix -= common;
      out.statistics.keys += e.statistics.keys;
      out.statistics.tree_bytes += e.statistics.tree_bytes;
      out.statistics.indirect_bytes += e.statistics.indirect_bytes;
    } else {
      out.statistics.keys += 1;
      if (!e.inline_value) out.statistics.indirect_bytes += e.place.length;
    }
  }
  std::string bytes = encode_node(cut, configuration_);
  out.statistics.tree_bytes += bytes.size();
  auto place = append(std::move(bytes));
  if (!place) return place.status();
  out.place = std::move(*place);
  return out;
}

Result<std::vector<Entry>> Writer::level(std::vector<Entry> entries, std::uint8_t height) {
  std::uint64_t total = 0;
  for (const Entry& e : entries) total += estimate(e, height == 0);
  const std::uint64_t most = std::max<std::uint64_t>(configuration_.max_node_bytes, 1);
  const std::uint64_t parts = std::max<std::uint64_t>((total + most - 1) / most, 1);
  const std::uint64_t target = (total + parts - 1) / parts;
  const std::size_t least = height == 0 ? 1 : 2;
  std::vector<Node> nodes(1);
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    size += estimate(entries[i], height == 0);
    nodes.back().entries.push_back(std::move(entries[i]));
    const std::size_t left = entries.size() - i - 1;
    if (size < target || nodes.back().entries.size() < least || left < least) continue;
    nodes.emplace_back();
    size = 0;
  }
  std::vector<Entry> out;
  for (Node& node : nodes) {
    node.height = height;
    auto entry = put(node, nodes.size() == 1);
    if (!entry) return entry.status();
    out.push_back(std::move(*entry));
  }
  return out;
}

Status Writer::commit() {
  Manifest manifest;
  manifest.configuration = configuration_;
  Version version;
  version.commit_time =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
  std::vector<Entry> entries;
  for (auto& [key, entry] : entries_) entries.push_back(std::move(entry));
  entries_.clear();
  for (std::uint8_t height = 0; !entries.empty(); ++height) {
    auto above = level(std::move(entries), height);
    if (!above) return above.status();
    entries = std::move(*above);
    if (entries.size() > 1) continue;
    version.height = height;
    version.root = entries[0].place;
    version.statistics = entries[0].statistics;
    break;
  }
  if (Status s = flush(); !s.ok()) return s;
  if (Status s = wait(0); !s.ok()) return s;
  manifest.versions = {version};
  return store_.write(folder_ + "manifest.ocdbt", std::string_view(encode_manifest(manifest)));
}

}  // namespace strata::checkpoint::ocdbt
