// Elements of several in turn, by weights that may change.
#include "strata/data/mix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "strata/data/pipeline/node.h"

namespace strata::data {
namespace {

using namespace pipeline;

/// A weight as written, mantissa * 10^exponent.
struct Decimal {
  std::int64_t mantissa = 0;
  int exponent = 0;
};

Decimal decimal(double weight) {
  const std::string text = fmt::format("{:e}", weight);  // shortest that reads the same: d.ddde+xx
  const std::size_t e = text.find('e');
  Decimal out;
  std::string digits = text.substr(0, e);
  if (const std::size_t dot = digits.find('.'); dot != std::string::npos) {
    out.exponent = -static_cast<int>(digits.size() - dot - 1);
    digits.erase(dot, 1);
  }
  out.mantissa = std::stoll(digits);
  out.exponent += std::stoi(text.substr(e + 1));
  while (out.mantissa % 10 == 0) out.mantissa /= 10, ++out.exponent;
  return out;
}

/// Whole parts in the weights' exact ratio, or nothing where they would be too large.
std::optional<std::vector<double>> exact_parts(const std::vector<double>& weights) {
  std::vector<Decimal> all;
  int least = 1000;
  for (double w : weights) {
    all.push_back(decimal(w));
    least = std::min(least, all.back().exponent);
  }
  std::vector<std::int64_t> parts;
  std::int64_t common = 0;
  for (const Decimal& d : all) {
    std::int64_t v = d.mantissa;
    for (int i = least; i < d.exponent; ++i) v = saturating_product(v, 10);
    if (v == kInfinite) return {};
    parts.push_back(v);
    common = std::gcd(common, v);
  }
  std::vector<double> out;
  for (std::int64_t v : parts) {
    if (v / common > 1'000'000'000) return {};
    out.push_back(static_cast<double>(v / common));
  }
  return out;
}

std::string cited(const std::vector<double>& weights) {
  std::string out;
  for (double w : weights) out += fmt::format("{}{}", out.empty() ? "" : ", ", w);
  return out;
}

/// What element k is of, when weights change at given elements.
class Schedule {
 public:
  Schedule(std::size_t datasets, std::vector<MixStage> stages, Mode mode) {
    if (datasets == 0) throw Error("mix", "there are {} data sets", 0);
    if (stages.empty()) stages.push_back({0, std::vector<double>(datasets, 1)});
    if (stages.size() > 1 && mode == Mode::compat)
      throw Error("mix", "{} stages of weights: Grain has none, so compat mode takes one",
                  stages.size());
    std::vector<std::int64_t> before(datasets);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const MixStage& stage = stages[s];
      if (stage.weights.size() != datasets)
        throw Error("mix", "{} weights ({}) for {} data sets", stage.weights.size(),
                    cited(stage.weights), datasets);
      if (stage.from != 0 && s == 0)
        throw Error("mix", "the first stage begins at element {}; needed is 0", stage.from);
      if (s > 0 && stage.from <= stages[s - 1].from)
        throw Error("mix", "a stage from element {} behind one from {}", stage.from,
                    stages[s - 1].from);
      for (double w : stage.weights)
        if (!(w > 0) && mode == Mode::compat)
          throw Error("mix", "the weight {} of a data set: Grain allows numbers above 0", w);
      if (s > 0)
        for (std::size_t d = 0; d < datasets; ++d)
          before[d] += stages_.back().mix.count(d, stage.from - stages[s - 1].from);
      stages_.push_back({stage.from, mix_of(stage.weights, mode), before});
    }
  }

  Mix::Pick at(std::int64_t k) const {
    const Stage& s = stage(k);
    Mix::Pick out = s.mix.at(k - s.from);
    out.index += s.before[out.source];
    return out;
  }
  std::int64_t count(std::size_t dataset, std::int64_t k) const {
    const Stage& s = stage(k);
    return s.before[dataset] + s.mix.count(dataset, k - s.from);
  }
  const Mix& first() const { return stages_[0].mix; }

 private:
  struct Stage {
    std::int64_t from;
    Mix mix;
    std::vector<std::int64_t> before;
  };
  static Mix mix_of(const std::vector<double>& weights, Mode mode) {
    std::vector<double> parts = weights;
    if (mode == Mode::native && std::all_of(weights.begin(), weights.end(),
                                            [](double w) { return std::isfinite(w) && w > 0; }))
      parts = exact_parts(weights).value_or(weights);
    auto mix = Mix::make(parts);
    if (!mix) throw Error("mix", mix.status().message());
    return *std::move(mix);
  }
  const Stage& stage(std::int64_t k) const {
    auto it = std::upper_bound(stages_.begin(), stages_.end(), k,
                               [](std::int64_t x, const Stage& s) { return x < s.from; });
    return *(it - 1);
  }
  std::vector<Stage> stages_;
};

template <class D>
Node::Parents parents_of(const std::vector<D>& datasets) {
  Node::Parents out;
  for (const D& d : datasets) out.push_back(d.node());
  return out;
}

std::vector<MixStage> one_stage(const std::vector<double>& weights) {
  if (weights.empty()) return {};
  return {{0, weights}};
}

class MixMapNode : public MapNode {
 public:
  MixMapNode(const std::vector<MapDataset>& datasets, std::vector<MixStage> stages, bool weighted)
      : MapNode(parents_of(datasets)),
        datasets_(datasets),
        schedule_(datasets.size(), std::move(stages), mode()) {
    for (const MapDataset& d : datasets_)
      if (d.size() == 0) throw Error("mix", "{} has no elements", d.node()->name());
    size_ = mode() == Mode::compat ? upstream_size(weighted) : exact_size();
  }
  std::string name() const override {
    return fmt::format("MixedMapDataset[{} parents]", datasets_.size());
  }
  std::int64_t size() const override { return size_; }

