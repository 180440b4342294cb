#include "strata/runtime/distributed/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace strata::runtime::distributed {
namespace {

enum Kind : std::uint32_t { kGreeting = 100, kMeet, kFailed, kBye };
/// Launches of which it is still known that they have ended.
constexpr std::uint64_t kRemembered = 64;
/// Fewer bytes go behind the message that announces them, whatever the transport: the other side
/// has them at once, instead of asking for them.
constexpr std::size_t kAtOnce = std::size_t{64} << 10;
/// What ends a process that ends as it should: what it has sent before is on its way.
constexpr std::string_view kLeft = "has left";

Words& operator<<(Words& words, const std::vector<int>& list) {
  words << static_cast<std::uint64_t>(list.size());
  for (int n : list) words << static_cast<std::uint64_t>(n);
  return words;
}
std::vector<int> list_of(WordReader& words) {
  std::vector<int> out;
  for (std::uint64_t n = words.number(); n > 0 && words.ok(); --n) out.push_back(words.integer());
  return out;
}
bool holds(const std::vector<int>& list, int x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

}  // namespace

/// What a launch sees of the cluster.
class Cluster::Launch final : public op::Peers {
 public:
  Launch(Cluster& cluster, Key key, std::vector<int> of_device, std::string program,
         std::string fingerprint)
      : cluster_(cluster),
        key_(std::move(key)),
        of_device_(std::move(of_device)),
        program_(std::move(program)),
        fingerprint_(std::move(fingerprint)) {}
  int process_of(int device) const override { return of_device_[static_cast<std::size_t>(device)]; }
  int process() const override { return cluster_.process(); }
  Status exchange(const std::vector<int>& group, const std::string& what,
                  const std::vector<op::Parcel>& out, std::vector<op::Parcel>& in) override;
  void ended() override;
  void failed(const Status& why) override {
    std::lock_guard lock(cluster_.mutex_);
    cluster_.fail(key_, cluster_.launches_[key_], why);
  }

 private:
  using Moves = std::vector<std::pair<int, std::unique_ptr<Move>>>;
  void send(const std::vector<int>& group, const std::string& what, const op::Parcel& parcel,
            Moves& moves);
  /// Waits for the processes' messages. The lock is held.
  Status await(std::unique_lock<std::mutex>& lock, State& state, const std::vector<int>& group,
               const std::string& what, const std::vector<op::Parcel>& in);
  /// What is wrong with what has come, if something is.
  Status mismatch(const State& state, const std::vector<int>& group, const std::string& what,
                  int from) const;
  void begin(Moves& moves, int process, std::unique_ptr<Move> move);
  Status finish(Moves& moves);

