#include "strata/ir/graph.h"

#include <fmt/format.h>

#include <unordered_set>

#include "strata/base/error.h"

namespace strata::ir {

std::string Location::text() const {
  return !name_       ? std::string()
         : line_ == 0 ? *name_
                      : fmt::format("{}:{}:{}", *name_, line_, column_);
}

Block* Value::block() const {
  return is_argument_ ? block_ : op_ != nullptr ? op_->block() : nullptr;
}

Regions::Regions(Blocks blocks)
    : blocks_(blocks.empty() ? nullptr : std::make_unique<Blocks>(std::move(blocks))) {}
Regions::Regions(Regions&&) noexcept = default;
Regions& Regions::operator=(Regions&&) noexcept = default;
Regions::~Regions() = default;

void Regions::clear() { blocks_.reset(); }

void Regions::push_back(std::unique_ptr<Block> block) {
  if (!blocks_) blocks_ = std::make_unique<Blocks>();
  blocks_->push_back(std::move(block));
}

Op::Op(const OpInfo& info, Values operand_values, Attrs attributes,
       std::vector<std::unique_ptr<Block>> blocks, std::vector<Type> results, Location location)
    : operands(operand_values),
      attrs(std::move(attributes)),
      regions(std::move(blocks)),
      where(std::move(location)),
      info_(&info),
      num_results_(static_cast<int>(results.size())) {
  if (num_results_ > 1) others_ = std::make_unique<Value[]>(results.size() - 1);
  for (int i = 0; i < num_results_; ++i) {
    Value& v = *result(i);
    v.type_ = std::move(results[static_cast<std::size_t>(i)]);
    v.op_ = this;
    v.index_ = i;
  }
}
Op::~Op() = default;

const std::string& Op::name() const { return info_->name; }

Values Op::results() const {
  Values out;
  out.reserve(static_cast<std::size_t>(num_results_));
  for (int i = 0; i < num_results_; ++i) out.push_back(result(i));
  return out;
}

Value* Block::add_argument(Type type, std::string hint) {
  auto v = std::make_unique<Value>();
  v->type_ = std::move(type);
  v->block_ = this;
  v->is_argument_ = true;
  v->index_ = num_arguments();
  v->set_hint(std::move(hint));
  arguments_.push_back(std::move(v));
  return arguments_.back().get();
}

Values Block::argument_values() const {
  Values out;
  for (const auto& a : arguments_) out.push_back(a.get());
  return out;
}

void Block::filter_arguments(const std::vector<bool>& keep) {
  STRATA_CHECK(keep.size() == arguments_.size());
  std::vector<std::unique_ptr<Value>> kept;
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) {
      arguments_[i]->index_ = static_cast<int>(kept.size());
      kept.push_back(std::move(arguments_[i]));
    }
  arguments_ = std::move(kept);
}

Op* Block::append(std::unique_ptr<Op> op) {
  op->block_ = this;
  ops_.push_back(std::move(op));
  return ops_.back().get();
}

std::vector<Type> Block::result_types() const {
  std::vector<Type> out;
  for (Value* v : results) out.push_back(v->type());
  return out;
}

Function& Module::add(std::string function_name) {
  STRATA_CHECK(find(function_name) == nullptr, "function @{} twice", function_name);
  functions.push_back(std::make_unique<Function>(std::move(function_name)));
  return *functions.back();
}

Function* Module::find(std::string_view function_name) const {
  for (const auto& f : functions)
    if (f->name == function_name) return f.get();
  return nullptr;
}

Function* Module::entry() const {
  if (Function* f = find("main")) return f;
  for (const auto& f : functions)
    if (f->is_public) return f.get();
  return nullptr;
}

Registry& Registry::global() {
  static Registry registry;
  return registry;
}

void Registry::add(const OpInfo& info) {
  STRATA_CHECK(by_name_.emplace(info.name, &info).second, "operation {} registered twice",
               info.name);
}

const OpInfo* Registry::find(std::string_view op_name) const {
  auto it = by_name_.find(op_name);
  return it == by_name_.end() ? nullptr : it->second;
}

std::vector<const OpInfo*> Registry::all() const {
  std::vector<const OpInfo*> out;
  for (const auto& [key, info] : by_name_) out.push_back(info);
  return out;
}

Op& Builder::create(const OpInfo& info, Values operands, Attrs attrs,
                    std::vector<std::unique_ptr<Block>> regions) {
  STRATA_CHECK(info.infer != nullptr, "{} cannot infer its types", info.name);
  std::vector<Type> types;
  try {
    types = info.infer(operands, attrs, regions);
  } catch (Error& e) {
    throw e.at(where_.text());
  }
  return create(info, std::move(operands), std::move(attrs), std::move(regions), std::move(types));
}

Op& Builder::create(const OpInfo& info, Values operands, Attrs attrs,
                    std::vector<std::unique_ptr<Block>> regions, std::vector<Type> results) {
  for (Value* v : operands) STRATA_CHECK(v != nullptr, "null operand of {}", info.name);
  auto op = std::make_unique<Op>(info, std::move(operands), std::move(attrs), std::move(regions),
                                 std::move(results), where_);
  if (info.verify) {
    try {
      info.verify(*op);
    } catch (Error& e) {
      throw e.at(where_.text());
    }
  }
  return *block_->append(std::move(op));
}

