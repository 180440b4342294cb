#include "strata/op/collective/lockstep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "strata/base/check.h"

namespace strata::op {
namespace {

thread_local const Participant* t_participant = nullptr;

std::size_t place(const std::vector<int>& group, int device) {
  return static_cast<std::size_t>(std::find(group.begin(), group.end(), device) - group.begin());
}

bool is_one_run(const Rows& r) { return r.rows == 1 || r.stride == r.bytes; }

/// The same bytes in as few runs as there are, in ascending order.
std::vector<Rows> joined(std::vector<Rows> all) {
  std::sort(all.begin(), all.end(), [](const Rows& a, const Rows& b) {
    return std::pair(a.operand, a.offset) < std::pair(b.operand, b.offset);
  });
  std::vector<Rows> out;
  for (Rows& r : all) {
    if (r.rows * r.bytes == 0) continue;
    if (is_one_run(r)) r = {r.operand, r.offset, 0, 1, r.rows * r.bytes};
    Rows* last = out.empty() ? nullptr : &out.back();
    if (last != nullptr && *last == r) continue;
    if (last != nullptr && last->operand == r.operand && last->rows == 1 && r.rows == 1 &&
        r.offset <= last->offset + last->bytes) {
      last->bytes = std::max(last->bytes, r.offset + r.bytes - last->offset);
      continue;
    }
    out.push_back(r);
  }
  return out;
}

/// What the devices of one process want of another's: rows of the operands of places of the group,
/// each once, in the order in which a parcel holds them.
std::vector<std::pair<std::size_t, Rows>> contents(const std::vector<int>& group,
                                                   const Wanted& wanted, const Peers& peers,
                                                   int from, int to) {
  std::vector<std::pair<std::size_t, Rows>> out;
  for (std::size_t source = 0; source < group.size(); ++source) {
    if (peers.process_of(group[source]) != from) continue;
    std::vector<Rows> all;
    for (std::size_t target = 0; target < group.size(); ++target) {
      if (peers.process_of(group[target]) != to) continue;
      const std::vector<Rows> one = wanted.rows(source, target);
      all.insert(all.end(), one.begin(), one.end());
    }
    for (const Rows& r : joined(std::move(all))) out.emplace_back(source, r);
  }
  return out;
}

/// Rows begin at multiples of this in a parcel.
constexpr std::int64_t kAligned = 64;
std::int64_t room_of(const Rows& r) {
  return (r.rows * r.bytes + kAligned - 1) / kAligned * kAligned;
}
std::int64_t room_of(const std::vector<std::pair<std::size_t, Rows>>& all) {
  std::int64_t bytes = 0;
  for (const auto& [place, rows] : all) bytes += room_of(rows);
  return bytes;
}
/// Copies rows between where they are apart and where they are side by side.
void pack(std::byte* to, const std::byte* operand, const Rows& r) {
  for (std::int64_t i = 0; i < r.rows; ++i)
    std::memcpy(to + i * r.bytes, operand + r.offset + i * r.stride,
                static_cast<std::size_t>(r.bytes));
}
void unpack(std::byte* operand, const std::byte* from, const Rows& r) {
  for (std::int64_t i = 0; i < r.rows; ++i)
    std::memcpy(operand + r.offset + i * r.stride, from + i * r.bytes,
                static_cast<std::size_t>(r.bytes));
}
/// Memory that nothing is written to yet.
std::unique_ptr<std::byte[]> memory(std::int64_t bytes) {
  return std::unique_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(bytes)]);
}

}  // namespace

Lockstep::Lockstep(std::int64_t replicas, std::int64_t partitions, std::shared_ptr<Peers> peers)
    : replicas_(replicas),
      partitions_(partitions),
      peers_(std::move(peers)),
      all_(static_cast<std::size_t>(replicas * partitions)) {}

std::mutex& Lockstep::order() {
  static std::mutex& m = *new std::mutex;
  return m;
}

bool Lockstep::is_split(const std::vector<int>& group) const {
  return !std::all_of(group.begin(), group.end(), [&](int d) { return here(d); });
}

