// A build without MPI.
#include "runtime/kvstore/communicator.h"

namespace pitwall::kvstore {

Result<std::shared_ptr<Communicator>> Communicator::open(Session&) {
  return fail(
      ErrorCode::unsupported,
      "no store between processes: Pitwall was built without MPI (install libopenmpi-dev, then configure "
      "and build it again)");
}

}  // namespace pitwall::kvstore
