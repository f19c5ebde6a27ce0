// The NVTX recorder without a program: sites, nesting, payloads; and paths, time windows and forks of the
// injection library.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <thread>

#include "runtime/profiler/inject/environment.h"
#include "runtime/profiler/inject/gpu_claim.h"
#include "runtime/profiler/inject/window_sink.h"
#include "runtime/profiler/nvtx/recorder.h"
#include "runtime/profiler/trace_path.h"
#include "tests/runtime/profiler/shared_sink.h"
#include "tests/support/temp_folder.h"

namespace pitwall::nvtx::nvtx_test {
namespace {

using ::testing::ElementsAre;

class NvtxRecorder : public ::testing::Test {
 protected:
  void start() {
    auto sink = std::make_unique<test::SharedSink>(kept_);
    ASSERT_TRUE(profiler_.start(std::move(sink)).has_value());
  }
  // "depth name args = value", by start.
  std::vector<std::string> stop() {
    EXPECT_TRUE(profiler_.stop().has_value());
    std::vector<std::pair<TrackId, Event>> events = kept_->memory.all_events;
    std::stable_sort(events.begin(), events.end(),
                     [](const auto& a, const auto& b) { return a.second.start_ns < b.second.start_ns; });
    std::vector<std::string> lines;
    for (const auto& [track, event] : events) {
      if (event.kind == EventKind::recorder) continue;
      lines.push_back(std::to_string(event.depth) + " " + text(event.name) + " " + text(event.args) + " = " +
                      std::to_string(event.value));
    }
    return lines;
  }
  const std::string& text(StringId id) const { return kept_->memory.strings.at(id.value - 1); }

  std::shared_ptr<test::Kept> kept_ = std::make_shared<test::Kept>();
  Names names_;
  Schemas schemas_;
  Profiler profiler_;
  Recorder recorder_{profiler_, names_, schemas_};
};

abi::EventAttributes attributes(const char* message) {
  abi::EventAttributes a{};
  a.message_type = abi::kAscii;
  a.message.ascii = message;
  return a;
}

TEST_F(NvtxRecorder, LevelsCountPerDomain) {
  start();
  Domain& io = names_.domain("io");
  Domain& main = names_.defaultDomain();
  EXPECT_EQ(recorder_.push(main, "a"), 0);
  EXPECT_EQ(recorder_.push(io, "b"), 0);
  EXPECT_EQ(recorder_.push(main, "c"), 1);
  EXPECT_EQ(recorder_.push(io, "d"), 1);
  EXPECT_EQ(recorder_.pop(main), 1);  // c, though d is the innermost of the thread
  EXPECT_EQ(recorder_.pop(io), 1);
  EXPECT_EQ(recorder_.pop(io), 0);
  EXPECT_EQ(recorder_.pop(main), 0);
  EXPECT_EQ(recorder_.pop(main), -1);
  const std::vector<std::string> lines = stop();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], R"(0 a {"domain":"default"} = 0)");
  EXPECT_THAT(lines[1], ::testing::HasSubstr(R"(b {"domain":"io"})"));
  EXPECT_EQ(kept_->memory.meta_values[kUnbalancedKey], "1");
}

// The cache looks up the address first: another text there is another name.
TEST_F(NvtxRecorder, TextsThatChangeInPlace) {
  start();
  char text[8] = "one";
  for (const char* name : {"one", "two", "one", "on", "twofold"}) {
    std::strcpy(text, name);
    recorder_.push(names_.defaultDomain(), text);
    recorder_.pop(names_.defaultDomain());
  }
  EXPECT_THAT(stop(), ElementsAre(R"(0 one {"domain":"default"} = 0)", R"(0 two {"domain":"default"} = 0)",
                                  R"(0 one {"domain":"default"} = 0)", R"(0 on {"domain":"default"} = 0)",
                                  R"(0 twofold {"domain":"default"} = 0)"));
}

// Read eight bytes at a time: every length, at every distance from the end of a page followed by an
// unreadable one, and with different bytes after the text's end.
TEST_F(NvtxRecorder, TextsOfEveryLengthUpToAPagesEnd) {
  start();
  constexpr std::size_t kPage = 4096, kMost = 34;
  void* const pages = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(pages) + kPage, kPage, PROT_NONE), 0);
  const std::string letters = "the quick brown fox jumps over the lazy dog";
  std::vector<std::string> expected;
  for (std::size_t length = 0; length <= kMost; ++length) {
    for (const std::size_t behind : {0, 1, 5, 9}) {
      std::memset(pages, 'x', kPage);
      char* const text = static_cast<char*>(pages) + kPage - 1 - length - behind;
      std::memcpy(text, letters.data(), length);
      text[length] = '\0';
      recorder_.mark(names_.defaultDomain(), text);
      expected.push_back("0 " + letters.substr(0, length) + R"( {"domain":"default"} = 0)");
    }
  }
  EXPECT_EQ(stop(), expected);
  munmap(pages, 2 * kPage);
}

