// The graph: values, operations, blocks, functions, modules.
//
// A `Block` is a list of operations in order, with arguments and results. Operations may hold
// blocks of their own ("regions", one block each); those may use values of the blocks around them,
// as in StableHLO. A function is a named block. Everything is owned from above: Module > Function >
// Block > Op > Value.
//
//   ir::Function f("main");
//   ir::Value* x = f.body.add_argument(Type(DType::f32, {4}), "x");
//   ir::Builder b(f.body);
//   f.body.results = {op::add(b, x, x)};
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "strata/ir/attr.h"

namespace strata::ir {

class Block;
class Op;
struct OpInfo;
struct TextFormat;

/// Where an operation came from: "program.cc:12", "program.mlir:3:17", or empty. Copies share the
/// name.
class Location {
 public:
  Location() = default;
  explicit Location(std::string text) {
    if (!text.empty()) name_ = Shared<std::string>::of(std::move(text));
  }
  /// A line and a column of a file.
  Location(Shared<std::string> file, std::uint32_t line, std::uint32_t column)
      : name_(std::move(file)), line_(line), column_(column) {}
  std::string text() const;
  bool empty() const { return !name_; }

 private:
  Shared<std::string> name_;
  std::uint32_t line_ = 0, column_ = 0;  // line 0: the name is all
};

/// One result of an operation or one argument of a block.
class Value {
 public:
  Value() = default;
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;

  const Type& type() const { return type_; }
  DType dtype() const { return type_.dtype(); }
  const Shape& shape() const { return type_.shape(); }
  int rank() const { return type_.rank(); }
  /// The operation that makes it, or null for a block argument.
  Op* op() const { return is_argument_ ? nullptr : op_; }
  /// The block whose argument it is, or in which its operation stands.
  Block* block() const;
  int index() const { return index_; }
  const std::string& hint() const {
    static const std::string none;
    return hint_ ? *hint_ : none;
  }
  void set_hint(std::string hint) {
    hint_ = hint.empty() ? Shared<std::string>() : Shared<std::string>::of(std::move(hint));
  }
  void set_type(Type type) { type_ = std::move(type); }

 private:
  friend class Op;
  friend class Block;
  Type type_;
  union {
    Op* op_ = nullptr;
    Block* block_;
  };
  Shared<std::string> hint_;
  int index_ = 0;
  bool is_argument_ = false;
};

using Values = std::vector<Value*>;

/// The values that an operation takes: as `Values`, but one or two need no memory of their own.
class Operands {
 public:
  Operands() = default;
  Operands(std::span<Value* const> values) { assign(values); }  // NOLINT
  Operands(const Values& values) { assign(values); }            // NOLINT
  Operands(Value* const* first, Value* const* last) { assign({first, last}); }
  Operands(std::initializer_list<Value*> values) { assign({values.begin(), values.size()}); }
  Operands(const Operands& other) { assign(other); }
  Operands(Operands&& other) noexcept { swap(other); }
  Operands& operator=(Operands other) noexcept {
    swap(other);
    return *this;
  }
  ~Operands() {
    if (size_ > kFew) delete[] many_;
  }
  operator Values() const { return {begin(), end()}; }  // NOLINT

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Value** data() { return size_ > kFew ? many_ : few_; }
  Value* const* data() const { return size_ > kFew ? many_ : few_; }
  Value** begin() { return data(); }
  Value** end() { return data() + size_; }
  Value* const* begin() const { return data(); }
  Value* const* end() const { return data() + size_; }
  Value*& operator[](std::size_t i) { return data()[i]; }
  Value* operator[](std::size_t i) const { return data()[i]; }
  Value* front() const { return data()[0]; }
  Value* back() const { return data()[size_ - 1]; }
  bool operator==(const Operands& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  static constexpr std::size_t kFew = 2;
  void assign(std::span<Value* const> values) {  // of an empty one
    size_ = static_cast<std::uint32_t>(values.size());
    if (size_ > kFew) many_ = new Value*[size_];
    std::copy(values.begin(), values.end(), data());
  }
  void swap(Operands& other) noexcept {
    std::swap(few_, other.few_);  // all of the union
    std::swap(size_, other.size_);
  }
  union {
    Value* few_[kFew] = {};
    Value** many_;
  };
  std::uint32_t size_ = 0;
};

/// The blocks of an operation: as a vector of them, but none takes one word.
class Regions {
 public:
  using Blocks = std::vector<std::unique_ptr<Block>>;
  Regions() = default;
  Regions(Blocks blocks);  // NOLINT
  Regions(Regions&&) noexcept;
  Regions& operator=(Regions&&) noexcept;
  ~Regions();