 protected:
  Element do_get(std::int64_t index) const override {
    if (index < 0) check_index(*this, index);
    const Mix::Pick pick = schedule_.at(index);
    return datasets_[pick.source].node()->get(pick.index);
  }

 private:
  /// In double arithmetic, as Grain. Equal weights are ones there, not hundreds.
  std::int64_t upstream_size(bool weighted) const {
    const std::vector<std::int64_t>& parts = schedule_.first().parts();
    const double unit = weighted ? 1 : 100;
    double sum = 0, least = HUGE_VAL;
    for (std::int64_t p : parts) sum += static_cast<double>(p) / unit;
    for (std::size_t d = 0; d < parts.size(); ++d)
      least = std::min(least, static_cast<double>(datasets_[d].size()) /
                                  (static_cast<double>(parts[d]) / unit / sum));
    return least >= 9223372036854775808.0 ? kInfinite : static_cast<std::int64_t>(least);
  }
  /// The most elements for which no data set gives more than it has.
  std::int64_t exact_size() const {
    const auto fits = [&](std::int64_t k) {
      for (std::size_t d = 0; d < datasets_.size(); ++d)
        if (datasets_[d].size() != kInfinite && schedule_.count(d, k) > datasets_[d].size())
          return false;
      return true;
    };
    std::int64_t low = 0, high = kInfinite;
    if (fits(high)) return high;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    return low;
  }
  std::vector<MapDataset> datasets_;
  Schedule schedule_;
  std::int64_t size_;
};

class MixIterator : public Iterator {
 public:
  MixIterator(const Node& node, std::vector<std::unique_ptr<Iterator>> parents,
              const std::vector<std::string>& names, const Schedule& schedule)
      : Iterator(node), parents_(std::move(parents)), names_(names), schedule_(schedule) {}
  Json state() override {
    Json all = names_.empty() ? Json::array() : Json::object();
    for (std::size_t i = 0; i < parents_.size(); ++i) {
      if (names_.empty())
        all.push_back(parents_[i]->state());
      else
        all[names_[i]] = parents_[i]->state();
    }
    Json out = Json::object();
    out["parents"] = std::move(all);
    out["index"] = index_;
    out["stop"] = stop_;
    return out;
  }
  void set_state(const Json& state) override {
    const Json& all = part(state, "parents");
    if (names_.empty() ? !all.is_array() || all.size() != parents_.size() : !all.is_object())
      throw StateError{"\"parents\" does not fit the data sets of the mixture"};
    const Json& stop = part(state, "stop");
    if (!stop.is_boolean()) throw StateError{"\"stop\" is neither true nor false"};
    for (std::size_t i = 0; i < parents_.size(); ++i) {
      if (names_.empty())
        parents_[i]->set_state(all[i]);
      else if (const auto it = all.find(names_[i]); it != all.end() && !it->is_null())
        parents_[i]->set_state(*it);
    }
    index_ = integer_part(state, "index");
    stop_ = stop.get<bool>();
  }
  std::int64_t next_index() override { return index_; }
  void set_next_index(std::int64_t index) override {
    for (std::size_t i = 0; i < parents_.size(); ++i)
      parents_[i]->set_next_index(schedule_.count(i, index));
    index_ = index;
    stop_ = false;
  }
  void start_prefetch() override {
    for (auto& p : parents_) p->start_prefetch();
  }