// Texts are distinguished by a hash: also those that differ in few places, a word apart, or with these
// exchanged.
TEST_F(NvtxRecorder, TextsThatAreMuchAlike) {
  start();
  std::vector<std::string> expected;
  std::string text = "layer _ and _ layer _ of _";
  for (char a = 'a'; a <= 'r'; ++a) {
    for (char b = 'a'; b <= 'r'; ++b) {
      for (char c = 'a'; c <= 'r'; ++c) {
        text[6] = text[25] = a;
        text[14] = b;
        text[22] = c;
        recorder_.mark(names_.defaultDomain(), text.c_str());
        expected.push_back("0 " + text + R"( {"domain":"default"} = 0)");
      }
    }
    ASSERT_TRUE(profiler_.flush().has_value());
  }
  EXPECT_TRUE(stop() == expected);
}

TEST_F(NvtxRecorder, AttributesAndRegisteredStrings) {
  start();
  Domain& domain = names_.domain("d");
  abi::EventAttributes a{};
  a.message_type = abi::kRegistered;
  a.message.registered = &names_.registerString(domain, "registered");
  a.payload_type = abi::kUint32;
  a.payload.u32 = 7;
  recorder_.mark(domain, a);
  a.category = 3;
  recorder_.mark(domain, a);
  a.category = 0;
  a.payload_type = abi::kDouble;
  a.payload.f64 = 0.25;
  recorder_.mark(domain, a);
  a.message_type = abi::kUnicode;
  a.message.unicode = L"\u2248 \"quoted\"";
  a.payload_type = abi::kNoPayload;
  recorder_.mark(domain, a);
  recorder_.mark(domain, static_cast<const char*>(nullptr));
  EXPECT_THAT(stop(), ElementsAre(R"(0 registered {"domain":"d"} = 7)",
                                  R"(0 registered {"domain":"d","category":"3"} = 7)",
                                  R"(0 registered {"domain":"d","payload":0.25} = 0)",
                                  "0 \u2248 \"quoted\" {\"domain\":\"d\"} = 0", R"(0  {"domain":"d"} = 0)"));
}

TEST_F(NvtxRecorder, RangesAcrossThreadsTakeRows) {
  start();
  Domain& domain = names_.defaultDomain();
  const auto first = recorder_.start(domain, "first");
  const auto second = recorder_.start(domain, attributes("second"));
  EXPECT_NE(first, second);
  std::thread([&] { recorder_.end(first); }).join();
  const auto third = recorder_.start(domain, "third");  // in the row that is free again
  recorder_.end(third);
  recorder_.end(third);  // once too often
  EXPECT_THAT(stop(), ElementsAre(R"(0 first {"domain":"default"} = 0)",
                                  R"(1 second {"domain":"default"} = 0)",  // not ended: to the end
                                  R"(0 third {"domain":"default"} = 0)"));
  EXPECT_EQ(kept_->memory.meta_values[kUnbalancedKey], "1");
  ASSERT_EQ(kept_->memory.tracks.size(), 1U + 1U);  // and the recorder's own
}

TEST_F(NvtxRecorder, WhatBeganBeforeTheRecordingIsBalanced) {
  EXPECT_EQ(recorder_.push(names_.defaultDomain(), "before"), 0);
  start();
  EXPECT_EQ(recorder_.push(names_.defaultDomain(), "within"), 1);
  EXPECT_EQ(recorder_.pop(names_.defaultDomain()), 1);
  EXPECT_EQ(recorder_.pop(names_.defaultDomain()), 0);
  EXPECT_THAT(stop(), ElementsAre(R"(0 within {"domain":"default"} = 0)"));
}

TEST(NvtxNames, OnlySomeDomains) {
  const auto is = [](Names& names, const char* name) { return names.domain(name).recorded; };
  Names all, some("io,compute"), standard("default");
  EXPECT_TRUE(is(all, "io") && is(all, "default"));
  EXPECT_TRUE(is(some, "io") && is(some, "compute"));
  EXPECT_FALSE(is(some, "comp") || is(some, "default"));
  EXPECT_TRUE(standard.defaultDomain().recorded);
  EXPECT_EQ(&some.domain("io"), &some.domain("io"));
}

