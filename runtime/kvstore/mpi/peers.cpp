#include "runtime/kvstore/mpi/peers.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "db/try.h"
#include "runtime/kvstore/mpi/job.h"

namespace pitwall::kvstore::mpi {
namespace {

constexpr int kPeersTag = 1;
using Seconds = std::chrono::duration<double>;

bool isDone(MPI_Request& request) {
  if (request == MPI_REQUEST_NULL) return true;
  int done = 0;
  return MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

}  // namespace

Peers::Peers(MPI_Comm communicator, Seconds limit)
    : communicator_(communicator), limit_(limit), interval_(std::min(Seconds(0.5), limit / 8)) {
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &size_);
  peers_.resize(static_cast<std::size_t>(size_));
}

Result<std::unique_ptr<Peers>> Peers::open(MPI_Comm communicator, Seconds limit) {
  std::unique_ptr<Peers> peers(new Peers(communicator, limit));
  PITWALL_TRY(peers->meet());
  return peers;
}

Status Peers::meet() {
  Place own{getpid(), ""};
  gethostname(own.host, sizeof(own.host) - 1);
  std::vector<Place> places(peers_.size());
  MPI_Request request = MPI_REQUEST_NULL;
  PITWALL_TRY(check(MPI_Iallgather(&own, sizeof(Place), MPI_BYTE, places.data(), sizeof(Place), MPI_BYTE,
                                   communicator_, &request),
                    "MPI_Iallgather"));
  PITWALL_TRY(waitFor(request, limit_, fmt::format("the {} ranks of the job did not meet", size_)));
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    peer.place = places[i];
    // Only processes of this machine can be looked for.
    if (std::strncmp(peer.place.host, own.host, sizeof(own.host)) != 0) peer.place.process = 0;
    if (static_cast<int>(i) == rank_) continue;
    MPI_Irecv(&peer.received, sizeof(Message), MPI_BYTE, static_cast<int>(i), kPeersTag, communicator_,
              &peer.receiving);
  }
  return {};
}

Peers::~Peers() {
  for (Peer& peer : peers_) {
    for (MPI_Request* request : {&peer.receiving, &peer.sending}) {
      if (isDone(*request)) continue;
      MPI_Cancel(request);
      MPI_Request_free(request);
    }
  }
}

void Peers::receive() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    while (peer.receiving != MPI_REQUEST_NULL && isDone(peer.receiving)) {
      peer.last = peer.received;
      peer.seen = Clock::now();
      MPI_Irecv(&peer.received, sizeof(Message), MPI_BYTE, static_cast<int>(i), kPeersTag, communicator_,
                &peer.receiving);
    }
  }
}

void Peers::send(const Message& message) {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    if (static_cast<int>(i) == rank_ || !isDone(peer.sending)) continue;
    peer.sent = message;
    MPI_Isend(&peer.sent, sizeof(Message), MPI_BYTE, static_cast<int>(i), kPeersTag, communicator_,
              &peer.sending);
  }
}

void Peers::lookForEnded() {
  for (Peer& peer : peers_)
    if (peer.place.process != 0)
      peer.ended |= kill(static_cast<pid_t>(peer.place.process), 0) != 0 && errno == ESRCH;
}

void Peers::exchange(const ReadySet& own) {
  const auto now = Clock::now();
  if (size_ == 1 || now - looked_ < std::chrono::milliseconds(10)) return;
  looked_ = now;
  receive();
  if (now - sent_ < interval_) return;
  sent_ = now;
  lookForEnded();
  Message message;
  message.ready = own;
  send(message);
}

void Peers::giveUp(const ReadySet& own, const std::string& reason) {
  Message message;
  message.ready = own;
  reason.copy(message.reason, sizeof(message.reason) - 1);
  const auto until = Clock::now() + std::chrono::milliseconds(200);
  const auto allSent = [&] {
    return std::ranges::all_of(peers_, [](Peer& peer) { return isDone(peer.sending); });
  };
  while (!allSent() && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  send(message);
  while (!allSent() && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::string Peers::problem() const {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const Peer& peer = peers_[i];
    if (static_cast<int>(i) == rank_) continue;
    if (peer.last.reason[0] != 0) return peer.last.reason;
    if (peer.ended) return fmt::format("rank {} has ended (process {})", i, peer.place.process);
    const Seconds silent = Clock::now() - peer.seen;
    if (silent > limit_)
      return fmt::format("rank {} has given no sign of life for {:.1f} s", i, silent.count());
  }
  return "";
}

std::string Peers::notReadyFor(std::uint64_t number) const {
  std::string ranks;
  int count = 0;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const ReadySet& ready = peers_[i].last.ready;
    if (static_cast<int>(i) == rank_ || ready.base > number || ready.contains(number)) continue;
    ranks += (count++ == 0 ? "" : ", ") + std::to_string(i);
  }
  if (count == 0) return "";
  return (count == 1 ? "rank " : "ranks ") + ranks;
}

}  // namespace pitwall::kvstore::mpi
