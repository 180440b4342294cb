#include "strata/checkpoint/tiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/api/lax.h"
#include "strata/api/sharding/distributed.h"
#include "strata/api/transform/control.h"
#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/checkpoint/damage.h"
#include "strata/checkpoint/manifest.h"
#include "strata/checkpoint/safetensors.h"

namespace strata::checkpoint {
namespace {

using nlohmann::ordered_json;

constexpr std::chrono::milliseconds kPatience = std::chrono::minutes(20);
constexpr std::uint64_t kPiece = 4 << 20;

/// Words that processes tell each other: each says one, all hear all.
class Talk {
 public:
  Talk() {
    static std::atomic<int> talks{0};  // every process has as many
    prefix_ = fmt::format("strata/tiers/{}/", talks++);
  }
  std::vector<std::string> all(const std::string& mine) {
    const int n = distributed::process_count();
    if (n == 1) return {mine};
    const std::string round = prefix_ + std::to_string(rounds_++) + "/";
    distributed::key_value_set(round + std::to_string(distributed::process_index()), mine);
    std::vector<std::string> out;
    for (int p = 0; p < n; ++p)
      out.push_back(distributed::key_value_get(round + std::to_string(p), kPatience));
    return out;
  }

 private:
  std::string prefix_;
  int rounds_ = 0;
};

/// The bytes that process `source` has, in every process.
std::string broadcast(const std::string& mine, int source, std::uint64_t size) {
  const std::vector<Device> all = devices();
  const auto n = static_cast<std::int64_t>(all.size());
  std::int64_t row = 0;
  while (distributed::process_index(all[static_cast<std::size_t>(row)]) != source) ++row;
  const Mesh mesh({{"all", n}});
  const NamedSharding whole(mesh, PartitionSpec());
  const auto first = jit(
      [&](const Array& a) {
        return lax::with_sharding_constraint(lax::index_in_dim(a, row, 0, false), whole);
      },
      {.name = "checkpoint_from_peer"});
  const bool gives = distributed::process_index() == source;
  const auto piece = static_cast<std::int64_t>(std::min(size, kPiece));
  std::string out;
  for (std::uint64_t at = 0; at < size; at += kPiece) {
    Literal part(Type(DType::ui8, Shape{1, piece}));
    if (gives) std::memcpy(part.mutable_data(), mine.data() + at, std::min(kPiece, size - at));
    const Array rows = make_array_from_callback({n, piece}, NamedSharding(mesh, {"all"}),
                                                [&](const ShardIndex&) { return Array(part); });
    const Literal here = device_get(first(rows)).literal();
    out.append(reinterpret_cast<const char*>(here.data()), std::min(kPiece, size - at));
  }
  return out;
}

/// A checkpoint as bytes: a length, a JSON object, then the parts as safetensors files.
Result<std::string> to_bytes(const Checkpoint& c) {
  std::string files;
  ordered_json head = {{"step", c.step}, {"notes", c.notes}, {"parts", ordered_json::object()}};
  for (const auto& [part, tensors] : c.parts) {
    auto file = encode_safetensors({tensors, {}});
    if (!file) return file.status();
    head["parts"][part] = file->size();
    files += *file;
  }
  const std::string text = head.dump();
  const std::uint64_t length = text.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + text + files;
}

/// Throws where the bytes, whose checksum was compared, are not those of `to_bytes`.
Result<Checkpoint> from_bytes(std::string_view bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  const ordered_json head = ordered_json::parse(bytes.substr(8, length));
  bytes.remove_prefix(8 + length);
  Checkpoint out;
  out.step = head.at("step").get<std::int64_t>();
  out.notes = head.at("notes").get<std::map<std::string, std::string>>();
  for (const auto& [part, size] : head.at("parts").items()) {
    auto file = decode_safetensors(bytes.substr(0, size.get<std::size_t>()), part);
    if (!file) return file.status();
    out.parts[part] = std::move(file->tensors);
    bytes.remove_prefix(size.get<std::size_t>());
  }
  return out;
}

/// What one process has locally.
struct Has {
  std::string shard;
  std::set<std::int64_t> steps;
};

/// The newest step of which every shard is somewhere; -1 where there is none.
std::int64_t newest_whole(const std::vector<Has>& all) {
  std::map<std::string, std::set<std::int64_t>> of_shard;
  for (const Has& one : all) of_shard[one.shard].insert(one.steps.begin(), one.steps.end());
  const std::set<std::int64_t>& any = of_shard.begin()->second;
  for (auto step = any.rbegin(); step != any.rend(); ++step)
    if (std::all_of(of_shard.begin(), of_shard.end(),
                    [&](const auto& shard) { return shard.second.count(*step) != 0; }))
      return *step;
  return -1;
}

/// Who gives a process its shard: itself, else replicas by turns.
int giver(const std::vector<Has>& all, int to, std::int64_t step) {
  const Has& own = all[static_cast<std::size_t>(to)];
  if (own.steps.count(step)) return to;
  std::vector<int> others;
  for (std::size_t p = 0; p < all.size(); ++p)
    if (all[p].shard == own.shard && all[p].steps.count(step))
      others.push_back(static_cast<int>(p));
  return others.at(static_cast<std::size_t>(to) % others.size());
}

/// The local steps that are whole. One that is not is told, and removed by the next save.
std::set<std::int64_t> whole_steps(const std::string& root, std::vector<Status>& damaged) {
  std::set<std::int64_t> out;
  const auto all = steps(root);
  if (!all) {
    damaged.push_back(all.status());
    return out;
  }
  for (auto step = all->rbegin(); step != all->rend(); ++step) {
    const std::string folder = fmt::format("{}/{}", root, *step);
    const std::vector<Status> wrong = verify(folder);
    if (wrong.empty()) {
      out.insert(*step);
    } else {
      damaged.push_back(wrong.front());
    }
  }
  return out;
}

std::vector<Has> tell(Talk& talk, const std::string& shard, const std::set<std::int64_t>& steps) {
  const std::vector<std::string> said =
      talk.all(ordered_json{{"shard", shard}, {"steps", steps}}.dump());
  std::vector<Has> out;
  for (const std::string& text : said) {
    const ordered_json one = ordered_json::parse(text);
    out.push_back(
        {one.at("shard").get<std::string>(), one.at("steps").get<std::set<std::int64_t>>()});
  }
  return out;
}

/// Brings a step to each process that lacks it. Whether it is whole everywhere now.
Result<bool> take(Talk& talk, const std::vector<Has>& all, std::int64_t step,
                  const std::string& root, Restored& out) {
  const int self = distributed::process_index();
  const int mine = giver(all, self, step);
  Status failed;
  if (mine == self) {
    auto c = load(root, step);
    if (c) {
      out.checkpoint = std::move(*c);
    } else {
      failed = c.status();
    }
  }
  std::set<int> givers;
  for (int p = 0; p < static_cast<int>(all.size()); ++p)
    if (const int from = giver(all, p, step); from != p) givers.insert(from);
  for (int from : givers) {
    std::string bytes;
    if (from == self && out.checkpoint) {
      auto encoded = to_bytes(*out.checkpoint);
      if (encoded) bytes = std::move(*encoded);
    }
    const std::string said =
        talk.all(fmt::format("{} {}", bytes.size(), crc32c(bytes)))[static_cast<std::size_t>(from)];
    const std::size_t space = said.find(' ');
    const std::uint64_t size = std::stoull(said.substr(0, space));
    if (size == 0) {
      if (mine == from)
        failed = Status(Code::corrupt, "process {} could not give step {}", from, step);
      continue;
    }
    const std::string came = broadcast(bytes, from, size);
    if (mine != from || from == self) continue;
    if (std::to_string(crc32c(came)) != said.substr(space + 1)) {
      failed = Status(Code::corrupt, "what came from process {} does not match its checksum", from);
      continue;
    }
    auto c = from_bytes(came);
    if (!c) {
      failed = c.status();
      continue;
    }
    out.checkpoint = std::move(*c);
    out.peer = from;
    // Kept again, so that this process can give it in its turn.
    if (Status s = save(root, *out.checkpoint); !s.ok()) out.damaged.push_back(s);
  }
  const std::vector<std::string> well = talk.all(failed.ok() ? "well" : failed.message());
  const bool done =
      std::all_of(well.begin(), well.end(), [](const std::string& w) { return w == "well"; });
  if (!done) {
    for (const std::string& w : well)
      if (w != "well") out.damaged.push_back(Status(Code::corrupt, "{}", w));
    out.checkpoint.reset();
    out.peer = -1;
    return false;
  }
  out.from = out.peer < 0 ? Restored::From::local : Restored::From::peer;
  out.folder = fmt::format("{}/{}", root, step);
  return true;
}

/// The newest step of the persistent tier that every process can read, if it is newer than `than`.
Status take_persistent(Talk& talk, const TierOptions& options, std::int64_t than, Restored& out) {
  const std::string& root = options.persistent;
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
  for (;;) {
    std::int64_t found = -1;
    std::optional<Checkpoint> c;
    std::string folder;
    Status failed;
    if (auto all = any_format::steps(root); !all) {
      failed = all.status();
    } else {
      for (auto step = all->rbegin(); step != all->rend() && found < 0; ++step) {
        if (step->first >= below || step->first <= than) continue;
        auto one = any_format::load(step->second, options.check);
        if (!one && !is_damage(root, one.status())) {
          failed = one.status();
          break;
        }
        if (!one) {
          out.damaged.push_back(one.status());
          continue;
        }
        found = step->first;
        folder = step->second;
        c = std::move(*one);
      }
    }
    const std::vector<std::string> said =
        talk.all(failed.ok() ? std::to_string(found) : failed.message());
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = -1;
    for (std::size_t p = 0; p < said.size(); ++p) {
      if (said[p].find_first_not_of("-0123456789") != std::string::npos)
        return failed.ok() ? Status(Code::denied, "process {}: {}", p, said[p]) : failed;
      least = std::min<std::int64_t>(least, std::stoll(said[p]));
      most = std::max<std::int64_t>(most, std::stoll(said[p]));
    }
    if (least < 0) return {};
    if (least == most) {
      out.from = Restored::From::persistent;
      out.checkpoint = std::move(c);
      out.folder = folder;
      return {};
    }
    below = least + 1;  // somebody lacks what another has
  }
}

std::string checked(std::string folder, const char* what) {
  if (folder.empty()) throw Error("checkpoint::Tiers", "{} names no folder", what);
  return folder;
}

}  // namespace

Tiers::Tiers(TierOptions options, std::function<void(const std::string&)> saved)
    : options_(std::move(options)),
      local_(checked(options_.local, "local"), {.newest = options_.local_keep}, saved),
      persistent_(checked(options_.persistent, "persistent"), options_.persistent_keep, saved,
                  options_.format) {}

Result<Restored> Tiers::restore() {
  Talk talk;
  Restored out;
  const std::vector<Has> all = tell(talk, options_.shard, whole_steps(options_.local, out.damaged));
  const std::int64_t local = newest_whole(all);
  if (Status s = take_persistent(talk, options_, local, out); !s.ok()) return s;
  if (out.checkpoint || local < 0) return out;
  auto taken = take(talk, all, local, options_.local, out);
  if (!taken) return taken.status();
  if (!*taken)
    if (Status s = take_persistent(talk, options_, -1, out); !s.ok()) return s;
  return out;
}

bool Tiers::due_locally(std::int64_t step) const {
  return options_.local_period > 0 && step % options_.local_period == 0;
}

bool Tiers::due_persistently(std::int64_t step) const {
  return options_.writes_persistent && options_.persistent_period > 0 &&
         step % options_.persistent_period == 0;
}

bool Tiers::due(std::int64_t step) const { return due_locally(step) || due_persistently(step); }

Status Tiers::save(Checkpoint c, const Still& still, bool last) {
  const std::int64_t step = c.step;
  if (due_locally(step))
    if (Status s = local_.save(c, still); !s.ok()) return s;
  if (due_persistently(step) || (last && options_.writes_persistent))
    return persistent_.save(std::move(c), still);
  return {};
}

Status Tiers::poll() {
  Status s = local_.poll();
  return s.ok() ? persistent_.poll() : s;
}

Status Tiers::wait() {
  Status s = local_.wait();
  const Status other = persistent_.wait();
  return s.ok() ? other : s;
}

}  // namespace strata::checkpoint
