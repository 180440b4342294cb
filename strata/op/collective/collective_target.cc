#include "strata/op/collective/collective_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>

#include "strata/ir/text/type_text.h"
#include "strata/op/collective/lockstep.h"

namespace strata::op {
namespace {

using ir::Ints;
using Group = std::vector<int>;

/// Operands below this many bytes are combined by everyone for himself; larger ones in shares, each
/// device one for all.
constexpr std::size_t kShared = 1 << 14;

template <class T>
void combine_into(T* to, const std::vector<const T*>& from, Combiner combiner, std::int64_t begin,
                  std::int64_t end) {
  constexpr std::int64_t kBlock = 1024;
  auto each = [&](auto f) {
    for (std::int64_t at = begin; at < end; at += kBlock) {
      const std::int64_t n = std::min(kBlock, end - at);
      T total[kBlock];
      std::copy_n(from[0] + at, n, total);
      for (std::size_t k = 1; k < from.size(); ++k) {
        const T* x = from[k] + at;
        for (std::int64_t i = 0; i < n; ++i) total[i] = f(total[i], x[i]);
      }
      std::copy_n(total, n, to + at);
    }
  };
  switch (combiner) {
    case Combiner::add: return each([](T a, T b) { return combine(Combiner::add, a, b); });
    case Combiner::mul: return each([](T a, T b) { return combine(Combiner::mul, a, b); });
    case Combiner::min: return each([](T a, T b) { return combine(Combiner::min, a, b); });
    case Combiner::max: return each([](T a, T b) { return combine(Combiner::max, a, b); });
    case Combiner::and_: return each([](T a, T b) { return combine(Combiner::and_, a, b); });
    case Combiner::or_: return each([](T a, T b) { return combine(Combiner::or_, a, b); });
    case Combiner::xor_: return each([](T a, T b) { return combine(Combiner::xor_, a, b); });
    case Combiner::region: return;
  }
}

/// An array seen as [outer, size, inner bytes] around a dimension.
struct Around {
  Around(const Type& type, std::int64_t dim) {
    for (int d = 0; d < type.rank(); ++d) {
      const std::int64_t n = type.shape()[d];
      (d < dim ? outer : d == dim ? size : inner) *= n;
    }
    const std::int64_t count = outer * size * inner;
    inner = count == 0 ? 0 : static_cast<std::int64_t>(type.bytes()) / (outer * size);
  }
  std::int64_t outer = 1, size = 1, inner = 1;
};

/// Copies `rows` times `bytes` between places that are so far apart.
void copy_rows(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
               std::int64_t rows, std::int64_t bytes) {
  if (bytes == 0) return;
  for (std::int64_t r = 0; r < rows; ++r)
    std::memcpy(static_cast<std::byte*>(to) + r * to_stride,
                static_cast<const std::byte*>(from) + r * from_stride,
                static_cast<std::size_t>(bytes));
}
const void* behind(const void* p, std::int64_t bytes) {
  return static_cast<const std::byte*>(p) + bytes;
}
void* behind(void* p, std::int64_t bytes) { return static_cast<std::byte*>(p) + bytes; }

std::int64_t integer_at(const Type& type, const void* data, std::int64_t i) {
  std::int64_t out = 0;
  const auto* p = static_cast<const std::byte*>(data);
  switch (byte_width(type.dtype())) {
    case 1: return static_cast<const std::int8_t*>(data)[i];
    case 4: {
      std::int32_t x;
      std::memcpy(&x, p + 4 * i, 4);
      return x;
    }
    case 8: std::memcpy(&out, p + 8 * i, 8); return out;
    default: return -1;
  }
}

/// A dimension cut into parts of whole places, one for each device: the rows of part `part`.
Rows part_of(std::size_t operand, const Around& whole, std::size_t parts, std::size_t part) {
  const std::int64_t row = whole.size / static_cast<std::int64_t>(parts) * whole.inner;
  return {operand, static_cast<std::int64_t>(part) * row, whole.size * whole.inner, whole.outer,
          row};
}
Rows all_of(const foreign::Call& call, std::size_t operand) {
  return {operand, 0, 0, 1, static_cast<std::int64_t>(call.operands[operand].bytes())};
}

/// The elements of a sum that the device at `place` adds for all.
struct Share {
  Share(const Type& type, std::size_t devices, std::size_t place) {
    const std::int64_t count = type.shape().count();
    element = count == 0 ? 1 : static_cast<std::int64_t>(type.bytes()) / count;
    const std::int64_t line = std::max<std::int64_t>(1, 64 / element),
                       n = static_cast<std::int64_t>(devices),
                       size = ((count + n - 1) / n + line - 1) / line * line;
    begin = std::min(count, static_cast<std::int64_t>(place) * size);
    end = std::min(count, begin + size);
  }
  Rows rows(std::size_t operand) const {
    return {operand, begin * element, 0, 1, (end - begin) * element};
  }
  std::int64_t begin, end, element;
};
bool is_shared(const Type& type) { return type.bytes() > kShared; }

/// Of each target of `pairs` (source, target, source, ...) the source; -1 for others.
std::vector<std::int64_t> sources_of(const Ints& pairs) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const auto target = static_cast<std::size_t>(pairs[i + 1]);
    if (target >= out.size()) out.resize(target + 1, -1);
    out[target] = pairs[i];
  }
  return out;
}

