#include "strata/api/sharding/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "strata/api/sharding/axis_types.h"
#include "strata/api/trace/client.h"
#include "strata/api/trace/trace.h"
#include "strata/ir/declaration.h"
#include "strata/ir/fingerprint.h"
#include "strata/partition/addends/exact_sums.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/distributed/devices.h"
#include "strata/runtime/sharded.h"

namespace strata::internal {
namespace {

using mesh::Mesh;
using mesh::NamedSharding;
using mesh::TensorSharding;
using runtime::Buffer;
using runtime::ShardedBuffers;

constexpr const char* kMeshName = "mesh";

std::size_t rank_of(const Type& type) {
  return type.is_tensor() ? static_cast<std::size_t>(type.rank()) : 0;
}

// ---- parts -------------------------------------------------------------------------------------

/// Where the part of each place of a mesh begins in the whole.
std::vector<std::int64_t> start_of(const TensorSharding& s, const mesh::AbstractMesh& mesh,
                                   const Shape& part, std::int64_t place) {
  std::vector<std::int64_t> tile = mesh::tile_of(s, mesh, place);
  for (std::size_t d = 0; d < tile.size(); ++d) tile[d] *= part[static_cast<int>(d)];
  return tile;
}
Type part_type(const Type& whole, const TensorSharding& s, const mesh::AbstractMesh& mesh) {
  if (!whole.is_tensor()) return whole;
  return whole.with(Shape::of(mesh::local_shape(s, mesh, whole.shape().sizes())));
}

/// f(byte of the whole, byte of the part, bytes) for rows of a part that begins at `start`.
template <class F>
void each_row(const Type& whole, const Type& part, const std::vector<std::int64_t>& start, F f) {
  const std::size_t width = byte_width(whole.dtype());
  if (part.shape().count() == 0) return;
  if (part.rank() == 0) return f(0, 0, width);
  const std::vector<std::int64_t> strides = whole.shape().strides();
  const std::int64_t length = part.shape()[part.rank() - 1];
  for (std::int64_t row = 0; row < part.shape().count() / length; ++row) {
    std::int64_t left = row, from = start.back() * strides.back();
    for (std::size_t d = start.size() - 1; d-- > 0;) {
      const std::int64_t size = part.shape()[static_cast<int>(d)];
      from += (start[d] + left % size) * strides[d];
      left /= size;
    }
    f(static_cast<std::size_t>(from) * width, static_cast<std::size_t>(row * length) * width,
      static_cast<std::size_t>(length) * width);
  }
}

Literal cut(const Literal& whole, const Type& part, const std::vector<std::int64_t>& start) {
  if (whole.type() == part) return whole;
  Literal out(part, runtime::allocate(part.bytes()));
  const std::byte* from = whole.data();
  std::byte* to = out.mutable_data();
  each_row(whole.type(), part, start, [&](std::size_t source, std::size_t target, std::size_t n) {
    std::memcpy(to + target, from + source, n);
  });
  return out;
}

/// Whether the place is not the first along the axes over which the value is addends: who is holds
/// the value, the others nothing.
bool holds_zeros(const TensorSharding& s, const mesh::AbstractMesh& mesh, std::int64_t place) {
  return std::any_of(s.unreduced.begin(), s.unreduced.end(), [&](const mesh::AxisRef& axis) {
    TensorSharding along = TensorSharding::all_closed(kMeshName, 1);
    along.dims[0].axes = {axis};
    return mesh::tile_of(along, mesh, place)[0] != 0;
  });
}

/// For each device its part, where it is of this process.
std::vector<Buffer> cut_for(const Literal& whole, const TensorSharding& s,
                            const mesh::AbstractMesh& mesh,
                            const std::vector<runtime::Device*>& devices) {
  const Type part = part_type(whole.type(), s, mesh);
  std::map<std::vector<std::int64_t>, Buffer> made;  // copies are cut once
  std::vector<Buffer> out;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::vector<std::int64_t> start =
        start_of(s, mesh, part.shape(), static_cast<std::int64_t>(d));
    if (!runtime::distributed::is_here(*devices[d])) {
      out.emplace_back();
      continue;
    }
    if (holds_zeros(s, mesh, static_cast<std::int64_t>(d))) {
      Literal zeros(part, runtime::allocate(part.bytes()));
      std::memset(zeros.mutable_data(), 0, zeros.bytes());
      out.emplace_back(part, devices[d]->put(Buffer(std::move(zeros))));
      continue;
    }
    auto [it, is_new] = made.try_emplace(start);
    if (is_new) it->second = Buffer(cut(whole, part, start));
    out.emplace_back(part, devices[d]->put(it->second));
  }
  return out;
}

Literal assembled(const Type& whole, const TensorSharding& s, const mesh::AbstractMesh& mesh,
                  const std::vector<Buffer>& parts) {
  const Type part = part_type(whole, s, mesh);
  Literal out;
  std::int64_t missing = part.is_tensor() ? whole.shape().count() : 1;
  std::set<std::vector<std::int64_t>> seen;
  for (std::size_t d = 0; d < parts.size() && missing > 0; ++d) {
    if (parts[d].there() == nullptr) continue;  // of another process
    if (part == whole) return parts[d].literal();
    const std::vector<std::int64_t> start =
        start_of(s, mesh, part.shape(), static_cast<std::int64_t>(d));
    if (!seen.insert(start).second) continue;
    if (seen.size() == 1) out = Literal(whole, runtime::allocate(whole.bytes()));
    const std::byte* from = parts[d].data();
    std::byte* to = out.mutable_data();
    each_row(whole, part, start, [&](std::size_t target, std::size_t source, std::size_t n) {
      std::memcpy(to + target, from + source, n);
    });
    missing -= part.shape().count();
  }
  if (missing > 0)
    fail("fetch",
         "{} lies on devices of {} processes, and process {} holds a part: "
         "distributed::process_allgather(x) brings all of it here, addressable_shards(x) is what "
         "is here already",
         describe(whole), runtime::distributed::process_count(),
         runtime::distributed::process_index());
  if (seen.empty()) out = Literal(whole, runtime::allocate(whole.bytes()));
  return out;
}

TensorSharding tensor_sharding(const Placement& p, const Type& type) {
  return p.sharding().to_tensor_sharding(kMeshName, rank_of(type));
}

bool same_tiles(const TensorSharding& a, const TensorSharding& b, const mesh::AbstractMesh& mesh) {
  if (a.unreduced != b.unreduced) return false;
  for (std::size_t d = 0; d < a.dims.size(); ++d)
    if (a.dims[d].size(mesh) != b.dims[d].size(mesh)) return false;
  for (std::int64_t place = 0; place < mesh.size(); ++place)
    if (mesh::tile_of(a, mesh, place) != mesh::tile_of(b, mesh, place)) return false;
  return true;
}

// ---- programs ----------------------------------------------------------------------------------

/// "mesh<["x"=2]>" of "#sdy.sharding<mesh<["x"=2]>, [...]>"; empty where a mesh is named.
std::string inline_mesh(const std::string& sharding) {
  const std::size_t from = sharding.find("<mesh<");
  if (from == std::string::npos) return "";
  const std::size_t to = sharding.find("]>", from);
  return to == std::string::npos ? "" : sharding.substr(from + 1, to + 1 - from);
}
const std::string* constraint_of(const ir::Op& op) {
  if (op.name() != "sdy.sharding_constraint" && op.name() != "sdy.reshard") return nullptr;
  const auto* text = std::get_if<ir::Opaque>(op.attrs.find("sharding"));
  return text == nullptr ? nullptr : &text->text;
}

/// Constraints name the program's mesh instead of writing it out. Throws Error for another one.
void name_the_mesh(ir::Block& block, const std::string& mesh, const std::string& operation) {
  const std::string written = "mesh" + mesh;
  for (const auto& op : block.ops()) {
    if (const std::string* text = constraint_of(*op)) {
      const std::string own = inline_mesh(*text);
      if (!own.empty() && own != written)
        throw Error(operation,
                    "a constraint over the mesh {} in a program whose arguments lie on the mesh {}",
                    own.substr(4), mesh)
            .at(op->where.text());
      if (!own.empty()) {
        std::string named = *text;
        named.replace(named.find(own), own.size(), std::string("@") + kMeshName);
        op->attrs.set("sharding", ir::Opaque{named});
      }
    }
    for (const auto& region : op->regions) name_the_mesh(*region, mesh, operation);
  }
}

/// Axes alone: devices are counted by their places.
std::string mesh_text(const Mesh& mesh) { return Mesh(mesh.axes()).to_shardy(); }

/// A program as it is compiled for the shardings of its arguments.
struct Form {
  std::shared_ptr<runtime::ShardedExecutable> executable;
  std::vector<Placement*> results;
  /// Whether the program takes an argument's parts, and gives a result's, as its placement has
  /// them: compared here, since it is the same for every call.
  std::vector<bool> takes_parts, gives_parts;
};

/// The spec without what a PartitionSpec cannot say: parts of axes, and what is behind them.
mesh::PartitionSpec spec_of(const TensorSharding& s) {
  std::vector<mesh::SpecEntry> entries;
  for (const mesh::DimSharding& dim : s.dims) {
    mesh::SpecEntry& e = entries.emplace_back();
    for (const mesh::AxisRef& a : dim.axes) {
      if (a.part) break;
      e.axes.push_back(a.name);
    }
    e.tuple = e.axes.size() > 1;
  }
  while (!entries.empty() && entries.back().axes.empty()) entries.pop_back();
  return mesh::PartitionSpec(std::move(entries));
}

class MeshExecutable final : public runtime::Executable {
 public:
  MeshExecutable(Placement& home, const ir::Block& block, const runtime::CompileOptions& options)
      : home_(home), block_(ir::clone(block)), options_(options) {
    for (const auto& a : block.arguments()) argument_types_.push_back(a->type());
    result_types_ = block.result_types();
  }

