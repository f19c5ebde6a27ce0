// Exchanges by MPI. One thread calls MPI: it votes, exchanges and watches the other ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "db/mutex.h"
#include "runtime/kvstore/communicator.h"
#include "runtime/kvstore/mpi/agreement.h"
#include "runtime/kvstore/mpi/peers.h"
#include "runtime/kvstore/mpi/rank_sum.h"

namespace pitwall::kvstore::mpi {

// An exchange whose data is there.
struct StartedExchange {
  void* data = nullptr;
  void* output = nullptr;
  Communicator::Done done;
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
};

struct CommunicatorOptions {
  Bytes bucket_bytes;
  std::chrono::duration<double> limit;
  bool shares_memory;  // between ranks of one machine
  static CommunicatorOptions of(const Settings& settings);
};

// Of the same ranks. Votes are apart: ranks may begin one before or after the same exchange.
struct Channels {
  MPI_Comm exchanges, votes;
};

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(Profiler& profiler, const CommunicatorOptions& options, Channels channels,
                  std::unique_ptr<Peers> peers, std::unique_ptr<RankSum> sum);
  ~MpiCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::uint64_t announce(Exchange exchange) override;
  void start(std::uint64_t number, void* data, void* output, Done done) override;
  void withdraw(std::uint64_t number) override;

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  using Started = StartedExchange;
  void run();
  bool step();
  bool startVote();
  bool testVote();
  bool issueNext();
  Status issue(const Bucket& bucket);
  std::vector<SummedArray> sumsOf(const Bucket& bucket);
  bool testExchange();
  Result<bool> exchangeIsDone();
  void complete(const Bucket& bucket);
  void checkTime();
  std::string whyNotOn();
  void giveUp(const std::string& why);
  void pause();
  void recordExchange();
  std::string late(std::string_view key, Clock::time_point since, std::uint64_t number) const;

  // constant after construction
  Profiler& profiler_;
  const SiteId sum_site_, other_site_, wait_site_, key_site_, keys_site_;
  const Seconds limit_;
  const MPI_Comm communicator_, of_votes_;
  int rank_ = 0, size_ = 1;

  // of the thread
  const std::unique_ptr<Peers> peers_;
  const std::unique_ptr<RankSum> sum_;
  std::deque<Bucket> buckets_;  // agreed on, in order
  bool votes_ = false, exchanges_ = false;
  bool waits_for_others_ = false;  // what is ready here was not ready elsewhere at the last vote
  MPI_Request vote_request_ = MPI_REQUEST_NULL, exchange_request_ = MPI_REQUEST_NULL;
  Vote vote_, vote_result_;
  ReadySet last_vote_;
  Clock::time_point vote_began_at_{}, vote_ended_{}, checked_{};
  Ticks vote_began_ = 0, exchange_began_ = 0;
  int tests_ = 0;  // of the exchange without a result

  Mutex mutex_;
  ConditionVariable changed_;
  Agreement agreement_ PITWALL_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, Started> started_ PITWALL_GUARDED_BY(mutex_);
  std::string withdrawn_ PITWALL_GUARDED_BY(mutex_);  // a key whose data will never come
  std::string failure_ PITWALL_GUARDED_BY(mutex_);    // of all exchanges from now on; "" = none
  bool stopping_ PITWALL_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace pitwall::kvstore::mpi
