#include "strata/op/lockstep.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/check.h"

namespace strata::op {
namespace {

thread_local const Participant* t_participant = nullptr;

std::size_t place(const std::vector<int>& group, int device) {
  return static_cast<std::size_t>(std::find(group.begin(), group.end(), device) - group.begin());
}

}  // namespace

Lockstep::Lockstep(std::int64_t replicas, std::int64_t partitions)
    : replicas_(replicas),
      partitions_(partitions),
      all_(static_cast<std::size_t>(replicas * partitions)) {}

std::mutex& Lockstep::order() {
  static std::mutex& m = *new std::mutex;
  return m;
}

std::string Lockstep::name(int device) const {
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
  }
  return *m;
}

void Lockstep::fail(Status why) {
  if (!failed_.ok()) return;
  failed_ = std::move(why);
  for (auto& [group, m] : meetings_) m->changed.notify_all();
}

void Lockstep::check_progress() {
  if (!failed_.ok()) return;
  for (const Device& d : all_)
    if (!d.ended && d.waits_at == nullptr) return;
  std::string who;
  for (std::size_t d = 0; d < all_.size(); ++d) {
    if (all_[d].ended) continue;
    const Meeting& m = *all_[d].waits_at;
    const std::vector<int>& group = *all_[d].waits_with;
    std::string missing;
    for (std::size_t i = 0; i < group.size(); ++i)
      if (m.what[i].empty())
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

Status Lockstep::come(std::unique_lock<std::mutex>& lock, Meeting& m, int device,
                      const std::vector<int>& group, const std::string& what) {
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
  if (++m.come == group.size()) {
    m.come = 0;
    for (std::string& w : m.what) w.clear();
    ++m.turn;
    // They go on once they have the mutex: none of them counts as waiting from here on.
    for (int d : group) all_[static_cast<std::size_t>(d)].waits_at = nullptr;
    m.changed.notify_all();
    return Status();
  }
  Device& self = all_[static_cast<std::size_t>(device)];
  self.waits_with = &group;
  self.waits_at = &m;
  check_progress();
  const std::uint64_t turn = m.turn;
  m.changed.wait(lock, [&] { return m.turn != turn || !failed_.ok(); });
  self.waits_at = nullptr;
  return m.turn != turn ? Status() : failed_;
}

Result<std::span<const Brought>> Lockstep::meet(int device, const std::vector<int>& group,
                                                const std::string& what, Brought brought) {
  std::unique_lock lock(mutex_);
  Meeting& m = meeting(group);
  const std::size_t mine = place(group, device);
  STRATA_CHECK(mine < group.size(), "{} is not of the group that it meets", name(device));
  m.brought[mine] = std::move(brought);
  if (Status s = come(lock, m, device, group, what); !s.ok()) return s;
  return std::span<const Brought>(m.brought);
}

Status Lockstep::leave(int device, const std::vector<int>& group, const std::string& what) {
  std::unique_lock lock(mutex_);
  return come(lock, meeting(group), device, group, what);
}

void Lockstep::end(int device, const std::string& why) {
  std::lock_guard lock(mutex_);
  all_[static_cast<std::size_t>(device)].ended = true;
  if (!why.empty()) fail(Status(Code::cancelled, "{} failed: {}", name(device), why));
  check_progress();
}

WithParticipant::WithParticipant(const Participant& participant)
    : here_(participant), before_(t_participant) {
  t_participant = here_.run ? &here_ : nullptr;
}
WithParticipant::~WithParticipant() { t_participant = before_; }
const Participant* current_participant() { return t_participant; }

}  // namespace strata::op
