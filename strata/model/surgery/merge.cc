// One model of several.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "strata/base/error.h"
#include "strata/model/surgery/source.h"

namespace strata::model {

using conversion::Planned;
using surgery::Made;
using surgery::SourcePtr;
using Numbers = std::vector<float>;

MergeMethod merge_method(const std::string& name) {
  if (name == "linear") return MergeMethod::linear;
  if (name == "slerp") return MergeMethod::slerp;
  if (name == "task_arithmetic") return MergeMethod::task_arithmetic;
  if (name == "ties") return MergeMethod::ties;
  throw Error("model", "method={}: allowed is linear or slerp or task_arithmetic or ties", name);
}

namespace {

/// The same tensor in all models.
struct Alike {
  std::vector<SourcePtr> models;
  std::vector<const Planned*> tensors;
  Result<std::vector<Numbers>> rows(std::int64_t i) const {
    std::vector<Numbers> out;
    for (std::size_t m = 0; m < models.size(); ++m) {
      out.emplace_back(static_cast<std::size_t>(tensors[m]->shape.back()));
      if (Status s = models[m]->row(*tensors[m], i, out.back().data()); !s.ok()) return s;
    }
    return out;
  }
};

std::function<Status(std::int64_t, float*)> linear(const Alike& all, std::vector<double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& w : weights) w /= sum;
  return [=](std::int64_t i, float* to) -> Status {
    const auto rows = all.rows(i);
    if (!rows) return rows.status();
    for (std::size_t k = 0; k < rows->at(0).size(); ++k) {
      double x = 0;
      for (std::size_t m = 0; m < weights.size(); ++m) x += weights[m] * (*rows)[m][k];
      to[k] = static_cast<float>(x);
    }
    return {};
  };
}

/// base + sum of w_i (m_i - base); the base is the first of all.
std::function<Status(std::int64_t, float*)> task_arithmetic(const Alike& all,
                                                            const std::vector<double>& weights) {
  return [=](std::int64_t i, float* to) -> Status {
    const auto rows = all.rows(i);
    if (!rows) return rows.status();
    for (std::size_t k = 0; k < rows->at(0).size(); ++k) {
      double x = (*rows)[0][k];
      for (std::size_t m = 0; m < weights.size(); ++m)
        x += weights[m] * (double{(*rows)[m + 1][k]} - (*rows)[0][k]);
      to[k] = static_cast<float>(x);
    }
    return {};
  };
}

/// The factors of both along the arc, from the tensors' angle, which is read with the first row.
class Slerp {
 public:
  Slerp(Alike all, double t) : all_(std::move(all)), t_(t) {}
  Status row(std::int64_t i, float* to) {
    if (!known_)
      if (Status s = find_factors(); !s.ok()) return s;
    const auto rows = all_.rows(i);
    if (!rows) return rows.status();
    for (std::size_t k = 0; k < rows->at(0).size(); ++k)
      to[k] = static_cast<float>(first_ * (*rows)[0][k] + second_ * (*rows)[1][k]);
    return {};
  }

 private:
  Status find_factors() {
    double dot = 0, a = 0, b = 0;
    for (std::int64_t i = 0; i < surgery::rows_of(all_.tensors[0]->shape); ++i) {
      const auto rows = all_.rows(i);
      if (!rows) return rows.status();
      for (std::size_t k = 0; k < rows->at(0).size(); ++k) {
        const double x = (*rows)[0][k], y = (*rows)[1][k];
        dot += x * y, a += x * x, b += y * y;
      }
    }
    const double cosine = a > 0 && b > 0 ? dot / std::sqrt(a * b) : 1;
    // Nearly on one line, the arc is the straight line.
    constexpr double kLine = 0.9995;
    first_ = 1 - t_, second_ = t_;
    if (std::abs(cosine) < kLine) {
      const double angle = std::acos(cosine);
      first_ = std::sin((1 - t_) * angle) / std::sin(angle);
      second_ = std::sin(t_ * angle) / std::sin(angle);
    }
    known_ = true;
    return {};
  }
  Alike all_;
  double t_, first_ = 0, second_ = 0;
  bool known_ = false;
};

/// Differences trimmed to the largest, and those alone that agree with the sign of their sum.
class Ties {
 public:
  Ties(Alike all, std::vector<double> weights, double density)
      : all_(std::move(all)), weights_(std::move(weights)), density_(density) {}
  Status row(std::int64_t i, float* to) {
    if (least_.empty())
      if (Status s = find_least(); !s.ok()) return s;
    const auto rows = all_.rows(i);
    if (!rows) return rows.status();
    for (std::size_t k = 0; k < rows->at(0).size(); ++k) {
      std::vector<double> kept(weights_.size());
      double sum = 0;
      for (std::size_t m = 0; m < kept.size(); ++m) {
        const float d = (*rows)[m + 1][k] - (*rows)[0][k];
        kept[m] = std::abs(d) >= least_[m] ? weights_[m] * d : 0;
        sum += kept[m];
      }
      // The mean of those on the side of the sum, by their weights.
      double agreed = 0, share = 0;
      for (std::size_t m = 0; m < kept.size(); ++m)
        if (kept[m] * sum > 0) agreed += kept[m], share += std::abs(weights_[m]);
      to[k] = static_cast<float>((*rows)[0][k] + (share > 0 ? agreed / share : 0));
    }
    return {};
  }

