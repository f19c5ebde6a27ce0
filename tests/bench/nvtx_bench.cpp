// The cost of an NVTX push and pop in a program under the injection library, as a ratio to two readings of
// the clock in the same batch. Min and p25 of many short batches.
//
//   nvtx_bench [BATCHES]
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/profiler.h"
#include "runtime/profiler/nvtx/abi.h"
#include "tests/support/temp_folder.h"

namespace {

using namespace pitwall;
using namespace pitwall::nvtx;

// A program's copy of NVTX: slots that the tool fills, called as NVTX's headers call them.
struct Copy {
  static constexpr unsigned kCount = 16;
  abi::Function core[kCount] = {}, core2[kCount] = {};
  abi::Function* core_table[kCount] = {};
  abi::Function* core2_table[kCount] = {};
};
Copy g_copy;

int getModule(std::uint32_t module, abi::FunctionTable* table, unsigned* count) {
  if (module != abi::kCore && module != abi::kCore2) return 0;
  *table = module == abi::kCore ? g_copy.core_table : g_copy.core2_table;
  *count = Copy::kCount;
  return 1;
}
const abi::CallbacksTable g_callbacks{sizeof(abi::CallbacksTable), getModule};
const void* getExport(std::uint32_t table) { return table == abi::kCallbacksTable ? &g_callbacks : nullptr; }

template <class F>
F function(abi::Function& slot) {
  return reinterpret_cast<F>(*const_cast<abi::Function volatile*>(&slot));  // loaded at each call
}
int pushA(const char* text) {
  const auto f = function<int (*)(const char*)>(g_copy.core[abi::kRangePushA]);
  return f != nullptr ? f(text) : -2;
}
int pop() {
  const auto f = function<int (*)()>(g_copy.core[abi::kRangePop]);
  return f != nullptr ? f() : -2;
}
int domainPush(void* domain, const abi::EventAttributes* attributes) {
  const auto f = function<int (*)(void*, const abi::EventAttributes*)>(g_copy.core2[abi::kDomainRangePushEx]);
  return f != nullptr ? f(domain, attributes) : -2;
}
int domainPop(void* domain) {
  const auto f = function<int (*)(void*)>(g_copy.core2[abi::kDomainRangePop]);
  return f != nullptr ? f(domain) : -2;
}

bool attach() {
  for (unsigned i = 1; i < Copy::kCount; ++i) {
    g_copy.core_table[i] = &g_copy.core[i];
    g_copy.core2_table[i] = &g_copy.core2[i];
  }
  void* const library = dlopen(PITWALL_INJECT_LIBRARY, RTLD_LAZY);
  if (library == nullptr) return false;
  const auto initialize =
      reinterpret_cast<int (*)(abi::GetExportTable)>(dlsym(library, "InitializeInjectionNvtx2"));
  return initialize != nullptr && initialize(getExport) == 1;
}

// Long enough to measure, short enough to fit the ring between two drains.
constexpr int kCalls = 2000;

struct Row {
  const char* name;
  double target_ns;  // on a machine where two readings of the clock take 22.2
  std::vector<double> ns;
};

template <class Body>
double batchNs(Body body) {
  const Ticks from = profiler::monotonicNs();
  for (int i = 0; i < kCalls; ++i) body(i);
  return static_cast<double>(profiler::monotonicNs() - from) / kCalls;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

}  // namespace

int main(int count, char** arguments) {
  const int batches = count > 1 ? std::atoi(arguments[1]) : 400;
  const test::TempFolder folder;
  ::setenv("PITWALL_TRACE", (folder / "bench.pitwall").c_str(), 1);
  if (!attach()) {
    std::fputs("nvtx_bench: the injection library does not load\n", stderr);
    return 1;
  }
  const auto create = function<void* (*)(const char*)>(g_copy.core2[abi::kDomainCreateA]);
  const auto intern = function<void* (*)(void*, const char*)>(g_copy.core2[abi::kDomainRegisterStringA]);
  void* const domain = create("bench");
  abi::EventAttributes registered{};
  registered.version = 3;
  registered.size = sizeof registered;
  registered.message_type = abi::kRegistered;
  registered.message.registered = intern(domain, "a registered name");
  // Texts of 33 characters that alternate at one address, as those of temporaries do: copied there right
  // before the push, whose loads then wait for the copy's stores; and copied eight pushes before.
  static char temporary[40], earlier[16][64];
  static constexpr char kTexts[2][40] = {"forward of layer number 1 of 1000",
                                         "forward of layer number 2 of 1000"};

  std::vector<double> floor;
  Row rows[] = {{"pointer", 25, {}},
                {"registered string", 25, {}},
                {"hashed (33 characters)", 28, {}},
                {"hashed, copied in right before", 28, {}},
                {"pointer, and the same copy beside it", 26, {}}};
  volatile Ticks sink = 0;
  for (int s = 0; s < batches; ++s) {
    floor.push_back(batchNs([&](int) {
      sink = Profiler::now();
      sink = Profiler::now();
    }));
    rows[0].ns.push_back(batchNs([](int) { (void)pushA("a name that stays"), (void)pop(); }));
    rows[1].ns.push_back(
        batchNs([&](int) { (void)domainPush(domain, &registered), (void)domainPop(domain); }));
    rows[2].ns.push_back(batchNs([](int i) {
      __builtin_memcpy(earlier[(i + 8) & 15], kTexts[(i >> 4) & 1], 34);
      (void)pushA(earlier[i & 15]), (void)pop();
    }));
    rows[4].ns.push_back(batchNs([](int i) {
      __builtin_memcpy(earlier[(i + 8) & 15], kTexts[(i >> 4) & 1], 34);
      (void)pushA("a name that stays"), (void)pop();
    }));
    rows[3].ns.push_back(batchNs([](int i) {
      // 33 bytes in two stores; the first differ between the texts only at the 25th character.
      __builtin_memcpy(temporary, kTexts[i & 1], 34);
      (void)pushA(temporary), (void)pop();
    }));
  }
  const double best = quantile(floor, 0), usual = quantile(floor, 0.25);
  fmt::print("two readings of the clock: min {:.2f} ns, p25 {:.2f} ns\n\n", best, usual);
  fmt::print(
      "| push + pop | min ns | p25 ns | min / floor | p25 / floor | target / floor "
      "|\n|---|---|---|---|---|---|\n");
  for (const Row& row : rows) {
    fmt::print("| {} | {:.2f} | {:.2f} | {:.3f} | {:.3f} | {:.3f} |\n", row.name, quantile(row.ns, 0),
               quantile(row.ns, 0.25), quantile(row.ns, 0) / best, quantile(row.ns, 0.25) / usual,
               row.target_ns / 22.2);
  }
  return 0;
}
