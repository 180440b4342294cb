// Where an array is that several devices hold: a placement is to such arrays what a device is
// to others, so that all that asks for a device (jit's keys, single operations) finds one. Private
// to this room.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/array.h"
#include "strata/mesh/spec.h"
#include "strata/runtime/client.h"

namespace strata::internal {

/// A sharding over devices of this process and, where it is one of several, of the others. Equal
/// ones are one object, which lives as long as the process.
class Placement final : public runtime::Device, public runtime::Client {
 public:
  /// Throws Error for devices that are not there.
  static Placement& of(const mesh::NamedSharding& sharding);
  /// Null for a device that is none.
  static Placement* of(runtime::Device* device);

  const mesh::NamedSharding& sharding() const { return sharding_; }
  const mesh::Mesh& mesh() const { return sharding_.mesh(); }
  /// In the mesh's row-major order.
  const std::vector<runtime::Device*>& devices() const { return devices_; }
  /// Whether the device at that place is of this process.
  bool is_here(std::size_t place) const;
  /// Whether all are.
  bool is_all_here() const;

  std::string platform() const override { return "cpu"; }
  int id() const override { return devices_.front()->id(); }
  std::string kind() const override { return devices_.front()->kind(); }
  /// "NamedSharding(mesh=Mesh('x': 2, ...), spec=P('x',), memory_kind=device)".
  std::string to_string() const override { return sharding_.to_string(); }
  runtime::Client& client() override { return *this; }
  runtime::Device* device() override { return this; }
  /// Cuts it. Throws Error where a dimension does not divide.
  std::shared_ptr<runtime::DeviceBuffer> put(const runtime::Buffer& buffer) override;
  /// Of a program over the mesh. It is partitioned for the shardings of arguments that it is first
  /// run with, and kept for each combination.
  std::shared_ptr<runtime::Executable> compile(const ir::Block& block,
                                               const runtime::CompileOptions& options) override;

  Placement(mesh::NamedSharding sharding, std::vector<runtime::Device*> devices)
      : sharding_(std::move(sharding)), devices_(std::move(devices)) {}

 private:
  mesh::NamedSharding sharding_;
  std::vector<runtime::Device*> devices_;
};

/// A tensor in parts, one for each device of the placement in its order; those of other processes
/// are empty.
class ShardedBuffer final : public runtime::DeviceBuffer {
 public:
  ShardedBuffer(Placement& placement, Type type, std::vector<runtime::Buffer> parts)
      : placement_(placement), type_(std::move(type)), parts_(std::move(parts)) {}
  Placement& device() const override { return placement_; }
  void wait() override;
  /// Put together on first use. Throws Error when a part is on no device here.
  const Literal& host() override;
  const std::vector<runtime::Buffer>& parts() const { return parts_; }
  /// For who holds the only handle.
  std::vector<runtime::Buffer> take() { return std::move(parts_); }

 private:
  Placement& placement_;
  Type type_;
  std::vector<runtime::Buffer> parts_;
  std::mutex mutex_;
  std::optional<Literal> whole_;
};

/// What a concrete array is where it is sharded over a mesh, else null.
std::shared_ptr<ShardedBuffer> sharded(const Array& x);
/// Of shape and type, lying in these parts; bound.
Array sharded_array(Placement& placement, const Type& type, std::vector<runtime::Buffer> parts,
                    bool weak);
/// The client for a program that constrains a value to be sharded over several devices; null where
/// none does.
runtime::Client* client_of_constraints(const ir::Block& block);
/// The attribute of a value of that rank, of devices counted by their places in the mesh.
std::string sharding_attribute(const mesh::NamedSharding& sharding, std::size_t rank);

}  // namespace strata::internal
