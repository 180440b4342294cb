// First-fit and best-fit packing: whole sequences into rows of fixed length.
#include <cmath>
#include <set>

#include "strata/data/pipeline/packing/pack_rows.h"

namespace strata::data {
namespace {

using namespace pipeline;

enum class Fit { first, best };

/// Rows being filled.
class Rows {
 public:
  Rows(const PackOptions& options, Fit fit, const Element& like)
      : o_(options), fit_(fit), sequences_(static_cast<std::size_t>(o_.num_packing_bins)) {
    for (const auto& [name, length] : o_.length_struct) {
      const auto pad = o_.padding.find(name);
      Feature f{name,
                length,
                sequence_buffer(like.at(name), o_.num_packing_bins, length,
                                pad == o_.padding.end() ? 0 : pad->second),
                Literal(Type(DType::i32, Shape{o_.num_packing_bins, length})),
                Literal(Type(DType::i32, Shape{o_.num_packing_bins, length})),
                std::vector<std::int64_t>(sequences_.size())};
      if (const auto it = o_.pack_alignment.find(name); it != o_.pack_alignment.end())
        f.alignment = it->second;
      features_.push_back(std::move(f));
    }
    for (const std::string& name : o_.meta_features)
      if (!has_length(name))
        meta_.push_back({name, std::vector<Element::Items>(sequences_.size())});
  }

  /// False when it fits no row. Throws Error for a sequence longer than a row.
  bool add(const Element& element) {
    std::vector<std::int64_t> lengths;
    for (const Feature& f : features_) {
      lengths.push_back(sequence_length(element.at(f.name)));
      if (lengths.back() > f.length)
        throw Error("pack", "{} has length {}, its rows {}; cut sequences before packing", f.name,
                    lengths.back(), f.length);
    }
    std::optional<std::size_t> row;
    std::int64_t best = -1;
    for (std::size_t r = 0; r < sequences_.size(); ++r) {
      bool fits = !o_.max_sequences_per_bin || sequences_[r] < *o_.max_sequences_per_bin;
      std::int64_t fill = 0;
      for (std::size_t f = 0; f < features_.size(); ++f) {
        fits = fits && features_[f].free[r] + lengths[f] <= features_[f].length;
        fill += features_[f].free[r];
      }
      if (fits && (fit_ == Fit::first || fill > best)) {
        row = r;
        best = fill;
        if (fit_ == Fit::first) break;
      }
    }
    if (!row) return false;
    const auto id = static_cast<std::int32_t>(++sequences_[*row]);
    for (std::size_t f = 0; f < features_.size(); ++f) {
      Feature& feature = features_[f];
      const std::int64_t begin = feature.free[*row], end = begin + lengths[f];
      const auto r = static_cast<std::int64_t>(*row);
      put_sequence(feature.values, r, begin, element.at(feature.name), 0, lengths[f]);
      for (std::int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(r * feature.length + i);
        feature.segment_ids.mutable_span<std::int32_t>()[at] = id;
        feature.positions.mutable_span<std::int32_t>()[at] = static_cast<std::int32_t>(i - begin);
      }
      feature.free[*row] = (end + feature.alignment - 1) / feature.alignment * feature.alignment;
    }
    for (Meta& m : meta_)
      if (element.contains(m.name)) m.values[*row].push_back(element.at(m.name));
    return true;
  }

  std::int64_t used() const {
    return static_cast<std::int64_t>(
        std::count_if(sequences_.begin(), sequences_.end(), [](std::int64_t n) { return n > 0; }));
  }

  Element row(std::int64_t r) const {
    Element::Fields out;
    for (const Feature& f : features_) out.emplace_back(f.name, row_of(f.values, r));
    for (const Meta& m : meta_)
      out.emplace_back(m.name, Element::list(m.values[static_cast<std::size_t>(r)]));
    for (const Feature& f : features_) {
      if (contains(o_.meta_features, f.name)) continue;
      out.emplace_back(f.name + "_segment_ids", row_of(f.segment_ids, r));
      out.emplace_back(f.name + "_positions", row_of(f.positions, r));
    }
    return Element::dict(std::move(out));
  }

  /// The mean over the different values of a feature's row: their sum by how many are not 0.
  double group(const std::string& name, std::int64_t r) const {
    for (const Feature& f : features_) {
      if (f.name != name) continue;
      const Literal row = row_of(f.values, r);
      std::set<double> values;
      for (std::int64_t i = 0; i < row.count(); ++i) values.insert(row.number(i));
      double sum = 0;
      for (double v : values) sum += v;
      const auto others = static_cast<double>(values.size() - values.count(0));
      return others == 0 ? 0 : sum / others;
    }
    throw Error("pack", "shuffle_bins_group_by_feature is {}, which has no length", name);
  }