  std::size_t size() const { return blocks_ ? blocks_->size() : 0; }
  bool empty() const { return size() == 0; }
  std::unique_ptr<Block>* data() { return blocks_ ? blocks_->data() : nullptr; }
  const std::unique_ptr<Block>* data() const { return blocks_ ? blocks_->data() : nullptr; }
  std::unique_ptr<Block>* begin() { return data(); }
  std::unique_ptr<Block>* end() { return data() + size(); }
  const std::unique_ptr<Block>* begin() const { return data(); }
  const std::unique_ptr<Block>* end() const { return data() + size(); }
  std::unique_ptr<Block>& operator[](std::size_t i) { return data()[i]; }
  const std::unique_ptr<Block>& operator[](std::size_t i) const { return data()[i]; }
  const std::unique_ptr<Block>& front() const { return data()[0]; }
  const std::unique_ptr<Block>& back() const { return data()[size() - 1]; }
  void push_back(std::unique_ptr<Block> block);
  void clear();

 private:
  std::unique_ptr<Blocks> blocks_;
};

/// One operation. What is true of its kind stands in `info` (and, from the op room on, in
/// op::OpDef).
class Op {
 public:
  Op(const OpInfo& info, Values operands, Attrs attrs, std::vector<std::unique_ptr<Block>> regions,
     std::vector<Type> results, Location where);
  ~Op();
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  const OpInfo& info() const { return *info_; }
  const std::string& name() const;
  Operands operands;
  Attrs attrs;
  Regions regions;
  Location where;

  Value* operand(int i) const { return operands[static_cast<std::size_t>(i)]; }
  int num_results() const { return num_results_; }
  Value* result(int i = 0) const {
    return i == 0 ? &first_ : &others_[static_cast<std::size_t>(i) - 1];
  }
  Values results() const;
  Block* block() const { return block_; }
  Block& region(int i) const { return *regions[static_cast<std::size_t>(i)]; }
  template <class T>
  const T& attr(std::string_view name) const {
    return attrs.get<T>(name);
  }

 private:
  friend class Block;
  const OpInfo* info_;
  Block* block_ = nullptr;
  mutable Value
      first_;  // most have one result; whoever may see an operation may write to its results
  std::unique_ptr<Value[]> others_;
  int num_results_ = 0;
};

/// Operations in order. `results` are what the block returns.
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  Value* add_argument(Type type, std::string hint = {});
  const std::vector<std::unique_ptr<Value>>& arguments() const { return arguments_; }
  Value* argument(int i) const { return arguments_[static_cast<std::size_t>(i)].get(); }
  int num_arguments() const { return static_cast<int>(arguments_.size()); }
  Values argument_values() const;
  /// Keeps only the arguments for which `keep` is true (they must be unused otherwise) and
  /// renumbers.
  void filter_arguments(const std::vector<bool>& keep);

  std::vector<std::unique_ptr<Op>>& ops() { return ops_; }
  const std::vector<std::unique_ptr<Op>>& ops() const { return ops_; }
  Op* append(std::unique_ptr<Op> op);
  Values results;
  std::vector<Type> result_types() const;

