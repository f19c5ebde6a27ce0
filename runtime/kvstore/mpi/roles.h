// Which processes of a job serve, and what all of them do next.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "db/result.h"
#include "db/settings.h"

namespace pitwall::kvstore::mpi {

enum class Wish : std::uint8_t {
  serve,       // of a server: whatever the workers want
  sumStore,    // of a worker: a store without servers
  asyncStore,  // of a worker
  end,         // of a worker that ends: it has closed all stores
};

// DMLC_ROLE says whether this process serves; where it is not set, the last DMLC_NUM_SERVER ranks do. Errors: unsupported for a
// scheduler, invalidInput if no rank would work. Needs MPI only where DMLC_ROLE is not set and DMLC_NUM_SERVER is; starts it then.
Result<bool> serves(const Settings& settings);

// Errors: those of serves(); unsupported in a server, which calls KVStore::serve().
Status checkIsWorker(const Settings& settings);

// Whether the job may have servers, so that all processes meet before each store and at the end: the same in all of them.
bool mayHaveServers(const Settings& settings);

struct Job {
  Wish wish = Wish::sumStore;         // of the workers
  std::vector<int> workers, servers;  // ranks of MPI_COMM_WORLD, in order
};

// Meets all processes of the job, each of which calls it; workers do so once more when MPI ends. `stopped` is asked now and then: an error that it returns ends the wait.
// Errors: invalidInput where workers want different things or DMLC_NUM_WORKER or DMLC_NUM_SERVER is not their number; io with
// PITWALL_KVSTORE_TIMEOUT after `limit`.
Result<Job> meetAll(const Settings& settings, Wish own, std::chrono::duration<double> limit,
                    const std::function<Status()>& stopped = {});
}  // namespace pitwall::kvstore::mpi
