#include "runtime/kvstore/mpi/mpi_communicator.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <future>

#include "db/try.h"
#include "runtime/kvstore/mpi/job.h"

namespace pitwall::kvstore::mpi {
namespace {

using Kind = Exchange::Kind;

}  // namespace

CommunicatorOptions CommunicatorOptions::of(const Settings& settings) {
  return {settings.integer("PITWALL_KVSTORE_BUCKET_BYTES"),
          std::chrono::duration<double>(settings.real("PITWALL_KVSTORE_TIMEOUT")),
          settings.boolean("PITWALL_KVSTORE_SHARED_MEMORY")};
}

MpiCommunicator::MpiCommunicator(Profiler& profiler, const CommunicatorOptions& options, Channels channels,
                                 std::unique_ptr<Peers> peers, std::unique_ptr<RankSum> sum)
    : profiler_(profiler),
      sum_site_(profiler.site(sum->name(), EventKind::communication)),
      other_site_(profiler.site("MPI exchange", EventKind::communication)),
      wait_site_(profiler.site("wait for the other ranks", EventKind::wait)),
      key_site_(profiler.site("key", EventKind::instant)),
      keys_site_(profiler.site("keys", EventKind::instant)),
      limit_(options.limit),
      communicator_(channels.exchanges),
      of_votes_(channels.votes),
      peers_(std::move(peers)),
      sum_(std::move(sum)),
      agreement_(options.bucket_bytes) {
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &size_);
  communicatorOpened();
  thread_ = std::thread([this] { run(); });
}

std::uint64_t MpiCommunicator::announce(Exchange exchange) {
  const ScopedLock lock(mutex_);
  return agreement_.announce(std::move(exchange));
}

void MpiCommunicator::start(std::uint64_t number, void* data, void* output, Done done) {
  std::string failure;
  {
    const ScopedLock lock(mutex_);
    failure = failure_;
    if (failure.empty()) {
      started_[number] = {data, output, std::move(done)};
      agreement_.ready(number);
    }
  }
  if (!failure.empty()) return done(fail(ErrorCode::io, failure));
  changed_.notifyOne();
}

void MpiCommunicator::withdraw(std::uint64_t number) {
  const ScopedLock lock(mutex_);
  withdrawn_ = agreement_.exchange(number).key;
  changed_.notifyOne();
}

