#include "strata/runtime/distributed/coordinator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <utility>

namespace strata::runtime::distributed {
namespace {

enum Kind : std::uint32_t {
  kHello = 1,
  kSet,
  kGet,
  kTryGet,
  kErase,
  kBarrier,
  kLeave,
  kBeat,
  kWelcome,
  kRefused,
  kAnswer,
  kDied,
};
constexpr std::string_view kMagic = "strata processes 1";

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
}
std::string died(int process, const std::string& why) {
  return fmt::format("process {} has died: {}", process, why);
}

}  // namespace

// ---- the service -------------------------------------------------------------------------------

Result<std::unique_ptr<Coordinator>> Coordinator::start(const Options& options) {
  Result<int> fd = listen_at(options.host, options.port);
  if (!fd) return fd.status();
  std::unique_ptr<Coordinator> out(new Coordinator(options, *fd));
  out->accepting_ = std::thread([c = out.get()] { c->accept_all(); });
  out->clock_ = std::thread([c = out.get()] { c->look_at_clock(); });
  return out;
}

Coordinator::Coordinator(Options options, int fd)
    : options_(std::move(options)), fd_(fd), port_(port_of(fd)), token_(random_token()) {}

Coordinator::~Coordinator() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    stopped_.notify_all();
  }
  ::shutdown(fd_, SHUT_RDWR);
  accepting_.join();
  clock_.join();
  ::close(fd_);
  connections_.clear();
}

void Coordinator::accept_all() {
  while (true) {
    Result<int> fd = accept_at(fd_, Clock::now() + std::chrono::hours(1));
    std::lock_guard lock(mutex_);
    if (stopping_) {
      if (fd) ::close(*fd);
      return;
    }
    if (!fd) continue;
    Connection& c = *connections_.emplace_back(std::make_unique<Connection>(*fd));
    c.wire.start([this, &c](Wire::Frame f) { on_message(c, std::move(f)); },
                 [this, &c](const std::string& why) {
                   std::lock_guard held(mutex_);
                   if (c.process >= 0 && !stopping_) gone(c.process, why);
                 });
  }
}

void Coordinator::look_at_clock() {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, Milliseconds(20), [&] { return stopping_; })) {
    const Clock::time_point now = Clock::now();
    std::vector<int> silent;
    for (const auto& [process, c] : members_)
      if (!gone_.contains(process) && now - c->heard > options_.silence) silent.push_back(process);
    for (int process : silent)
      gone(process, fmt::format("nothing was heard from it for {} s",
                                std::chrono::duration<double>(options_.silence).count()));
    for (auto& [key, waiters] : reads_)
      std::erase_if(waiters, [&](const Waiter& w) {
        if (now < w.until) return false;
        answer(w, Code::cancelled,
               fmt::format("key \"{}\" has got no value in {} s", key,
                           static_cast<double>(w.waits_ms) / 1000));
        return true;
      });
    for (auto it = barriers_.begin(); it != barriers_.end();) {
      std::set<int> come;
      const Waiter* late = nullptr;
      for (const Waiter& w : it->second) {
        come.insert(w.who->process);
        if (now >= w.until && late == nullptr) late = &w;
      }
      if (late == nullptr) {
        ++it;
        continue;
      }
      const std::string text =
          fmt::format("barrier \"{}\": {} did not come within {} s", it->first, missing(come),
                      static_cast<double>(late->waits_ms) / 1000);
      for (const Waiter& w : it->second) answer(w, Code::cancelled, text);
      it = barriers_.erase(it);
    }
  }
}

std::string Coordinator::missing(const std::set<int>& come) const {
  std::vector<int> out;
  for (int p = 0; p < options_.processes; ++p)
    if (!come.contains(p)) out.push_back(p);
  return fmt::format("process{} {} of {}", out.size() == 1 ? "" : "es", fmt::join(out, ", "),
                     options_.processes);
}

void Coordinator::answer(const Waiter& to, Code code, std::string_view text) {
  to.who->wire.send(kAnswer, (Words() << to.id << static_cast<std::uint64_t>(code) << text).text());
}

void Coordinator::on_message(Connection& from, Wire::Frame frame) {
  std::lock_guard lock(mutex_);
  if (stopping_) return;
  from.heard = Clock::now();
  WordReader words(frame.head);
  if (from.process < 0) {
    if (frame.kind == kHello) greet(from, words);
    return;
  }
  if (frame.kind != kBeat) ask(from, frame.kind, words);
}

