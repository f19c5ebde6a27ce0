// As many threads as twice the CPUs, and one lock around nearly all that each does. Fixed: around the sum
// alone.
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/truth/programs/program.h"

int main(int argc, char** argv) {
  const auto options = truth::parse(argc, argv);
  std::mutex mutex;
  std::atomic<bool> stop{false};
  double sum = 0;
  std::atomic<long> done{0};
  const auto run = [&] {
    while (!stop) {
      if (options.fixed) {
        const double value = truth::work(200'000);
        const std::lock_guard lock(mutex);
        sum += value;
      } else {
        const std::lock_guard lock(mutex);
        sum += truth::work(200'000);
      }
      ++done;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) threads.emplace_back(run);
  const auto begin = truth::Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  stop = true;
  for (auto& thread : threads) thread.join();
  const double elapsed = std::chrono::duration<double>(truth::Clock::now() - begin).count();
  std::printf("items_per_second %.6g\n", static_cast<double>(done) / elapsed + 0 * sum);
}
