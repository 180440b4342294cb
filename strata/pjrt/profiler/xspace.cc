#include "strata/pjrt/profiler/xspace.h"

#include <map>

#include "strata/base/format/protobuf.h"

namespace strata::pjrt {
namespace {

using protobuf::Writer;

constexpr std::int64_t kPs = 1000;  // in a nanosecond

/// XPlane.stat_metadata: texts by number, from 1 on; names of stats and, shared by events, their
/// values.
class Texts {
 public:
  std::int64_t number(const std::string& text) {
    return static_cast<std::int64_t>(numbers_.emplace(text, numbers_.size() + 1).first->second);
  }
  void write(Writer& plane) const {
    for (const auto& [text, number] : numbers_) {
      const auto id = static_cast<std::int64_t>(number);
      plane.message(5, Writer().integer(1, id).message(
                           2, Writer().integer(1, id).bytes(2, text)));  // a map is a list of pairs
    }
  }

 private:
  std::map<std::string, std::size_t> numbers_;
};

/// The fields XEvent.stats of each event of a kind: ProfileData shows those of events, not those of
/// their kind.
std::string stats_of(const EventKind& kind, Texts& texts) {
  Writer out;
  for (const auto& [name, value] : kind.stats)
    out.message(4, Writer()
                       .integer(1, texts.number(name))
                       .integer(7, texts.number(value)));  // XStat: metadata_id, ref_value
  return out.take();
}

std::string event(const Event& e, const std::string& stats) {
  // XEvent: metadata_id, offset_ps, duration_ps, stats
  return Writer()
             .integer(1, static_cast<std::int64_t>(e.kind) + 1)
             .integer(2, e.begin_ns * kPs)
             .integer(3, (e.end_ns - e.begin_ns) * kPs)
             .take() +
         stats;
}

Writer line(const Line& l, std::int64_t id, std::int64_t began_ns,
            const std::vector<std::string>& stats) {
  Writer out;  // XLine: id, name, timestamp_ns, events
  out.integer(1, id).bytes(2, l.name).integer(3, began_ns);
  for (const Event& e : l.events) out.bytes(4, event(e, stats[e.kind]));
  return out;
}

Writer plane(const Plane& p, std::int64_t id, std::int64_t began_ns) {
  Writer out;  // XPlane: id, name, lines, event_metadata, stat_metadata
  out.integer(1, id).bytes(2, p.name);
  Texts texts;
  std::vector<std::string> stats;
  for (const EventKind& k : p.kinds) stats.push_back(stats_of(k, texts));
  std::int64_t number = 0;
  for (const Line& l : p.lines) out.message(3, line(l, ++number, began_ns, stats));
  number = 0;
  for (const EventKind& k : p.kinds) {
    ++number;
    out.message(4,
                Writer().integer(1, number).message(
                    2, Writer().integer(1, number).bytes(2, k.name)));  // XEventMetadata: id, name
  }
  texts.write(out);
  return out;
}

}  // namespace

std::string xspace(const std::vector<Plane>& planes, const std::vector<std::string>& warnings,
                   std::int64_t began_ns) {
  Writer out;  // XSpace: planes, warnings
  std::int64_t id = 0;
  for (const Plane& p : planes) out.message(1, plane(p, ++id, began_ns));
  for (const std::string& w : warnings) out.bytes(3, w);
  return out.take();
}

}  // namespace strata::pjrt