/// What the devices of a group take of each other's operands, as the operations below read them.
std::function<std::vector<Rows>(std::size_t, std::size_t)> rows_of(const foreign::Call& call,
                                                                   const std::string& operation,
                                                                   const Group& group) {
  const std::size_t n = group.size();
  if (operation == "keep_at_root")
    return [](std::size_t, std::size_t) { return std::vector<Rows>(); };
  const auto every = [&call](auto of_operand) {
    return [&call, of_operand](std::size_t source, std::size_t target) {
      std::vector<Rows> out;
      for (std::size_t i = 0; i < call.operands.size(); ++i)
        out.push_back(of_operand(i, source, target));
      return out;
    };
  };
  if (operation == "all_reduce")
    return every([&call, n](std::size_t i, std::size_t, std::size_t target) {
      return is_shared(call.operands[i]) ? Share(call.operands[i], n, target).rows(i)
                                         : all_of(call, i);
    });
  if (operation == "all_to_all")
    return every([&call, n](std::size_t i, std::size_t, std::size_t target) {
      return part_of(i, Around(call.operands[i], call.attrs.get<std::int64_t>("split")), n, target);
    });
  if (operation == "reduce_scatter" || operation == "scatter_stack")
    return every([&call, n](std::size_t i, std::size_t, std::size_t target) {
      return part_of(i, Around(call.operands[i], call.attrs.get<std::int64_t>("dim")), n, target);
    });
  if (operation == "collective_broadcast" && !call.attrs.get_or<bool>("dynamic_root", false))
    return every([&call](std::size_t i, std::size_t source, std::size_t) {
      return source == 0 ? all_of(call, i) : Rows();
    });
  if (operation == "collective_permute")
    return every([&call, group, from = sources_of(call.attrs.get<Ints>("pairs"))](
                     std::size_t i, std::size_t source, std::size_t target) {
      const auto to = static_cast<std::size_t>(group[target]);
      return to < from.size() && from[to] == group[source] ? all_of(call, i) : Rows();
    });
  return every([&call](std::size_t i, std::size_t, std::size_t) { return all_of(call, i); });
}

