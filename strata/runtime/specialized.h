// A block of open shapes as programs that run: one for each combination of argument types, and of
// the integers that shapes are made of. Whoever runs programs from outside (api/program.h, the
// commands, the plugin) takes this way, so that they run the same ones.
//
//   runtime::Specialized program(function.body, {.name = "main"});
//   program.executable(runtime::known(buffers))->run(buffers);
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "strata/op/shape/refine.h"
#include "strata/runtime/client.h"

namespace strata::runtime {

/// What is known of arguments that are at hand.
std::vector<op::Known> known(std::span<const Buffer> arguments);

class Specialized {
 public:
  /// `block` has no calls, and must outlive this.
  explicit Specialized(const ir::Block& block, CompileOptions options = {});

  /// Whether arguments decide shapes; else `executable` takes any list and gives the same one.
  bool is_open() const { return open_; }
  /// The block for these arguments, all shapes static; elements of arguments count where types do
  /// not say enough. Throws strata::Error as transform::refine does.
  std::unique_ptr<ir::Block> block(const std::vector<op::Known>& arguments);
  /// That block compiled by the process's client, the same one for equal arguments. Thread-safe.
  std::shared_ptr<Executable> executable(const std::vector<op::Known>& arguments = {});

 private:
  std::unique_ptr<ir::Block> refined(const std::vector<op::Known>& arguments);
  std::string key(const std::vector<op::Known>& arguments) const;

  const ir::Block& block_;
  CompileOptions options_;
  bool open_;              // has shapes that arguments decide
  bool by_value_ = false;  // by their elements, too: found out by refining
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Executable>> compiled_;  // by what `key` says
};

}  // namespace strata::runtime