  bool on_device() const override { return true; }
  const std::vector<Type>& argument_types() const override { return argument_types_; }
  const std::vector<Type>& result_types() const override { return result_types_; }

  std::vector<Buffer> run(std::vector<Buffer> arguments) override {
    const std::shared_ptr<const Form> form = form_for(arguments);
    const mesh::AbstractMesh& mesh = home_.mesh().abstract();
    ShardedBuffers parts(home_.devices().size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const TensorSharding& wanted = form->executable->argument_shardings()[i];
      std::vector<Buffer> mine = parts_of(std::move(arguments[i]), wanted, form->takes_parts[i]);
      for (std::size_t d = 0; d < mine.size(); ++d) parts[d].push_back(std::move(mine[d]));
    }
    ShardedBuffers made = form->executable->execute(std::move(parts));
    std::vector<Buffer> out;
    for (std::size_t r = 0; r < result_types_.size(); ++r) {
      std::vector<Buffer> mine;
      for (std::vector<Buffer>& of_device : made)
        mine.push_back(of_device.empty() ? Buffer() : std::move(of_device[r]));
      Placement& placement = *form->results[r];
      if (!form->gives_parts[r]) {
        const TensorSharding& lies = form->executable->result_shardings()[r];
        const Buffer whole(assembled(result_types_[r], lies, mesh, mine));
        out.emplace_back(result_types_[r], placement.put(whole));
        continue;
      }
      out.emplace_back(result_types_[r], std::make_shared<ShardedBuffer>(
                                             placement, result_types_[r], std::move(mine)));
    }
    return out;
  }
  std::vector<Buffer> results_for(std::vector<Buffer>&) override {
    std::vector<Buffer> out;
    for (const Type& type : result_types_)
      out.emplace_back(Literal(type, runtime::allocate(type.bytes())));
    return out;
  }
  void run_at(void* const* arguments, void* const* results) override {
    std::vector<Buffer> in;
    for (std::size_t i = 0; i < argument_types_.size(); ++i) {
      Literal x(argument_types_[i], runtime::allocate(argument_types_[i].bytes()));
      if (x.bytes() > 0) std::memcpy(x.mutable_data(), arguments[i], x.bytes());
      in.emplace_back(std::move(x));
    }
    const std::vector<Buffer> out = run(std::move(in));
    for (std::size_t r = 0; r < out.size(); ++r)
      if (out[r].type().bytes() > 0) std::memcpy(results[r], out[r].data(), out[r].type().bytes());
  }

