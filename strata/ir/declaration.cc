#include "strata/ir/declaration.h"

namespace strata::ir {
namespace {

// A space: no attribute that is read has one in its name (the reader refuses it).
constexpr char kDeclared[] = "strata declared", kMesh[] = "strata mesh @";
constexpr std::size_t kMeshLength = sizeof kMesh - 1;

bool is_mesh(const std::string& key) { return key.compare(0, kMeshLength, kMesh) == 0; }

}  // namespace

void declare(Function& f, const std::vector<Type>& results) {
  f.attrs.set(kDeclared, Type::tuple(results));
}

bool is_declaration(const Function& f) { return !f.attrs.empty() && f.attrs.has(kDeclared); }

std::vector<Type> result_types(const Function& f) {
  return is_declaration(f) ? f.attrs.get<Type>(kDeclared).elements() : f.body.result_types();
}

void add_mesh(Module& m, Mesh mesh) {
  m.attrs.set(kMesh + mesh.name, Strings{std::move(mesh.text), std::move(mesh.attributes)});
}

std::vector<Mesh> meshes(const Module& m) {
  std::vector<Mesh> out;
  for (const auto& [key, value] : m.attrs)
    if (is_mesh(key))
      out.push_back(
          {key.substr(kMeshLength), std::get<Strings>(value)[0], std::get<Strings>(value)[1]});
  return out;
}

Attrs text_attributes(const Function& f) {
  Attrs out = f.attrs;
  out.erase(kDeclared);
  return out;
}

Attrs text_attributes(const Module& m) {
  Attrs out;
  for (const auto& [key, value] : m.attrs)
    if (!is_mesh(key)) out.set(key, value);
  return out;
}

}  // namespace strata::ir
