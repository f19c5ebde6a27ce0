// Signs of life between ranks: each sends one to each other at an interval, with what it is ready for.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "db/result.h"

namespace pitwall::kvstore::mpi {

// Which exchanges from number `base` on are ready on a rank and not agreed on, a bit each.
struct ReadySet {
  static constexpr std::uint64_t kMost = 1024;
  std::uint64_t base = 0;
  std::array<std::uint64_t, kMost / 64> bits{};
  void add(std::uint64_t number) { bits[(number - base) / 64] |= std::uint64_t{1} << (number - base) % 64; }
  bool contains(std::uint64_t number) const {
    return number >= base && number - base < kMost &&
           (bits[(number - base) / 64] >> (number - base) % 64 & 1U) != 0;
  }
  friend bool operator==(const ReadySet&, const ReadySet&) = default;
};

// Used by one thread.
class Peers {
 public:
  using Clock = std::chrono::steady_clock;

  // Waits up to `limit` for the other ranks. Errors: io.
  static Result<std::unique_ptr<Peers>> open(MPI_Comm communicator, std::chrono::duration<double> limit);
  ~Peers();

  // Receives what has come, and sends when it is time. Call it often.
  void exchange(const ReadySet& own);
  // Sends the reason why this rank gives up. Waits for it up to 0.2 s.
  void giveUp(const ReadySet& own, const std::string& reason);

  // A rank that has ended, has been silent for longer than `limit`, or has given up; "" if there is none.
  std::string problem() const;
  // The ranks that are not ready for the exchange: "rank 2", "ranks 1, 3"; "" if all are, or have been.
  std::string notReadyFor(std::uint64_t number) const;

 private:
  struct Message {
    ReadySet ready;
    char reason[256] = "";  // why it gives up; empty if it does not
  };
  struct Place {
    std::int64_t process;
    char host[64];
  };
  struct Peer {
    Place place{};
    Message received, sent, last;
    MPI_Request receiving = MPI_REQUEST_NULL, sending = MPI_REQUEST_NULL;
    Clock::time_point seen = Clock::now();
    bool ended = false;
  };

  Peers(MPI_Comm communicator, std::chrono::duration<double> limit);
  Status meet();
  void receive();
  void send(const Message& message);
  void lookForEnded();

  const MPI_Comm communicator_;
  const std::chrono::duration<double> limit_, interval_;
  int rank_ = 0, size_ = 1;
  std::vector<Peer> peers_;  // by rank
  Clock::time_point looked_{}, sent_{};
};

}  // namespace pitwall::kvstore::mpi
