#include "strata/runtime/reference_client.h"

#include "strata/base/error.h"
#include "strata/op/evaluate.h"

namespace strata::runtime {
namespace {

class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(const ir::Block& block, std::string name)
      : block_(ir::clone(block)), results_(block.result_types()), name_(std::move(name)) {
    for (const auto& argument : block.arguments()) arguments_.push_back(argument->type());
  }

  std::vector<Buffer> run(std::vector<Buffer> arguments) override {
    if (arguments.size() != arguments_.size()) throw Error(name_, "takes {} arguments, got {}", arguments_.size(), arguments.size());
    std::vector<Literal> literals;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].type() != arguments_[i])
        throw Error(name_, "argument {} is {}, got {}", i, arguments_[i].to_string(), arguments[i].type().to_string());
      literals.push_back(arguments[i].literal());
    }
    std::vector<Buffer> out;
    for (Literal& result : op::evaluate(*block_, literals)) out.emplace_back(std::move(result));
    return out;
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
  std::shared_ptr<Executable> compile(const ir::Block& block, const CompileOptions& options) override {
    return std::make_shared<ReferenceExecutable>(block, options.name);
  }
};

}  // namespace

std::unique_ptr<Client> make_reference_client() { return std::make_unique<ReferenceClient>(); }

}  // namespace strata::runtime
