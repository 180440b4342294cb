#include "strata/train/maxtext/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <optional>

#include "strata/base/check.h"
#include "strata/tokenizer/chat_template/chat_template.h"
#include "strata/train/maxtext/upstream.h"

namespace strata::train::maxtext {
namespace {

using Json = nlohmann::ordered_json;
using Reads = std::set<std::string>;

/// A name's value, and the keys that it was computed from.
struct Local {
  Value value;
  Reads from;
};
using Scope = std::map<std::string, Local>;

[[noreturn]] void type_error(const std::string& text) { throw Refused("TypeError", text); }

double arithmetic(const Value& value) {
  if (!is_integer(value) && !value.as<double>())
    type_error(fmt::format("unsupported operand type: '{}'", type_name(value)));
  return number(value);
}

/// Python's quotient and rest, rounded towards minus infinity.
std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) throw Refused("ZeroDivisionError", "integer division or modulo by zero");
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

Value operate(const std::string& op, const Value& a, const Value& b) {
  if (op == "+" && a.text() && b.text()) return *a.text() + *b.text();
  const double x = arithmetic(a), y = arithmetic(b);
  if (is_integer(a) && is_integer(b)) {
    const std::int64_t m = integer(a), n = integer(b);
    std::int64_t out = 0;
    bool over = false;
    if (op == "+") over = __builtin_add_overflow(m, n, &out);
    if (op == "-") over = __builtin_sub_overflow(m, n, &out);
    if (op == "*") over = __builtin_mul_overflow(m, n, &out);
    if (over) throw Refused("OverflowError", fmt::format("{} {} {} is too large", m, op, n));
    if (op == "+" || op == "-" || op == "*") return out;
    if (op == "//") return floor_quotient(m, n);
    if (op == "%") return m - n * floor_quotient(m, n);
    if (op == "**" && n >= 0 && std::abs(std::pow(x, y)) < 9e18)
      return static_cast<std::int64_t>(std::llround(std::pow(x, y)));
  }
  if (op == "+") return x + y;
  if (op == "-") return x - y;
  if (op == "*") return x * y;
  if (op == "**") return std::pow(x, y);
  if (y == 0) throw Refused("ZeroDivisionError", "division by zero");
  if (op == "/") return x / y;
  if (op == "//") return std::floor(x / y);
  return x - y * std::floor(x / y);  // %
}

bool contains(const Value& in, const Value& what) {
  if (const List* list = in.list())
    return std::find(list->begin(), list->end(), what) != list->end();
  if (const Dict* dict = in.dict()) return what.text() && dict->contains(*what.text());
  if (in.text() && what.text()) return in.text()->find(*what.text()) != std::string::npos;
  type_error(fmt::format("argument of type '{}' is not iterable", type_name(in)));
}

bool compare(const Value& a, const std::string& op, const Value& b) {
  if (op == "==") return a == b;
  if (op == "!=") return !(a == b);
  if (op == "in") return contains(b, a);
  if (op == "not in") return !contains(b, a);
  const auto numeric = [](const Value& v) { return is_integer(v) || v.as<double>(); };
  if (!numeric(a) || !numeric(b))
    type_error(fmt::format("'{}' not supported between instances of '{}' and '{}'", op,
                           type_name(a), type_name(b)));
  const double x = number(a), y = number(b);
  if (op == "<") return x < y;
  if (op == "<=") return x <= y;
  return op == ">" ? x > y : x >= y;
}

List elements(const Value& value) {
  if (const List* list = value.list()) return *list;
  type_error(fmt::format("'{}' object is not iterable", type_name(value)));
}

/// os.path.join.
std::string join_paths(const List& parts) {
  std::string out;
  for (const Value& part : parts) {
    if (!part.text()) type_error("join: a part is no text");
    const std::string& text = *part.text();
    if (text.starts_with("/"))
      out = text;
    else
      out += (out.empty() || out.ends_with("/") ? "" : "/") + text;
  }
  return out;
}

std::string now() {
  const std::time_t t = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char out[32];
  std::tm parts{};
  std::strftime(out, sizeof out, "%Y-%m-%d-%H-%M", ::localtime_r(&t, &parts));
  return out;
}

/// One run of the validators. `reads_` collects what the statement at hand reads, `control_` what
/// the conditions around it read; an assigned name has both as its origin.
class Machine {
 public:
  explicit Machine(const RuleContext& context) : context_(context) {}

