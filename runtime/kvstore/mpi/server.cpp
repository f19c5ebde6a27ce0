#include "runtime/kvstore/mpi/server.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "db/try.h"
#include "runtime/array/array.h"
#include "runtime/kvstore/local_store.h"
#include "runtime/kvstore/mpi/job.h"

namespace pitwall::kvstore::mpi {
namespace {

int floatsIn(std::int64_t bytes) {
  return static_cast<int>(bytes / static_cast<std::int64_t>(sizeof(float)));
}

void* dataOfArray(const NDArray& array) { return valueOf(array).chunk->block.data(); }

ReplyHeader replyTo(const RequestHeader& request, std::string_view error = {}) {
  ReplyHeader header{.number = request.number};
  error.copy(header.error, sizeof(header.error) - 1);
  return header;
}

}  // namespace

Server::Server(Session& session, const ServerOptions& options, MPI_Comm communicator, Job job,
               std::unique_ptr<Peers> peers)
    : session_(session),
      options_(options),
      communicator_(communicator),
      job_(std::move(job)),
      update_site_(session.profiler().site("update by a worker", EventKind::communication)),
      send_site_(session.profiler().site("contents to a worker", EventKind::communication)),
      key_site_(session.profiler().site("key", EventKind::instant)),
      rank_site_(session.profiler().site("rank", EventKind::instant)),
      staleness_site_(session.profiler().site("staleness", EventKind::instant)),
      peers_(std::move(peers)),
      store_(std::make_unique<LocalStore>(session, "dist_async", makeHostReducer(session))),
      workers_(job_.workers.size()) {
  MPI_Comm_rank(communicator_, &rank_);
  for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i].rank = job_.workers[i];
  communicatorOpened();
  thread_ = std::thread([this] { run(); });
}

Server::~Server() {
  thread_.join();
  if (status().has_value()) communicatorClosed();
}

bool Server::hasEnded() const {
  const ScopedLock lock(mutex_);
  return ended_;
}

Status Server::status() const {
  const ScopedLock lock(mutex_);
  if (failure_.empty()) return {};
  return fail(ErrorCode::io, failure_);
}

void Server::run() {
  session_.profiler().nameThread("kvstore server");
  Status status;
  for (Worker& worker : workers_)
    if (status.has_value()) status = awaitRequest(worker);
  while (status.has_value() && !(closed_ && replies_.empty())) {
    bool moved = false;
    status = step(moved);
    if (moved) moved_ = Clock::now();
    if (Clock::now() - moved_ < std::chrono::microseconds(200))
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (!status.has_value()) fails(status.error().message);
  for (Worker& worker : workers_) {
    if (worker.receiving == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&worker.receiving);
    MPI_Request_free(&worker.receiving);
  }
  store_ = nullptr;
  const ScopedLock lock(mutex_);
  ended_ = true;
}

Status Server::step(bool& moved) {
  for (std::size_t i = 0; i < workers_.size(); ++i) PITWALL_TRY(receive(i, moved));
  if (moved) PITWALL_TRY(answerWaiting(moved));
  finishReplies();
  if (Clock::now() - checked_ < std::chrono::milliseconds(3)) return {};
  checked_ = Clock::now();
  peers_->exchange({});
  const std::string why = whyNotOn();
  if (why.empty()) return {};
  return fail(ErrorCode::io, why);
}

std::string Server::whyNotOn() const {
  const std::string problem = closed_ ? "" : peers_->problem();
  if (problem.empty() || problem.find("key '") != std::string::npos) return problem;
  return fmt::format("{}; rank {}, which serves, last had a request for key '{}'", problem, rank_, last_key_);
}

void Server::fails(const std::string& why) {
  const std::string message = why.starts_with("kvstore: ") ? why : "kvstore: " + why;
  peers_->giveUp({}, message);
  const ScopedLock lock(mutex_);
  failure_ = message;
}

Status Server::awaitRequest(Worker& worker) {
  worker.is_data = false;
  return check(MPI_Irecv(&worker.header, sizeof(RequestHeader), MPI_BYTE, worker.rank, kRequestTag,
                         communicator_, &worker.receiving),
               "MPI_Irecv");
}

Status Server::receive(std::size_t index, bool& moved) {
  Worker& worker = workers_[index];
  int done = 0;
  PITWALL_TRY(check(MPI_Test(&worker.receiving, &done, MPI_STATUS_IGNORE), "MPI_Test"));
  if (done == 0) return {};
  moved = true;
  if (!worker.is_data) {
    worker.coming = {.header = worker.header, .data = {}, .arrived = {}};
    if (worker.header.bytes > 0) return receiveData(worker);
  }
  worker.coming.arrived = Clock::now();
  if (worker.coming.header.elements > 0) last_key_ = worker.coming.header.name;
  worker.waiting.push_back(std::move(worker.coming));
  return awaitRequest(worker);
}

Status Server::receiveData(Worker& worker) {
  const std::int64_t bytes = worker.header.bytes;
  worker.coming.data = PITWALL_TRY(session_.storage().allocate(bytes, MemoryTag::gradients));
  worker.is_data = true;
  return check(MPI_Irecv(worker.coming.data.data(), floatsIn(bytes), MPI_FLOAT, worker.rank, kRequestDataTag,
                         communicator_, &worker.receiving),
               "MPI_Irecv");
}

// Its data, which moves there.
NDArray Server::arrayOf(Request& request) const {
  const NDArray array = NDArray::empty(session_, {floatsIn(request.header.bytes)}, MemoryTag::gradients);
  NDArray(array).takeBlock(std::move(request.data));
  return array;
}

// What one request changes may let another be answered.
Status Server::answerWaiting(bool& moved) {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      std::list<Request>& waiting = workers_[i].waiting;
      for (auto request = waiting.begin(); request != waiting.end();) {
        const Result<bool> answered = handle(i, *request);
        if (!answered.has_value()) PITWALL_TRY(reply(i, replyTo(request->header, answered.error().message)));
        const bool is_done = answered.value_or(true);
        again |= is_done;
        request = is_done ? waiting.erase(request) : std::next(request);
      }
    }
    for (const auto kind : {ServerRequest::Kind::meet, ServerRequest::Kind::close})
      if (allWait(kind)) PITWALL_TRY(answerAll(kind));
    moved |= again;
  }
  return {};
}