/// What all of them share: who meets whom, and what is done with what they brought.
class Meet {
 public:
  explicit Meet(const foreign::Call& call) : call_(call) {
    operation_ = call.attrs.get<std::string>("operation");
    what_ = fmt::format("{} on channel {} of {}", operation_,
                        call.attrs.get<std::int64_t>("channel"), ir::type_list_text(call.operands));
    Group group;
    for (std::int64_t d : call.attrs.get<Ints>("groups")) {
      if (d >= 0) {
        group.push_back(static_cast<int>(d));
        continue;
      }
      groups_.push_back(std::move(group));
      group.clear();
    }
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (std::size_t i = 0; i < groups_[g].size(); ++i) {
        const auto d = static_cast<std::size_t>(groups_[g][i]);
        if (d >= of_.size()) of_.resize(d + 1, {-1, 0});
        of_[d] = {static_cast<int>(g), i};
      }
    for (const Type& type : call_.operands)
      bytes_.push_back(static_cast<std::int64_t>(type.bytes()));
    for (const Group& g : groups_) wanted_.push_back({bytes_, rows_of(call_, operation_, g)});
    gathers_shares_ = operation_ == "all_reduce" &&
                      std::any_of(call_.operands.begin(), call_.operands.end(), is_shared);
  }
  Meet(const Meet&) = delete;  // what is wanted refers to the call
  Meet& operator=(const Meet&) = delete;

  /// `f(brought, place)` with what the group brought, and the device's place in it; `none()` for
  /// devices of no group.
  template <class F, class None>
  Status with_others(const foreign::Buffers& at, F f, None none) const {
    const Participant* self = current_participant();
    if (self == nullptr)
      return Status(Code::invalid, "{} runs on several devices, not on one by itself", operation_);
    const auto d = static_cast<std::size_t>(self->device);
    if (d >= of_.size() || of_[d].first < 0) return none();
    const auto g = static_cast<std::size_t>(of_[d].first);
    const Group& group = groups_[g];
    Brought brought{{at.operands.begin(), at.operands.end()},
                    {at.results.begin(), at.results.end()}};
    if (group.size() == 1) return f(std::span<const Brought>(&brought, 1), 0);
    auto all = self->run->meet(self->device, group, what_, std::move(brought), wanted_[g]);
    if (!all) return all.status();
    Status status = f(*all, of_[d].second);
    Status left = self->run->leave(self->device, group, what_);
    if (!status.ok() || !left.ok()) return status.ok() ? left : status;
    return gathers_shares_ && self->run->is_split(group)
               ? gather_shares(*self, at, group, of_[d].second)
               : left;
  }
  const foreign::Call& call() const { return call_; }

 private:
  /// The second half of a sum by shares: those of other processes come into the results.
  Status gather_shares(const Participant& self, const foreign::Buffers& at, const Group& group,
                       std::size_t place) const {
    const std::string what = what_ + ", shares of the sum";
    const Wanted wanted{bytes_, [&](std::size_t source, std::size_t) {
                          std::vector<Rows> out;
                          for (std::size_t i = 0; i < call_.operands.size(); ++i)
                            if (is_shared(call_.operands[i]))
                              out.push_back(Share(call_.operands[i], group.size(), source).rows(i));
                          return out;
                        }};
    auto all = self.run->meet(self.device, group, what,
                              {{at.results.begin(), at.results.end()}, {}}, wanted);
    if (!all) return all.status();
    for (std::size_t k = 0; k < group.size(); ++k)
      for (std::size_t i = 0; i < call_.operands.size(); ++i) {
        if (k == place || self.run->here(group[k]) || !is_shared(call_.operands[i])) continue;
        const Rows r = Share(call_.operands[i], group.size(), k).rows(i);
        copy_rows(behind(at.results[i], r.offset), 0,
                  behind(static_cast<const void*>((*all)[k].operands[i]), r.offset), 0, 1, r.bytes);
      }
    return self.run->leave(self.device, group, what);
  }

  foreign::Call call_;
  std::string operation_, what_;
  std::vector<Group> groups_;
  std::vector<std::int64_t> bytes_;
  std::vector<Wanted> wanted_;  // by group
  bool gathers_shares_ = false;
  std::vector<std::pair<int, std::size_t>> of_;  // of each device its group, and its place there
};

using All = std::span<const Brought>;
using Done = Status (*)(const foreign::Call& call, const foreign::Buffers& at, All all,
                        std::size_t place);

