#include "runtime/kvstore/mpi/server_link.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <future>
#include <limits>
#include <utility>

#include "db/try.h"
#include "runtime/kvstore/mpi/job.h"

namespace pitwall::kvstore::mpi {
namespace {

using RequestKind = ServerRequest::Kind;
// With data, to one server: what comes later may have a higher priority.
constexpr int kMostSending = 2;

bool waitsWithoutLimit(RequestKind kind) { return kind == RequestKind::close; }

RequestHeader headerOf(const ServerRequest& request, std::uint64_t number) {
  RequestHeader header{.number = number,
                       .kind = request.kind,
                       .key = request.key,
                       .rate = request.rate,
                       .batch_size = request.batch_size,
                       .elements = request.elements,
                       .bytes = request.kind == RequestKind::pull ? 0 : request.bytes};
  request.name.copy(header.name, ServerRequest::kLongestName);
  return header;
}

}  // namespace

ServerLink::ServerLink(Profiler& profiler, Seconds limit, MPI_Comm communicator, Job job,
                       std::unique_ptr<Peers> peers)
    : profiler_(profiler),
      push_site_(profiler.site("push applied", EventKind::instant)),
      pull_site_(profiler.site("pull answered", EventKind::instant)),
      key_site_(profiler.site("key", EventKind::instant)),
      rank_site_(profiler.site("rank", EventKind::instant)),
      staleness_site_(profiler.site("staleness", EventKind::instant)),
      held_site_(profiler.site("held_ns", EventKind::instant)),
      staleness_counter_(profiler.site("kvstore staleness|updates", EventKind::instant)),
      limit_(limit),
      communicator_(communicator),
      job_(std::move(job)),
      peers_(std::move(peers)),
      servers_(job_.servers.size()) {
  MPI_Comm_rank(communicator_, &world_rank_);
  rank_ = static_cast<int>(std::ranges::find(job_.workers, world_rank_) - job_.workers.begin());
  communicatorOpened();
  thread_ = std::thread([this] { run(); });
}

void ServerLink::start(ServerRequest request, void* data, Done done) {
  std::string failure;
  {
    const ScopedLock lock(mutex_);
    failure = failure_;
    if (failure.empty()) {
      const int priority = request.priority;
      queue_.emplace(priority,
                     std::make_unique<Open>(Open{std::move(request), data, std::move(done), Clock::now()}));
    }
  }
  if (!failure.empty()) return done(fail(ErrorCode::io, failure));
  changed_.notifyOne();
}

ServerLink::~ServerLink() {
  std::vector<std::promise<bool>> closed(servers_.size());
  for (std::size_t i = 0; i < servers_.size(); ++i)
    start({.kind = RequestKind::close,
           .server = static_cast<int>(i),
           .name = "the end of the store",
           .priority = std::numeric_limits<int>::min()},
          nullptr, [&closed, i](const Status& status) { closed[i].set_value(status.has_value()); });
  bool all_closed = true;
  for (auto& each : closed) all_closed &= each.get_future().get();
  {
    const ScopedLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notifyOne();
  thread_.join();
  if (all_closed) communicatorClosed();
}

void ServerLink::run() {
  profiler_.nameThread("kvstore communication");
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (Status begun = awaitReply(servers_[i], i); !begun.has_value()) giveUp(begun.error().message);
  for (;;) {
    bool moved = finishSends();
    moved |= sendNext();
    for (std::size_t i = 0; i < servers_.size(); ++i) moved |= receiveFrom(i);
    {
      const ScopedLock lock(mutex_);
      if (stopping_ || !failure_.empty()) break;
    }
    pause(moved);
    checkTime();
  }
  for (Server& server : servers_) {
    if (server.receiving == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&server.receiving);
    MPI_Request_free(&server.receiving);
  }
}

Status ServerLink::awaitReply(Server& server, std::size_t index) {
  server.is_data = false;
  return check(MPI_Irecv(&server.reply, sizeof(ReplyHeader), MPI_BYTE, job_.servers[index], kReplyTag,
                         communicator_, &server.receiving),
               "MPI_Irecv");
}

// The first in order whose server has little to receive.
bool ServerLink::sendNext() {
  std::unique_ptr<Open> next;
  {
    const ScopedLock lock(mutex_);
    const auto found = std::ranges::find_if(queue_, [&](const auto& each) {
      return servers_[static_cast<std::size_t>(each.second->request.server)].sending < kMostSending;
    });
    if (found == queue_.end()) return false;
    next = std::move(found->second);
    queue_.erase(found);
  }
  Open& open = *next;
  open.header = headerOf(open.request, next_number_++);
  open_.emplace(open.header.number, std::move(next));
  if (Status sent = send(open); !sent.has_value()) giveUp(sent.error().message);
  return true;
}

Status ServerLink::send(Open& open) {
  const auto index = static_cast<std::size_t>(open.request.server);
  const int to = job_.servers[index];
  PITWALL_TRY(check(MPI_Isend(&open.header, sizeof(RequestHeader), MPI_BYTE, to, kRequestTag, communicator_,
                              &open.sending[0]),
                    "MPI_Isend"));
  if (open.header.bytes == 0) return {};
  ++servers_[index].sending;
  return check(MPI_Isend(open.data, static_cast<int>(open.header.bytes / static_cast<Bytes>(sizeof(float))),
                         MPI_FLOAT, to, kRequestDataTag, communicator_, &open.sending[1]),
               "MPI_Isend");
}

bool ServerLink::finishSends() {
  bool moved = false;
  for (auto& [number, open] : open_) {
    const bool has_data = open->sending[1] != MPI_REQUEST_NULL;
    int done = 0;
    if (open->sending[0] == MPI_REQUEST_NULL && !has_data) continue;
    if (MPI_Testall(2, open->sending, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS || done == 0) continue;
    moved = true;
    if (has_data) --servers_[static_cast<std::size_t>(open->request.server)].sending;
  }
  return moved;
}

bool ServerLink::receiveFrom(std::size_t index) {
  Server& server = servers_[index];
  int done = 0;
  if (server.receiving == MPI_REQUEST_NULL ||
      MPI_Test(&server.receiving, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done == 0)
    return false;
  const auto asked = open_.find(server.reply.number);
  if (asked == open_.end()) return false;  // given up
  if (!server.is_data && server.reply.bytes > 0) {
    server.is_data = true;
    MPI_Irecv(asked->second->data, static_cast<int>(server.reply.bytes / static_cast<Bytes>(sizeof(float))),
              MPI_FLOAT, job_.servers[index], kReplyDataTag, communicator_, &server.receiving);
    return true;
  }
  const ReplyHeader reply = server.reply;
  if (Status next = awaitReply(server, index); !next.has_value()) giveUp(next.error().message);
  answer(reply.number, reply);
  return true;
}

// What the server has answered it has received.
void ServerLink::answer(std::uint64_t number, const ReplyHeader& reply) {
  const auto found = open_.find(number);
  const std::unique_ptr<Open> open = std::move(found->second);
  open_.erase(found);
  if (open->sending[1] != MPI_REQUEST_NULL)
    --servers_[static_cast<std::size_t>(open->request.server)].sending;
  MPI_Waitall(2, open->sending, MPI_STATUSES_IGNORE);
  if (reply.error[0] != 0) return open->done(fail(ErrorCode::invalidInput, reply.error));
  record(*open, reply);
  open->done({});
}

void ServerLink::record(const Open& open, const ReplyHeader& reply) {
  const RequestKind kind = open.request.kind;
  if (!profiler_.isRecording() || (kind != RequestKind::push && kind != RequestKind::pull)) return;
  Arguments arguments;
  arguments.add(key_site_, open.request.name);
  arguments.add(rank_site_,
                static_cast<std::int64_t>(job_.servers[static_cast<std::size_t>(open.request.server)]));
  if (kind == RequestKind::push) {
    arguments.add(staleness_site_, reply.staleness);
    arguments.add(held_site_, reply.held_ns);
    profiler_.counter(staleness_counter_, static_cast<double>(reply.staleness));
  }
  profiler_.instant(kind == RequestKind::push ? push_site_ : pull_site_, open.request.bytes, &arguments);
}

void ServerLink::checkTime() {
  if (Clock::now() - checked_ < std::chrono::milliseconds(3)) return;
  checked_ = Clock::now();
  peers_->exchange({});
  if (const std::string why = whyNotOn(); !why.empty()) giveUp(why);
}

// Why requests cannot go on; "" if they can.
std::string ServerLink::whyNotOn() {
  const Open* oldest = nullptr;
  const auto consider = [&](const Open& each) {
    if (oldest == nullptr || each.since < oldest->since) oldest = &each;
  };
  const ScopedLock lock(mutex_);
  for (const auto& [number, each] : open_) consider(*each);
  for (const auto& [priority, each] : queue_) consider(*each);
  if (oldest == nullptr) return "";
  const std::string problem = peers_->problem();
  if (problem.find("key '") != std::string::npos) return problem;  // as that rank says
  if (!problem.empty())
    return fmt::format("{}; rank {} waits for key '{}'", problem, world_rank_, oldest->request.name);
  const Seconds waited = Clock::now() - oldest->since;
  if (waitsWithoutLimit(oldest->request.kind) || waited < limit_) return "";
  return fmt::format(
      "rank {}, which serves, did not answer for key '{}' for {:.1f} s (PITWALL_KVSTORE_TIMEOUT); seen by "
      "rank {}",
      job_.servers[static_cast<std::size_t>(oldest->request.server)], oldest->request.name, waited.count(),
      world_rank_);
}

// All requests fail, here and on the other ranks. Headers that MPI still sends live as long as this object.
void ServerLink::giveUp(const std::string& why) {
  const std::string message = why.starts_with("kvstore: ") ? why : "kvstore: " + why;
  Queue queue;
  {
    const ScopedLock lock(mutex_);
    if (!failure_.empty()) return;
    failure_ = message;
    queue.swap(queue_);
  }
  given_up_.swap(open_);
  peers_->giveUp({}, message);
  for (auto& [number, each] : given_up_) each->done(fail(ErrorCode::io, message));
  for (auto& [priority, each] : queue) each->done(fail(ErrorCode::io, message));
}

// After a message the next one often comes soon; data moves by the calls.
void ServerLink::pause(bool moved) {
  const auto now = Clock::now();
  if (moved) moved_ = now;
  if (now - moved_ < std::chrono::microseconds(200)) {
    sched_yield();
    return;
  }
  const ScopedLock lock(mutex_);
  const auto wait = open_.empty() ? std::chrono::microseconds(20000) : std::chrono::microseconds(50);
  if (failure_.empty() && !stopping_ && (queue_.empty() || !open_.empty()))
    (void)changed_.waitUntil(mutex_, now + wait);
}

}  // namespace pitwall::kvstore::mpi
