// The MPI job that this process belongs to. MPI's state is that of the process: it is started once, by the first store, and ended when
// the process exits.
#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <string>

#include "db/result.h"

namespace pitwall::kvstore::mpi {

// Starts MPI unless the program has. Errors: unsupported for an MPI without MPI_THREAD_MULTIPLE, io where it fails.
Status startMpi();

// Calls `last` at exit, unless a communicator is open then; one that was given before is not called.
void beforeMpiEnds(std::function<void()> last);

// While one is not closed, MPI is not ended at exit: MPI_Finalize() would wait for ranks that may have ended.
void communicatorOpened();
void communicatorClosed();

// Errors: io with MPI's text.
Status check(int code, const char* call);

// Waits for a request. Errors: io with `what` after `limit`, and MPI's.
Status waitFor(MPI_Request request, std::chrono::duration<double> limit, const std::string& what);

}  // namespace pitwall::kvstore::mpi
