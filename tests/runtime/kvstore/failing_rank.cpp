// failing_rank HOW: rank 1 of a job fails as the word says, while the others push. Each of the others prints the error that it gets and
// "ended after X s", and ends with code 3.
//   kill   it is killed            stop   it is stopped, and killed after 10 s
//   absent it does not push        late   an operator before its push fails
//   random it is killed at a random moment of many pushes
//   server  a server of a store dist_async is killed so, once all workers push: FAILING_RANK_STARTED names a file
//           that gets a byte of each
// failing_rank HOW dist_async: the same of a worker of a store dist_async.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>
#include <thread>

#include "db/try.h"
#include "runtime/kvstore.h"

using namespace pitwall;

namespace {

void failAs(const char* how) {
  if (std::strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (std::strcmp(how, "stop") == 0) {
    if (fork() == 0) {
      sleep(10);
      kill(getppid(), SIGKILL);
      _exit(0);
    }
    kill(getpid(), SIGSTOP);
  }
  if (std::strcmp(how, "absent") == 0) std::this_thread::sleep_for(std::chrono::seconds(12));
}

constexpr std::uintmax_t kWorkers = 3;

void killAtRandom() {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500 + std::random_device()() % 500));
    kill(getpid(), SIGKILL);
  }).detach();
}

const char* startedFile() {
  const char* const file = std::getenv("FAILING_RANK_STARTED");
  return file != nullptr ? file : "";
}

void noteStarted() { std::ofstream(startedFile(), std::ios::app) << '.'; }

void killAtRandomOnceWorkersPush() {
  std::thread([] {
    std::error_code error;
    while (std::filesystem::file_size(startedFile(), error) < kWorkers || error)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    killAtRandom();
  }).detach();
}

// Pushes and pulls until something fails.
Status pushMany(KVStore& store, const NDArray& value) {
  for (;;) {
    for (const char* key : {"conv1_weight", "fc1_weight"}) {
      PITWALL_TRY(store.push(key, value));
      PITWALL_TRY(store.pull(key, value));
      PITWALL_TRY(value.waitToRead());
    }
  }
}

Status initKeys(KVStore& store, const NDArray& value) {
  PITWALL_TRY(store.init("conv1_weight", value));
  PITWALL_TRY(store.init("fc1_weight", value));
  PITWALL_TRY(store.push("conv1_weight", value));
  PITWALL_TRY(store.pull("conv1_weight", value));
  return value.waitToRead();
}

Status pushOnce(KVStore& store, const NDArray& pushed, const NDArray& value) {
  PITWALL_TRY(store.push("fc1_weight", pushed));
  PITWALL_TRY(store.pull("fc1_weight", value));
  return value.waitToRead();
}

// As rank `store.rank()` of a job of which rank 1, or its server, fails as `how` says.
Status work(Session& session, KVStore& store, const char* how, bool is_async) {
  if (is_async) PITWALL_TRY(store.setOptimizer({"sgd", {{"learning_rate", 0.1F}}}));
  const float ones[] = {1, 1, 1};
  const NDArray value = NDArray::fromValues(session, {3}, ones);
  PITWALL_TRY(initKeys(store, value));
  noteStarted();
  NDArray pushed = value;
  if (store.rank() == 1) {
    failAs(how);
    if (std::strcmp(how, "late") == 0) pushed = NDArray::empty(session, {3});  // never written
    if (std::strcmp(how, "random") == 0) killAtRandom();
  }
  // Workers of dist_async do not wait for each other.
  if (std::strcmp(how, "random") == 0 || is_async) return pushMany(store, value);
  return pushOnce(store, pushed, value);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  const bool kills_server = std::strcmp(how, "server") == 0;
  const bool is_async = kills_server || (argc > 2 && std::strcmp(argv[2], "dist_async") == 0);
  auto session = Session::open().value();
  const char* const role = std::getenv("DMLC_ROLE");
  if (kills_server && role != nullptr && std::strcmp(role, "server") == 0) killAtRandomOnceWorkersPush();
  const Result<bool> served = KVStore::serve(*session);
  if (!served.has_value()) {
    std::fprintf(stderr, "server: %s\n", served.error().message.c_str());
    std::_Exit(3);
  }
  if (*served) return 0;
  auto store = KVStore::create(*session, is_async ? "dist_async" : "dist_sync").value();
  const auto began = std::chrono::steady_clock::now();
  const Status waited = work(*session, *store, how, is_async);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (!waited.has_value())
    std::fprintf(stderr, "rank %d: %s\nrank %d: ended after %.1f s\n", store->rank(),
                 waited.error().message.c_str(), store->rank(), seconds);
  store = nullptr;
  std::_Exit(waited.has_value() ? 0 : 3);
}
