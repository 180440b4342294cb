#include "strata/tokenizer/chat_template/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace strata::tokenizer::jinja {

struct Evaluator::Deeper {
  explicit Deeper(Evaluator& evaluator) : e(evaluator) {
    if (++e.depth_ > 4 * e.limits_.depth) fail("nested or called too deep");
  }
  ~Deeper() { --e.depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  Evaluator& e;
};

void Evaluator::step(std::int64_t count) {
  if ((steps_ += count) > limits_.steps)
    fail(fmt::format("the template takes more than {} steps", limits_.steps));
}

void fail_undefined(const Value& v) {
  const std::string& name = std::get<Undefined>(v.data()).name;
  const bool is_sentence = name.find(" has no ") != std::string::npos || name.ends_with("unsafe");
  fail(is_sentence ? name : name + " is undefined");
}

namespace {

Value range(const Arguments& a, std::int64_t most) {
  if (!a.named.empty() || a.positional.empty() || a.positional.size() > 3)
    fail("range takes one to three integers");
  std::int64_t x[3] = {0, 0, 1};
  for (std::size_t i = 0; i < a.positional.size(); ++i) {
    if (!a.positional[i].is_int() && !a.positional[i].is_bool())
      fail(fmt::format("range takes integers, not {}", a.positional[i].type_name()));
    x[i] = a.positional[i].integer();
  }
  if (a.positional.size() == 1) std::swap(x[0], x[1]);
  if (x[2] == 0) fail("range() arg 3 must not be zero");
  List out;
  const auto steps = static_cast<double>(x[1]) - static_cast<double>(x[0]);
  if (steps / static_cast<double>(x[2]) > static_cast<double>(most))
    fail(fmt::format("Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).", most));
  for (std::int64_t i = x[0]; x[2] > 0 ? i < x[1] : i > x[1]; i += x[2]) out.push_back(i);
  return out;
}

Dict dict_of(const Arguments& a, const char* name) {
  Dict d;
  if (a.positional.size() > 1) fail(fmt::format("{} takes one argument at most", name));
  if (!a.positional.empty()) {
    const Value& given = a.positional[0];
    if (given.is_dict()) {
      d = given.dict();
    } else {
      if (!given.is_sequence()) fail(fmt::format("{} takes a mapping or pairs", name));
      for (const Value& pair : given.items()) {
        if (!pair.is_sequence() || pair.items().size() != 2)
          fail(fmt::format("{} takes a mapping or pairs", name));
        d.set(pair.items()[0], pair.items()[1]);
      }
    }
  }
  for (const auto& [key, v] : a.named) d.set(Text(key), v);
  return d;
}

}  // namespace

Text Evaluator::render(const Body& body, const Dict& variables) {
  auto globals = std::make_shared<Scope>();
  const auto add = [&](const char* name, std::function<Value(const Arguments&)> f) {
    globals->names[name] = Callable{name, std::move(f)};
  };
  add("range", [this](const Arguments& a) { return range(a, limits_.range); });
  add("dict", [](const Arguments& a) { return dict_of(a, "dict"); });
  add("namespace", [](const Arguments& a) {
    auto n = std::make_shared<Namespace>();
    n->values = dict_of(a, "namespace");
    for (const auto& [key, v] : n->values.items)
      if (key.is_text() && key.text().bytes.starts_with('_'))
        fail(fmt::format("a namespace has no names that begin with _, such as '{}'",
                         key.text().bytes));
    return Value(n);
  });
  add("raise_exception", [](const Arguments& a) -> Value {
    const Bound b("raise_exception", a, {"message"});
    fail(to_text(b.get("message")).bytes);
  });
  add("strftime_now", [this](const Arguments& a) {
    const std::string format = Bound("strftime_now", a, {"format"}).text("format", "");
    std::string out(format.size() * 8 + 256, '\0');
    out.resize(std::strftime(out.data(), out.size(), format.c_str(), &now_));
    return Value(Text(out));
  });
  add("joiner", [](const Arguments& a) {
    const Value between = Bound("joiner", a, {"sep"}).get("sep", Text(", "));
    return Callable{"joiner", [between, used = std::make_shared<bool>(false)](const Arguments&) {
                      return std::exchange(*used, true) ? between : Value(Text());
                    }};
  });
  scope_ = std::make_shared<Scope>();
  scope_->parent = globals;
  for (const auto& [key, v] : variables.items) globals->names[key.text().bytes] = v;
  Text out;
  out_ = &out;
  run(body);
  kept_.clear();
  scope_ = nullptr;
  return out;
}

void Evaluator::write(const Text& text) {
  if (out_->size() + text.size() > limits_.output_bytes)
    fail(fmt::format("the template writes more than {} bytes", limits_.output_bytes));
  out_->append(text);
}

Evaluator::Flow Evaluator::run(const Body& body) {
  for (const auto& s : body) try {
      if (const Flow flow = run(*s); flow != Flow::normal) return flow;
    } catch (TemplateError& e) {
      if (e.line == 0) e.line = s->line;
      throw;
    }
  return Flow::normal;
}

Text Evaluator::captured(const Body& body) {
  Text out;
  Text* const before = std::exchange(out_, &out);
  const bool top = std::exchange(at_top_, false);
  const auto scope = scope_;
  scope_ = std::make_shared<Scope>();
  scope_->parent = scope;
  const auto back = [&] { out_ = before, at_top_ = top, scope_ = scope; };
  try {
    run(body);
  } catch (...) {
    back();
    throw;
  }
  back();
  return out;
}

Evaluator::Flow Evaluator::run(const Statement& s) {
  using Kind = Statement::Kind;
  const Deeper deeper(*this);
  step();
  switch (s.kind) {
    case Kind::data: write(Text(s.text)); break;
    case Kind::output: write(to_text(evaluate(*s.expression))); break;
    case Kind::condition:
      for (const auto& [test, body] : s.branches)
        if (evaluate(*test).truth()) return run(body);
      return run(s.alternative);
    case Kind::loop: return loop(s, elements(evaluate(*s.expression)), 0);
    case Kind::assignment: assign(s.target, evaluate(*s.expression)); break;
    case Kind::capture:
      assign(s.target, through_filters(s.expression.get(), captured(s.body)));
      break;
    case Kind::filter: write(to_text(through_filters(s.expression.get(), captured(s.body)))); break;
    case Kind::macro:
      kept_.push_back(scope_);
      scope_->names[s.text] = macro(s, s.text);
      break;
    case Kind::call_block: write(to_text(call_block(s))); break;
    case Kind::scope: {
      std::vector<Value> values;
      for (const auto& [target, e] : s.assignments) values.push_back(evaluate(*e));
      const auto outer = scope_;
      scope_ = std::make_shared<Scope>();
      scope_->parent = outer;
      for (std::size_t i = 0; i < values.size(); ++i) assign(s.assignments[i].first, values[i]);
      const Flow flow = run(s.body);
      scope_ = outer;
      return flow;
    }
    case Kind::generation: {
      const std::size_t begin = out_->size();
      write(captured(s.body));
      if (at_top_) generation_.emplace_back(begin, out_->size());
      break;
    }
    case Kind::leave: return Flow::leave;
    case Kind::next: return Flow::next;
  }
  return Flow::normal;
}

List Evaluator::elements(const Value& v) {
  if (v.is_undefined()) return {};
  if (v.is_sequence()) return v.items();
  List out;
  if (v.is_dict()) {
    for (const auto& [key, x] : v.dict().items) out.push_back(key);
    return out;
  }
  if (v.is_text()) {
    step(size_of(v));
    const Text& t = v.text();
    for (std::size_t i = 0; i < t.size();) {
      std::size_t end = i + 1;
      while (end < t.size() && (t.bytes[end] & 0xc0) == 0x80) ++end;
      out.push_back(t.substr(i, end - i));
      i = end;
    }
    return out;
  }
  fail(fmt::format("'{}' object is not iterable", v.type_name()));
}

Value Evaluator::loop_object(const Statement& s, const std::shared_ptr<const List>& all,
                             std::size_t i, int depth) {
  const auto n = static_cast<std::int64_t>(all->size()), k = static_cast<std::int64_t>(i);
  auto loop = std::make_shared<Namespace>();
  loop->is_fixed = true;
  const auto set = [&](const char* name, Value v) {
    loop->values.items.emplace_back(Text(name), std::move(v));
  };
  set("index", k + 1);
  set("index0", k);
  set("revindex", n - k);
  set("revindex0", n - k - 1);
  set("first", k == 0);
  set("last", k + 1 == n);
  set("length", n);
  set("depth", std::int64_t{depth} + 1);
  set("depth0", std::int64_t{depth});
  set("previtem", i > 0 ? (*all)[i - 1] : Value(Undefined{"there is no previous item"}));
  set("nextitem", i + 1 < all->size() ? (*all)[i + 1] : Value(Undefined{"there is no next item"}));
  set("cycle", Callable{"cycle", [k](const Arguments& a) {
                          if (a.positional.empty()) fail("no items for cycling given");
                          return a.positional[static_cast<std::size_t>(k) % a.positional.size()];
                        }});
  if (s.is_recursive)
    set("__call__", Callable{"loop", [this, &s, depth](const Arguments& a) {
                               const Bound b("loop", a, {"iterable"});
                               const Deeper deeper(*this);
                               Text out;
                               Text* const before = std::exchange(out_, &out);
                               const auto scope = scope_;
                               try {
                                 loop_again(s, b.get("iterable"), depth + 1);
                               } catch (...) {
                                 out_ = before, scope_ = scope;
                                 throw;
                               }
                               out_ = before, scope_ = scope;
                               return Value(out);
                             }});
  return loop;
}

void Evaluator::loop_again(const Statement& s, const Value& over, int depth) {
  loop(s, elements(over), depth);
}

Evaluator::Flow Evaluator::loop(const Statement& s, const List& given, int depth) {
  const auto outer = scope_;
  // `changed` remembers from one turn to the next.
  auto last = std::make_shared<std::optional<List>>();
  const Value changed =
      Callable{"changed", [last](const Arguments& a) {
                 const bool same = last->has_value() && equal(Value(**last), Value(a.positional));
                 *last = a.positional;
                 return Value(!same);
               }};
  List all = given;
  if (s.test != nullptr) {
    all.clear();
    for (const Value& v : given) {
      step();
      scope_ = std::make_shared<Scope>();
      scope_->parent = outer;
      assign(s.target, v);
      if (evaluate(*s.test).truth()) all.push_back(v);
    }
    scope_ = outer;
  }
  const auto items = std::make_shared<const List>(std::move(all));
  for (std::size_t i = 0; i < items->size(); ++i) {
    step();
    scope_ = std::make_shared<Scope>();
    scope_->parent = outer;
    assign(s.target, (*items)[i]);
    Value loop = loop_object(s, items, i, depth);
    loop.name_space().values.items.emplace_back(Text("changed"), changed);
    scope_->names["loop"] = loop;
    const Flow flow = run(s.body);
    scope_ = outer;
    if (flow == Flow::leave) break;
  }
  if (items->empty() && s.has_alternative) return run(s.alternative);
  return Flow::normal;
}

void Evaluator::assign(const Target& target, const Value& value) {
  if (!target.parts.empty()) {
    const List values = elements(value);
    if (values.size() != target.parts.size())
      fail(fmt::format("{} values to unpack, expected {}", values.size(), target.parts.size()));
    for (std::size_t i = 0; i < values.size(); ++i) assign(target.parts[i], values[i]);
  } else if (!target.attribute.empty()) {
    const Value n = lookup(target.name);
    if (!n.is_namespace() || n.name_space().is_fixed)
      fail(fmt::format("cannot assign attribute on non-namespace object '{}'", target.name));
    if (target.attribute.starts_with('_'))
      fail(fmt::format("a namespace has no names that begin with _, such as '{}'",
                       target.attribute));
    n.name_space().values.set(Text(target.attribute), value);
  } else {
    scope_->names[target.name] = value;
  }
}

Value Evaluator::macro(const Statement& s, const std::string& name) {
  const std::weak_ptr<Scope> made_in = scope_;
  return Callable{
      name, [this, &s, name, made_in](const Arguments& given) {
        const Deeper deeper(*this);
        const auto outer = scope_;
        auto inside = std::make_shared<Scope>();
        inside->parent = made_in.lock();
        if (inside->parent == nullptr) fail(name + " outlives the block it is of");
        std::vector<std::string_view> names;
        for (const Parameter& p : s.parameters) names.push_back(p.name);
        Arguments bound = given;
        List more;
        Dict named;
        if (bound.positional.size() > names.size()) {
          more.assign(bound.positional.begin() + static_cast<std::ptrdiff_t>(names.size()),
                      bound.positional.end());
          bound.positional.resize(names.size());
        }
        std::erase_if(bound.named, [&](const auto& n) {
          const bool unknown = std::find(names.begin(), names.end(), n.first) == names.end();
          if (unknown) named.set(Text(n.first), n.second);
          return unknown;
        });
        if (const Value* caller = named.find(std::string_view("caller"))) {
          inside->names["caller"] = *caller;
          std::erase_if(named.items,
                        [](const auto& n) { return n.first.text().bytes == "caller"; });
        }
        const Bound b(name, bound, names);
        inside->names["varargs"] = Value(Sequence{more, true});
        inside->names["kwargs"] = Value(named);
        scope_ = inside;
        const auto back = [&] { scope_ = outer; };
        try {
          for (const Parameter& p : s.parameters)
            inside->names[p.name] =
                b.has(p.name) ? b.get(p.name)
                : p.value != nullptr
                    ? evaluate(*p.value)
                    : Value(Undefined{fmt::format("parameter '{}' was not provided", p.name)});
          Text out = captured(s.body);
          back();
          return Value(std::move(out));
        } catch (...) {
          back();
          throw;
        }
      }};
}

Value Evaluator::call_block(const Statement& s) {
  kept_.push_back(scope_);
  const Value caller = macro(s, "caller");
  const Value f = evaluate(*s.expression->parts[0]);
  Arguments a = arguments(s.expression->arguments);
  a.named.emplace_back("caller", caller);
  return call(f, a);
}

Value Evaluator::lookup(const std::string& name) const {
  for (const Scope* s = scope_.get(); s != nullptr; s = s->parent.get())
    if (const auto it = s->names.find(name); it != s->names.end()) return it->second;
  return Undefined{"'" + name + "'"};
}

Value Evaluator::through_filters(const Expression* e, Value value) {
  if (e == nullptr) return value;
  return filter(e->text, through_filters(e->parts[0].get(), std::move(value)),
                arguments(e->arguments));
}

Arguments Evaluator::arguments(const CallArguments& given) {
  Arguments out;
  for (const ExpressionPtr& e : given.positional) out.positional.push_back(evaluate(*e));
  if (given.star != nullptr)
    for (Value& v : elements(evaluate(*given.star))) out.positional.push_back(std::move(v));
  for (const auto& [name, e] : given.named) out.named.emplace_back(name, evaluate(*e));
  if (given.double_star != nullptr) {
    const Value v = evaluate(*given.double_star);
    if (!v.is_dict()) fail("** takes a mapping");
    for (const auto& [key, x] : v.dict().items) {
      if (!key.is_text()) fail("keywords must be strings");
      out.named.emplace_back(key.text().bytes, x);
    }
  }
  return out;
}

Value Evaluator::call(const Value& f, const Arguments& arguments) {
  step();
  if (f.is_undefined()) fail_undefined(f);
  if (f.is_namespace())
    if (const Value* again = f.name_space().values.find(std::string_view("__call__")))
      return again->callable().call(arguments);
  if (!f.is_callable()) fail(fmt::format("'{}' object is not callable", f.type_name()));
  return f.callable().call(arguments);
}

Value Evaluator::attribute(const Value& object, std::string_view name) {
  if (object.is_undefined()) fail_undefined(object);
  if (name.starts_with("__"))
    return Undefined{
        fmt::format("access to attribute '{}' of '{}' object is unsafe", name, object.type_name())};
  if (object.is_namespace()) {
    if (const Value* v = object.name_space().values.find(name)) return *v;
  } else {
    if (Value m = method(object, name); !m.is_undefined()) return m;
    if (object.is_dict())
      if (const Value* v = object.dict().find(name)) return *v;
    if (object.is_sequence() && object.sequence().is_group && (name == "grouper" || name == "list"))
      return object.items()[name == "list" ? 1 : 0];
  }
  return Undefined{fmt::format("'{} object' has no attribute '{}'", object.type_name(), name)};
}

Value Evaluator::item(const Value& object, const Value& key) {
  if (object.is_undefined()) fail_undefined(object);
  if (object.is_dict()) {
    if (const Value* v = object.dict().find(key)) return *v;
  } else if (((object.is_sequence() && !object.sequence().is_generator) || object.is_text()) &&
             (key.is_int() || key.is_bool())) {
    const std::int64_t n = size_of(object), i = key.integer();
    if (i >= -n && i < n) {
      if (object.is_sequence()) return object.items()[static_cast<std::size_t>(i < 0 ? i + n : i)];
      const std::int64_t at = i < 0 ? i + n : i;
      return sliced(object, at, at + 1, None());
    }
  }
  if (key.is_text()) return attribute(object, key.text().bytes);
  return Undefined{
      fmt::format("'{} object' has no attribute {}", object.type_name(), repr(key).bytes)};
}

Value Evaluator::evaluate(const Expression& e) {
  using Kind = Expression::Kind;
  const Deeper deeper(*this);
  step();
  const auto part = [&](std::size_t i) { return evaluate(*e.parts[i]); };
  switch (e.kind) {
    case Kind::constant: return e.value;
    case Kind::name: return lookup(e.text);
    case Kind::list:
    case Kind::tuple: {
      Sequence s;
      for (std::size_t i = 0; i < e.parts.size(); ++i) s.items.push_back(part(i));
      s.is_tuple = e.kind == Kind::tuple;
      return s;
    }
    case Kind::dict: {
      Dict d;
      for (std::size_t i = 0; i < e.parts.size(); i += 2) {
        const Value key = part(i);
        if (key.is_sequence() ? !key.sequence().is_tuple : key.is_dict())
          fail(fmt::format("unhashable type: '{}'", key.type_name()));
        d.set(key, part(i + 1));
      }
      return d;
    }
    case Kind::attribute: return attribute(part(0), e.text);
    case Kind::item: return item(part(0), part(1));
    case Kind::slice: {
      const auto end = [&](std::size_t i) { return e.parts[i] ? part(i) : Value(None()); };
      const Value object = part(0);
      if (object.is_undefined()) fail_undefined(object);
      const Value from = end(1), to = end(2), by = end(3);
      return sliced(object, from, to, by);
    }
    case Kind::call: {
      const Value f = part(0);
      return call(f, arguments(e.arguments));
    }
    case Kind::filter: {
      const Value input = part(0);
      return filter(e.text, input, arguments(e.arguments));
    }
    case Kind::test: {
      const Value input = part(0);
      return test(e.text, input, arguments(e.arguments));
    }
    case Kind::negated: return !part(0).truth();
    case Kind::unary: {
      const Value v = part(0);
      if (v.is_undefined()) fail_undefined(v);
      if (!v.is_number())
        fail(fmt::format("bad operand type for unary {}: '{}'", e.text, v.type_name()));
      if (e.text == "+") return v.is_bool() ? Value(v.integer()) : v;
      if (v.is_float()) return -v.number();
      return operate("-", std::int64_t{0}, v);
    }
    case Kind::binary: {
      const Value a = part(0);
      Value out = operate(e.text, a, part(1));
      if (out.is_text()) {
        step(static_cast<std::int64_t>(out.text().size() / 64));
        if (out.text().size() > limits_.output_bytes)
          fail(fmt::format("a string grows beyond {} bytes", limits_.output_bytes));
      }
      if (out.is_sequence()) step(static_cast<std::int64_t>(out.items().size()));
      return out;
    }
    case Kind::both: {
      Value a = part(0);
      return a.truth() ? part(1) : a;
    }
    case Kind::either: {
      Value a = part(0);
      return a.truth() ? a : part(1);
    }
    case Kind::comparison: return comparison(e);
    case Kind::conditional:
      if (part(1).truth()) return part(0);
      if (e.parts[2] == nullptr)
        return Undefined{
            "the inline if-expression evaluated to false and no else section was defined"};
      return part(2);
    case Kind::concatenation: {
      Text out;
      for (std::size_t i = 0; i < e.parts.size(); ++i) out.append(to_text(part(i)));
      step(static_cast<std::int64_t>(out.size() / 64));
      if (out.size() > limits_.output_bytes)
        fail(fmt::format("a string grows beyond {} bytes", limits_.output_bytes));
      return out;
    }
  }
  fail("an expression of no kind");
}

Value Evaluator::comparison(const Expression& e) {
  Value left = evaluate(*e.parts[0]);
  for (std::size_t i = 0; i < e.operators.size(); ++i) {
    const std::string& op = e.operators[i];
    Value right = evaluate(*e.parts[i + 1]);
    const bool holds = op == "=="       ? equal(left, right)
                       : op == "!="     ? !equal(left, right)
                       : op == "in"     ? contains(right, left)
                       : op == "not in" ? !contains(right, left)
                       : op == "<"      ? less(left, right)
                       : op == ">"      ? less(right, left)
                       : op == "<="     ? less(left, right) || equal(left, right)
                                        : less(right, left) || equal(left, right);
    if (!holds) return false;
    left = std::move(right);
  }
  return true;
}

Bound::Bound(std::string_view function, const Arguments& given, std::vector<std::string_view> names)
    : function_(function) {
  if (given.positional.size() > names.size())
    fail(fmt::format("{} takes {} arguments at most, not {}", function, names.size(),
                     given.positional.size()));
  for (std::size_t i = 0; i < given.positional.size(); ++i)
    values_.emplace(names[i], given.positional[i]);
  for (const auto& [name, v] : given.named) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail(fmt::format("{} has no argument '{}'", function, name));
    if (!values_.emplace(name, v).second) fail(fmt::format("{} got '{}' twice", function, name));
  }
}
const Value* Bound::find(std::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}
Value Bound::get(std::string_view name, Value otherwise) const {
  const Value* v = find(name);
  return v != nullptr ? *v : otherwise;
}
std::int64_t Bound::integer(std::string_view name, std::int64_t otherwise) const {
  const Value* v = find(name);
  if (v == nullptr || v->is_none()) return otherwise;
  if (!v->is_int() && !v->is_bool())
    fail(fmt::format("{}: {} is no integer but '{}'", function_, name, v->type_name()));
  return v->integer();
}
std::string Bound::text(std::string_view name, std::string_view otherwise) const {
  const Value* v = find(name);
  if (v == nullptr) return std::string(otherwise);
  if (!v->is_text())
    fail(fmt::format("{}: {} is no string but '{}'", function_, name, v->type_name()));
  return v->text().bytes;
}
bool Bound::truth(std::string_view name, bool otherwise) const {
  const Value* v = find(name);
  return v != nullptr ? v->truth() : otherwise;
}

}  // namespace strata::tokenizer::jinja