 private:
  std::vector<std::unique_ptr<Value>> arguments_;
  std::vector<std::unique_ptr<Op>> ops_;
};

/// A named block. `arg_attrs`/`result_attrs` carry function-boundary attributes (aliasing,
/// sharding) by position.
struct Function {
  explicit Function(std::string called) : name(std::move(called)) {}
  std::string name;
  bool is_public = true;
  bool has_visibility = false;  // whether the text said `public`/`private`
  Block body;
  std::vector<Attrs> arg_attrs, result_attrs;
  Attrs attrs;  // of the function itself
};

/// Functions in order; names are unique. Modules inside are checked, kept and printed; a call
/// reaches its own module's functions.
struct Module {
  std::string name;
  Attrs attrs;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<Module>> modules;
  std::size_t functions_before =
      0;  // of one inside another: how many functions of that stand before it
  Function& add(std::string name);
  Function* find(std::string_view name) const;
  /// `main`, else the only or first public function; null when there is none.
  Function* entry() const;
};

/// What every kind of operation has, as far as the graph itself needs it: name, verification,
/// types, text. The op room extends it with the mathematics (op/def.h).
struct OpInfo {
  /// StableHLO's name with its dialect: "stablehlo.add", "chlo.erf", "strata.scan", "func.call".
  std::string name;
  /// Result types from operands, attributes and regions; throws strata::Error when a constraint is
  /// broken.
  std::function<std::vector<Type>(std::span<Value* const> operands, const Attrs&,
                                  std::span<const std::unique_ptr<Block>> regions)>
      infer;
  /// Whether it has an effect beyond its results (kept though unused, never reordered with others).
  bool has_effect = false;
  /// Whether its regions use nothing from outside but their arguments.
  bool isolated = false;
  /// How it is written in text beyond the generic form (ir/text/format.h); null: the generic form.
  const TextFormat* text = nullptr;
  /// For operations whose result types are stated, not inferred (reshape, iota; `infer` is null, or
  /// gives what they are unless stated otherwise): checks them against operands and attributes;
  /// throws strata::Error.
  std::function<void(const Op&)> verify = nullptr;
  /// For operations that take or give quantised tensors: checks their types in place of `infer` and
  /// `verify` whenever one of them is quantised (op/quantized/quantized.h has the usual rules);
  /// throws strata::Error. Null: nothing may be quantised.
  void (*quantized)(const Op&) = nullptr;
};

/// Operation kinds by name. The op room's catalog fills it.
class Registry {
 public:
  static Registry& global();
  void add(const OpInfo& info);
  const OpInfo* find(std::string_view name) const;
  std::vector<const OpInfo*> all() const;  // in the order of their names
 private:
  std::map<std::string, const OpInfo*, std::less<>> by_name_;
};

/// Appends operations to a block. `where` is stamped on each one.
class Builder {
 public:
  explicit Builder(Block& block) : block_(&block) {}
  Block& block() const { return *block_; }
  void set_location(Location where) { where_ = std::move(where); }
  const Location& location() const { return where_; }
  /// Infers the result types, appends, returns the operation. Throws strata::Error on a broken
  /// constraint.
  Op& create(const OpInfo& info, Values operands, Attrs attrs = {},
             std::vector<std::unique_ptr<Block>> regions = {});
  /// The same with result types given, for operations whose types cannot be inferred (iota,
  /// custom_call).
  Op& create(const OpInfo& info, Values operands, Attrs attrs,
             std::vector<std::unique_ptr<Block>> regions, std::vector<Type> results);
  /// By name, through the registry.
  Op& create(std::string_view name, Values operands, Attrs attrs = {},
             std::vector<std::unique_ptr<Block>> regions = {});

 private:
  Block* block_;
  Location where_;
};

/// From values of one graph to values of another. Lookup only; never iterated.
class ValueMap {
 public:
  Value* find(const Value* from) const;
  /// The image, or `from` itself when it has none (a value of an enclosing block).
  Value* operator()(Value* from) const {
    Value* to = find(from);
    return to ? to : from;
  }
  Values operator()(std::span<Value* const> from) const;
  void set(const Value* from, Value* to);

 private:
  std::unordered_map<const Value*, Value*> map_;
};

/// Copies one operation (regions too) with operands mapped; its results join the map.
Op& clone(Builder& b, const Op& op, ValueMap& map);
/// Copies a whole block; values from outside are mapped by `map` or kept.
std::unique_ptr<Block> clone(const Block& block, ValueMap map = {});
/// Copies the operations of `block` into `b`, its arguments replaced by `arguments`; returns its
/// results there.
Values inline_block(Builder& b, const Block& block, std::span<Value* const> arguments,
                    ValueMap map = {});
/// Values used inside `block` (nested regions included) that are defined outside, in the order of
/// first use.
Values captures(const Block& block);
/// Makes `block` isolated: each captured value becomes a new last argument. Returns what was
/// captured.
Values close_over(Block& block);
/// Drops operations without effects whose results nobody uses, in nested regions too.
void remove_dead(Block& block);
/// Replaces uses of each value by its image, in nested regions too.
void replace_uses(Block& block, const ValueMap& map);
/// All operations of the block and of nested regions, outermost first.
void walk(const Block& block, const std::function<void(const Op&)>& f);

}  // namespace strata::ir