MpiCommunicator::~MpiCommunicator() {
  std::promise<bool> met;
  start(announce({.key = "the end of the store", .kind = Kind::meet, .has_limit = false}), nullptr, nullptr,
        [&met](const Status& status) { met.set_value(status.has_value()); });
  const bool all_are_here = met.get_future().get();
  {
    const ScopedLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notifyOne();
  thread_.join();
  if (!all_are_here) return;
  sum_->close();
  communicatorClosed();
}

void MpiCommunicator::run() {
  profiler_.nameThread("kvstore communication");
  for (;;) {
    {
      const ScopedLock lock(mutex_);
      if (stopping_ || !failure_.empty()) return;
    }
    if (!step()) pause();
    checkTime();
  }
}

// What comes next is agreed on during an exchange, but not more: it would wait behind that whatever its priority.
bool MpiCommunicator::step() {
  bool goes_on = false;
  if (exchanges_)
    goes_on = testExchange();
  else if (!buckets_.empty())
    goes_on = issueNext();
  if (votes_)
    goes_on |= testVote();
  else if (buckets_.size() <= 1)
    goes_on |= startVote();
  return goes_on;
}

// A set that got no new member is voted for again after a while: another rank may have become ready for its members.
bool MpiCommunicator::startVote() {
  {
    const ScopedLock lock(mutex_);
    const ReadySet ready = agreement_.readySet();
    waits_for_others_ = ready.bits != decltype(ready.bits){};
    if (!waits_for_others_) return false;
    if (ready == last_vote_ && Clock::now() - vote_ended_ < std::chrono::microseconds(200)) return false;
    last_vote_ = ready;
    vote_ = agreement_.voteFor(ready);
  }
  vote_began_ = Profiler::now();
  vote_began_at_ = Clock::now();
  const Status begun = check(MPI_Iallreduce(vote_.words(), vote_result_.words(), Vote::kWords, MPI_UINT64_T,
                                            MPI_BAND, of_votes_, &vote_request_),
                             "MPI_Iallreduce");
  if (!begun.has_value()) giveUp(begun.error().message);
  votes_ = begun.has_value();
  return votes_;
}

bool MpiCommunicator::testVote() {
  int done = 0;
  const Status tested = check(MPI_Test(&vote_request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (!tested.has_value()) giveUp(tested.error().message);
  if (done == 0) return false;
  votes_ = false;
  vote_ended_ = Clock::now();
  Status taken;
  {
    const ScopedLock lock(mutex_);
    taken = agreement_.take(vote_result_, buckets_);
  }
  if (!taken.has_value()) giveUp(taken.error().message);
  if (profiler_.isRecording()) profiler_.span(wait_site_, vote_began_, Profiler::now());
  return !buckets_.empty();
}

bool MpiCommunicator::issueNext() {
  if (buckets_.front().kind == Kind::meet) {
    const Bucket bucket = buckets_.front();
    buckets_.pop_front();
    complete(bucket);
    return true;
  }
  exchange_began_ = Profiler::now();
  const Status issued = issue(buckets_.front());
  if (!issued.has_value()) giveUp(issued.error().message);
  exchanges_ = issued.has_value();
  return exchanges_;
}

Status MpiCommunicator::issue(const Bucket& bucket) {
  if (bucket.kind == Kind::sum) return sum_->start(sumsOf(bucket));
  void* data = nullptr;
  void* output = nullptr;
  {
    const ScopedLock lock(mutex_);
    const Started& started = started_.at(bucket.numbers[0]);
    data = started.data;
    output = started.output;
  }
  const int bytes = static_cast<int>(bucket.bytes);
  if (bucket.kind == Kind::fromFirst)
    return check(MPI_Ibcast(data, bytes, MPI_BYTE, 0, communicator_, &exchange_request_), "MPI_Ibcast");
  return check(
      MPI_Iallgather(data, bytes, MPI_BYTE, output, bytes, MPI_BYTE, communicator_, &exchange_request_),
      "MPI_Iallgather");
}

std::vector<SummedArray> MpiCommunicator::sumsOf(const Bucket& bucket) {
  const ScopedLock lock(mutex_);
  std::vector<SummedArray> arrays;
  for (const std::uint64_t number : bucket.numbers) {
    const Started& started = started_.at(number);
    arrays.push_back({{static_cast<float*>(started.data),
                       static_cast<std::size_t>(agreement_.exchange(number).bytes) / sizeof(float)},
                      static_cast<float*>(started.output)});
  }
  return arrays;
}

Result<bool> MpiCommunicator::exchangeIsDone() {
  if (buckets_.front().kind == Kind::sum) return sum_->test();
  int done = 0;
  PITWALL_TRY(check(MPI_Test(&exchange_request_, &done, MPI_STATUS_IGNORE), "MPI_Test"));
  return done != 0;
}

bool MpiCommunicator::testExchange() {
  const Result<bool> tested = exchangeIsDone();
  if (!tested.has_value()) giveUp(tested.error().message);
  if (!tested.value_or(false)) {
    ++tests_;
    return false;
  }
  tests_ = 0;
  exchanges_ = false;
  recordExchange();
  const Bucket bucket = std::move(buckets_.front());
  buckets_.pop_front();
  complete(bucket);
  return true;
}

void MpiCommunicator::recordExchange() {
  if (!profiler_.isRecording()) return;
  const Bucket& bucket = buckets_.front();
  Arguments arguments;
  {
    const ScopedLock lock(mutex_);
    arguments.add(key_site_, agreement_.exchange(bucket.numbers[0]).key);
  }
  arguments.add(keys_site_, static_cast<std::int64_t>(bucket.numbers.size()));
  profiler_.span(bucket.kind == Kind::sum ? sum_site_ : other_site_, exchange_began_, Profiler::now(),
                 bucket.bytes, 0, &arguments);
}

void MpiCommunicator::complete(const Bucket& bucket) {
  std::vector<Done> done;
  {
    const ScopedLock lock(mutex_);
    for (const std::uint64_t number : bucket.numbers) {
      done.push_back(std::move(started_.at(number).done));
      started_.erase(number);
      agreement_.finished(number);
    }
  }
  for (Done& each : done) each(Status());
}

std::string MpiCommunicator::late(std::string_view key, Clock::time_point since, std::uint64_t number) const {
  const std::string ranks = peers_->notReadyFor(number);
  return fmt::format("key '{}' was not exchanged for {:.1f} s (PITWALL_KVSTORE_TIMEOUT): {}; seen by rank {}",
                     key, Seconds(Clock::now() - since).count(),
                     ranks.empty() ? "a rank did not take part" : ranks + " did not push it", rank_);
}

// Looks at the other ranks and at how long exchanges have waited, a few hundred times a second.
void MpiCommunicator::checkTime() {
  if (Clock::now() - checked_ < std::chrono::milliseconds(3)) return;
  checked_ = Clock::now();
  ReadySet ready;
  {
    const ScopedLock lock(mutex_);
    ready = agreement_.readySet();
  }
  peers_->exchange(ready);
  if (const std::string why = whyNotOn(); !why.empty()) giveUp(why);
}

// Why exchanges cannot go on; "" if they can.
std::string MpiCommunicator::whyNotOn() {
  const ScopedLock lock(mutex_);
  if (!withdrawn_.empty())
    return fmt::format("rank {} has no value for key '{}': an operator before has failed", rank_, withdrawn_);
  const auto oldest =
      std::ranges::min_element(started_, {}, [](const auto& each) { return each.second.since; });
  if (oldest == started_.end()) return "";
  const Exchange& exchange = agreement_.exchange(oldest->first);
  const std::string problem = peers_->problem();
  if (problem.find("key '") != std::string::npos) return problem;  // as that rank says
  if (!problem.empty()) return fmt::format("{}; rank {} waits for key '{}'", problem, rank_, exchange.key);
  if (exchange.has_limit && Clock::now() - oldest->second.since > limit_)
    return late(exchange.key, oldest->second.since, oldest->first);
  return "";
}

// All exchanges fail, here and on the other ranks.
void MpiCommunicator::giveUp(const std::string& why) {
  const std::string message = why.starts_with("kvstore: ") ? why : "kvstore: " + why;
  ReadySet ready;
  std::unordered_map<std::uint64_t, Started> started;
  {
    const ScopedLock lock(mutex_);
    if (!failure_.empty()) return;
    failure_ = message;
    ready = agreement_.readySet();
    started.swap(started_);
  }
  peers_->giveUp(ready, message);
  for (auto& [number, each] : started) each.done(fail(ErrorCode::io, message));
}

// Data that MPI moves needs the calls: the thread gives only its turn away, and not for the first tests. A vote may wait long for
// another rank; soon, the thread sleeps between tests of it.
void MpiCommunicator::pause() {
  constexpr int kTestsBeforeYield = 100;
  if (exchanges_) {
    if (tests_ > kTestsBeforeYield) sched_yield();
  } else if (votes_ && Clock::now() - vote_began_at_ < std::chrono::microseconds(50)) {
    sched_yield();
  } else if (votes_) {
    std::this_thread::sleep_for(std::chrono::microseconds(30));
  } else {
    const auto until =
        Clock::now() + (waits_for_others_ ? std::chrono::microseconds(200) : std::chrono::milliseconds(20));
    const ScopedLock lock(mutex_);
    if (failure_.empty() && !stopping_) (void)changed_.waitUntil(mutex_, until);
  }
}

}  // namespace pitwall::kvstore::mpi