Op& Builder::create(std::string_view op_name, Values operands, Attrs attrs,
                    std::vector<std::unique_ptr<Block>> regions) {
  const OpInfo* info = Registry::global().find(op_name);
  STRATA_CHECK(info != nullptr, "no operation {}", op_name);
  return create(*info, std::move(operands), std::move(attrs), std::move(regions));
}

Value* ValueMap::find(const Value* from) const {
  auto it = map_.find(from);
  return it == map_.end() ? nullptr : it->second;
}

void ValueMap::set(const Value* from, Value* to) { map_[from] = to; }

Values ValueMap::operator()(std::span<Value* const> from) const {
  Values out;
  out.reserve(from.size());
  for (Value* v : from) out.push_back((*this)(v));
  return out;
}

namespace {

/// Of the map what the region takes from outside: a copy of all for each region would cost the
/// square of a long block.
ValueMap for_region(const Block& region, const ValueMap& map) {
  ValueMap out;
  for (const Value* v : captures(region))
    if (Value* image = map.find(v)) out.set(v, image);
  return out;
}

}  // namespace

Op& clone(Builder& b, const Op& op, ValueMap& map) {
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& r : op.regions) regions.push_back(clone(*r, for_region(*r, map)));
  std::vector<Type> types;
  for (int i = 0; i < op.num_results(); ++i) types.push_back(op.result(i)->type());
  Location kept = b.location();
  if (!op.where.empty()) b.set_location(op.where);
  Op& copy = b.create(op.info(), map(op.operands), op.attrs, std::move(regions), std::move(types));
  b.set_location(kept);
  for (int i = 0; i < op.num_results(); ++i) {
    copy.result(i)->set_hint(op.result(i)->hint());
    map.set(op.result(i), copy.result(i));
  }
  return copy;
}

std::unique_ptr<Block> clone(const Block& block, ValueMap map) {
  auto copy = std::make_unique<Block>();
  for (const auto& a : block.arguments())
    map.set(a.get(), copy->add_argument(a->type(), a->hint()));
  Builder b(*copy);
  for (const auto& op : block.ops()) clone(b, *op, map);
  copy->results = map(block.results);
  return copy;
}

Values inline_block(Builder& b, const Block& block, std::span<Value* const> arguments,
                    ValueMap map) {
  STRATA_CHECK(static_cast<int>(arguments.size()) == block.num_arguments(),
               "{} arguments for a block of {}", arguments.size(), block.num_arguments());
  for (int i = 0; i < block.num_arguments(); ++i)
    map.set(block.argument(i), arguments[static_cast<std::size_t>(i)]);
  for (const auto& op : block.ops()) clone(b, *op, map);
  return map(block.results);
}

namespace {

void find_captures(const Block& block, std::unordered_set<const Value*>& inside,
                   std::unordered_set<const Value*>& seen, Values& out) {
  for (const auto& a : block.arguments()) inside.insert(a.get());
  auto use = [&](Value* v) {
    if (!inside.count(v) && seen.insert(v).second) out.push_back(v);
  };
  for (const auto& op : block.ops()) {
    for (Value* v : op->operands) use(v);
    for (const auto& r : op->regions) find_captures(*r, inside, seen, out);
    for (Value* v : op->results()) inside.insert(v);
  }
  for (Value* v : block.results) use(v);
}

void mark_live(const Block& block, std::unordered_set<const Value*>& live);

bool is_live(const Op& op, const std::unordered_set<const Value*>& live) {
  if (op.info().has_effect) return true;
  for (int i = 0; i < op.num_results(); ++i)
    if (live.count(op.result(i))) return true;
  for (const auto& r : op.regions)
    for (const auto& inner : r->ops())
      if (inner->info().has_effect || is_live(*inner, {})) return true;
  return false;
}

void mark_live(const Block& block, std::unordered_set<const Value*>& live) {
  for (Value* v : block.results) live.insert(v);
  for (auto it = block.ops().rbegin(); it != block.ops().rend(); ++it) {
    const Op& op = **it;
    if (!is_live(op, live)) continue;
    for (Value* v : op.operands) live.insert(v);
    for (const auto& r : op.regions) mark_live(*r, live);
  }
}

void sweep(Block& block, const std::unordered_set<const Value*>& live) {
  std::vector<std::unique_ptr<Op>> kept, dead;
  for (auto& op : block.ops()) {
    if (is_live(*op, live)) {
      for (auto& r : op->regions) sweep(*r, live);
      kept.push_back(std::move(op));
    } else {
      dead.push_back(std::move(op));
    }
  }
  while (!dead.empty()) dead.pop_back();  // users before producers
  block.ops() = std::move(kept);
}

}  // namespace

Values captures(const Block& block) {
  std::unordered_set<const Value*> inside, seen;
  Values out;
  find_captures(block, inside, seen, out);
  return out;
}

Values close_over(Block& block) {
  Values outside = captures(block);
  ValueMap map;
  for (Value* v : outside) map.set(v, block.add_argument(v->type(), v->hint()));
  replace_uses(block, map);
  return outside;
}

void remove_dead(Block& block) {
  std::unordered_set<const Value*> live;
  mark_live(block, live);
  sweep(block, live);
}

void replace_uses(Block& block, const ValueMap& map) {
  for (auto& op : block.ops()) {
    op->operands = map(op->operands);
    for (auto& r : op->regions) replace_uses(*r, map);
  }
  block.results = map(block.results);
}

void walk(const Block& block, const std::function<void(const Op&)>& f) {
  for (const auto& op : block.ops()) {
    f(*op);
    for (const auto& r : op->regions) walk(*r, f);
  }
}

}  // namespace strata::ir