std::string Lockstep::name(int device) const {
  if (peers_ != nullptr)
    return fmt::format("device {} of process {}", device, peers_->process_of(device));
  if (replicas_ == 1) return fmt::format("device {}", device);
  return fmt::format("device {} (replica {}, partition {})", device, device / partitions_,
                     device % partitions_);
}

Lockstep::Meeting& Lockstep::meeting(const std::vector<int>& group) {
  std::unique_ptr<Meeting>& m = meetings_[group];
  if (m == nullptr) {
    m = std::make_unique<Meeting>();
    m->brought.resize(group.size());
    m->what.resize(group.size());
    for (int d : group) m->here += here(d);
  }
  return *m;
}

void Lockstep::fail(Status why) {
  if (!failed_.ok()) return;
  failed_ = std::move(why);
  if (peers_ != nullptr) peers_->failed(failed_);
  for (auto& [group, m] : meetings_) m->changed.notify_all();
}

void Lockstep::check_progress() {
  if (!failed_.ok()) return;
  const auto elsewhere = [&](std::size_t d) { return !here(static_cast<int>(d)); };
  for (std::size_t d = 0; d < all_.size(); ++d)
    if (!all_[d].ended && all_[d].waits_at == nullptr && !elsewhere(d)) return;
  std::string who;
  for (std::size_t d = 0; d < all_.size(); ++d) {
    if (all_[d].ended || elsewhere(d)) continue;
    const Meeting& m = *all_[d].waits_at;
    const std::vector<int>& group = *all_[d].waits_with;
    std::string missing;
    for (std::size_t i = 0; i < group.size(); ++i)
      if (m.what[i].empty() && here(group[i]))
        missing +=
            fmt::format("{}{}{}", missing.empty() ? "" : ", ", name(group[i]),
                        all_[static_cast<std::size_t>(group[i])].ended ? ", which has ended" : "");
    who +=
        fmt::format("{}{} waits in {} for {}", who.empty() ? "" : "; ", name(static_cast<int>(d)),
                    m.what[place(group, static_cast<int>(d))], missing);
  }
  if (who.empty()) return;
  fail(Status(Code::invalid, "devices wait for each other for ever: {}", who));
}

Status Lockstep::fetch(Meeting& m, const std::vector<int>& group, const std::string& what,
                       const Wanted& wanted) {
  STRATA_CHECK(wanted.rows != nullptr, "{} does not say what it wants of other processes", what);
  const int self = peers_->process();
  std::vector<int> others;
  for (int d : group)
    if (!here(d)) others.push_back(peers_->process_of(d));
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  std::vector<Parcel> out, in;
  std::vector<std::vector<std::pair<std::size_t, Rows>>> inside;
  for (int other : others) {
    const auto rows = contents(group, wanted, *peers_, self, other);
    Parcel& p = out.emplace_back(Parcel{.process = other});
    p.bytes = static_cast<std::size_t>(room_of(rows));
    const auto operand = [&](const std::pair<std::size_t, Rows>& r) {
      return static_cast<std::byte*>(m.brought[r.first].operands[r.second.operand]);
    };
    if (rows.size() == 1 && is_one_run(rows[0].second)) {  // as it is
      p.data = operand(rows[0]) + rows[0].second.offset;
      p.bytes = static_cast<std::size_t>(rows[0].second.rows * rows[0].second.bytes);
    } else if (!rows.empty()) {
      p.owned = memory(room_of(rows));
      p.data = p.owned.get();
      std::byte* at = p.data;
      for (const auto& r : rows) {
        pack(at, operand(r), r.second);
        at += room_of(r.second);
      }
    }
    inside.push_back(contents(group, wanted, *peers_, other, self));
    const auto& expected = inside.back();
    const bool one = expected.size() == 1 && is_one_run(expected[0].second);
    in.emplace_back(Parcel{
        .process = other,
        .bytes = static_cast<std::size_t>(one ? expected[0].second.rows * expected[0].second.bytes
                                              : room_of(expected))});
  }
  m.fetched.clear();
  if (Status s = peers_->exchange(group, what, out, in); !s.ok()) return s;
  for (std::size_t i = 0; i < group.size(); ++i)
    if (!here(group[i])) m.brought[i] = {std::vector<void*>(wanted.bytes.size()), {}};
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::byte* at = in[i].data;
    for (std::size_t k = 0; k < inside[i].size(); ++k) {
      const auto& [source, rows] = inside[i][k];
      const auto is_of_same = [&](std::size_t j) {
        return j < inside[i].size() && inside[i][j].first == source &&
               inside[i][j].second.operand == rows.operand;
      };
      void*& operand = m.brought[source].operands[rows.operand];
      if (operand == nullptr && is_one_run(rows) && !is_of_same(k + 1)) {
        // Read where it has come: nobody reads what is before or behind it.
        operand = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) -
                                          static_cast<std::uintptr_t>(rows.offset));
      } else {
        if (operand == nullptr)
          operand = m.fetched.emplace_back(memory(wanted.bytes[rows.operand])).get();
        unpack(static_cast<std::byte*>(operand), at, rows);
      }
      at += room_of(rows);
    }
    m.fetched.push_back(std::move(in[i].owned));
  }
  return Status();
}

