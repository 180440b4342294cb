// Chapter 9: memory and files. The page beside this file (09_memory_and_files.md) explains it.
#include <strata/checkpoint/tree_file.h>
#include <strata/core.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

using namespace strata;

void require(bool claim, const char* text) {
  if (claim) return;
  std::cerr << "does not hold: " << text << "\n";
  std::exit(1);
}

void copies() {
  std::vector<float> v{1, 2, 3, 4, 5, 6};
  Array x = array(v, {2, 3});
  std::vector<float> back = x.to_vector<float>();
  require(back == v, "the same numbers");
  std::cout << x << " " << float(x.sum()) << "\n";
}

void adopted() {
  std::vector<float> v(1'000'000, 1.0f);
  const float* place = v.data();
  Array x = adopt(std::move(v), {1000, 1000});
  require(elements<float>(x).data() == place, "the vector's own memory");

  auto step = jit([](Array x) { return x + 1; }, {.donate_argnums = 0});
  x = step(std::move(x));
  require(elements<float>(x).data() == place, "and still: the result took the argument's place");
}

void borrowed() {
  auto* frame = static_cast<float*>(std::calloc(6, sizeof(float)));
  bool released = false;
  {
    Array x = borrow(frame, {2, 3}, [&] {
      std::free(frame);
      released = true;
    });
    std::cout << x + 1 << "\n";
    require(elements<float>(x).data() == frame, "nothing was copied");
  }
  require(released, "the last array that needed the memory is gone");
}

void views() {
  Array x = arange(6.0).reshape(2, 3) * 10;
  std::span<const float> all = elements<float>(x);
  numpy::ArrayView<float, 2> view(x);
  std::cout << all[5] << " " << view(1, 0) << " " << view.extent(1) << "\n";
}

struct Params {
  Array w, b;
  STRATA_FIELDS(w, b)
};

void files(const std::string& file) {
  Params params{ones({3, 2}), zeros({2})};
  Status saved = save(params, file);
  Result<Params> loaded = load(Params(), file);
  require(saved.ok() && loaded.ok(), "written, and read again");
  std::cout << loaded->w.shape() << " " << loaded->b << "\n";

  Result<Params> other = load(Params{zeros({2, 2}), zeros({2})}, file);
  std::cout << other.status().message() << "\n";
}

int main() {
  copies();
  adopted();
  borrowed();
  views();
  std::filesystem::current_path(std::filesystem::temp_directory_path());
  files("params.safetensors");
  std::filesystem::remove("params.safetensors");
}