  /// Calls a function of the table.
  Value call(const std::string& name, const List& arguments) {
    const Json& function = upstream()["functions"].at(name);
    Scope scope;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      scope[function[0].at(i).get<std::string>()] = {arguments[i], reads_};
    for (const char* text : {"self", "config"}) scope.emplace(text, Local());
    // Functions within functions see the names around them, of which they use none.
    const Reads before = std::exchange(reads_, {});
    run(function[1], scope);
    reads_.insert(before.begin(), before.end());
    Value out = returned_ ? *returned_ : Value();
    returned_.reset();
    return out;
  }

 private:
  Value& self(const std::string& key) {
    const auto found = context_.values.find(key);
    if (found == context_.values.end())
      throw Refused("AttributeError", fmt::format("no attribute '{}'", key));
    return found->second;
  }

  void run(const Json& statements, Scope& scope) {
    for (const Json& s : statements) {
      reads_.clear();
      step(s, scope);
      if (returned_ || broken_) return;
    }
    reads_.clear();
  }

  /// Runs statements that depend on what has just been read.
  void run_under(const Json& statements, Scope& scope) {
    const Reads outer = control_;
    control_.insert(reads_.begin(), reads_.end());
    run(statements, scope);
    control_ = outer;
  }

  Reads origin() const {
    Reads out = reads_;
    out.insert(control_.begin(), control_.end());
    return out;
  }

  /// Notes where a key has its value from. What was computed from itself keeps its first origin.
  void note(const std::string& key) {
    Reads& of = context_.origins[key];
    Reads from = origin();
    if (!from.contains(key)) of.clear();
    from.erase(key);
    of.insert(from.begin(), from.end());
  }

  /// Notes the key of `self.key`, `self.key[i]` and the like, if it is one.
  void note_place(const Json& place) {
    if (!place.is_array()) return;
    if (place[0] == "self") note(place[1].get<std::string>());
    if (place[0] == "get") note_place(place[1]);
  }

  void step(const Json& s, Scope& scope) {
    const std::string& kind = s[0].get_ref<const std::string&>();
    if (kind == "if") {
      run_under(truth(get(s[1], scope)) ? s[2] : s[3], scope);
    } else if (kind == "raise") {
      throw Refused(s[1].get<std::string>(), str(get(s[2], scope)));
    } else if (kind == "set") {
      assign(s[1], get(s[2], scope), scope);
    } else if (kind == "setattr") {
      const std::string key = *get(s[1], scope).text();
      self(key) = get(s[2], scope);
      note(key);
    } else if (kind == "for") {
      const List over = elements(get(s[2], scope));
      const Reads from = reads_;
      for (const Value& v : over) {
        reads_ = from;
        assign(s[1], v, scope);
        run(s[3], scope);
        if (returned_) return;
        if (std::exchange(broken_, false)) break;
      }
    } else if (kind == "return") {
      returned_ = get(s[1], scope);
      reads_ = origin();
    } else if (kind == "break") {
      broken_ = true;
    } else if (kind == "warn") {
      warn(s, scope);
    } else {  // "do"
      get(s[1], scope);
      if (s[1].is_array() && s[1][0] == "method") note_place(s[1][1]);
    }
  }

  void warn(const Json& s, Scope& scope) {
    std::string text = str(get(s[1], scope));
    for (std::size_t i = 2; i < s.size(); ++i) {
      const std::size_t at = text.find("%s");
      if (at != std::string::npos) text.replace(at, 2, str(get(s[i], scope)));
    }
    context_.warnings.push_back(text);
  }

