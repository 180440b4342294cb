// Tells which digits pictures show, by a model that JAX exported: serve digits.jax < digits.txt
#include <strata/core.h>

#include <cstdio>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "serve MODEL < PICTURES\n";
    return 2;
  }
  strata::Result<strata::Program> model = strata::Program::load(argv[1]);
  if (!model) {
    std::cerr << model.status().message() << "\n";
    return 1;
  }
  std::cerr << model->signature() << "\n";

  std::vector<float> dots;
  for (char c; std::cin >> c;) dots.push_back(c == '#');
  const auto count = static_cast<std::int64_t>(dots.size() / 64);
  dots.resize(static_cast<std::size_t>(count) * 64);

  const std::vector<strata::Array> out = (*model)({strata::array(dots, {{count, 8, 8}})});
  const auto digits = out[0].to_vector<std::int32_t>();
  const auto probabilities = out[1].to_vector<float>();
  for (std::size_t i = 0; i < digits.size(); ++i)
    std::printf("%d %.2f %%\n", digits[i],
                100 * probabilities[10 * i + static_cast<std::size_t>(digits[i])]);
}
