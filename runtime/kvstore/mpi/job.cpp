#include "runtime/kvstore/mpi/job.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>

#include "db/mutex.h"
#include "db/try.h"

namespace pitwall::kvstore::mpi {
namespace {

std::atomic<int> open_communicators{0};

// Never destroyed: used at exit.
std::function<void()>& lastCall() {
  static auto* const last = new std::function<void()>;
  return *last;
}

void endMpi() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0 || open_communicators != 0) return;
  if (lastCall()) lastCall()();
  MPI_Finalize();
}

Status startOnce() {
  int started = 0, level = 0;
  PITWALL_TRY(check(MPI_Initialized(&started), "MPI_Initialized"));
  if (started == 0) {
    PITWALL_TRY(check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread"));
    std::atexit(endMpi);
  } else {
    PITWALL_TRY(check(MPI_Query_thread(&level), "MPI_Query_thread"));
  }
  if (level == MPI_THREAD_MULTIPLE) return {};
  return fail(ErrorCode::unsupported,
              "MPI was started without MPI_THREAD_MULTIPLE, which stores between processes need: call "
              "MPI_Init_thread() with it, or leave that to the store");
}

}  // namespace

Status startMpi() {
  static Mutex mutex;
  const ScopedLock lock(mutex);
  return startOnce();
}

void beforeMpiEnds(std::function<void()> last) { lastCall() = std::move(last); }

void communicatorOpened() { ++open_communicators; }
void communicatorClosed() { --open_communicators; }

Status check(int code, const char* call) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return fail(ErrorCode::io, fmt::format("{}: {}", call, text));
}

Status waitFor(MPI_Request request, std::chrono::duration<double> limit, const std::string& what) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  for (;;) {
    int done = 0;
    PITWALL_TRY(check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
    if (done != 0) return {};
    if (Clock::now() - began > limit) return fail(ErrorCode::io, what);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace pitwall::kvstore::mpi