 private:
  /// `lies_so`: whether the argument has the wanted sharding already.
  std::vector<Buffer> parts_of(Buffer argument, const TensorSharding& wanted, bool lies_so) {
    if (lies_so) {
      const bool last = argument.unique();
      auto there = std::static_pointer_cast<ShardedBuffer>(argument.there());
      argument = Buffer();
      return last && there.use_count() == 1 ? there->take() : there->parts();
    }
    return cut_for(argument.literal(), wanted, home_.mesh().abstract(), home_.devices());
  }

  std::shared_ptr<const Form> form_for(const std::vector<Buffer>& arguments) {
    std::vector<Placement*> key;
    for (const Buffer& b : arguments) key.push_back(Placement::of(b.committed()));
    std::lock_guard lock(mutex_);
    auto [it, is_new] = forms_.try_emplace(key);
    if (it->second == nullptr) it->second = made(key);
    return it->second;
  }

  /// Results that no PartitionSpec describes are put together here, or, where parts of them are in
  /// other processes, laid as one that does.
  std::shared_ptr<const Form> made(const std::vector<Placement*>& placements) {
    std::shared_ptr<const Form> form = made(placements, {});
    const auto& gives = form->gives_parts;
    if (home_.is_all_here() || std::find(gives.begin(), gives.end(), false) == gives.end())
      return form;
    return made(placements, form->results);
  }
  /// `results`: their shardings; as propagation chooses where it is empty.
  std::shared_ptr<const Form> made(const std::vector<Placement*>& placements,
                                   const std::vector<Placement*>& results) {
    const std::string mesh = mesh_text(home_.mesh());
    ir::Module module;
    module.name = options_.name;
    ir::add_mesh(module, {kMeshName, mesh, ""});
    ir::Function& f = module.add("main");
    for (const Type& type : argument_types_) f.body.add_argument(type);
    ir::Builder b(f.body);
    f.body.results = ir::inline_block(b, *block_, f.body.argument_values());
    name_the_mesh(f.body, mesh, options_.name);
    f.arg_attrs.resize(argument_types_.size());
    f.result_attrs.resize(result_types_.size());
    for (std::size_t i = 0; i < placements.size(); ++i)
      if (placements[i] != nullptr)
        f.arg_attrs[i].set(
            "sdy.sharding",
            ir::Opaque{tensor_sharding(*placements[i], argument_types_[i]).to_attribute()});
    std::vector<spmd::Sums> sums;
    for (std::size_t r = 0; r < result_types_.size(); ++r) {
      sums.push_back(sums_of_result(block_->results[r]));
      if (results.empty() && !sums[r].unreduced.empty())
        f.result_attrs[r].set("sdy.sharding", *f.body.results[r]->op()->attrs.find("sharding"));
    }
    for (std::size_t r = 0; r < results.size(); ++r)
      f.result_attrs[r].set(
          "sdy.sharding",
          ir::Opaque{tensor_sharding(*results[r], result_types_[r]).to_attribute()});
    auto out = std::make_shared<Form>();
    out->executable = runtime::compile_sharded(
        module, home_.devices(),
        {.donated = options_.donated, .name = options_.name, .exact = spmd::exact_sums()});
    const auto lies_so = [&](const TensorSharding& s, const Placement& p, const Type& type) {
      return same_tiles(s, tensor_sharding(p, type), home_.mesh().abstract());
    };
    for (std::size_t i = 0; i < placements.size(); ++i)
      out->takes_parts.push_back(
          placements[i] != nullptr && placements[i]->mesh() == home_.mesh() &&
          lies_so(out->executable->argument_shardings()[i], *placements[i], argument_types_[i]));
    for (const TensorSharding& s : out->executable->result_shardings()) {
      const std::size_t r = out->results.size();
      Placement& p = Placement::of(NamedSharding(
          home_.mesh(),
          spec_of(s).with_unreduced(sums[r].unreduced).with_reduced(sums[r].reduced)));
      out->gives_parts.push_back(lies_so(s, p, result_types_[r]));
      out->results.push_back(&p);
    }
    return out;
  }