Result<bool> Server::handle(std::size_t worker, Request& request) {
  switch (request.header.kind) {
    case ServerRequest::Kind::init: return init(worker, request);
    case ServerRequest::Kind::push: return applyPush(worker, request);
    case ServerRequest::Kind::pull: return pull(worker, request);
    case ServerRequest::Kind::optimizer:
      PITWALL_TRY(setOptimizer(request));
      has_optimizer_ = true;
      PITWALL_TRY(reply(worker, replyTo(request.header)));
      return true;
    case ServerRequest::Kind::meet:
    case ServerRequest::Kind::close: return false;
  }
  return true;
}

Result<bool> Server::init(std::size_t worker, Request& request) {
  const RequestHeader& header = request.header;
  Key& key = keys_[header.key];
  const bool is_first = key.seen.empty();
  if (is_first)
    key = {.name = header.name,
           .elements = header.elements,
           .seen = std::vector<std::int64_t>(workers_.size()),
           .pushes = std::vector<std::int64_t>(workers_.size())};
  if (key.name != header.name || key.elements != header.elements)
    return fail(
        ErrorCode::invalidInput,
        fmt::format(
            "key '{}': worker {} initialises key '{}' of {} elements where another worker has key '{}' "
            "of {}: call init() for the same keys in the same order on all workers",
            header.name, worker, header.name, header.elements, key.name, key.elements));
  if (worker == 0) {
    PITWALL_TRY(store_->init(key.name, arrayOf(request)));
    key.is_initialised = true;
  }
  PITWALL_TRY(reply(worker, replyTo(header)));
  return true;
}

// The update is made at once; its reply waits while the worker is too far ahead.
Result<bool> Server::applyPush(std::size_t worker, Request& request) {
  const RequestHeader& header = request.header;
  Key& key = keys_[header.key];
  if (!key.is_initialised || !has_optimizer_) return false;
  if (!request.applied) {
    Profiler& profiler = session_.profiler();
    const Ticks began = Profiler::now();
    request.applied = true;
    request.staleness = key.updates - key.seen[worker];
    if (header.rate >= 0) store_->setRate(header.rate);
    store_->setBatchSize(header.batch_size);
    PITWALL_TRY(store_->push(key.name, arrayOf(request)));
    ++key.updates;
    ++key.pushes[worker];
    if (profiler.isRecording()) {
      Arguments arguments;
      arguments.add(key_site_, key.name);
      arguments.add(rank_site_, static_cast<std::int64_t>(workers_[worker].rank));
      arguments.add(staleness_site_, request.staleness);
      profiler.span(update_site_, began, Profiler::now(), header.bytes, 0, &arguments);
    }
  }
  if (isHeld(key, worker)) return false;
  ReplyHeader answer = replyTo(header);
  answer.staleness = request.staleness;
  answer.held_ns = std::chrono::nanoseconds(Clock::now() - request.arrived).count();
  PITWALL_TRY(reply(worker, answer));
  return true;
}