// --- payloads ----------------------------------------------------------------------------------------------

abi::SchemaEntry entry(std::uint64_t type, const char* name, std::uint64_t flags = 0,
                       std::uint64_t detail = 0) {
  return {flags, type, name, nullptr, detail, 0, nullptr, nullptr};
}

std::uint64_t add(Schemas& schemas, std::span<const abi::SchemaEntry> entries) {
  abi::SchemaAttributes a{};
  a.type = 1;
  a.entries = entries.data();
  a.entry_count = entries.size();
  return schemas.add(a);
}

TEST(NvtxPayload, ScalarsTextsArraysAndNesting) {
  struct Inner {
    std::uint8_t flag;
    std::uint16_t half;
  };
  struct Outer {
    std::int16_t small;
    double real;
    char text[6];
    Inner inner;
    std::int32_t list[3];
    const char* pointed;
  };
  Schemas schemas;
  const abi::SchemaEntry inner_entries[] = {entry(abi::kTypeUint8, "flag"), entry(abi::kTypeFloat16, "half")};
  const std::uint64_t inner = add(schemas, inner_entries);
  const abi::SchemaEntry entries[] = {
      entry(abi::kTypeInt16, "small"),
      entry(abi::kTypeDouble, "real"),
      entry(abi::kTypeCstring, "text", 0, 6),
      entry(inner, "inner"),
      entry(abi::kTypeInt32, "list", abi::kEntryFixedArray, 3),
      entry(abi::kTypeCstring, "pointed", abi::kEntryMessage),
  };
  const std::uint64_t id = add(schemas, entries);
  EXPECT_NE(id, inner);
  const Outer value{-5, 1.5, "abc", {1, 0x3c00}, {1, 2, 3}, "the message"};
  const abi::PayloadData data[] = {{id, sizeof value, &value}};
  const DecodedPayload decoded = schemas.decode(data);
  EXPECT_EQ(decoded.members,
            R"("small":-5,"real":1.5,"text":"abc","inner":{"flag":1,"half":1},"list":[1,2,3])");
  EXPECT_EQ(decoded.message, "the message");
  EXPECT_EQ(decoded.value, -5);
}

TEST(NvtxPayload, EnumsAndWhatIsNotUnderstood) {
  Schemas schemas;
  const abi::EnumEntry names[] = {{"idle", 0, 0}, {"busy", 1, 0}};
  abi::EnumAttributes states{};
  states.entries = names;
  states.entry_count = 2;
  states.size_of_enum = 4;
  const std::uint64_t state = schemas.add(states);
  const abi::SchemaEntry entries[] = {entry(state, "state"), entry(999, "strange"),
                                      entry(abi::kTypeUint32, "number")};
  const std::uint64_t id = add(schemas, entries);
  const std::uint32_t value[] = {1, 77};
  const abi::PayloadData whole[] = {{id, sizeof value, value}};
  EXPECT_EQ(schemas.decode(whole).members, R"("state":"busy","number":77)");
  const abi::PayloadData cut[] = {{id, 6, value}};  // reads no byte beyond the end
  EXPECT_EQ(schemas.decode(cut).members, R"("state":"busy")");
  const abi::PayloadData unknown[] = {{12345, 8, value}, {id, 8, nullptr}};
  EXPECT_EQ(schemas.decode(unknown).members, "");
}

}  // namespace
}  // namespace pitwall::nvtx::nvtx_test