  void assign(const Json& target, const Value& value, Scope& scope) {
    if (target.is_string()) {
      scope[target.get<std::string>()] = {value, origin()};
    } else if (target.is_array()) {
      const List parts = elements(value);
      if (parts.size() != target.size()) throw Refused("ValueError", "not enough values to unpack");
      for (std::size_t i = 0; i < parts.size(); ++i) assign(target[i], parts[i], scope);
    } else if (target.contains("self")) {
      const std::string key = target["self"].get<std::string>();
      context_.values.insert_or_assign(key, value);
      note(key);
    } else {
      const Value of = get(target["of"], scope);
      const Json& at = target["at"];
      if (Dict* dict = of.dict()) {
        // An attribute is a word, an index an expression whose value is one.
        dict->insert_or_assign(at.is_string() ? at.get<std::string>() : str(get(at, scope)), value);
      } else {
        element(of, get(at, scope)) = value;
      }
      note_place(target["of"]);
    }
  }

  Value& element(const Value& of, const Value& at) {
    List* list = of.list();
    if (!list) type_error(fmt::format("'{}' object is not subscriptable", type_name(of)));
    std::int64_t i = integer(at);
    if (i < 0) i += static_cast<std::int64_t>(list->size());
    if (i < 0 || i >= static_cast<std::int64_t>(list->size()))
      throw Refused("IndexError", "list index out of range");
    return (*list)[static_cast<std::size_t>(i)];
  }

  List all(const Json& e, std::size_t from, Scope& scope) {
    List out;
    for (std::size_t i = from; i < e.size(); ++i) out.push_back(get(e[i], scope));
    return out;
  }

  Value get(const Json& e, Scope& scope) {
    if (!e.is_array()) return from_json(e);
    const std::string& kind = e[0].get_ref<const std::string&>();
    if (kind == "self") return read(e[1].get_ref<const std::string&>());
    if (kind == "var") return variable(e[1].get_ref<const std::string&>(), scope);
    if (kind == "and" || kind == "or") {
      Value out;
      for (std::size_t i = 1; i < e.size(); ++i) {
        out = get(e[i], scope);
        if (truth(out) == (kind == "or")) break;
      }
      return out;
    }
    if (kind == "not") return !truth(get(e[1], scope));
    if (kind == "neg") return operate("-", 0, get(e[1], scope));
    if (kind == "cmp") return chain(e, scope);
    if (kind == "op")
      return operate(e[1].get_ref<const std::string&>(), get(e[2], scope), get(e[3], scope));
    if (kind == "choose") return get(truth(get(e[1], scope)) ? e[2] : e[3], scope);
    if (kind == "list" || kind == "tuple") {
      Value out = all(e, 1, scope);
      out.is_tuple = kind == "tuple";
      return out;
    }
    if (kind == "dict") {
      Dict out;
      for (std::size_t i = 1; i < e.size(); ++i)
        out.insert_or_assign(str(get(e[i][0], scope)), get(e[i][1], scope));
      return out;
    }
    if (kind == "get") return subscript(get(e[1], scope), e[2], scope);
    if (kind == "fmt") return formatted(e, scope);
    if (kind == "each" || kind == "each_item") return comprehension(e, scope);
    if (kind == "getattr") return attribute(e, scope);
    if (kind == "method") return method(e, scope);
    STRATA_CHECK(kind == "call", "an expression of kind {}", kind);
    return builtin(e[1].get_ref<const std::string&>(), e, scope);
  }

  Value& read(const std::string& key) {
    reads_.insert(key);
    return self(key);
  }

  Value variable(const std::string& name, const Scope& scope) {
    const auto found = scope.find(name);
    if (found == scope.end())
      throw Refused("NameError", fmt::format("name '{}' is not defined", name));
    reads_.insert(found->second.from.begin(), found->second.from.end());
    return found->second.value;
  }

  Value chain(const Json& e, Scope& scope) {
    Value left = get(e[1], scope);
    for (std::size_t i = 2; i < e.size(); i += 2) {
      Value right = get(e[i + 1], scope);
      if (!compare(left, e[i].get_ref<const std::string&>(), right)) return false;
      left = std::move(right);
    }
    return true;
  }

  Value subscript(const Value& of, const Json& at, Scope& scope) {
    if (const Dict* dict = of.dict()) {
      // Attributes of a nested model are keys too.
      const std::string key = str(get(at, scope));
      const auto found = dict->find(key);
      if (found == dict->end()) throw Refused("KeyError", repr(key));
      return found->second;
    }
    return element(of, get(at, scope));
  }

