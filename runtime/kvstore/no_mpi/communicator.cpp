// A build without MPI.
#include "runtime/kvstore/communicator.h"

#include "runtime/kvstore/servers.h"

namespace pitwall::kvstore {
namespace {

constexpr const char* kNoMpi =
    "no store between processes: Pitwall was built without MPI (install libopenmpi-dev, then configure and "
    "build "
    "it again)";

}  // namespace

Result<std::shared_ptr<Communicator>> Communicator::open(Session&) {
  return fail(ErrorCode::unsupported, kNoMpi);
}

Result<std::shared_ptr<Servers>> Servers::open(Session&) { return fail(ErrorCode::unsupported, kNoMpi); }

Result<bool> serve(Session& session) {
  if (session.settings().text("DMLC_ROLE") == "server") return fail(ErrorCode::unsupported, kNoMpi);
  return false;
}

}  // namespace pitwall::kvstore