 private:
  /// The smallest difference of each model that is kept.
  Status find_least() {
    const auto base = all_.models[0]->all(*all_.tensors[0]);
    if (!base) return base.status();
    for (std::size_t m = 1; m < all_.models.size(); ++m) {
      auto d = all_.models[m]->all(*all_.tensors[m]);
      if (!d) return d.status();
      for (std::size_t k = 0; k < d->size(); ++k) (*d)[k] = std::abs((*d)[k] - (*base)[k]);
      const auto keep = static_cast<std::ptrdiff_t>(
          std::max(1.0, std::round(density_ * static_cast<double>(d->size()))));
      std::nth_element(d->begin(), d->begin() + (keep - 1), d->end(), std::greater<>());
      least_.push_back((*d)[static_cast<std::size_t>(keep - 1)]);
    }
    return {};
  }
  Alike all_;
  std::vector<double> weights_;
  double density_;
  std::vector<float> least_;
};

void expect(const MergeOptions& o, std::size_t models) {
  const bool based = o.method == MergeMethod::task_arithmetic || o.method == MergeMethod::ties;
  if (based == o.base.empty())
    throw Error("model", "task_arithmetic and ties need a base, linear and slerp have none");
  if (o.method == MergeMethod::slerp && models != 2)
    throw Error("model", "slerp is of two models, got {}", models);
  if (!o.weights.empty() && o.weights.size() != models)
    throw Error("model", "{} weights for {} models", o.weights.size(), models);
  if (models == 0 || (models == 1 && !based))
    throw Error("model", "there are {} models to merge", models);
  double sum = 0;
  for (double w : o.weights) {
    if (!std::isfinite(w)) throw Error("model", "a weight is no finite number");
    if (!based && w < 0) throw Error("model", "a weight is {}: allowed are numbers from 0 on", w);
    sum += w;
  }
  if (!based && !o.weights.empty() && !(sum > 0))
    throw Error("model", "the weights sum to {}", sum);
  if (!(o.density > 0 && o.density <= 1))
    throw Error("model", "density={}: allowed are numbers above 0 up to 1", o.density);
}

}  // namespace

Result<Surgery> merge_models(const std::vector<std::string>& from, const std::string& to,
                             const MergeOptions& o) {
  expect(o, from.size());
  std::vector<std::string> paths = from;
  if (!o.base.empty()) paths.insert(paths.begin(), o.base);
  Alike all;
  for (const std::string& path : paths) {
    auto source =
        surgery::Source::open(path, fmt::format("{}.source{}", to, all.models.size()), o.write);
    if (!source) return source.status();
    if (!all.models.empty()) {
      const std::string what =
          conversion::difference(all.models[0]->model().options, (*source)->model().options);
      if (!what.empty())
        throw Error("model", "{} and {} differ in {}: only weights may", paths[0], path, what);
    }
    all.models.push_back(std::move(*source));
  }
  const std::vector<double> weights =
      o.weights.empty() ? std::vector<double>(from.size(), 1) : o.weights;
  const SourcePtr& first = all.models[0];
  std::vector<Made> made;
  for (const conversion::Pair& pair : first->model().pairs()) {
    all.tensors.clear();
    for (const SourcePtr& model : all.models) {
      const auto found = model->find(pair.hugging_face);
      if (!found) return found.status();
      if ((*found)->shape != (all.tensors.empty() ? *found : all.tensors[0])->shape)
        return Status(Code::invalid, "the tensor {} has not the same shape in all models",
                      pair.hugging_face);
      all.tensors.push_back(*found);
    }
    Made one = surgery::copied(first, *all.tensors[0], all.tensors[0]->name);
    one.of += fmt::format(" of {} models", all.models.size());
    switch (o.method) {
      case MergeMethod::linear: one.tensor.make = linear(all, weights); break;
      case MergeMethod::task_arithmetic: one.tensor.make = task_arithmetic(all, weights); break;
      case MergeMethod::slerp: {
        const double t = weights[1] / (weights[0] + weights[1]);
        one.tensor.make = [s = std::make_shared<Slerp>(all, t)](std::int64_t i, float* row) {
          return s->row(i, row);
        };
        break;
      }
      case MergeMethod::ties:
        one.tensor.make = [s = std::make_shared<Ties>(all, weights, o.density)](
                              std::int64_t i, float* row) { return s->row(i, row); };
        break;
    }
    made.push_back(std::move(one));
  }
  auto out = surgery::finish(first, std::move(made), first->config(), to, o.write);
  if (!out) return out;
  out->preserves = "configuration and tokenizer of the first; not the function of any";
  return out;
}

}  // namespace strata::model