void Coordinator::greet(Connection& from, WordReader& words) {
  const std::string magic = words.text();
  const int processes = words.integer(), process = words.integer();
  std::string refused;
  if (magic != kMagic)
    refused = "the coordinator is of another version";
  else if (processes != options_.processes)
    refused = fmt::format("process {} is one of {}, and the coordinator waits for {} processes",
                          process, processes, options_.processes);
  else if (process < 0 || process >= processes || !words.ok())
    refused = fmt::format("process {} is none of {} processes", process, processes);
  else if (members_.contains(process))
    refused = fmt::format("there is a process {} already", process);
  if (!refused.empty()) {
    from.wire.send(kRefused, (Words() << refused).text());
    return;
  }
  from.process = process;
  members_[process] = &from;
  from.wire.send(kWelcome, (Words() << token_).text());
  for (const auto& [other, why] : gone_)
    if (!why.empty())
      from.wire.send(kDied, (Words() << static_cast<std::uint64_t>(other) << why).text());
}

void Coordinator::ask(Connection& from, std::uint32_t kind, WordReader& words) {
  const std::uint64_t id = words.number();
  const auto waits_ms = static_cast<std::int64_t>(words.number());
  const Waiter waiter{&from, id, Clock::now() + Milliseconds(waits_ms), waits_ms};
  const std::string key = words.text();
  const auto found = values_.find(key);
  switch (kind) {
    case kSet: {
      const std::string value = words.text();
      const bool overwrite = words.number() != 0;
      if (found != values_.end() && !overwrite)
        return answer(waiter, Code::exists, fmt::format("key \"{}\" has a value already", key));
      values_[key] = value;
      for (const Waiter& w : reads_[key]) answer(w, Code::ok, value);
      reads_.erase(key);
      return answer(waiter, Code::ok, "");
    }
    case kGet:
      if (found != values_.end()) return answer(waiter, Code::ok, found->second);
      for (const auto& [process, why] : gone_)
        if (!why.empty()) return answer(waiter, Code::cancelled, died(process, why));
      reads_[key].push_back(waiter);
      return;
    case kTryGet:
      if (found != values_.end()) return answer(waiter, Code::ok, found->second);
      return answer(waiter, Code::not_found, fmt::format("key \"{}\" has no value", key));
    case kErase: values_.erase(key); return answer(waiter, Code::ok, "");
    case kBarrier: return come(key, waiter);
    case kLeave: leaving_.push_back(waiter); return gone(from.process, "");
    default: return answer(waiter, Code::invalid, "the coordinator is of another version");
  }
}

void Coordinator::come(const std::string& barrier, const Waiter& waiter) {
  for (const auto& [process, why] : gone_)
    return answer(waiter, Code::cancelled,
                  fmt::format("barrier \"{}\": {}", barrier,
                              why.empty() ? fmt::format("process {} has left", process)
                                          : died(process, why)));
  std::vector<Waiter>& all = barriers_[barrier];
  for (const Waiter& w : all)
    if (w.who == waiter.who)
      return answer(
          waiter, Code::invalid,
          fmt::format("barrier \"{}\": process {} has come twice", barrier, waiter.who->process));
  all.push_back(waiter);
  if (all.size() < static_cast<std::size_t>(options_.processes)) return;
  for (const Waiter& w : all) answer(w, Code::ok, "");
  barriers_.erase(barrier);
}

void Coordinator::gone(int process, const std::string& why) {
  if (!gone_.emplace(process, why).second) return;
  const std::string text =
      why.empty() ? fmt::format("process {} has left", process) : died(process, why);
  if (!why.empty())  // first: who is told of a wait's end knows the cause
    for (const auto& [other, c] : members_)
      if (!gone_.contains(other))
        c->wire.send(kDied, (Words() << static_cast<std::uint64_t>(process) << why).text());
  for (const auto& [name, waiters] : barriers_)
    for (const Waiter& w : waiters)
      answer(w, Code::cancelled, fmt::format("barrier \"{}\": {}", name, text));
  barriers_.clear();
  if (!why.empty()) {
    for (const auto& [key, waiters] : reads_)
      for (const Waiter& w : waiters)
        answer(w, Code::cancelled, fmt::format("key \"{}\": {}", key, text));
    reads_.clear();
  }
  if (gone_.size() < static_cast<std::size_t>(options_.processes)) return;
  for (const Waiter& w : leaving_) answer(w, Code::ok, "");
  leaving_.clear();
}

// ---- a process ---------------------------------------------------------------------------------

