#include "runtime/graph/model_file.h"

#include <fmt/format.h>

#include "db/try.h"

namespace pitwall::graph {

Result<ModelInput> ModelInput::open(const std::string& path) {
  return ModelInput(PITWALL_TRY(OpenFile::open(path)));
}

Failure ModelInput::wrong(const std::string& what) const {
  return fail(ErrorCode::invalidInput, fmt::format("{}: at byte {}: {}", path(), position_, what));
}

Status ModelInput::read(std::span<std::byte> to) {
  if (static_cast<Bytes>(to.size()) > left())
    return wrong("the file ends too early: it is damaged or incomplete");
  PITWALL_TRY(file_.readAt(position_, {reinterpret_cast<std::uint8_t*>(to.data()), to.size()}));
  position_ += static_cast<Bytes>(to.size());
  return {};
}

}  // namespace pitwall::graph
