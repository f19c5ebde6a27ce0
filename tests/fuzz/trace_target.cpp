// A trace file of Pitwall's own, damaged: a whole file is much larger than what a fuzzer can change usefully,
// so that the input says what to change in one that is written here. This holds for every version of the
// layout.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "db/check.h"
#include "db/reader.h"
#include "db/store.h"
#include "tests/fuzz/input_file.h"
#include "tests/fuzz/targets.h"

namespace pitwall::fuzz {
namespace {

constexpr std::size_t kBlock = 16;

struct Original {
  std::string bytes;
  std::vector<std::size_t> blocks;  // places that hold something: most of a small file is empty
};

void fill(TraceSink& sink) {
  const ProcessId process = sink.process({42, "program", "program --flag", 1});
  const ThreadId thread = sink.thread({process, 43, "main"});
  const DeviceId device = sink.device({"gpu", 0, "a device", Bytes{1} << 30});
  const TrackId tracks[] = {sink.track({TrackKind::thread, process, thread, {}, "main", ""}),
                            sink.track({TrackKind::stream, process, {}, device, "stream 7", ""})};
  const TrackId counter = sink.track({TrackKind::counter, process, {}, {}, "memory live: weights", "bytes"});
  sink.meta("host.name", "here");
  sink.setting({"OMP_NUM_THREADS", "4", SettingSource::environment});
  sink.iteration({0, 0, 32});
  OperatorFacts facts;
  facts.name = "Convolution";
  const OperatorId op = sink.operatorFacts(facts);
  std::vector<Dependency> edges;
  for (int i = 0; i < 600; ++i) {
    Event event;
    event.start_ns = i * 1000;
    event.dur_ns = 300 + i * 7 % 50;
    event.pushed_ns = event.start_ns - 10;
    event.ready_ns = event.start_ns - 5;
    event.correlation = static_cast<CorrelationId>(i + 1);
    event.value = i % 9;
    event.name = sink.string("operator " + std::to_string(i % 13));
    event.op = op;
    event.kind = EventKind::operatorRun;
    sink.events(tracks[i % 2], {&event, 1});
    if (i > 0) edges.push_back({event.correlation - 1, event.correlation, DependencyKind::readAfterWrite});
    const CounterSample sample{event.start_ns, i * 64.0};
    sink.counters(counter, {&sample, 1});
  }
  sink.dependencies(edges);
}

const Original& original() {
  static const Original kOriginal = [] {
    Original out;
    const std::string path = asFile({}) + ".pitwall";
    auto sink = createTrace(path);
    PITWALL_CHECK(sink.has_value(), "%s", sink.error().message.c_str());
    fill(**sink);
    PITWALL_CHECK((*sink)->finish().has_value(), "%s", path.c_str());
    (*sink).reset();
    std::ifstream file(path, std::ios::binary);
    out.bytes.assign(std::istreambuf_iterator<char>(file), {});
    for (std::size_t at = 0; at + kBlock <= out.bytes.size(); at += kBlock) {
      if (out.bytes.compare(at, kBlock, std::string(kBlock, '\0')) != 0) out.blocks.push_back(at);
    }
    return out;
  }();
  return kOriginal;
}

void read(const std::string& path) {
  auto trace = Trace::open(path);
  if (!trace.has_value()) {
    PITWALL_CHECK(!trace.error().message.empty(), "an error without a message");
    return;
  }
  const std::size_t tracks = std::min<std::size_t>((*trace)->tracks().size(), 64);
  for (std::uint32_t id = 1; id <= tracks; ++id) {
    auto events = (*trace)->events(TrackId{id});
    auto samples = (*trace)->counters(TrackId{id});
  }
  auto dependencies = (*trace)->dependencies();
  for (const char* sql : {"SELECT count(*), sum(dur_ns), min(start_ns), max(value) FROM event",
                          "SELECT count(*), max(source) FROM dependency", "SELECT count(*) FROM counter",
                          "SELECT * FROM event WHERE start_ns > 1000 ORDER BY dur_ns DESC LIMIT 3"}) {
    auto rows = (*trace)->query(sql);
    PITWALL_CHECK(rows.has_value() || !rows.error().message.empty(), "an error without a message");
  }
}

}  // namespace

// Each six bytes: the block (three), the place within it and what to do there (one), the number to do it with
// (two).
void openTrace(std::span<const std::uint8_t> input) {
  std::string bytes = original().bytes;
  const std::vector<std::size_t>& blocks = original().blocks;
  for (std::size_t i = 0; i + 6 <= input.size() && i < 600; i += 6) {
    const auto block = static_cast<std::size_t>(input[i] | input[i + 1] << 8 | input[i + 2] << 16);
    const std::size_t at = blocks[block % blocks.size()] + input[i + 3] % kBlock;
    const auto number = static_cast<unsigned>(input[i + 4] | input[i + 5] << 8);
    if (at + 1 >= bytes.size()) continue;
    switch (input[i + 3] / kBlock % 4) {
      case 0: bytes[at] = static_cast<char>(number); break;
      case 1: bytes[at] = static_cast<char>(number), bytes[at + 1] = static_cast<char>(number >> 8); break;
      case 2:
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << number % 8));
        break;
      default:
        if (input[i + 3] / kBlock == 15) bytes.resize(std::max<std::size_t>(1, at));
    }
  }
  read(asFile({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
}

}  // namespace pitwall::fuzz