 protected:
  bool do_next(Element& out) override {
    if (stop_) return false;
    const std::size_t from = schedule_.at(index_++).source;
    stop_ = !parents_[from]->next(out);
    return !stop_;
  }

 private:
  std::vector<std::unique_ptr<Iterator>> parents_;
  const std::vector<std::string>& names_;
  const Schedule& schedule_;
  std::int64_t index_ = 0;
  bool stop_ = false;
};

class MixIterNode : public IterNode {
 public:
  MixIterNode(const std::vector<IterDataset>& datasets, std::vector<std::string> names,
              std::vector<MixStage> stages)
      : IterNode(parents_of(datasets)),
        datasets_(datasets),
        names_(std::move(names)),
        schedule_(datasets.size(), std::move(stages), mode()) {}
  std::string name() const override {
    return fmt::format("MixedIterDataset[{} parents]", datasets_.size());
  }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    std::vector<std::unique_ptr<Iterator>> parents;
    for (const IterDataset& d : datasets_) parents.push_back(d.node()->iterate(context));
    return std::make_unique<MixIterator>(*this, std::move(parents), names_, schedule_);
  }

 private:
  std::vector<IterDataset> datasets_;
  std::vector<std::string> names_;
  Schedule schedule_;
};

}  // namespace

MapDataset MapDataset::mix(const std::vector<MapDataset>& datasets,
                           const std::vector<double>& weights) {
  return MapDataset(std::make_shared<MixMapNode>(datasets, one_stage(weights), !weights.empty()));
}
MapDataset MapDataset::mix(const std::vector<MapDataset>& datasets,
                           const std::vector<MixStage>& stages) {
  return MapDataset(std::make_shared<MixMapNode>(datasets, stages, true));
}
IterDataset IterDataset::mix(const std::vector<IterDataset>& datasets,
                             const std::vector<double>& weights) {
  return IterDataset(
      std::make_shared<MixIterNode>(datasets, std::vector<std::string>(), one_stage(weights)));
}
IterDataset IterDataset::mix(const std::vector<std::pair<std::string, IterDataset>>& datasets,
                             const std::vector<double>& weights) {
  std::vector<IterDataset> all;
  std::vector<std::string> names;
  for (const auto& [name, d] : datasets) {
    names.push_back(name);
    all.push_back(d);
  }
  return IterDataset(std::make_shared<MixIterNode>(all, std::move(names), one_stage(weights)));
}
IterDataset IterDataset::mix(const std::vector<IterDataset>& datasets,
                             const std::vector<MixStage>& stages) {
  return IterDataset(std::make_shared<MixIterNode>(datasets, std::vector<std::string>(), stages));
}

}  // namespace strata::data
