// Uses the fake driver, and ends as its argument says. With "own", it records itself, as Pitwall's runtime does.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "db/store.h"
#include "runtime/profiler/cupti/collector.h"

namespace {

constexpr int kLaunches = 100;

using Launch = void();
Launch* g_launch = nullptr;

void launchAll() {
  for (int i = 0; i < kLaunches; ++i) g_launch();
}

// Each kernel needs a page of managed memory.
void migrateAll(const char* how) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto move = reinterpret_cast<Launch*>(dlsym(driver, how));
  for (int i = 0; i < kLaunches; ++i) {
    move();
    g_launch();
  }
}

[[noreturn]] void give_up(const std::string& what) {
  (void)std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(2);
}

void begin() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) give_up("no fake driver");
  g_launch = reinterpret_cast<Launch*>(dlsym(driver, "fakeLaunch"));
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  if (g_launch == nullptr || init == nullptr) give_up("another driver");
  (void)init(0);
}

// As a session of Pitwall's runtime, whose end is that of a static object where `closed` is false.
struct OwnRecording {
  pitwall::Profiler profiler;
  void start(const char* path) {
    auto sink = pitwall::createTrace(path);
    if (!sink.has_value()) give_up(sink.error().message);
    if (const auto started = profiler.start(std::move(*sink)); !started.has_value())
      give_up(started.error().message);
    if (const auto attached = pitwall::cupti::attach(profiler); !attached.has_value())
      give_up(attached.error().message);
  }
  void end() {
    pitwall::cupti::detach();
    (void)profiler.stop();
  }
  ~OwnRecording() { end(); }
};

int recordItself(const std::string& how) {
  static OwnRecording recording;
  begin();
  recording.start("own.pitwall");
  launchAll();
  if (how == "own open") return 7;
  recording.end();
  if (how == "own again") {
    recording.start("again.pitwall");
    launchAll();
    recording.end();
  }
  if (how == "own removed") g_launch();  // the call at whose end CUPTI is removed
  return 7;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string how = count > 1 ? arguments[1] : "";
  if (how.rfind("own", 0) == 0) return recordItself(how);
  begin();
  if (how == "threads") {  // that go on to the end
    static std::atomic<int> done{0};
    for (int i = 0; i < 2; ++i) {
      std::thread([] {
        for (;;) {
          g_launch();
          if (done.fetch_add(1) > 1 << 20) return;
        }
      }).detach();
    }
    while (done.load() < kLaunches) std::this_thread::yield();
    std::exit(7);
  }
  launchAll();
  if (how == "captured") {  // the second half
    reinterpret_cast<Launch*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fakeCapture"))();
    launchAll();
  }
  if (how == "managed") migrateAll("fakeMigrate");
  if (how == "prefetched") migrateAll("fakePrefetch");
  if (how == "taken over") {
    void* const cupti = dlopen("libcupti.so.13", RTLD_NOW);
    const auto take = reinterpret_cast<Launch*>(dlsym(cupti, "fakeCuptiTakeOver"));
    if (take == nullptr) give_up("no fake CUPTI");
    take();
    launchAll();
  }
  if (how == "exit") std::exit(7);
  if (how == "quick_exit") std::quick_exit(7);
  if (how == "_exit") _exit(7);
  if (how == "exec") execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
  if (how == "fork") {
    const pid_t child = fork();
    if (child == 0) std::exit(5);
    int status = 0;
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 5 ? 7 : 3;
  }
  return 7;
}