namespace pitwall::inject::nvtx_test {
namespace {

using ::testing::ElementsAre;

Environment read(const std::map<std::string, std::string>& variables) {
  return readEnvironment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(InjectEnvironment, WhatItSays) {
  const Environment nothing = read({});
  EXPECT_EQ(nothing.path_template, "pitwall-%p.pitwall");
  EXPECT_FALSE(nothing.last_s || nothing.until_s);
  EXPECT_EQ(nothing.rank, 0);
  const Environment all = read({{"PITWALL_TRACE", "a/%p.pitwall"},
                                {"PITWALL_RECORD_ONLY", "io"},
                                {"PITWALL_RECORD_LAST", "2.5"},
                                {"PITWALL_RECORD_UNTIL", "1e3"},
                                {"SLURM_PROCID", "9"},
                                {"OMPI_COMM_WORLD_RANK", "3"}});
  EXPECT_EQ(all.path_template, "a/%p.pitwall");
  EXPECT_EQ(all.only, "io");
  EXPECT_EQ(all.last_s, 2.5);
  EXPECT_EQ(all.until_s, 1000);
  EXPECT_EQ(all.rank, 3);
  const Environment wrong = read({{"PITWALL_RECORD_LAST", "soon"}, {"PMI_RANK", "x"}, {"RANK", "2"}});
  EXPECT_FALSE(wrong.last_s);
  EXPECT_EQ(wrong.rank, 2);
}

TEST(InjectEnvironment, Paths) {
  EXPECT_EQ(expandTracePath("x/%p.%r%%%q.pitwall", 12, 3), "x/12.3%%q.pitwall");
  EXPECT_EQ(expandTracePath("100%", 1, 0), "100%");
  const test::TempFolder folder;
  EXPECT_EQ(freeTracePath(folder / "a.pitwall"), folder / "a.pitwall");
  for (const char* name : {"a.pitwall", "a-2.pitwall", "b"}) fclose(fopen((folder / name).c_str(), "w"));
  EXPECT_EQ(freeTracePath(folder / "a.pitwall"), folder / "a-3.pitwall");
  EXPECT_EQ(freeTracePath(folder / "b"), folder / "b-2");
}

Event at(TimeNs start, TimeNs dur) {
  Event event;
  event.start_ns = start;
  event.dur_ns = dur;
  return event;
}

std::vector<TimeNs> starts(const test::MemorySink& sink) {
  std::vector<TimeNs> times;
  for (const auto& [track, event] : sink.all_events) times.push_back(event.start_ns);
  return times;
}

TEST(InjectGpu, TheClaimantIsCalledWhenCudaStarts) {
  int calls = 0;
  const auto begin = [](void* count) { ++*static_cast<int*>(count); };
  inject::GpuClaim claim;
  EXPECT_TRUE(claim.claim(begin, &calls));
  EXPECT_FALSE(claim.claim(begin, &claim)) << "one at a time";
  claim.giveUp(&claim);
  if (const pid_t child = fork(); child == 0) {
    _exit(claim.startClaimant() ? 1 : 0);
  } else {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "a child's GPUs are not its parent's";
  }
  EXPECT_TRUE(claim.startClaimant());
  EXPECT_EQ(calls, 1);
  claim.giveUp(&calls);
  EXPECT_FALSE(claim.startClaimant()) << "without a claimant the library records them";
  EXPECT_FALSE(claim.claim(begin, &calls)) << "too late";
  EXPECT_EQ(calls, 1);
}

TEST(InjectWindow, LastSecondsAreKeptInMemoryAndWrittenAtTheEnd) {
  const auto kept = std::make_shared<test::Kept>();
  WindowSink sink(std::make_unique<test::SharedSink>(kept), {.last_ns = 100, .until_ns = {}});
  const Event first[] = {at(0, 10), at(50, 10)};
  const Event second[] = {at(60, 60), at(130, 20)};
  const CounterSample samples[] = {{20, 1}, {140, 2}};
  sink.events(TrackId{1}, first);
  sink.events(TrackId{1}, second);
  sink.counters(TrackId{2}, samples);
  EXPECT_TRUE(starts(kept->memory).empty());
  EXPECT_TRUE(sink.finish().has_value());
  EXPECT_THAT(starts(kept->memory), ElementsAre(50, 60, 130));  // the window is 50..150
  ASSERT_EQ(kept->memory.all_counters.size(), 1U);
  EXPECT_TRUE(kept->memory.finished);
}

TEST(InjectWindow, NothingLaterThanUntil) {
  const auto kept = std::make_shared<test::Kept>();
  WindowSink sink(std::make_unique<test::SharedSink>(kept), {.last_ns = {}, .until_ns = 100});
  const Event events[] = {at(0, 10), at(90, 50), at(101, 1)};
  sink.events(TrackId{1}, events);
  EXPECT_THAT(starts(kept->memory), ElementsAre(0, 90));
}

// While it is held the inner sink has been flushed and is not called.
TEST(InjectWindow, Held) {
  const auto kept = std::make_shared<test::Kept>();
  WindowSink sink(std::make_unique<test::SharedSink>(kept), {});
  sink.hold();
  EXPECT_EQ(kept->memory.flushes, 1);
  std::thread other([&] { (void)sink.string("late"); });
  sink.release();
  other.join();
  EXPECT_THAT(kept->memory.strings, ElementsAre("late"));
}

}  // namespace
}  // namespace pitwall::inject::nvtx_test