  Value formatted(const Json& e, Scope& scope) {
    std::string out;
    for (std::size_t i = 1; i < e.size(); ++i) {
      if (e[i].is_string()) {
        out += e[i].get_ref<const std::string&>();
        continue;
      }
      const Value value = get(e[i][1], scope);
      const bool as_repr = e[i][0] == "repr";
      out += e[i].size() > 2 ? member(e[i][2].get<std::string>(), value, as_repr)
                             : (as_repr ? repr(value) : str(value));
    }
    return out;
  }

  /// A value of an enumeration as Python writes its member.
  static std::string member(const std::string& enumeration, const Value& value, bool as_repr) {
    for (const Json& row : upstream()["enums"].at(enumeration))
      if (from_json(row[0]) == value)
        return as_repr
                   ? fmt::format("<{}.{}: {}>", enumeration, row[1].get<std::string>(), repr(value))
                   : fmt::format("{}.{}", enumeration, row[1].get<std::string>());
    return str(value);
  }

  Value comprehension(const Json& e, Scope& scope) {
    const bool items = e[0] == "each_item";
    const std::size_t target = items ? 3 : 2;
    List out;
    Dict pairs;
    Scope inner = scope;
    for (const Value& v : elements(get(e[target + 1], scope))) {
      assign(e[target], v, inner);
      bool keep = true;
      for (std::size_t i = target + 2; i < e.size(); ++i) keep = keep && truth(get(e[i], inner));
      if (!keep) continue;
      if (items)
        pairs.insert_or_assign(str(get(e[1], inner)), get(e[2], inner));
      else
        out.push_back(get(e[1], inner));
    }
    return items ? Value(pairs) : Value(out);
  }

  /// getattr(self, name[, default]).
  Value attribute(const Json& e, Scope& scope) {
    const std::string name = str(get(e[1], scope));
    const auto found = context_.values.find(name);
    reads_.insert(name);
    if (found != context_.values.end()) return found->second;
    if (e.size() > 2) return get(e[2], scope);
    throw Refused("AttributeError", fmt::format("no attribute '{}'", name));
  }

  Value method(const Json& e, Scope& scope) {
    const Value of = get(e[1], scope);
    const std::string& name = e[2].get_ref<const std::string&>();
    const List given = all(e, 3, scope);
    if (of.text()) return text_method(*of.text(), name, given);
    if (List* list = of.list()) return list_method(*list, name, given);
    if (Dict* dict = of.dict()) {
      if (name == "items") {
        List out;
        for (const auto& [key, value] : *dict) out.push_back(List{key, value});
        return out;
      }
      const auto found = dict->find(str(given.at(0)));
      return found != dict->end() ? found->second : given.size() > 1 ? given[1] : Value();
    }
    throw Refused("AttributeError",
                  fmt::format("'{}' object has no attribute '{}'", type_name(of), name));
  }

  static Value text_method(const std::string& of, const std::string& name, const List& given) {
    if (name == "startswith") return of.starts_with(str(given.at(0)));
    if (name == "lower") {
      std::string out = of;
      for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      return out;
    }
    if (name == "strip") {
      const std::size_t from = of.find_first_not_of(" \t\n"), to = of.find_last_not_of(" \t\n");
      return from == std::string::npos ? "" : of.substr(from, to - from + 1);
    }
    STRATA_CHECK(name == "split", "a method of texts: {}", name);
    List out;
    const std::string mark = str(given.at(0));
    for (std::size_t at = 0;;) {
      const std::size_t next = of.find(mark, at);
      out.push_back(of.substr(at, next == std::string::npos ? next : next - at));
      if (next == std::string::npos) return out;
      at = next + mark.size();
    }
  }

  static Value list_method(List& of, const std::string& name, const List& given) {
    if (name == "append") {
      of.push_back(given.at(0));
      return {};
    }
    if (name == "insert") {
      of.insert(of.begin() + integer(given.at(0)), given.at(1));
      return {};
    }
    const auto found = std::find(of.begin(), of.end(), given.at(0));
    if (found == of.end())
      throw Refused("ValueError", fmt::format("{} is not in list", repr(given.at(0))));
    if (name == "index") return std::int64_t{found - of.begin()};
    STRATA_CHECK(name == "remove", "a method of lists: {}", name);
    of.erase(found);
    return {};
  }

