#include "strata/runtime/reference_client.h"

#include <cstring>

#include "strata/base/error.h"
#include "strata/op/evaluate.h"
#include "strata/runtime/allocator.h"

namespace strata::runtime {
namespace {

class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(const ir::Block& block, std::string name)
      : block_(ir::clone(block)), results_(block.result_types()), name_(std::move(name)) {
    for (const auto& argument : block.arguments()) arguments_.push_back(argument->type());
  }

  std::vector<Buffer> results_for(std::vector<Buffer>& arguments) override {
    if (arguments.size() != arguments_.size())
      throw Error(name_, "takes {} arguments, got {}", arguments_.size(), arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].type() != arguments_[i])
        throw Error(name_, "argument {} is {}, got {}", i, arguments_[i].to_string(),
                    arguments[i].type().to_string());
    std::vector<Buffer> out;
    for (const Type& type : results_)
      out.emplace_back(Literal(type, allocate(type.is_token() ? 0 : type.bytes())));
    return out;
  }
  void run_at(void* const* arguments, void* const* results) override {
    std::vector<Literal> literals;
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      literals.emplace_back(
          arguments_[i],
          std::shared_ptr<std::byte[]>(static_cast<std::byte*>(arguments[i]), [](std::byte*) {}));
    std::vector<Literal> out = op::evaluate(*block_, literals);
    for (std::size_t r = 0; r < out.size(); ++r)
      if (std::size_t bytes = results_[r].is_token() ? 0 : out[r].bytes())
        std::memcpy(results[r], out[r].data(), bytes);
  }
  const std::vector<Type>& argument_types() const override { return arguments_; }
  const std::vector<Type>& result_types() const override { return results_; }

 private:
  std::unique_ptr<ir::Block> block_;
  std::vector<Type> arguments_, results_;
  std::string name_;
};

class ReferenceClient : public Client {
 public:
  std::string platform() const override { return "reference"; }
  std::shared_ptr<Executable> compile(const ir::Block& block,
                                      const CompileOptions& options) override {
    return std::make_shared<ReferenceExecutable>(block, options.name);
  }
};

}  // namespace

std::unique_ptr<Client> make_reference_client() { return std::make_unique<ReferenceClient>(); }

}  // namespace strata::runtime
