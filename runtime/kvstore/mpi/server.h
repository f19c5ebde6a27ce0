// A server's side of one store: holds keys, or parts of them, and answers the workers' requests in the order in which they arrive.
#pragma once

#include <mpi.h>

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "db/mutex.h"
#include "runtime/kvstore.h"
#include "runtime/kvstore/mpi/messages.h"
#include "runtime/kvstore/mpi/peers.h"
#include "runtime/kvstore/mpi/roles.h"

namespace pitwall::kvstore::mpi {

struct ServerOptions {
  std::chrono::duration<double> limit;
  std::int64_t staleness;  // pushes of a key by which a worker may be ahead of the slowest; -1: any
};

class Server {
 public:
  // Serves on a thread of its own until all workers have closed the store, or a rank fails.
  Server(Session& session, const ServerOptions& options, MPI_Comm communicator, Job job,
         std::unique_ptr<Peers> peers);
  ~Server();  // waits for the end

  bool hasEnded() const;
  Status status() const;  // the failure, as soon as there is one

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  struct Request {
    RequestHeader header;
    Block data;
    Clock::time_point arrived;
    std::int64_t staleness = 0;
    bool applied = false;  // a push whose reply slower workers hold up
  };
  struct Worker {
    int rank = 0;  // of the communicator
    RequestHeader header;
    MPI_Request receiving = MPI_REQUEST_NULL;
    bool is_data = false;
    Request coming;
    std::list<Request> waiting;  // in the order of arrival; those that cannot be answered yet
  };
  struct Key {
    std::string name;
    std::int64_t elements = 0;  // of what this server has of it
    bool is_initialised = false;
    std::int64_t updates = 0;
    std::vector<std::int64_t> seen = {};    // updates at each worker's last pull
    std::vector<std::int64_t> pushes = {};  // of each worker
  };
  struct Reply {
    ReplyHeader header;
    NDArray data;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };

  void run();
  Status step(bool& moved);
  Status awaitRequest(Worker& worker);
  Status receive(std::size_t index, bool& moved);
  Status receiveData(Worker& worker);
  Status answerWaiting(bool& moved);
  // Whether it could be answered.
  Result<bool> handle(std::size_t worker, Request& request);
  NDArray arrayOf(Request& request) const;
  Result<bool> init(std::size_t worker, Request& request);
  Result<bool> applyPush(std::size_t worker, Request& request);
  Result<bool> pull(std::size_t worker, const Request& request);
  Status setOptimizer(const Request& request) const;
  bool isHeld(const Key& key, std::size_t worker) const;
  bool allWait(ServerRequest::Kind kind) const;
  Status answerAll(ServerRequest::Kind kind);
  Status reply(std::size_t worker, const ReplyHeader& header, NDArray data = {});
  void finishReplies();
  std::string whyNotOn() const;
  void fails(const std::string& why);

  Session& session_;
  const ServerOptions options_;
  const MPI_Comm communicator_;
  const Job job_;
  int rank_ = 0;
  const SiteId update_site_, send_site_, key_site_, rank_site_, staleness_site_;

  // of the thread
  const std::unique_ptr<Peers> peers_;
  std::unique_ptr<KVStore> store_;  // of this process: the contents
  std::vector<Worker> workers_;
  std::map<std::uint32_t, Key> keys_;
  std::list<Reply> replies_;  // that MPI still sends
  bool has_optimizer_ = false, closed_ = false;
  std::string last_key_ = "none";
  Clock::time_point checked_{}, moved_{};

  mutable Mutex mutex_;
  std::string failure_ PITWALL_GUARDED_BY(mutex_);  // "" = none
  bool ended_ PITWALL_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace pitwall::kvstore::mpi