  /// What the result's type says, as far as this mesh has axes for it.
  spmd::Sums sums_of_result(const ir::Value* v) const {
    if (v->op() == nullptr || !is_typed(*v->op())) return {};
    spmd::Sums out = said_by(*v->op()).typed.sums;
    const auto other = [&](const std::string& name) {
      const auto at = home_.mesh().abstract().find(name);
      return !at || home_.mesh().axes()[*at].type != mesh::AxisType::Explicit;
    };
    std::erase_if(out.unreduced, other);
    std::erase_if(out.reduced, other);
    return out;
  }

  Placement& home_;
  const std::unique_ptr<ir::Block> block_;
  const runtime::CompileOptions options_;
  std::vector<Type> argument_types_, result_types_;
  std::mutex mutex_;
  std::map<std::vector<Placement*>, std::shared_ptr<const Form>> forms_;  // looked up only
};

}  // namespace

// ---- placements --------------------------------------------------------------------------------

Placement& Placement::of(const NamedSharding& sharding) {
  use_explicit(sharding.mesh());
  static auto* const made = new std::map<std::string, std::unique_ptr<Placement>>;
  static std::mutex mutex;
  const std::string key =
      fmt::format("{} {} {}", sharding.mesh().repr(), fmt::join(sharding.mesh().devices(), ","),
                  sharding.to_string());
  std::lock_guard lock(mutex);
  if (auto it = made->find(key); it != made->end()) return *it->second;
  const std::vector<runtime::Device*> all = runtime::mesh_devices();
  const bool is_cpu = all == runtime::distributed::all_cpu_devices();
  std::vector<runtime::Device*> devices;
  for (std::int64_t number : sharding.mesh().devices()) {
    const bool is_there = number >= 0 && number < static_cast<std::int64_t>(all.size());
    if (!is_there && !is_cpu)
      fail("mesh", "{} holds device {}, but {} has {} device{} here", sharding.mesh().to_string(),
           number, all.front()->client().platform(), all.size(), all.size() == 1 ? "" : "s");
    if (!is_there)
      fail("mesh",
           "{} holds device {}, but {} {} CPU device{}: cpu_devices(n) before anything is placed, "
           "or STRATA_NUM_CPU_DEVICES=n, makes more",
           sharding.mesh().to_string(), number,
           runtime::distributed::process_count() == 1 ? "this process has" : "all processes have",
           all.size(), all.size() == 1 ? "" : "s");
    devices.push_back(all[static_cast<std::size_t>(number)]);
  }
  if (devices.empty()) fail("mesh", "{} holds no device", sharding.mesh().to_string());
  return *made->emplace(key, std::make_unique<Placement>(sharding, std::move(devices)))
              .first->second;
}