  Value builtin(const std::string& name, const Json& e, Scope& scope) {
    if (name == "isinstance") return is_instance(get(e[2], scope), e[3]);
    const List a = all(e, 2, scope);
    if (name == "mesh_config") return mesh_config(str(a.at(0)));
    if (upstream()["functions"].contains(name)) return call(name, a);
    if (name.starts_with("os.") || name == "gcs_utils.add_trailing_slash" ||
        name == "first_existing")
      return path_function(name, a);
    if (name.starts_with("jax.")) return device_function(name);
    if (name == "now") {
      reads_.insert("the time");
      return now();
    }
    if (name == "check_template") return check_template(str(a.at(0)));
    if (name == "max_utils.get_num_slices") return slices(a.at(0));
    if (name == "accelerator_to_spec_map.get_system_characteristics") return devices_of_slice(a[0]);
    if (name.starts_with("elastic_utils.")) return {};
    return plain_function(name, a);
  }

  Value device_function(const std::string& name) {
    reads_.insert("the devices of this process");
    if (name == "jax.devices") return List(static_cast<std::size_t>(context_.around.devices));
    if (name == "jax.local_device_count") return context_.around.devices;
    STRATA_CHECK(name == "jax.distributed.is_initialized", "a function of devices: {}", name);
    return context_.around.distributed;
  }

  static Value is_instance(const Value& value, const Json& type) {
    // Types are names, or a tuple of names.
    if (type[0] == "tuple") {
      for (std::size_t i = 1; i < type.size(); ++i)
        if (truth(is_instance(value, type[i]))) return true;
      return false;
    }
    const std::string& name = type[1].get_ref<const std::string&>();
    if (name == "tuple") return value.list() != nullptr;
    return type_name(value) == name || (name == "int" && value.as<bool>() != nullptr);
  }

  Value path_function(const std::string& name, const List& a) {
    namespace fs = std::filesystem;
    if (name == "os.path.join") return join_paths(a);
    if (name == "os.environ.get") {
      reads_.insert("$" + str(a.at(0)));
      const char* found = context_.around.variable(str(a.at(0)));
      return found ? Value(found) : Value();
    }
    if (name == "gcs_utils.add_trailing_slash")
      return str(a.at(0)).ends_with("/") ? str(a[0]) : str(a[0]) + "/";
    if (name == "os.path.isabs") return str(a.at(0)).starts_with("/");
    if (name == "os.path.basename") return str(a.at(0)).substr(str(a[0]).rfind('/') + 1);
    std::error_code ignored;
    if (name == "os.path.exists") return fs::exists(str(a.at(0)), ignored);
    // The first of these paths that is there; MaxText's own assets are known by name.
    for (const Value& path : elements(a.at(0)))
      if (is_asset(str(path)) || fs::exists(str(path), ignored)) return path;
    return a.at(1);
  }

  static bool is_asset(const std::string& path) {
    constexpr std::string_view kFolder = "maxtext/assets/tokenizers/";
    if (!path.starts_with(kFolder)) return false;
    const Json& assets = upstream()["assets"];
    return std::find(assets.begin(), assets.end(), path.substr(kFolder.size())) != assets.end();
  }

  static Value check_template(const std::string& text) {
    if (const auto parsed = tokenizer::ChatTemplate::parse(text); !parsed)
      throw Refused("ValueError", fmt::format("Specified chat_template is invalid: {}",
                                              parsed.status().message()));
    return {};
  }

  static Value mesh_config(const std::string& rule) {
    const Json& files = upstream()["files"];
    const std::string path = "custom_mesh_and_rule/" + rule + ".yml";
    if (!files.contains(path))
      throw Refused("ValueError", fmt::format("Custom mesh config file not found at {}", path));
    return from_json(files[path]);
  }

