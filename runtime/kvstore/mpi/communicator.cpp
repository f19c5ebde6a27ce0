// Opens the exchanges between the processes of a job: which take part, on which channels.
#include "runtime/kvstore/communicator.h"

#include <fmt/format.h>

#include <chrono>

#include "db/try.h"
#include "runtime/kvstore/mpi/job.h"
#include "runtime/kvstore/mpi/message_sum.h"
#include "runtime/kvstore/mpi/mpi_communicator.h"
#include "runtime/kvstore/mpi/roles.h"
#include "runtime/kvstore/mpi/shared_sum.h"

namespace pitwall::kvstore {
namespace {

using Seconds = std::chrono::duration<double>;

std::string late(int size, Seconds limit) {
  return fmt::format(
      "kvstore: not all {} ranks have created the store within {:g} s (PITWALL_KVSTORE_TIMEOUT)", size,
      limit.count());
}

// As `communicator`, for messages of another kind.
Result<MPI_Comm> copyOf(MPI_Comm communicator, Seconds limit, int size) {
  static MPI_Comm made = MPI_COMM_NULL;  // MPI writes it later
  MPI_Request request = MPI_REQUEST_NULL;
  PITWALL_TRY(mpi::check(MPI_Comm_idup(communicator, &made, &request), "MPI_Comm_idup"));
  PITWALL_TRY(mpi::waitFor(request, limit, late(size, limit)));
  MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

// Where all processes are workers.
Result<MPI_Comm> ofAll(const Settings& settings, Seconds limit) {
  int size = 1;
  PITWALL_TRY(mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size"));
  if (settings.isSet("DMLC_NUM_WORKER") && settings.integer("DMLC_NUM_WORKER") != size)
    return fail(ErrorCode::invalidInput,
                fmt::format("DMLC_NUM_WORKER={}, but the job has {} processes: start them with mpirun -n {}",
                            settings.integer("DMLC_NUM_WORKER"), size, settings.integer("DMLC_NUM_WORKER")));
  return copyOf(MPI_COMM_WORLD, limit, size);
}

// The servers of the job go on.
Result<MPI_Comm> ofWorkers(const Settings& settings, Seconds limit) {
  const mpi::Job job = PITWALL_TRY(mpi::meetAll(settings, mpi::Wish::sumStore, limit));
  MPI_Group all = MPI_GROUP_NULL, workers = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  PITWALL_TRY(mpi::check(MPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group"));
  PITWALL_TRY(
      mpi::check(MPI_Group_incl(all, static_cast<int>(job.workers.size()), job.workers.data(), &workers),
                 "MPI_Group_incl"));
  PITWALL_TRY(mpi::check(MPI_Comm_create_group(MPI_COMM_WORLD, workers, 0, &made), "MPI_Comm_create_group"));
  MPI_Group_free(&all);
  MPI_Group_free(&workers);
  return made;
}

}  // namespace

Result<std::shared_ptr<Communicator>> Communicator::open(Session& session) {
  PITWALL_TRY(mpi::startMpi());
  const mpi::CommunicatorOptions options = mpi::CommunicatorOptions::of(session.settings());
  const Settings& settings = session.settings();
  PITWALL_TRY(mpi::checkIsWorker(settings));
  const MPI_Comm own = PITWALL_TRY(mpi::mayHaveServers(settings) ? ofWorkers(settings, options.limit)
                                                                 : ofAll(settings, options.limit));
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  int size = 1;
  PITWALL_TRY(mpi::check(MPI_Comm_size(own, &size), "MPI_Comm_size"));
  const MPI_Comm votes = PITWALL_TRY(copyOf(own, options.limit, size));
  std::unique_ptr<mpi::Peers> peers = PITWALL_TRY(mpi::Peers::open(own, options.limit));
  std::unique_ptr<mpi::RankSum> sum = PITWALL_TRY(mpi::SharedSum::open(own, options.shares_memory));
  if (sum == nullptr) sum = std::make_unique<mpi::MessageSum>(own);
  return std::shared_ptr<Communicator>(std::make_shared<mpi::MpiCommunicator>(
      session.profiler(), options, mpi::Channels{own, votes}, std::move(peers), std::move(sum)));
}

}  // namespace pitwall::kvstore
