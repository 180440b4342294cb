// One operation run by a grid of processes: what each of them gets.
//
//   each(2, 1, 1, [](Builder& b, Value* x) { ... });  // two replicas, of [[0]] and [[10]]
#pragma once

#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"
#include "strata/op/testing/run.h"

namespace strata::op::testing {

using Rows = std::vector<std::vector<std::int64_t>>;

inline Literal table(const Rows& rows) {
  std::vector<std::int64_t> flat;
  for (const auto& r : rows) flat.insert(flat.end(), r.begin(), r.end());
  auto width = rows.empty() ? 0 : static_cast<std::int64_t>(rows[0].size());
  return Literal::of<std::int64_t>({static_cast<std::int64_t>(rows.size()), width}, flat);
}
inline Literal row(const std::vector<std::int64_t>& v) {
  return Literal::of<std::int64_t>({1, static_cast<std::int64_t>(v.size())}, v);
}
inline std::vector<std::int64_t> numbers(const Literal& x) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < x.count(); ++i) out.push_back(x.integer(i));
  return out;
}

/// What each process gets from one operation on [10 p, 10 p + 1, ...].
inline Rows each(std::int64_t replicas, std::int64_t partitions, std::int64_t width,
                 const std::function<Values(Builder&, Value*)>& f) {
  auto program = build({Type(DType::i64, {1, width})},
                       [&](Builder& b, const Values& v) { return f(b, v[0]); });
  Rows out(static_cast<std::size_t>(replicas * partitions));
  World world;
  run_grid(world, replicas, partitions, [&](Process& p) {
    std::int64_t me = p.id().replica * partitions + p.id().partition;
    std::vector<std::int64_t> mine;
    for (std::int64_t i = 0; i < width; ++i) mine.push_back(10 * me + i);
    out[static_cast<std::size_t>(me)] = numbers(evaluate(*program, std::array{row(mine)}, p)[0]);
  });
  return out;
}

inline Attrs groups(Literal ids, std::int64_t channel = 0, bool global = false) {
  Attrs out{{"replica_groups", std::move(ids)}};
  if (channel > 0) out.set("channel_id", channel);
  if (global) out.set("use_global_device_ids", true);
  return out;
}
inline Attrs with(Attrs attrs, const std::string& name, ir::Attr value) {
  return attrs.set(name, std::move(value));
}

}  // namespace strata::op::testing