Result<std::unique_ptr<Member>> Member::join(const Options& options) {
  const Clock::time_point until = Clock::now() + options.timeout;
  Result<int> fd = connect_to(options.host, options.port, until);
  if (!fd)
    return Status(fd.status().code(), "no coordinator within {} s: {}",
                  std::chrono::duration<double>(options.timeout).count(), fd.status().message());
  std::unique_ptr<Member> out(new Member(options, *fd));
  out->wire_.send(kHello, (Words() << kMagic << static_cast<std::uint64_t>(options.processes)
                                   << static_cast<std::uint64_t>(options.process))
                              .text());
  Result<Wire::Frame> first = out->wire_.receive(until);
  if (!first)
    return Status(first.status().code(), "no coordinator answers at {}:{}: {}", options.host,
                  options.port, first.status().message());
  WordReader words(first->head);
  const std::string text = words.text();
  if (first->kind != kWelcome)
    return Status(Code::invalid, "the coordinator at {}:{} refuses: {}", options.host, options.port,
                  first->kind == kRefused ? text : "it is none");
  out->token_ = text;
  Member* m = out.get();
  m->wire_.start([m](Wire::Frame f) { m->on_message(std::move(f)); },
                 [m](const std::string& why) { m->end(why); });
  m->beat_ = std::thread([m] {
    std::unique_lock lock(m->mutex_);
    while (!m->changed_.wait_for(lock, m->options_.silence / 8, [&] { return m->stopping_; }))
      m->wire_.send(kBeat, "");
  });
  return out;
}

Member::Member(Options options, int fd)
    : options_(std::move(options)), own_address_(distributed::own_address(fd)), wire_(fd) {}

Member::~Member() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (beat_.joinable()) beat_.join();
  wire_.close();
}

void Member::end(const std::string& why) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    ended_ = died(0, why + ", and it is the coordinator");
    changed_.notify_all();
  }
  if (options_.on_death) options_.on_death(0, why);
}

void Member::on_message(Wire::Frame frame) {
  WordReader words(frame.head);
  if (frame.kind == kDied) {
    const int process = words.integer();
    const std::string why = words.text();
    if (options_.on_death) options_.on_death(process, why);
    return;
  }
  if (frame.kind != kAnswer) return;
  const std::uint64_t id = words.number();
  const auto code = static_cast<Code>(words.number());
  std::string text = words.text();
  std::lock_guard lock(mutex_);
  const auto it = answers_.find(id);
  if (it == answers_.end()) return;
  it->second = std::make_unique<Result<std::string>>(
      code == Code::ok ? Result<std::string>(std::move(text))
                       : Result<std::string>(Status(code, std::move(text))));
  changed_.notify_all();
}

Result<std::string> Member::asked(std::uint32_t kind, Words words, Milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const std::uint64_t id = ++asked_;
  auto& answer = answers_[id];
  lock.unlock();
  wire_.send(kind,
             (Words() << id << static_cast<std::uint64_t>(timeout.count())).text() + words.text());
  lock.lock();
  // The coordinator knows who is late; it is given a little longer than that.
  changed_.wait_for(lock, timeout + Milliseconds(5000),
                    [&] { return answer != nullptr || !ended_.empty(); });
  Result<std::string> out = answer != nullptr ? std::move(*answer)
                            : !ended_.empty()
                                ? Result<std::string>(Status(Code::cancelled, ended_))
                                : Status(Code::cancelled, "the coordinator does not answer");
  answers_.erase(id);
  return out;
}

Status Member::set(const std::string& key, const std::string& value, bool overwrite) {
  return asked(kSet, Words() << key << value << std::uint64_t{overwrite}, options_.timeout)
      .status();
}
Result<std::string> Member::get(const std::string& key, Milliseconds timeout) {
  return asked(kGet, Words() << key, timeout);
}
Result<std::string> Member::try_get(const std::string& key) {
  return asked(kTryGet, Words() << key, options_.timeout);
}
Status Member::erase(const std::string& key) {
  return asked(kErase, Words() << key, options_.timeout).status();
}
Status Member::barrier(const std::string& name, Milliseconds timeout) {
  return asked(kBarrier, Words() << name, timeout).status();
}
Status Member::leave(Milliseconds timeout) {
  Status out = asked(kLeave, Words() << "", timeout).status();
  std::lock_guard lock(mutex_);
  stopping_ = true;  // from here on its end is nobody's death
  changed_.notify_all();
  return out;
}

}  // namespace strata::runtime::distributed