bool Placement::is_here(std::size_t place) const {
  return runtime::distributed::is_here(*devices_[place]);
}
bool Placement::is_all_here() const {
  return std::all_of(devices_.begin(), devices_.end(),
                     [](runtime::Device* d) { return runtime::distributed::is_here(*d); });
}

Placement* Placement::of(runtime::Device* device) { return dynamic_cast<Placement*>(device); }

std::shared_ptr<runtime::DeviceBuffer> Placement::put(const Buffer& buffer) {
  if (buffer.there() && &buffer.there()->device() == this) return buffer.there();
  sharding_.shard_shape(buffer.type().is_tensor() ? buffer.type().shape().sizes()
                                                  : std::vector<std::int64_t>());
  return std::make_shared<ShardedBuffer>(
      *this, buffer.type(),
      cut_for(buffer.literal(), tensor_sharding(*this, buffer.type()), mesh().abstract(),
              devices_));
}

std::shared_ptr<runtime::Executable> Placement::compile(const ir::Block& block,
                                                        const runtime::CompileOptions& options) {
  register_cpu();
  // One for all placements on the mesh: it tells them apart itself.
  Placement& home = of(NamedSharding(mesh(), mesh::PartitionSpec()));
  if (&home != this) return home.compile(block, options);
  static auto* const kept = new std::map<std::string, std::shared_ptr<runtime::Executable>>;
  static std::mutex mutex;
  std::string key = fmt::format("{} ", static_cast<const void*>(this)) + ir::fingerprint(block);
  for (bool d : options.donated) key += d ? 'd' : 'k';
  std::lock_guard lock(mutex);
  if (options.keep)
    if (auto it = kept->find(key); it != kept->end()) return it->second;
  auto made = std::make_shared<MeshExecutable>(*this, block, options);
  if (options.keep) kept->emplace(key, made);
  return made;
}

