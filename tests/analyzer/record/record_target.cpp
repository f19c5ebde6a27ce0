// A program to be recorded, for the tests: record_target MODE [NUMBER].
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

void sleepMs(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

long usedMs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Uses CPU time, even if that takes long on a busy machine.
void burnMs(int ms) {
  volatile double sink = 1;
  while (usedMs() < ms) {
    for (int i = 0; i < 10000; ++i) sink = sink * 1.0000001;
  }
}

// Uses CPU time in the kernel.
void readZerosMs(int ms) {
  std::vector<char> to(std::size_t{8} << 20);
  const int zeros = ::open("/dev/zero", O_RDONLY);
  while (usedMs() < ms) {
    if (::read(zeros, to.data(), to.size()) < 0) _exit(3);
  }
  ::close(zeros);
}

template <class Work>
void inThreads(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
}

void print(const std::string& text) {
  if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) _exit(3);
}

int verbose() {
  const std::string exec =
      "onednn_verbose,1700000000000.5,exec,cpu,convolution,jit:avx2,forward_training,src_f32::blocked:abcd:"
      "f0 "
      "wei_f32::blocked:abcd:f0 "
      "dst_f32::blocked:abcd:f0,,alg:convolution_direct,mb1_ic1oc1_ih4oh2kh3sh1dh0ph0_iw4ow2kw3sw1dw0pw0,0."
      "25\n";
  print("Loss: ");
  print("onednn_verbose,info,oneDNN v2.6.3 (commit abc)\n");
  for (int i = 0; i < 100; ++i) print(exec);
  print(std::string("0.5\n\0\xff binary onednn_verbose\n", 29));
  print("half a line, as a prompt o");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  if (mode == "burn") inThreads(2, [number] { burnMs(number); });
  if (mode == "burn-and-wait") {  // its threads end early in an interval of 250 ms
    inThreads(2, [number] { burnMs(number); });
    sleepMs(400);
  }
  if (mode == "kernel") readZerosMs(number);
  if (mode == "threads") {
    std::atomic<int> begun{0};  // all of them live at the same time, however long starting them takes
    inThreads(number, [&begun, number] {
      ++begun;
      while (begun < number) sleepMs(10);
      sleepMs(2000);
    });
  }
  if (mode == "mutex") {  // one has it, the others wait
    std::mutex mutex;
    inThreads(3, [&mutex, number] {
      const std::lock_guard held(mutex);
      sleepMs(number);
    });
  }
  if (mode == "short-processes") {  // each shorter than an interval
    for (int i = 0; i < number; ++i) {
      if (fork() == 0) {
        burnMs(20);
        _exit(0);
      }
      wait(nullptr);
    }
  }
  if (mode == "short-threads") {  // a thread per event
    for (int i = 0; i < number; ++i) std::thread([] {}).join();
  }
  if (mode == "fork") {  // without exec
    if (fork() == 0) {
      sleepMs(1500);
      _exit(0);
    }
    wait(nullptr);
  }
  if (mode == "again") {  // once it may go on, the same program with another environment, until it is killed
    while (getenv("RECORD_TARGET_AGAIN") != nullptr) pause();
    raise(SIGSTOP);
    setenv("RECORD_TARGET_AGAIN", "1", 1);
    execv("/proc/self/exe", argv);
  }
  if (mode == "exec") {
    sleepMs(300);
    execl("/bin/sh", "sh", "-c", "sleep 0.6; exit 4", nullptr);
  }
  if (mode == "daemon" && fork() == 0) {  // its parent ends immediately
    if (fork() != 0) _exit(0);
    sleepMs(number);
    _exit(0);
  }
  if (mode == "daemon") sleepMs(100);
  if (mode == "verbose") return verbose();
  return 0;
}