  static Value slices(const Value& keys) {
    const Value& given = keys.dict()->at("num_slices");
    if (!(given == Value(-1))) return given;
    const Value& topology = keys.dict()->at("compile_topology_num_slices");
    return number(topology) > 0 ? topology : Value(1);
  }

  static Value devices_of_slice(const Value& name) {
    const Json& topologies = upstream()["topologies"];
    if (const auto found = topologies.find(str(name)); found != topologies.end())
      return found->get<std::int64_t>();
    throw Refused("ValueError", fmt::format("Invalid compile topology: {}.", str(name)));
  }

  static Value plain_function(const std::string& name, const List& a) {
    if (name == "int") return to_int(a.at(0));
    if (name == "float") return to_float(a.at(0));
    if (name == "len") return length(a.at(0));
    if (name == "list" || name == "tuple") return List(elements(a.at(0)));
    if (name == "abs") return number(a.at(0)) < 0 ? operate("-", 0, a[0]) : a[0];
    if (name == "max") return compare(a.at(0), ">=", a.at(1)) ? a[0] : a[1];
    if (name == "divmod") return List{operate("//", a.at(0), a.at(1)), operate("%", a[0], a[1])};
    if (name == "math.ceil") return static_cast<std::int64_t>(std::ceil(arithmetic(a.at(0))));
    if (name == "math.floor") return static_cast<std::int64_t>(std::floor(arithmetic(a.at(0))));
    if (name == "math.log2") {
      if (arithmetic(a.at(0)) <= 0) throw Refused("ValueError", "expected a positive input");
      return std::log2(arithmetic(a[0]));
    }
    if (name == "range") {
      List out;
      for (std::int64_t i = 0; i < integer(a.at(0)); ++i) out.push_back(i);
      return out;
    }
    return list_function(name, elements(a.at(0)), a);
  }

  static Value list_function(const std::string& name, List of, const List& a) {
    if (name == "any") return std::any_of(of.begin(), of.end(), truth);
    if (name == "all") return std::all_of(of.begin(), of.end(), truth);
    if (name == "sorted") {
      std::sort(of.begin(), of.end(),
                [](const Value& x, const Value& y) { return str(x) < str(y); });
      return of;
    }
    if (name == "zip") {
      const List other = elements(a.at(1));
      List out;
      for (std::size_t i = 0; i < std::min(of.size(), other.size()); ++i)
        out.push_back(List{of[i], other[i]});
      return out;
    }
    STRATA_CHECK(name == "sum" || name == "prod", "a function of validators: {}", name);
    Value out = name == "sum" ? 0 : 1;
    for (const Value& v : of) out = operate(name == "sum" ? "+" : "*", out, v);
    return out;
  }

  static Value to_int(const Value& value) {
    if (is_integer(value)) return integer(value);
    if (const auto* d = value.as<double>()) return static_cast<std::int64_t>(*d);
    try {
      std::size_t read = 0;
      const std::string text = str(value);
      const std::int64_t out = std::stoll(text, &read);
      if (read == text.size()) return out;
    } catch (const std::exception&) {
    }
    throw Refused("ValueError",
                  fmt::format("invalid literal for int() with base 10: {}", repr(value)));
  }

  static Value to_float(const Value& value) {
    if (!value.text()) return arithmetic(value);
    try {
      return std::stod(*value.text());
    } catch (const std::exception&) {
      throw Refused("ValueError",
                    fmt::format("could not convert string to float: {}", repr(value)));
    }
  }

  static Value length(const Value& value) {
    if (const List* list = value.list()) return static_cast<std::int64_t>(list->size());
    if (const Dict* dict = value.dict()) return static_cast<std::int64_t>(dict->size());
    if (value.text()) return static_cast<std::int64_t>(value.text()->size());
    type_error(fmt::format("object of type '{}' has no len()", type_name(value)));
  }

  const RuleContext& context_;
  Reads reads_, control_;
  std::optional<Value> returned_;
  bool broken_ = false;
};

}  // namespace

void run_validators(const RuleContext& context) {
  Machine machine(context);
  for (const Json& name : upstream()["validators"]) machine.call(name.get<std::string>(), {});
}

}  // namespace strata::train::maxtext