void ShardedBuffer::wait() {
  for (const Buffer& part : parts_)
    if (part.there()) part.there()->wait();
}

const Literal& ShardedBuffer::host() {
  std::lock_guard lock(mutex_);
  if (!placement_.sharding().spec().unreduced().empty())
    fail("fetch", "{} lies as {}: each device holds an addend; reshard(x, P{{...}}) adds them up",
         describe(type_), placement_.sharding().spec().to_string());
  if (!whole_)
    whole_ =
        assembled(type_, tensor_sharding(placement_, type_), placement_.mesh().abstract(), parts_);
  return *whole_;
}

// ---- arrays ------------------------------------------------------------------------------------

std::shared_ptr<ShardedBuffer> sharded(const Array& x) {
  const runtime::Buffer buffer = x.buffer();
  if (!buffer.there() || Placement::of(&buffer.there()->device()) == nullptr) return nullptr;
  return std::static_pointer_cast<ShardedBuffer>(buffer.there());
}

Array sharded_array(Placement& placement, const Type& type, std::vector<Buffer> parts, bool weak) {
  return concrete(
      Buffer(type, std::make_shared<ShardedBuffer>(placement, type, std::move(parts))).bound(),
      weak);
}

namespace {
std::string first_mesh(const ir::Block& block) {
  std::string found;
  ir::walk(block, [&](const ir::Op& op) {
    const std::string* text = found.empty() ? constraint_of(op) : nullptr;
    if (text != nullptr) found = inline_mesh(*text);
  });
  return found.empty() ? "" : found.substr(4);
}
}  // namespace

runtime::Client* client_of_constraints(const ir::Block& block) {
  const std::string text = first_mesh(block);
  if (text.empty()) return nullptr;
  const strata::Result<Mesh> mesh = mesh::parse_mesh(text);
  if (!mesh || mesh->size() < 2) return nullptr;
  const std::size_t here = runtime::mesh_devices().size();
  // Written by who compiles for other machines: on one device it says nothing.
  if (here == 1) return nullptr;
  return &Placement::of(
      NamedSharding(typed_mesh(block).value_or(Mesh(mesh->axes())), mesh::PartitionSpec()));
}

std::string sharding_attribute(const NamedSharding& sharding, std::size_t rank) {
  TensorSharding s = sharding.to_tensor_sharding(kMeshName, rank);
  s.mesh = Mesh(sharding.mesh().axes());
  return s.to_attribute();
}

}  // namespace strata::internal
