// A worker's side of the servers. One thread calls MPI: it sends requests, receives replies and watches the other ranks.
#pragma once

#include <mpi.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "db/mutex.h"
#include "runtime/kvstore/mpi/messages.h"
#include "runtime/kvstore/mpi/peers.h"
#include "runtime/kvstore/mpi/roles.h"
#include "runtime/kvstore/servers.h"

namespace pitwall::kvstore::mpi {

class ServerLink final : public Servers {
 public:
  ServerLink(Profiler& profiler, std::chrono::duration<double> limit, MPI_Comm communicator, Job job,
             std::unique_ptr<Peers> peers);
  ~ServerLink() override;

  int rank() const override { return rank_; }
  int workers() const override { return static_cast<int>(job_.workers.size()); }
  int count() const override { return static_cast<int>(job_.servers.size()); }
  void start(ServerRequest request, void* data, Done done) override;

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  struct Open {  // a request without a reply
    ServerRequest request;
    void* data;
    Done done;
    Clock::time_point since;
    RequestHeader header = {};
    MPI_Request sending[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };
  struct Server {
    ReplyHeader reply;
    MPI_Request receiving = MPI_REQUEST_NULL;
    bool is_data = false;  // that is being received
    int sending = 0;       // requests with data that MPI has not sent yet
  };
  // By priority, then in order.
  using Queue = std::multimap<int, std::unique_ptr<Open>, std::greater<>>;

  void run();
  bool sendNext();
  bool finishSends();
  bool receiveFrom(std::size_t index);
  Status awaitReply(Server& server, std::size_t index);
  Status send(Open& open);
  void answer(std::uint64_t number, const ReplyHeader& reply);
  void record(const Open& open, const ReplyHeader& reply);
  void checkTime();
  std::string whyNotOn();
  void giveUp(const std::string& why);
  void pause(bool moved);

  Profiler& profiler_;
  const SiteId push_site_, pull_site_, key_site_, rank_site_, staleness_site_, held_site_, staleness_counter_;
  const Seconds limit_;
  const MPI_Comm communicator_;
  const Job job_;
  int rank_ = 0, world_rank_ = 0;

  // of the thread
  const std::unique_ptr<Peers> peers_;
  std::vector<Server> servers_;
  std::map<std::uint64_t, std::unique_ptr<Open>> open_;  // given to MPI
  std::map<std::uint64_t, std::unique_ptr<Open>> given_up_;
  std::uint64_t next_number_ = 1;
  Clock::time_point checked_{}, moved_{};

  Mutex mutex_;
  ConditionVariable changed_;
  Queue queue_ PITWALL_GUARDED_BY(mutex_);
  std::string failure_ PITWALL_GUARDED_BY(mutex_);  // of all requests from now on; "" = none
  bool stopping_ PITWALL_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace pitwall::kvstore::mpi