Status all_gather(const foreign::Call& call, const foreign::Buffers& at, All all, std::size_t) {
  const auto dim = call.attrs.get<std::int64_t>("dim");
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    const Around part(call.operands[i], dim);
    const std::int64_t row = part.size * part.inner;
    for (std::size_t k = 0; k < all.size(); ++k)
      copy_rows(behind(at.results[i], static_cast<std::int64_t>(k) * row),
                row * static_cast<std::int64_t>(all.size()), all[k].operands[i], row, part.outer,
                row);
  }
  return Status();
}

Status all_to_all(const foreign::Call& call, const foreign::Buffers& at, All all,
                  std::size_t place) {
  const auto split = call.attrs.get<std::int64_t>("split"),
             concat = call.attrs.get<std::int64_t>("concat");
  const auto n = static_cast<std::int64_t>(all.size()), mine = static_cast<std::int64_t>(place);
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    const Type& type = call.operands[i];
    std::vector<std::int64_t> sizes = type.shape().sizes();
    sizes[static_cast<std::size_t>(split)] /= n;
    // A part has `sizes`: whole runs of it are one behind the other in operand and result alike
    // from the dimension on that is the more inner of the two.
    const auto low = static_cast<std::size_t>(std::min(split, concat)),
               high = static_cast<std::size_t>(std::max(split, concat));
    std::int64_t outer = 1, middle = 1, inner = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      (d < low ? outer : d < high ? middle : inner) *= sizes[d];
    if (outer * middle * inner == 0) continue;
    const std::int64_t element = static_cast<std::int64_t>(type.bytes()) / type.shape().count(),
                       run = inner * element;
    // Strides in bytes of outer and middle rows, and where parts begin.
    const bool split_is_high = static_cast<std::size_t>(split) == high,
               concat_is_high = static_cast<std::size_t>(concat) == high;
    const std::int64_t from_run = split_is_high ? run * n : run,
                       to_run = concat_is_high ? run * n : run, from_outer = middle * run * n,
                       to_outer = middle * run * n,
                       from_start = mine * (split_is_high ? run : middle * run);
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t o = 0; o < outer; ++o)
        copy_rows(behind(at.results[i], o * to_outer + k * (concat_is_high ? run : middle * run)),
                  to_run,
                  behind(static_cast<const void*>(all[static_cast<std::size_t>(k)].operands[i]),
                         o * from_outer + from_start),
                  from_run, middle, run);
  }
  return Status();
}

/// Everyone's operand, one behind the other.
Status stack(const foreign::Call& call, const foreign::Buffers& at, All all, std::size_t) {
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    const auto bytes = static_cast<std::int64_t>(call.operands[i].bytes());
    for (std::size_t k = 0; k < all.size(); ++k)
      copy_rows(behind(at.results[i], static_cast<std::int64_t>(k) * bytes), 0, all[k].operands[i],
                0, 1, bytes);
  }
  return Status();
}

/// The device's part of everyone's operand, one behind the other.
Status scatter_stack(const foreign::Call& call, const foreign::Buffers& at, All all,
                     std::size_t place) {
  const Around whole(call.operands[0], call.attrs.get<std::int64_t>("dim"));
  const auto n = static_cast<std::int64_t>(all.size());
  const std::int64_t row = whole.size / n * whole.inner;
  for (std::int64_t k = 0; k < n; ++k)
    copy_rows(behind(at.results[0], k * row * whole.outer), row,
              behind(static_cast<const void*>(all[static_cast<std::size_t>(k)].operands[0]),
                     static_cast<std::int64_t>(place) * row),
              row * n, whole.outer, row);
  return Status();
}

/// The place of the group that gives result `i`; -1 for a root that is none.
std::int64_t root(const foreign::Call& call, const foreign::Buffers& at, std::size_t i, All all) {
  if (!call.attrs.get_or<bool>("dynamic_root", false)) return 0;
  const std::int64_t r =
      integer_at(call.operands.back(), at.operands.back(), static_cast<std::int64_t>(i));
  return r < static_cast<std::int64_t>(all.size()) ? r : -1;
}

