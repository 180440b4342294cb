// A model that JAX trained and exported answers requests from C++: each comes with another number
// of pictures, from several threads, and there is no Python. A program is compiled for the sizes
// that come; requests are padded to few of them, so that it is compiled for few. The model is
// examples/digits/digits.jax, made by export.py beside it; expected.txt there is what JAX says.
#include <strata/core.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "require.h"

using namespace strata;

// Some pictures of 8 x 8 dots, one after another.
using Request = std::vector<float>;

// The digit in each picture. The batch is filled up to a power of two.
std::vector<std::int32_t> serve(const Program& model, const Request& request) {
  const auto count = static_cast<std::int64_t>(request.size() / 64);
  std::int64_t size = 1;
  while (size < count) size *= 2;
  Request padded = request;
  padded.resize(static_cast<std::size_t>(size) * 64);
  std::vector<std::int32_t> digits = model({array(padded, {{size, 8, 8}})})[0].to_vector<int>();
  digits.resize(static_cast<std::size_t>(count));
  return digits;
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "examples/digits";
  Result<Program> model = Program::load(folder + "/digits.jax");
  if (!model) {
    std::fprintf(stderr, "%s\n", model.status().message().c_str());
    return 1;
  }
  std::printf("%s\n", model->signature().c_str());

  Request pictures;
  std::ifstream dots(folder + "/digits.txt");
  for (char c; dots >> c;) pictures.push_back(c == '#');
  std::vector<std::int32_t> expected;
  std::ifstream lines(folder + "/expected.txt");
  std::int32_t digit = 0;
  for (std::string percent, sign; lines >> digit >> percent >> sign;) expected.push_back(digit);
  const std::size_t known = expected.size();
  require(known > 0 && pictures.size() == 64 * known, "the pictures and what JAX says of them");

  // Four clients, who each ask for 1, 2, 3, ... pictures, beginning at another one.
  std::atomic<int> right = 0, asked = 0;
  std::vector<std::thread> clients;
  for (std::size_t client = 0; client < 4; ++client)
    clients.emplace_back([&, client] {
      for (std::size_t size = 1; size <= 2 * known; ++size) {
        Request request;
        for (std::size_t i = 0; i < size; ++i) {
          const std::size_t from = (client + i) % known * 64;
          request.insert(request.end(), pictures.begin() + static_cast<std::ptrdiff_t>(from),
                         pictures.begin() + static_cast<std::ptrdiff_t>(from + 64));
        }
        const std::vector<std::int32_t> told = serve(*model, request);
        for (std::size_t i = 0; i < size; ++i) right += told[i] == expected[(client + i) % known];
        asked += static_cast<int>(size);
      }
    });
  for (std::thread& client : clients) client.join();
  std::printf("%d of %d answers are JAX's\n", right.load(), asked.load());
  require(right == asked, "every answer is what JAX says");
}
