#include "runtime/profiler/torch/operators.h"

#include <pthread.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/torch_ranges.h"
#include "runtime/profiler/torch/input_text.h"
#include "runtime/profiler/torch/layers.h"

namespace pitwall::torch {
namespace {

using torch_abi::ObserverContextPointer;
using torch_abi::RecordFunction;
using torch_abi::Scope;

// Programs whose shapes change at every step: beyond this many combinations the shapes are left out.
constexpr std::size_t kMostFacts = 1U << 15U;
// Names that a program makes at run time, such as "step 17": beyond this many they are one.
constexpr std::size_t kMostNames = 1U << 14U;

torch_abi::Functions g_torch;
Profiler* (*g_find)() = nullptr;
std::atomic<Profiler*> g_profiler{nullptr};
// Odd while the recording of this process has not been looked for; a fork begins the next pair.
std::atomic<std::uint32_t> g_generation{1};

struct Name {
  std::string text;
  SiteId site;
  Phase phase = Phase::none;  // that it determines by itself
  bool is_range = false;
};

// Of a thread. Identities are those of one recording.
struct Known {
  std::uint32_t generation = 0;
  std::unordered_map<std::uint64_t, Name> names;        // by hash
  std::unordered_map<std::uint64_t, OperatorId> facts;  // by hash of name, phase, layer, shapes and types
};

struct Open {
  const RecordFunction* function = nullptr;
  const Name* name = nullptr;
  OperatorId op;
  Ticks started = 0;
  Phase phase = Phase::none;
};

struct Thread {
  Known known;
  std::vector<Open> open;
};

Thread& thisThread() {
  thread_local const auto thread = std::make_unique<Thread>();
  return *thread;
}

Profiler* recording() {
  const std::uint32_t generation = g_generation.load(std::memory_order_acquire);
  if (generation % 2 == 1) {
    g_profiler.store(g_find(), std::memory_order_release);
    std::uint32_t expected = generation;
    g_generation.compare_exchange_strong(expected, generation + 1);
  }
  Profiler* const profiler = g_profiler.load(std::memory_order_acquire);
  return profiler != nullptr && profiler->isRecording() ? profiler : nullptr;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29U);
}

std::uint64_t hashOf(std::string_view text, std::uint64_t hash) {
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t part = 0;
    std::memcpy(&part, text.data(), 8);
    hash = mixed(hash, part);
  }
  std::uint64_t rest = text.size();
  for (const char c : text) rest = rest << 8U | static_cast<unsigned char>(c);
  return mixed(hash, rest);
}

const Name& nameOf(Profiler& profiler, Known& known, std::string_view text, Scope scope) {
  std::uint64_t key = hashOf(text, static_cast<std::uint64_t>(scope));
  if (const auto at = known.names.find(key); at != known.names.end()) return at->second;
  if (known.names.size() >= kMostNames) {
    text = "(other names)";
    key = static_cast<std::uint64_t>(scope);
  }
  Name& name = known.names[key];
  if (!name.text.empty()) return name;
  name.text = text;
  name.is_range = scope == Scope::user || isTorchRange(text);
  if (name.is_range) name.phase = phaseOfTorchRange(text);
  if (scope == Scope::backwardFunction || (!name.is_range && isTorchBackward(text)))
    name.phase = Phase::backward;
  const bool waits = name.is_range && isTorchDataWait(text);
  if (waits) name.phase = Phase::data;
  const bool exchanges = name.is_range && isTorchCollective(text);
  name.site = profiler.site(text, waits       ? EventKind::dataWait
                                  : exchanges ? EventKind::communication
                                              : EventKind::scope);
  return name;
}

// An operator belongs to the phase of what encloses it. Outside of all, operators that autograd may record are the
// forward pass.
Phase phaseOf(const Name& name, const Thread& thread) {
  const Phase around = thread.open.empty() ? Phase::none : thread.open.back().phase;
  if (around != Phase::none && around != Phase::forward) return around;
  if (name.phase != Phase::none) return name.phase;
  if (around != Phase::none || name.is_range) return around;
  return g_torch.gradients_enabled != nullptr && g_torch.gradients_enabled() ? Phase::forward : Phase::none;
}

