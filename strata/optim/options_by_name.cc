// Options that may name a rule or a schedule (registry.h), or describe one by a table.
#include "strata/optim/options.h"
#include "strata/optim/registry.h"

namespace strata::optim {
namespace {

using detail::refuse;

/// The name of what a table describes, and its other keys.
std::pair<std::string, Options> described(const Options& table, const std::string& where) {
  Options rest = table;
  const auto name = rest.find("name");
  if (name == rest.end() || !name->second.as<std::string>())
    throw Error("optim", "{} needs the key name beside its options", where);
  std::string text = *name->second.as<std::string>();
  rest.erase(name);
  return {std::move(text), std::move(rest)};
}

}  // namespace

void read(const Option& given, const std::string& where, Rate& into) {
  if (given.is_none())
    into = Rate();
  else if (const auto* whole = given.as<std::int64_t>())
    into = *whole;
  else if (const auto* number = given.as<double>())
    into = *number;
  else if (const auto* array = given.as<Array>())
    into = *array;
  else if (const auto* schedule = given.object<Schedule>())
    into = *schedule;
  else if (const auto* text = given.as<std::string>())
    into = pieces_schedule(parse_schedule(*text, where));
  else if (const Options* table = given.table()) {
    const auto [name, rest] = described(*table, where);
    into = make_schedule(name, rest);
  } else
    refuse(given, where, "a number or a schedule");
}
void read(const Option& given, const std::string& where, Schedule& into) {
  Rate rate;
  read(given, where, rate);
  if (!rate.has_value()) refuse(given, where, "a schedule");
  into = rate.schedule();
}
void read(const Option& given, const std::string& where, GradientTransformation& into) {
  if (const auto* tx = given.object<GradientTransformation>()) {
    into = *tx;
  } else if (const auto* text = given.as<std::string>()) {
    into = make(*text, {});
  } else if (const Options* table = given.table()) {
    const auto [name, rest] = described(*table, where);
    into = make(name, rest);
  } else if (given.is_none()) {
    into = identity();
  } else {
    refuse(given, where, "a transformation: its name, or a table with the key name");
  }
}

}  // namespace strata::optim
