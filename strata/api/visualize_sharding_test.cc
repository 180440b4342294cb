// Tables of devices, line by line as JAX prints them (tools/goldens/visualize_sharding.py).
#include <filesystem>
#include <fstream>
#include <sstream>

#include "strata/api/sharding/sharding.h"
#include "strata/api/testing.h"

namespace strata {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

struct Golden {
  std::string what;
  std::vector<std::int64_t> shape;
  std::vector<mesh::MeshAxis> axes;
  std::vector<mesh::SpecEntry> spec;
  std::string table;
};

/// A line "8 8 / x 4 y 2 / x+y -", and the lines of its table.
std::vector<Golden> goldens() {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() /
                   "goldens/visualize_sharding.txt");
  std::vector<Golden> out;
  for (std::string line; std::getline(in, line);) {
    if (line.find(" / ") == std::string::npos) {
      out.back().table += line + "\n";
      continue;
    }
    Golden& g = out.emplace_back();
    g.what = line;
    const std::size_t first = line.find(" /"), second = line.find(" /", first + 1);
    std::istringstream shape(line.substr(0, first)),
        axes(line.substr(first + 2, second - first - 2)), spec(line.substr(second + 2));
    for (std::int64_t n = 0; shape >> n;) g.shape.push_back(n);
    std::string name;
    for (std::int64_t n = 0; axes >> name >> n;) g.axes.push_back({name, n});
    for (std::string entry; spec >> entry;) {
      mesh::SpecEntry& e = g.spec.emplace_back();
      std::istringstream names(entry == "-" ? "" : entry);
      for (std::string axis; std::getline(names, axis, '+');) e.axes.push_back(axis);
    }
  }
  return out;
}

TEST(VisualizeSharding, PrintsJaxsTables) {
  cpu_devices(8);
  const std::vector<Golden> all = goldens();
  EXPECT_EQ(all.size(), 14u);
  for (const Golden& g : all) {
    SCOPED_TRACE(g.what);
    const NamedSharding sharding(make_mesh(g.axes), PartitionSpec(g.spec));
    EXPECT_EQ(debug::visualize_sharding(Sizes(g.shape), sharding), g.table);
    const Array x = device_put(numpy::zeros(Sizes(g.shape)), sharding);
    EXPECT_EQ(debug::array_sharding_text(x), g.table);
  }
}

TEST(VisualizeSharding, RefusesWhatIsNoTable) {
  cpu_devices(8);
  const NamedSharding whole(make_mesh({{"x", 8}}), PartitionSpec());
  EXPECT_THAT(message_of([&] { (void)debug::visualize_sharding({2, 3, 4}, whole); }),
              HasSubstr("1 or 2 dimensions"));
  EXPECT_THAT(message_of([&] { (void)debug::visualize_sharding({0, 4}, whole); }),
              HasSubstr("no elements"));
}

}  // namespace
}  // namespace strata