OperatorId factsOf(Profiler& profiler, Known& known, const Name& name, Phase phase,
                   const RecordFunction& function) {
  std::vector<std::vector<std::int64_t>> sizes;
  std::vector<std::string> types;
  if (g_torch.haveShapes() && known.facts.size() < kMostFacts) {
    sizes = g_torch.input_sizes(function, false);
    types = g_torch.input_types(function);
  }
  const LayerNumber layer = currentLayer();
  std::uint64_t key = mixed(reinterpret_cast<std::uintptr_t>(&name), static_cast<std::uint64_t>(phase));
  key = mixed(key, static_cast<std::uint64_t>(layer));
  for (const auto& input : sizes) {
    key = mixed(key, input.size());
    for (const std::int64_t size : input) key = mixed(key, static_cast<std::uint64_t>(size));
  }
  for (const std::string& type : types) key = hashOf(type, key);
  const auto [at, is_new] = known.facts.try_emplace(key);
  if (is_new) {
    OperatorFacts facts;
    facts.name = name.text;
    facts.phase = phase;
    facts.layer = nameOfLayer(layer);
    facts.shapes = shapesText(sizes);
    facts.dtype = firstType(types);
    at->second = profiler.operatorFacts(facts);
  }
  return at->second;
}

void begin(const RecordFunction& function, Scope scope) {
  Profiler* const profiler = recording();
  if (profiler == nullptr) return;
  Thread& thread = thisThread();
  Known& known = thread.known;
  if (const std::uint32_t now = g_generation.load(std::memory_order_relaxed); known.generation != now) {
    known = {};
    known.generation = now;
    thread.open.clear();
  }
  Open open;
  open.function = &function;
  open.name = &nameOf(*profiler, known, g_torch.name(function), scope);
  open.phase = phaseOf(*open.name, thread);
  if (!open.name->is_range) open.op = factsOf(*profiler, known, *open.name, open.phase, function);
  open.started = profiler->enter(open.name->site);
  if (open.started != 0) thread.open.push_back(open);
}

void finish(Profiler& profiler, const Open& open) {
  if (open.name->is_range) {
    profiler.leave(open.name->site, open.started);
  } else {
    profiler.leaveOperator(open.op, open.started);
  }
}

// An asynchronous operator may end on another thread, where it is not found; on its own thread it then ends with the
// one around it.
void end(const RecordFunction& function) {
  std::vector<Open>& open = thisThread().open;
  std::size_t at = open.size();
  while (at > 0 && open[at - 1].function != &function) --at;
  if (at == 0) return;
  Profiler* const profiler = g_profiler.load(std::memory_order_acquire);
  for (; open.size() >= at; open.pop_back()) {
    if (profiler != nullptr) finish(*profiler, open.back());
  }
}

// The next operator looks for it.
void forgetRecording() {
  g_profiler.store(nullptr);
  g_generation.fetch_add(g_generation.load() % 2 == 1 ? 2 : 1);
}

template <Scope scope>
ObserverContextPointer onStart(const RecordFunction& function) {
  try {
    begin(function, scope);
  } catch (...) {
    // Recorded without this operator: nothing may reach the program.
  }
  return {};
}

void onEnd(const RecordFunction& function, void*) {
  try {
    end(function);
  } catch (...) {
  }
}

template <Scope scope>
void add() {
  torch_abi::Callback callback;
  callback.start = onStart<scope>;
  callback.end = onEnd;
  callback.scopes[static_cast<int>(scope)] = true;
  callback.needs_inputs = g_torch.haveShapes();
  g_torch.add_global_callback(callback);
}

}  // namespace

Status recordOperators(const torch_abi::Functions& functions, Profiler* (*profiler)()) {
  if (!functions.canRecord())
    return fail(
        ErrorCode::unsupported,
        "PyTorch's operators are not recorded: this build of it does not export at::addGlobalCallback");
  g_torch = functions;
  g_find = profiler;
  forgetRecording();
  static bool has_begun = false;
  if (has_begun) return {};
  has_begun = true;
  pthread_atfork(nullptr, nullptr, forgetRecording);
  add<Scope::function>();
  add<Scope::backwardFunction>();
  add<Scope::torchScriptFunction>();
  add<Scope::user>();
  return {};
}

}  // namespace pitwall::torch