Status broadcast(const foreign::Call& call, const foreign::Buffers& at, All all, std::size_t) {
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    const std::int64_t from = root(call, at, i, all);
    if (from < 0)
      return Status(Code::invalid, "collective_broadcast: the root is no place in a group of {}",
                    all.size());
    copy_rows(at.results[i], 0, all[static_cast<std::size_t>(from)].operands[i], 0, 1,
              static_cast<std::int64_t>(call.results[i].bytes()));
  }
  return Status();
}

Status keep_at_root(const foreign::Call& call, const foreign::Buffers& at, All, std::size_t place) {
  if (place == 0)
    copy_rows(at.results[0], 0, at.operands[0], 0, 1,
              static_cast<std::int64_t>(call.results[0].bytes()));
  else
    std::memset(at.results[0], 0, call.results[0].bytes());
  return Status();
}

template <class F>
void typed(DType dtype, F f) {
  dispatch(dtype, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, BFloat16> && !std::is_same_v<T, Float16>) f(T{});
  });
}

/// Combined by shares: each device one of them, into everyone's results.
Status all_reduce(const foreign::Call& call, const foreign::Buffers& at, All all,
                  std::size_t place) {
  const Combiner combiner = *parse_combiner(call.attrs.get<std::string>("combiner"));
  for (std::size_t i = 0; i < call.results.size(); ++i)
    typed(call.operands[i].dtype(), [&]<class T>(T) {
      std::vector<const T*> from;
      for (const Brought& b : all) from.push_back(static_cast<const T*>(b.operands[i]));
      const std::int64_t count = call.operands[i].shape().count();
      if (!is_shared(call.operands[i]))
        return combine_into(static_cast<T*>(at.results[i]), from, combiner, 0, count);
      const Share share(call.operands[i], all.size(), place);
      combine_into(static_cast<T*>(at.results[i]), from, combiner, share.begin, share.end);
      const T* made = static_cast<const T*>(at.results[i]) + share.begin;
      for (std::size_t k = 0; k < all.size(); ++k)
        if (k != place && !all[k].results.empty())  // those of other processes come for it
          std::copy_n(made, share.end - share.begin,
                      static_cast<T*>(all[k].results[i]) + share.begin);
    });
  return Status();
}

Status reduce_scatter(const foreign::Call& call, const foreign::Buffers& at, All all,
                      std::size_t place) {
  const Combiner combiner = *parse_combiner(call.attrs.get<std::string>("combiner"));
  typed(call.operands[0].dtype(), [&]<class T>(T) {
    const Around whole(call.operands[0], call.attrs.get<std::int64_t>("dim"));
    const auto n = static_cast<std::int64_t>(all.size()), mine = static_cast<std::int64_t>(place);
    const std::int64_t row = whole.size / n * whole.inner / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t o = 0; o < whole.outer; ++o) {
      std::vector<const T*> from;
      for (const Brought& b : all)
        from.push_back(static_cast<const T*>(b.operands[0]) + (o * n + mine) * row);
      combine_into(static_cast<T*>(at.results[0]) + o * row, from, combiner, 0, row);
    }
  });
  return Status();
}