// Workers that have closed the store push no more.
bool Server::isHeld(const Key& key, std::size_t worker) const {
  if (options_.staleness < 0) return false;
  std::int64_t slowest = key.pushes[worker];
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const bool closes = std::ranges::any_of(workers_[i].waiting, [](const Request& each) {
      return each.header.kind == ServerRequest::Kind::close;
    });
    if (!closes) slowest = std::min(slowest, key.pushes[i]);
  }
  return key.pushes[worker] - slowest > options_.staleness;
}

Result<bool> Server::pull(std::size_t worker, const Request& request) {
  Key& key = keys_[request.header.key];
  if (!key.is_initialised) return false;
  Profiler& profiler = session_.profiler();
  const Ticks began = Profiler::now();
  const NDArray contents = NDArray::empty(session_, {key.elements}, MemoryTag::weights);
  PITWALL_TRY(store_->pull(key.name, contents));
  PITWALL_TRY(contents.waitToRead());
  key.seen[worker] = key.updates;
  ReplyHeader answer = replyTo(request.header);
  answer.bytes = key.elements * static_cast<std::int64_t>(sizeof(float));
  PITWALL_TRY(reply(worker, answer, contents));
  if (profiler.isRecording()) {
    Arguments arguments;
    arguments.add(key_site_, key.name);
    arguments.add(rank_site_, static_cast<std::int64_t>(workers_[worker].rank));
    profiler.span(send_site_, began, Profiler::now(), answer.bytes, 0, &arguments);
  }
  return true;
}

// The data has the values of the options that the name lists.
Status Server::setOptimizer(const Request& request) const {
  OptimizerChoice choice{.name = "", .options = {}};
  std::istringstream names(request.header.name);
  names >> choice.name;
  const auto* value = static_cast<const float*>(request.data.data());
  for (std::string name; names >> name;) choice.options.emplace_back(name, *value++);
  return store_->setOptimizer(choice);
}

bool Server::allWait(ServerRequest::Kind kind) const {
  return std::ranges::all_of(workers_, [&](const Worker& worker) {
    return std::ranges::any_of(worker.waiting, [&](const Request& each) { return each.header.kind == kind; });
  });
}

Status Server::answerAll(ServerRequest::Kind kind) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    std::list<Request>& waiting = workers_[i].waiting;
    const auto found = std::ranges::find(waiting, kind, [](const Request& each) { return each.header.kind; });
    PITWALL_TRY(reply(i, replyTo(found->header)));
    waiting.erase(found);
  }
  if (kind == ServerRequest::Kind::close) closed_ = true;
  return {};
}

Status Server::reply(std::size_t worker, const ReplyHeader& header, NDArray data) {
  Reply& sent = replies_.emplace_back();
  sent.header = header;
  sent.data = std::move(data);
  const int to = workers_[worker].rank;
  PITWALL_TRY(check(
      MPI_Isend(&sent.header, sizeof(ReplyHeader), MPI_BYTE, to, kReplyTag, communicator_, &sent.requests[0]),
      "MPI_Isend"));
  if (header.bytes == 0) return {};
  return check(MPI_Isend(dataOfArray(sent.data), floatsIn(header.bytes), MPI_FLOAT, to, kReplyDataTag,
                         communicator_, &sent.requests[1]),
               "MPI_Isend");
}

void Server::finishReplies() {
  for (auto each = replies_.begin(); each != replies_.end();) {
    int done = 0;
    MPI_Testall(2, each->requests, &done, MPI_STATUSES_IGNORE);
    each = done != 0 ? replies_.erase(each) : std::next(each);
  }
}

}  // namespace pitwall::kvstore::mpi
