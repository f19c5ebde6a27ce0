#include "runtime/kvstore/mpi/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "db/try.h"
#include "runtime/kvstore/mpi/job.h"

namespace pitwall::kvstore::mpi {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

Result<bool> isAmongTheLast(std::int64_t servers) {
  PITWALL_TRY(startMpi());
  int rank = 0, size = 1;
  PITWALL_TRY(check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank"));
  PITWALL_TRY(check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size"));
  if (servers < size) return rank >= size - servers;
  return fail(ErrorCode::invalidInput,
              fmt::format("DMLC_NUM_SERVER={}, but the job has {} processes, of which one at least must be a "
                          "worker: start it with samples/launch -n WORKERS -s {}",
                          servers, size, servers));
}

Status checkNumber(const Settings& settings, const char* name, std::size_t found, const char* option) {
  if (!settings.isSet(name) || settings.integer(name) == static_cast<std::int64_t>(found)) return {};
  return fail(ErrorCode::invalidInput,
              fmt::format("{}={}, but the job has {} such processes: start it with samples/launch {} {}",
                          name, settings.integer(name), found, option, settings.integer(name)));
}

Status waitForAll(MPI_Request request, Seconds limit, const std::function<Status()>& stopped) {
  const auto began = Clock::now();
  for (;;) {
    int done = 0;
    PITWALL_TRY(check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
    if (done != 0) return {};
    if (stopped) PITWALL_TRY(stopped());
    if (Clock::now() - began > limit)
      return fail(ErrorCode::io,
                  fmt::format("kvstore: not all workers and servers of the job came within {:g} s "
                              "(PITWALL_KVSTORE_TIMEOUT): servers call KVStore::serve(), workers "
                              "KVStore::create() for the same kinds in the same order",
                              limit.count()));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

Result<Job> meet(Wish own, Seconds limit, const std::function<Status()>& stopped) {
  int size = 1;
  PITWALL_TRY(check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size"));
  // Never destroyed: used at exit, and after an error MPI may still write there.
  static auto& wishes = *new std::vector<Wish>;
  static Wish sent;
  wishes.assign(static_cast<std::size_t>(size), Wish::serve);
  sent = own;
  MPI_Request request = MPI_REQUEST_NULL;
  PITWALL_TRY(check(MPI_Iallgather(&sent, 1, MPI_BYTE, wishes.data(), 1, MPI_BYTE, MPI_COMM_WORLD, &request),
                    "MPI_Iallgather"));
  PITWALL_TRY(waitForAll(request, limit, stopped));
  Job job;
  std::optional<Wish> wish;
  for (int rank = 0; rank < size; ++rank) {
    const Wish its = wishes[static_cast<std::size_t>(rank)];
    (its == Wish::serve ? job.servers : job.workers).push_back(rank);
    if (its == Wish::serve) continue;
    if (wish.value_or(its) != its)
      return fail(
          ErrorCode::invalidInput,
          fmt::format("kvstore: rank {} creates another kind of store than rank {}, or ends before: all "
                      "workers create the same stores in the same order",
                      rank, job.workers[0]));
    wish = its;
  }
  if (!wish)
    return fail(ErrorCode::invalidInput, "kvstore: all processes of the job serve: start workers too");
  job.wish = *wish;
  return job;
}

}  // namespace

bool mayHaveServers(const Settings& settings) {
  return settings.text("DMLC_ROLE") == "server" ||
         (settings.isSet("DMLC_NUM_SERVER") && settings.integer("DMLC_NUM_SERVER") > 0);
}

Result<bool> serves(const Settings& settings) {
  const std::string_view role = settings.text("DMLC_ROLE");
  if (role == "scheduler")
    return fail(ErrorCode::unsupported,
                "DMLC_ROLE=scheduler: MPI connects the processes, there is no scheduler; start workers and "
                "servers with samples/launch");
  if (role == "server") return true;
  if (!role.empty() || !mayHaveServers(settings)) return false;
  return isAmongTheLast(settings.integer("DMLC_NUM_SERVER"));
}

Status checkIsWorker(const Settings& settings) {
  if (!PITWALL_TRY(serves(settings))) return {};
  return fail(ErrorCode::unsupported,
              "this process is a server of the job (DMLC_ROLE, or the last DMLC_NUM_SERVER ranks): call "
              "KVStore::serve() before KVStore::create()");
}

Result<Job> meetAll(const Settings& settings, Wish own, Seconds limit,
                    const std::function<Status()>& stopped) {
  const Job job = PITWALL_TRY(meet(own, limit, stopped));
  if (own != Wish::serve) beforeMpiEnds([limit] { (void)meet(Wish::end, limit, {}); });
  if (job.wish == Wish::end) return job;
  PITWALL_TRY(checkNumber(settings, "DMLC_NUM_WORKER", job.workers.size(), "-n"));
  PITWALL_TRY(checkNumber(settings, "DMLC_NUM_SERVER", job.servers.size(), "-s"));
  return job;
}

}  // namespace pitwall::kvstore::mpi