Status Lockstep::come(std::unique_lock<std::mutex>& lock, Meeting& m, int device,
                      const std::vector<int>& group, const std::string& what,
                      const Wanted* wanted) {
  if (!failed_.ok()) return failed_;
  const std::size_t mine = place(group, device);
  STRATA_CHECK(mine < group.size(), "{} is not of the group that it meets", name(device));
  for (std::size_t i = 0; i < group.size(); ++i)
    if (!m.what[i].empty() && m.what[i] != what) {
      fail(Status(Code::invalid, "{} is in {} while {}, of the same group, is in {}", name(device),
                  what, name(group[i]), m.what[i]));
      return failed_;
    }
  m.what[mine] = what;
  if (++m.come == m.here) {
    if (wanted != nullptr && m.here < group.size()) {
      m.is_fetching = true;
      lock.unlock();
      Status fetched = fetch(m, group, what, *wanted);
      lock.lock();
      m.is_fetching = false;
      m.changed.notify_all();
      if (!fetched.ok()) fail(std::move(fetched));
      if (!failed_.ok()) return failed_;
    }
    m.come = 0;
    for (std::string& w : m.what) w.clear();
    ++m.turn;
    // They go on once they have the mutex: none of them counts as waiting from here on.
    for (int d : group)
      if (here(d)) all_[static_cast<std::size_t>(d)].waits_at = nullptr;
    m.changed.notify_all();
    return Status();
  }
  Device& self = all_[static_cast<std::size_t>(device)];
  self.waits_with = &group;
  self.waits_at = &m;
  check_progress();
  const std::uint64_t turn = m.turn;
  m.changed.wait(lock, [&] { return m.turn != turn || (!failed_.ok() && !m.is_fetching); });
  self.waits_at = nullptr;
  return m.turn != turn ? Status() : failed_;
}

Result<std::span<const Brought>> Lockstep::meet(int device, const std::vector<int>& group,
                                                const std::string& what, Brought brought,
                                                const Wanted& wanted) {
  std::unique_lock lock(mutex_);
  Meeting& m = meeting(group);
  const std::size_t mine = place(group, device);
  STRATA_CHECK(mine < group.size(), "{} is not of the group that it meets", name(device));
  m.brought[mine] = std::move(brought);
  if (Status s = come(lock, m, device, group, what, &wanted); !s.ok()) return s;
  return std::span<const Brought>(m.brought);
}

Status Lockstep::leave(int device, const std::vector<int>& group, const std::string& what) {
  std::unique_lock lock(mutex_);
  return come(lock, meeting(group), device, group, what, nullptr);
}

void Lockstep::end(int device, const std::string& why) {
  std::lock_guard lock(mutex_);
  all_[static_cast<std::size_t>(device)].ended = true;
  if (!why.empty()) fail(Status(Code::cancelled, "{} failed: {}", name(device), why));
  check_progress();
  if (peers_ == nullptr) return;
  for (std::size_t d = 0; d < all_.size(); ++d)
    if (!all_[d].ended && here(static_cast<int>(d))) return;
  peers_->ended();
}

WithParticipant::WithParticipant(const Participant& participant)
    : here_(participant), before_(t_participant) {
  t_participant = here_.run ? &here_ : nullptr;
}
WithParticipant::~WithParticipant() { t_participant = before_; }
const Participant* current_participant() { return t_participant; }

}  // namespace strata::op