 private:
  struct Feature {
    std::string name;
    std::int64_t length;
    Literal values, segment_ids, positions;
    std::vector<std::int64_t> free;  // of each row, the place behind its last sequence
    std::int64_t alignment = 1;
  };
  struct Meta {
    std::string name;
    std::vector<Element::Items> values;
  };
  bool has_length(const std::string& name) const {
    return std::any_of(o_.length_struct.begin(), o_.length_struct.end(),
                       [&](const auto& f) { return f.first == name; });
  }
  const PackOptions& o_;
  Fit fit_;
  std::vector<std::int64_t> sequences_;
  std::vector<Feature> features_;
  std::vector<Meta> meta_;
};

class FitPackIterator : public Iterator {
 public:
  FitPackIterator(const Node& node, std::unique_ptr<Iterator> parent, const PackOptions& options,
                  Fit fit)
      : Iterator(node),
        parent_(std::move(parent)),
        o_(options),
        fit_(fit),
        start_(parent_->state()) {}
  Json state() override {
    Json out = Json::object();
    out["parent"] = start_;
    out["next_row"] = next_row_;
    out["counter"] = counter_;
    return out;
  }
  void set_state(const Json& state) override {
    next_row_ = integer_part(state, "next_row", 0, o_.num_packing_bins);
    counter_ = integer_part(state, "counter", next_row_);
    parent_->set_state(part(state, "parent"));
    start_ = parent_->state();
    filling_.reset();
    full_.reset();
  }
  void start_prefetch() override { parent_->start_prefetch(); }

 protected:
  bool do_next(Element& out) override {
    if (!full_ && !fill()) return false;
    if (next_row_ >= static_cast<std::int64_t>(order_.size()))
      throw Error("pack", "the state is at row {} of a batch of {}", next_row_, order_.size());
    out = full_->row(order_[static_cast<std::size_t>(next_row_++)]);
    ++counter_;
    if (next_row_ >= static_cast<std::int64_t>(order_.size())) {
      full_.reset();
      start_ = next_start_;
      next_row_ = 0;
    }
    return true;
  }

 private:
  /// Reads until a batch of rows is full or the parent has ended.
  bool fill() {
    for (;;) {
      const Json before = parent_->state();
      Element element;
      if (!parent_->next(element)) {
        if (!filling_) return false;
        finish(before);
        return true;
      }
      if (!filling_) filling_ = std::make_unique<Rows>(o_, fit_, element);
      if (filling_->add(element)) continue;
      finish(before);
      filling_ = std::make_unique<Rows>(o_, fit_, element);
      if (!filling_->add(element))
        throw Error("pack", "an element fits no empty row: {}", element.to_string());
      return true;
    }
  }
  void finish(const Json& next_start) {
    full_ = std::move(filling_);
    filling_.reset();
    next_start_ = next_start;
    const std::int64_t n = full_->used();
    order_.resize(static_cast<std::size_t>(n));
    for (std::int64_t r = 0; r < n; ++r) order_[static_cast<std::size_t>(r)] = r;
    if (!o_.shuffle_bins) return;
    order_ = NumpyGenerator::default_rng(o_.seed + static_cast<std::uint64_t>(counter_ - next_row_))
                 .permuted(n);
    if (!o_.shuffle_bins_group_by_feature) return;
    std::vector<std::tuple<double, std::int64_t, std::int64_t>> sorted;
    for (std::int64_t r = 0; r < n; ++r)
      sorted.emplace_back(full_->group(*o_.shuffle_bins_group_by_feature, r),
                          order_[static_cast<std::size_t>(r)], r);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) order_[i] = std::get<2>(sorted[i]);
  }
  std::unique_ptr<Iterator> parent_;
  const PackOptions& o_;
  Fit fit_;
  Json start_, next_start_;  // the parent's state at this batch's first element, the next one's
  std::unique_ptr<Rows> filling_, full_;
  std::vector<std::int64_t> order_;
  std::int64_t next_row_ = 0, counter_ = 0;
};

class FitPackNode : public IterOperation {
 public:
  FitPackNode(std::shared_ptr<const IterNode> parent, PackOptions options, Fit fit)
      : IterOperation(std::move(parent)), options_(std::move(options)), fit_(fit) {
    check_lengths("pack", options_.length_struct);
    if (options_.num_packing_bins <= 0 || options_.max_sequences_per_bin.value_or(1) <= 0)
      throw Error("pack",
                  "num_packing_bins is {}, max_sequences_per_bin is {}: allowed is 1 or more",
                  options_.num_packing_bins, options_.max_sequences_per_bin.value_or(1));
    for (const auto& [name, alignment] : options_.pack_alignment)
      if (alignment <= 0)
        throw Error("pack", "the alignment of {} is {}; allowed is 1 or more", name, alignment);
  }
  std::string name() const override {
    return fit_ == Fit::first ? "FirstFitPackIterDataset" : "BestFitPackIterDataset";
  }
  std::unique_ptr<Iterator> iterate(const Context& context) const override {
    return std::make_unique<FitPackIterator>(*this, parent_->iterate(context), options_, fit_);
  }

 private:
  PackOptions options_;
  Fit fit_;
};

}  // namespace

IterDataset IterDataset::first_fit_pack(PackOptions options) const {
  return IterDataset(std::make_shared<FitPackNode>(node_, std::move(options), Fit::first));
}
IterDataset IterDataset::best_fit_pack(PackOptions options) const {
  return IterDataset(std::make_shared<FitPackNode>(node_, std::move(options), Fit::best));
}

}  // namespace strata::data