/// operand, output, input_offsets, send_sizes, output_offsets, recv_sizes.
Status ragged(const foreign::Call& call, const foreign::Buffers& at, All all, std::size_t place) {
  const Around from(call.operands[0], 0), to(call.operands[1], 0);
  const std::int64_t slices =
      call.operands[2].shape().count() / static_cast<std::int64_t>(all.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    for (std::int64_t s = 0; s < slices; ++s) {
      const std::int64_t i = static_cast<std::int64_t>(place) * slices + s;
      auto number = [&](std::size_t operand) {
        return integer_at(call.operands[operand], all[k].operands[operand], i);
      };
      const std::int64_t start = number(2), size = number(3), target = number(4);
      if (size < 0 || start < 0 || target < 0 || start > from.size - size ||
          target > to.size - size)
        return Status(Code::invalid,
                      "ragged_all_to_all: {} rows from {} of {} cannot go to {} of {}", size, start,
                      from.size, target, to.size);
      copy_rows(behind(at.results[0], target * to.inner), 0,
                behind(static_cast<const void*>(all[k].operands[0]), start * from.inner), 0, 1,
                size * to.inner);
    }
  return Status();
}

Status zeros(const foreign::Call& call, const foreign::Buffers& at) {
  for (std::size_t i = 0; i < call.results.size(); ++i)
    if (call.results[i].bytes() > 0) std::memset(at.results[i], 0, call.results[i].bytes());
  return Status();
}

Result<foreign::Bound> own_number(const foreign::Call& call) {
  const bool replica = call.attrs.get<std::string>("own") == "replica_id";
  return foreign::Bound([replica](const foreign::Buffers& at, void*) {
    const Participant* self = current_participant();
    if (self == nullptr)
      return Status(Code::invalid, "the program runs on several devices, not on one by itself");
    const std::int64_t n = self->run->partitions();
    const auto id = static_cast<std::uint32_t>(replica ? self->device / n : self->device % n);
    std::memcpy(at.results[0], &id, sizeof id);
    return Status();
  });
}

struct Named {
  const char* operation;
  Done done;
};
constexpr Named kOperations[] = {{"all_gather", all_gather},
                                 {"all_reduce", all_reduce},
                                 {"all_to_all", all_to_all},
                                 {"collective_broadcast", broadcast},
                                 {"keep_at_root", keep_at_root},
                                 {"ragged_all_to_all", ragged},
                                 {"reduce_scatter", reduce_scatter},
                                 {"scatter_stack", scatter_stack},
                                 {"stack", stack}};

}  // namespace

Result<foreign::Bound> bind_collective(const foreign::Call& call) {
  if (call.attrs.has("own")) return own_number(call);
  auto meet = std::make_shared<const Meet>(call);
  const std::string operation = call.attrs.get<std::string>("operation");
  if (operation == "collective_permute") {
    const std::vector<std::int64_t> sources = sources_of(call.attrs.get<Ints>("pairs"));
    Ints groups = call.attrs.get<Ints>("groups");
    return foreign::Bound([meet, sources, groups](const foreign::Buffers& at, void*) {
      auto nobody = [&] { return zeros(meet->call(), at); };
      return meet->with_others(
          at,
          [&](All all, std::size_t place) {
            const auto self = static_cast<std::size_t>(current_participant()->device);
            if (self >= sources.size() || sources[self] < 0) return nobody();
            // Members of a group stand side by side in `groups`.
            const auto mine =
                std::find(groups.begin(), groups.end(), static_cast<std::int64_t>(self)) -
                static_cast<std::ptrdiff_t>(place);
            const auto from = static_cast<std::size_t>(
                std::find(mine, mine + static_cast<std::ptrdiff_t>(all.size()), sources[self]) -
                mine);
            const auto bytes = static_cast<std::int64_t>(meet->call().results[0].bytes());
            copy_rows(at.results[0], 0, all[from].operands[0], 0, 1, bytes);
            return Status();
          },
          nobody);
    });
  }
  const auto* found = std::find_if(std::begin(kOperations), std::end(kOperations),
                                   [&](const Named& n) { return operation == n.operation; });
  if (found == std::end(kOperations))
    return Status(Code::unsupported, "there is no collective {}", operation);
  return foreign::Bound([meet, done = found->done, is_ragged = operation == "ragged_all_to_all"](
                            const foreign::Buffers& at, void*) {
    if (is_ragged && at.results[0] != at.operands[1])
      copy_rows(at.results[0], 0, at.operands[1], 0, 1,
                static_cast<std::int64_t>(meet->call().results[0].bytes()));
    return meet->with_others(
        at, [&](All all, std::size_t place) { return done(meet->call(), at, all, place); },
        [&] { return zeros(meet->call(), at); });
  });
}

namespace collective {

bool adds_natively(Combiner combiner, DType dtype) {
  if (combiner == Combiner::region || !has_storage(dtype)) return false;
  if (dtype == DType::bf16 || dtype == DType::f16) return false;
  if (is_float(dtype) || is_complex(dtype)) return combiner == Combiner::add;
  return bit_width(dtype) >= 8 || is_bool(dtype);
}

}  // namespace collective
}  // namespace strata::op
