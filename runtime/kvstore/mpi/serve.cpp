// Stores on servers: how workers open one, and how servers join each.
#include <fmt/format.h>

#include <list>
#include <utility>

#include "db/meta.h"
#include "db/try.h"
#include "runtime/kvstore/mpi/job.h"
#include "runtime/kvstore/mpi/roles.h"
#include "runtime/kvstore/mpi/server.h"
#include "runtime/kvstore/mpi/server_link.h"

namespace pitwall::kvstore {
namespace mpi {
namespace {

using Seconds = std::chrono::duration<double>;

Seconds limitOf(const Settings& settings) { return Seconds(settings.real("PITWALL_KVSTORE_TIMEOUT")); }

struct Channel {
  MPI_Comm communicator = MPI_COMM_NULL;
  std::unique_ptr<Peers> peers;
};

// Between all processes of the job, which have just met.
Result<Channel> openChannel(Seconds limit) {
  Channel channel;
  MPI_Request request = MPI_REQUEST_NULL;
  static MPI_Comm made = MPI_COMM_NULL;  // MPI writes it later
  PITWALL_TRY(check(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request), "MPI_Comm_idup"));
  PITWALL_TRY(waitFor(request, limit, "kvstore: not all ranks of the job have opened the store"));
  channel.communicator = made;
  MPI_Comm_set_errhandler(channel.communicator, MPI_ERRORS_RETURN);
  channel.peers = PITWALL_TRY(Peers::open(channel.communicator, limit));
  return channel;
}

// While a server waits for what comes next, its stores may fail.
Status failureOf(const std::list<Server>& servers) {
  for (const Server& server : servers) PITWALL_TRY(server.status());
  return {};
}

Result<bool> serveUntilTheEnd(Session& session) {
  const Settings& settings = session.settings();
  PITWALL_TRY(startMpi());
  communicatorOpened();  // a failure leaves it open: MPI_Finalize() would wait for the others
  const Seconds limit = limitOf(settings), no_limit(1e9);
  std::list<Server> servers;
  for (bool is_first = true;; is_first = false) {
    const Job job = PITWALL_TRY(
        meetAll(settings, Wish::serve, is_first ? limit : no_limit, [&] { return failureOf(servers); }));
    if (job.wish == Wish::end) break;
    if (job.wish != Wish::asyncStore) continue;
    session.meta(meta::kKvStore, "dist_async");
    Channel channel = PITWALL_TRY(openChannel(limit));
    servers.emplace_back(session, ServerOptions{limit, settings.integer("PITWALL_KVSTORE_STALENESS")},
                         channel.communicator, job, std::move(channel.peers));
    servers.remove_if([](const Server& server) { return server.hasEnded() && server.status().has_value(); });
  }
  servers.clear();
  communicatorClosed();
  return true;
}

}  // namespace
}  // namespace mpi

Result<bool> serve(Session& session) {
  if (!PITWALL_TRY(mpi::serves(session.settings()))) return false;
  return mpi::serveUntilTheEnd(session);
}

Result<std::shared_ptr<Servers>> Servers::open(Session& session) {
  const Settings& settings = session.settings();
  PITWALL_TRY(mpi::startMpi());
  PITWALL_TRY(mpi::checkIsWorker(settings));
  if (!mpi::mayHaveServers(settings))
    return fail(
        ErrorCode::unsupported,
        "kvstore 'dist_async': the job has no servers to hold the weights: start it with samples/launch -n "
        "WORKERS -s SERVERS, and call KVStore::serve() in the program");
  const mpi::Seconds limit = mpi::limitOf(settings);
  const mpi::Job job = PITWALL_TRY(mpi::meetAll(settings, mpi::Wish::asyncStore, limit));
  if (job.servers.empty())
    return fail(
        ErrorCode::unsupported,
        "kvstore 'dist_async': no process of the job serves; start it with samples/launch -n WORKERS -s "
        "SERVERS");
  mpi::Channel channel = PITWALL_TRY(mpi::openChannel(limit));
  return std::shared_ptr<Servers>(std::make_shared<mpi::ServerLink>(
      session.profiler(), limit, channel.communicator, job, std::move(channel.peers)));
}

}  // namespace pitwall::kvstore
