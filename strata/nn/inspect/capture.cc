#include "strata/nn/inspect/capture.h"

#include <algorithm>

#include "strata/api/numpy.h"

namespace strata::nn {

namespace {
/// The path of a name in the module that is being called.
std::string placed(const std::string& name) {
  const ModuleScope* scope = ModuleScope::current();
  const std::string path = scope ? scope->path() : std::string();
  return path.empty() ? name : path + "/" + name;
}
}  // namespace

void sow(const tree::Kind& kind, const std::string& name, const Array& value,
         const SowOptions& options) {
  detail::Collector* to = detail::Collector::current();
  if (!to || !to->captures(kind)) return;
  using How = detail::Sown::How;
  to->add({placed(name), &kind, options.reduce ? How::reduce : How::append, options, value});
}

Array perturb(const tree::Kind& kind, const std::string& name, const Array& value) {
  detail::Collector* to = detail::Collector::current();
  if (!to || !to->captures(kind)) return value;
  const std::string path = placed(name);
  std::optional<Array> added = to->stored(path);
  if (!added) {
    added = numpy::zeros_like(value);
    to->add({path, &kind, detail::Sown::How::store, {}, *added});
  }
  if (added->shape() != value.shape())
    strata::internal::fail("perturb", "{} is {}, what is to be added there {}", path,
                           strata::internal::describe(value.type()),
                           strata::internal::describe(added->type()));
  return value + *added;
}

namespace detail {

namespace {
thread_local Collector* innermost = nullptr;
}  // namespace

Collector::Collector() : outer_(innermost) { innermost = this; }
Collector::Collector(std::vector<const tree::Kind*> kinds, const CaptureOptions& options)
    : is_capture_(true),
      kinds_(std::move(kinds)),
      method_outputs_(options.method_outputs),
      outer_(innermost) {
  for (std::size_t i = 0; i < options.init.size(); ++i)
    keep(options.init.entry(i).name, *options.init.entry(i).kind, options.init.value(i));
  has_init_ = !options.init.empty();
  innermost = this;
}
Collector::~Collector() { innermost = outer_; }

Collector* Collector::current() { return innermost; }

bool Collector::captures(const tree::Kind& kind) const {
  if (is_capture_ && std::find(kinds_.begin(), kinds_.end(), &kind) != kinds_.end()) return true;
  return outer_ && outer_->captures(kind);
}

std::optional<Array> Collector::stored(const std::string& path) const {
  if (is_capture_) {
    const auto it = places_.find(path);
    if (it != places_.end()) return values_[it->second];
  } else {
    for (const Sown& one : sown_)
      if (one.how == Sown::How::store && one.path == path) return one.value;
  }
  // Within a transform zeros are made each time: only what a capture began with comes from outside.
  if (!outer_ || !has_init()) return {};
  std::optional<Array> found = outer_->stored(path);
  if (found && place_.has_value()) found = numpy::take(*found, place_, 0);
  return found;
}

void Collector::add(Sown one) {
  if (!is_capture_) {
    sown_.push_back(std::move(one));
    return;
  }
  if (std::find(kinds_.begin(), kinds_.end(), one.kind) == kinds_.end()) {
    outer_->add(std::move(one));
    return;
  }
  switch (one.how) {
    case Sown::How::store: keep(one.path, *one.kind, one.value); break;
    case Sown::How::append: {
      std::size_t count = 0;
      while (places_.contains(fmt::format("{}/{}", one.path, count))) ++count;
      keep(fmt::format("{}/{}", one.path, count), *one.kind, one.value);
      break;
    }
    case Sown::How::reduce: {
      const auto it = places_.find(one.path);
      const Array before =
          it != places_.end() ? values_[it->second] : one.options.init.value_or(Array(0));
      keep(one.path, *one.kind, one.options.reduce(before, one.value));
      break;
    }
  }
}

void Collector::keep(const std::string& name, const tree::Kind& kind, const Array& value) {
  const auto [it, fresh] = places_.emplace(name, values_.size());
  if (!fresh) {
    values_[it->second] = value;
    return;
  }
  entries_.emplace_back(std::string_view(name), kind);
  values_.push_back(value);
}

bool Collector::has_init() {
  for (const Collector* c = innermost; c; c = c->outer_)
    if (c->has_init_) return true;
  return false;
}

std::string Collector::key() {
  std::string out;
  for (const Collector* c = innermost; c; c = c->outer_) {
    out += '|';
    for (const tree::Kind* kind : c->kinds_)
      out.append(reinterpret_cast<const char*>(&kind), sizeof kind);
    out.append(reinterpret_cast<const char*>(&c->method_outputs_), sizeof(const tree::Kind*));
  }
  return out;
}

std::vector<tree::Tree> Collector::states() const {
  std::vector<tree::Tree> out;
  std::vector<bool> taken(entries_.size(), false);
  for (const tree::Kind* kind : kinds_) {
    std::vector<tree::Entry> entries;
    std::vector<Array> values;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (taken[i] || !entries_[i].kind->is_a(*kind)) continue;
      taken[i] = true;
      entries.push_back(entries_[i]);
      values.push_back(values_[i]);
    }
    out.emplace_back(std::move(entries), std::move(values));
  }
  return out;
}

void deliver(std::span<const Sown> sown, std::span<const Array> values) {
  Collector* to = Collector::current();
  for (std::size_t i = 0; i < sown.size(); ++i) {
    Sown one = sown[i];
    one.value = values[i];
    to->add(std::move(one));
  }
}

void OutputSower::returned(const ModuleScope& scope, std::span<const Array>,
                           std::span<const Array> outputs) {
  for (const Array& output : outputs) sow(kind_, scope.method(), output);
}

}  // namespace detail

}  // namespace strata::nn