  Cluster& cluster_;
  const Key key_;
  const std::vector<int> of_device_;
  const std::string program_, fingerprint_;
};

void Cluster::Launch::begin(Moves& moves, int process, std::unique_ptr<Move> move) {
  std::lock_guard lock(cluster_.mutex_);
  cluster_.moving_[move.get()] = {process, key_};
  moves.emplace_back(process, std::move(move));
}

Status Cluster::Launch::finish(Moves& moves) {
  Status out;
  for (auto& [process, move] : moves) {
    if (!out.ok()) move->abort();
    std::string why = move->wait();
    std::unique_lock lock(cluster_.mutex_);
    cluster_.moving_.erase(move.get());
    if (why.empty() || !out.ok()) continue;
    // Who has died is known a moment later than that nothing comes from it.
    State& state = cluster_.launches_[key_];
    cluster_.changed_.wait_for(lock, Milliseconds(1000), [&] {
      const std::string end = cluster_.end_of(process);
      return (!end.empty() && end != kLeft) || !state.failed.ok();
    });
    out = !state.failed.ok()
              ? state.failed
              : Status(Code::cancelled, "{}: {}", cluster_.name(process),
                       cluster_.end_of(process).empty() ? why : cluster_.end_of(process));
  }
  return out;
}

void Cluster::Launch::send(const std::vector<int>& group, const std::string& what,
                           const op::Parcel& parcel, Moves& moves) {
  std::uint64_t slot = 0;
  if (cluster_.bulk_ != nullptr && parcel.bytes > kAtOnce) {
    {
      std::lock_guard lock(cluster_.mutex_);
      slot = ++cluster_.slots_;
    }
    begin(moves, parcel.process,
          cluster_.bulk_->send(parcel.process, slot, parcel.data, parcel.bytes));
  }
  Words head;
  head << key_.processes << key_.number << group;
  head << program_ << fingerprint_ << what << static_cast<std::uint64_t>(parcel.bytes) << slot;
  // Where it cannot be sent, the end of the connection is told by who reads from it.
  cluster_.wires_[static_cast<std::size_t>(parcel.process)]->send(kMeet, head.text(), parcel.data,
                                                                  slot == 0 ? parcel.bytes : 0);
}

Status Cluster::Launch::mismatch(const State& state, const std::vector<int>& group,
                                 const std::string& what, int from) const {
  const std::string self = fmt::format("process {}", process());
  const auto expected = state.inbox.find({from, group});
  const bool has_come = expected != state.inbox.end() && !expected->second.empty();
  for (const auto& [where, messages] : state.inbox) {
    if (where.first != from || messages.empty()) continue;
    const Message& m = messages.front();
    if (m.fingerprint != fingerprint_)
      return Status(Code::invalid,
                    "processes run different programs together: process {} is in {} of program "
                    "\"{}\" while {} is in {} of program \"{}\"{}: all must run the same in the "
                    "same order",
                    from, m.what, m.program, self, what, program_,
                    m.program == program_ ? ", which is another one of that name" : "");
    if (where.second == group) {
      if (m.what == what) continue;
      return Status(Code::invalid, "process {} is in {} while {}, of the same group, is in {}",
                    from, m.what, self, what);
    }
    if (has_come) continue;
    // What it sends comes in order: it waits there for a device that waits here for it.
    const auto both = [&](int d) { return holds(group, d) && holds(where.second, d); };
    bool mine = false, theirs = false;
    for (std::size_t d = 0; d < of_device_.size(); ++d) {
      mine |= of_device_[d] == process() && both(static_cast<int>(d));
      theirs |= of_device_[d] == from && both(static_cast<int>(d));
    }
    if (mine && theirs)
      return Status(Code::invalid,
                    "processes wait for each other for ever: process {} is in {} of devices {} "
                    "while {} is in {} of devices {}",
                    from, m.what, fmt::join(where.second, ", "), self, what,
                    fmt::join(group, ", "));
  }
  return Status();
}

Status Cluster::Launch::await(std::unique_lock<std::mutex>& lock, State& state,
                              const std::vector<int>& group, const std::string& what,
                              const std::vector<op::Parcel>& in) {
  while (true) {
    if (!state.failed.ok()) return state.failed;
    bool complete = true;
    for (const op::Parcel& p : in) {
      if (Status wrong = mismatch(state, group, what, p.process); !wrong.ok()) {
        cluster_.fail(key_, state, wrong);
        return wrong;
      }
      const auto it = state.inbox.find({p.process, group});
      if (it != state.inbox.end() && !it->second.empty()) continue;
      complete = false;
      const std::string end = cluster_.end_of(p.process);
      if (end.empty()) continue;
      cluster_.fail(key_, state,
                    Status(Code::cancelled, "{} {}, while {} waits for it in {} of program \"{}\"",
                           cluster_.name(p.process), end, fmt::format("process {}", process()),
                           what, program_));
      return state.failed;
    }
    if (complete) return Status();
    cluster_.changed_.wait(lock);
  }
}

Status Cluster::Launch::exchange(const std::vector<int>& group, const std::string& what,
                                 const std::vector<op::Parcel>& out, std::vector<op::Parcel>& in) {
  Moves moves;
  for (const op::Parcel& p : out) send(group, what, p, moves);
  std::vector<Message> messages;
  Status status;
  {
    std::unique_lock lock(cluster_.mutex_);
    State& state = cluster_.launches_[key_];
    status = await(lock, state, group, what, in);
    for (const op::Parcel& p : in) {
      if (!status.ok()) break;
      auto it = state.inbox.find({p.process, group});
      messages.push_back(std::move(it->second.front()));
      it->second.pop_front();
      if (it->second.empty()) state.inbox.erase(it);
    }
  }
  for (std::size_t i = 0; status.ok() && i < in.size(); ++i) {
    Message& m = messages[i];
    op::Parcel& p = in[i];
    if (m.bytes != p.bytes) {
      status = Status(Code::invalid, "process {} brings {} bytes to {}, where {} are wanted",
                      p.process, m.bytes, what, p.bytes);
      break;
    }
    p.owned = std::move(m.body);
    if (m.slot != 0) {
      p.owned.reset(new std::byte[p.bytes]);
      if (cluster_.bulk_ == nullptr)
        status = Status(Code::invalid, "process {} has Gloo and process {} has not", p.process,
                        process());
      else
        begin(moves, p.process, cluster_.bulk_->receive(p.process, m.slot, p.owned.get(), p.bytes));
    }
    p.data = p.owned.get();
  }
  if (!status.ok()) {
    failed(status);
    for (auto& [process, move] : moves) move->abort();
  }
  Status moved = finish(moves);
  return status.ok() ? moved : status;
}

void Cluster::Launch::ended() {
  std::lock_guard lock(cluster_.mutex_);
  State& state = cluster_.launches_[key_];
  state.ended = true;
  state.program = program_;
  for (const auto& [where, messages] : state.inbox)
    if (!messages.empty() && state.failed.ok())
      cluster_.fail(
          key_, state,
          Status(Code::invalid,
                 "process {} has ended program \"{}\", while process {} is in {} of program \"{}\"",
                 process(), program_, where.first, messages.front().what,
                 messages.front().program));
  state.inbox.clear();
  // Launches on other devices of the same processes may still be under way.
  auto it = cluster_.launches_.lower_bound({key_.processes, 0});
  while (it != cluster_.launches_.end() && it->first.processes == key_.processes &&
         it->first.number + kRemembered < key_.number)
    it = it->second.ended ? cluster_.launches_.erase(it) : std::next(it);
}

// ---- the processes -----------------------------------------------------------------------------

Result<std::unique_ptr<Cluster>> Cluster::join(const Place& place, const Options& options) {
  std::unique_ptr<Cluster> out(new Cluster(place, options));
  if (Status s = out->connect(); !s.ok())
    return Status(s.code(), "process {} of {}: {}", place.process, place.processes, s.message());
  return out;
}

Status Cluster::connect() {
  const Clock::time_point until = Clock::now() + options_.timeout;
  const auto left = [&] {
    return std::max(Milliseconds(1),
                    std::chrono::duration_cast<Milliseconds>(until - Clock::now()));
  };
  const auto address = host_and_port(place_.coordinator);
  if (!address) return address.status();
  const auto& [host, port] = *address;
  if (process() == 0) {
    const bool loops = host == "localhost" || host == "127.0.0.1" || host == "::1";
    auto started = Coordinator::start({.host = loops ? host : "",
                                       .port = port,
                                       .processes = processes(),
                                       .silence = options_.silence});
    if (!started) return started.status();
    coordinator_ = std::move(*started);
  }
  auto member = Member::join(
      {.host = host,
       .port = port,
       .processes = processes(),
       .process = process(),
       .timeout = options_.timeout,
       .silence = options_.silence,
       .on_death = [this](int p, const std::string& why) { gone(p, "has died: " + why); }});
  if (!member) return member.status();
  member_ = std::move(*member);
  // Where this process listens, and what it is.
  const Result<int> listening = listen_at(member_->own_address(), 0);
  if (!listening) return listening.status();
  struct Listening {
    ~Listening() { ::close(fd); }
    int fd;
  } closes{*listening};
  char machine[256] = {};
  ::gethostname(machine, sizeof machine - 1);
  const auto key = [](int p) { return fmt::format("strata/process/{}", p); };
  Words self;
  self << member_->own_address() << static_cast<std::uint64_t>(port_of(*listening))
       << fmt::format("pid {} on {}", ::getpid(), machine);
  if (Status s = member_->set(key(process()), self.text()); !s.ok()) return s;
  if (Status s = member_->barrier("strata/join", left()); !s.ok()) return s;
  wires_.resize(static_cast<std::size_t>(processes()));
  names_.resize(static_cast<std::size_t>(processes()));
  for (int p = 0; p < processes(); ++p) {
    const Result<std::string> text = member_->get(key(p), left());
    if (!text) return text.status();
    WordReader words(*text);
    const std::string its_host = words.text();
    const int its_port = words.integer();
    names_[static_cast<std::size_t>(p)] = words.text();
    if (p >= process()) continue;
    const Result<int> fd = connect_to(its_host, its_port, until);
    if (!fd) return fd.status();
    auto wire = std::make_unique<Wire>(*fd);
    wire->send(kGreeting,
               (Words() << member_->token() << static_cast<std::uint64_t>(process())).text());
    wires_[static_cast<std::size_t>(p)] = std::move(wire);
  }
  for (int come = process() + 1; come < processes();) {
    const Result<int> fd = accept_at(*listening, std::min(until, Clock::now() + Milliseconds(100)));
    if (!fd) {
      std::lock_guard lock(mutex_);
      for (const auto& [p, why] : gone_) return Status(Code::cancelled, "{} {}", name(p), why);
      if (Clock::now() < until) continue;
      return Status(fd.status().code(), "a process did not connect in time");
    }
    auto wire = std::make_unique<Wire>(*fd);
    Result<Wire::Frame> greeting = wire->receive(until);
    if (!greeting) continue;
    WordReader words(greeting->head);
    const bool known = words.text() == member_->token();
    const int p = words.integer();
    if (!known || !words.ok() || p <= process() || p >= processes() ||
        wires_[static_cast<std::size_t>(p)] != nullptr)
      continue;  // a stranger
    wires_[static_cast<std::size_t>(p)] = std::move(wire);
    ++come;
  }
  if (processes() > 1) {
    std::string failed;
    const Exchange exchange{
        [&](const std::string& k, const std::string& v) {
          if (Status s = member_->set(k, v); !s.ok()) throw std::runtime_error(s.message());
        },
        [&](const std::string& k) { return std::string(member_->get(k, left()).value()); }};
    bulk_ = make_gloo(member_->own_address(), process(), processes(), exchange, &failed);
    if (!failed.empty()) return Status(Code::io, "Gloo: {}", failed);
  }
  notifier_ = std::thread([this] { send_notices(); });
  for (int p = 0; p < processes(); ++p)
    if (Wire* w = wires_[static_cast<std::size_t>(p)].get())
      w->start([this, p](Wire::Frame f) { on_message(p, std::move(f)); },
               [this, p](const std::string& why) { on_end(p, why); });
  return Status();
}

Cluster::~Cluster() {
  {
    std::lock_guard lock(mutex_);
    left_ = true;
    stopping_ = true;
    changed_.notify_all();
  }
  if (notifier_.joinable()) notifier_.join();
  bulk_ = nullptr;
  for (const auto& w : wires_)
    if (w != nullptr) w->close();
  wires_.clear();
  member_ = nullptr;
}

Status Cluster::leave() {
  {
    std::lock_guard lock(mutex_);
    if (left_) return Status();
    left_ = true;
  }
  for (const auto& w : wires_)
    if (w != nullptr) w->send(kBye, "");
  return member_->leave(options_.shutdown_timeout);
}

std::string Cluster::name(int process) const {
  const auto p = static_cast<std::size_t>(process);
  return p < names_.size() ? fmt::format("process {} ({})", process, names_[p])
                           : fmt::format("process {}", process);
}

std::string Cluster::end_of(int process) const {
  const auto it = gone_.find(process);
  return it == gone_.end() ? "" : it->second;
}

bool Cluster::has_lost_one() const {
  std::lock_guard lock(mutex_);
  return std::any_of(gone_.begin(), gone_.end(),
                     [](const auto& each) { return each.second != kLeft; }) ||
         std::any_of(launches_.begin(), launches_.end(),
                     [](const auto& each) { return each.second.failed.code() == Code::cancelled; });
}

void Cluster::on_end(int process, const std::string& why) { gone(process, "has died: " + why); }

void Cluster::gone(int process, const std::string& why) {
  std::lock_guard lock(mutex_);
  if (left_ && why != kLeft) return;
  gone_.emplace(process, why);
  if (why != kLeft)
    for (const auto& [move, m] : moving_)
      if (m.with == process) move->abort();
  changed_.notify_all();
}

void Cluster::fail(const Key& key, State& state, Status why) {
  if (!state.failed.ok()) return;
  state.failed = std::move(why);
  Words head;
  head << key.processes << key.number;
  head << static_cast<std::uint64_t>(state.failed.code()) << state.failed.message();
  for (int p : key.processes)
    if (p != process() && end_of(p).empty()) notices_.emplace_back(p, head.text());
  for (const auto& [move, m] : moving_)
    if (m.launch == key) move->abort();
  changed_.notify_all();
}

void Cluster::send_notices() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !notices_.empty(); });
    if (notices_.empty()) return;
    const auto [process, head] = std::move(notices_.front());
    notices_.pop_front();
    lock.unlock();
    wires_[static_cast<std::size_t>(process)]->send(kFailed, head);
    lock.lock();
  }
}

