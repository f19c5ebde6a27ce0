// A producer and a consumer that wait for each other without using a CPU, as threads of a pipeline should.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<double> queue;
  bool stop = false;
  std::thread producer([&] {
    for (;;) {
      const double value = truth::work(2'000'000);
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return queue.size() < 4 || stop; });
      if (stop) return;
      queue.push_back(value);
      changed.notify_all();
    }
  });
  double sum = 0;
  truth::repeat(options, [&](long) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !queue.empty(); });
    sum += queue.front();
    queue.pop_front();
    changed.notify_all();
    lock.unlock();
    sum += truth::work(1'500'000);
  });
  {
    const std::lock_guard lock(mutex);
    stop = true;
    changed.notify_all();
  }
  producer.join();
  if (sum < 0) std::puts("");
}