void Cluster::on_message(int from, Wire::Frame frame) {
  if (frame.kind == kBye) return gone(from, std::string(kLeft));
  WordReader words(frame.head);
  Key key;
  key.processes = list_of(words);
  key.number = words.number();
  std::lock_guard lock(mutex_);
  const bool forgotten = key.number <= launches_of_[key.processes] && !launches_.contains(key);
  if (frame.kind == kFailed) {
    const auto code = static_cast<Code>(words.number());
    const std::string text = words.text();
    if (forgotten) return;
    State& state = launches_[key];
    if (!state.failed.ok() || state.ended) return;
    // A message that names processes already is passed on as it is.
    const bool names = text.find("process") != std::string::npos;
    state.failed = Status(code, names ? text : fmt::format("process {}: {}", from, text));
    for (const auto& [move, m] : moving_)
      if (m.launch == key) move->abort();
    changed_.notify_all();
    return;
  }
  if (frame.kind != kMeet) return;
  const std::vector<int> group = list_of(words);
  Message m;
  m.program = words.text();
  m.fingerprint = words.text();
  m.what = words.text();
  m.bytes = words.number();
  m.slot = words.number();
  m.body = std::move(frame.body);
  if (forgotten || launches_[key].ended) {
    const std::string own = forgotten ? "" : " \"" + launches_[key].program + "\"";
    Words head;
    head << key.processes << key.number;
    head << static_cast<std::uint64_t>(Code::invalid)
         << fmt::format(
                "process {} has ended program{}, while process {} is in {} of program \"{}\"",
                process(), own, from, m.what, m.program);
    notices_.emplace_back(from, head.text());
    changed_.notify_all();
    return;
  }
  launches_[key].inbox[{from, group}].push_back(std::move(m));
  changed_.notify_all();
}

std::shared_ptr<op::Peers> Cluster::launch(std::vector<int> processes, std::vector<int> of_device,
                                           std::string program, std::string fingerprint) {
  std::lock_guard lock(mutex_);
  const std::uint64_t number = ++launches_of_[processes];
  (void)launches_[{processes, number}];  // it is known from now on
  return std::make_shared<Launch>(*this, Key{std::move(processes), number}, std::move(of_device),
                                  std::move(program), std::move(fingerprint));
}

}  // namespace strata::runtime::distributed
