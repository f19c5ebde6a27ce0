// Archives, several inputs on one time axis, and what NCCL writes.
#include <gtest/gtest.h>
#include <zlib.h>

#include "db/import/clock_offset.h"
#include "db/meta.h"
#include "db/store.h"
#include "tests/db/import/imported.h"

namespace pitwall::test::inputs_test {
namespace {

void put(std::string& out, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(i < 8 ? number >> (8 * i) : 0);
}

struct Member {
  std::string name;
  std::string content;
  int method = 8;
};

std::string deflated(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string gzipped(const std::string& text) {
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  out += deflated(text);
  put(out, crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<unsigned>(text.size())), 4);
  put(out, text.size(), 4);
  return out;
}

// An archive with its directory at the end.
std::string zipped(const std::vector<Member>& members) {
  std::string out, directory;
  for (const Member& member : members) {
    const std::string packed = member.method == 8 ? deflated(member.content) : member.content;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(member.content.data()),
                           static_cast<unsigned>(member.content.size()));
    std::string common;
    put(common, 20, 2);
    put(common, 0, 2);
    put(common, static_cast<std::uint64_t>(member.method), 2);
    put(common, 0, 4);
    put(common, crc, 4);
    put(common, packed.size(), 4);
    put(common, member.content.size(), 4);
    put(common, member.name.size(), 2);
    put(common, 0, 2);
    std::string entry = std::string("PK\1\2") + std::string(2, '\0') + common;
    put(entry, 0, 10);
    put(entry, out.size(), 4);
    directory += entry + member.name;
    out += "PK\3\4" + common + member.name + packed;
  }
  std::string end = std::string("PK\5\6") + std::string(4, '\0');
  put(end, members.size(), 2);
  put(end, members.size(), 2);
  put(end, directory.size(), 4);
  put(end, out.size(), 4);
  put(end, 0, 2);
  return out + directory + end;
}

std::string range(const std::string& name, int ts) {
  return R"([{"name":")" + name + R"(","ph":"X","ts":)" + std::to_string(ts) +
         R"(,"dur":5,"pid":1,"tid":1}])";
}

TEST(ImportZip, OneMemberStoredOrDeflated) {
  for (const int method : {0, 8}) {
    const auto imported = importText(zipped({{"dir/trace.json", range("x", 3), method}}));
    ASSERT_EQ(imported->error, "");
    EXPECT_EQ(imported->only("x").dur_ns, 5000);
    EXPECT_EQ(imported->summary.inputs.at(0).compression, "zip");
    EXPECT_NE(imported->summary.inputs.at(0).path.find(": dir/trace.json"), std::string::npos);
  }
}

TEST(ImportZip, SeveralMembersAreInputsAndOthersAreTold) {
  const auto imported = importText(zipped({{"dir/", ""},
                                           {"README", "nothing of a trace in here"},
                                           {"rank-0.json", range("a", 3)},
                                           {"rank-1.json.gz", gzipped(range("b", 700)), 0}}));
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs.size(), 2U);
  EXPECT_EQ(imported->only("a").start_ns, 0);
  EXPECT_EQ(imported->only("b").dur_ns, 5000);
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "files of an archive"), 1);
  EXPECT_EQ(imported->sink.processes.size(), 2U);
  EXPECT_NE(importText(zipped({{"a", "no"}, {"b", "traces"}}))->error.find("no file in it is a trace"),
            std::string::npos);
}

TEST(ImportZip, DamageAndBombs) {
  const std::string good = zipped({{"trace.json", range("x", 3) + std::string(1000, ' ')}});
  std::string wrong_sum = good;
  wrong_sum[14] = static_cast<char>(wrong_sum[14] + 1);
  const std::size_t directory = good.find("PK\1\2");
  wrong_sum[directory + 16] = static_cast<char>(wrong_sum[directory + 16] + 1);
  EXPECT_FALSE(importText(wrong_sum)->summary.complete());
  for (std::size_t length = 5; length < good.size(); length += 3) {
    const auto cut = importText(good.substr(0, length));
    EXPECT_TRUE(!cut->error.empty() || cut->sink.all_events.size() == 1U) << length;
  }
  std::string far = good;
  far[directory + 45] = '\x7f';
  EXPECT_NE(importText(far)->error.find("no member begins at byte"), std::string::npos);
  ImportOptions options;
  options.limits.decompressed_bytes = 10'000;
  const auto bomb = importText(zipped({{"bomb.json", range("x", 3) + std::string(1 << 20, ' ')}}), options);
  EXPECT_NE(bomb->error.find("unlike any trace"), std::string::npos) << bomb->error;
  Member encrypted{"a", "b"};
  encrypted.method = 12;
  EXPECT_EQ(importText(zipped({encrypted}))->code, ErrorCode::unsupported);
}

TEST(ImportAlign, OffsetIsTheMedianOfCommonMoments) {
  import::Moments first, second;
  for (int i = 0; i < 20; ++i) {
    first[{0, "all_reduce " + std::to_string(i)}] = 1000 + i * 100 + (i == 7 ? 90000 : i % 3);
    second[{0, "all_reduce " + std::to_string(i)}] = i * 100;
  }
  second[{0, "other"}] = 5;
  const auto offset = import::clockOffset(first, second, 3);
  ASSERT_TRUE(offset);
  EXPECT_EQ(offset->moments, 20U);
  EXPECT_EQ(offset->offset_ns, 1001);
  EXPECT_LE(offset->uncertainty_ns, 1);
  EXPECT_FALSE(import::clockOffset(first, second, 21));
}

// A rank whose clock began `shift` us elsewhere; its collectives wait for the slowest.
std::string rankTrace(int rank, int shift, bool tells_rank) {
  std::string text = R"({"schemaVersion":1,)";
  if (tells_rank)
    text += R"("distributedInfo":{"backend":"nccl","rank":)" + std::to_string(rank) + R"(,"world_size":2},)";
  text += R"("traceEvents":[{"ph":"X","cat":"cpu_op","name":"first )" + std::to_string(rank) +
          R"(","pid":5,"tid":5,"ts":)" + std::to_string(shift) + R"(,"dur":1})";
  for (int i = 0; i < 5; ++i) {
    const int end = 1000 * (i + 1);
    const int begin = end - 100 - rank * 40;
    text += R"(,{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32","pid":0,"tid":7,"ts":)" +
            std::to_string(shift + begin) + R"(,"dur":)" + std::to_string(end - begin) +
            R"(,"args":{"device":)" + std::to_string(rank) + R"(,"stream":7,"correlation":)" +
            std::to_string(i + 1) + "}}";
  }
  return text + "]}";
}

std::string noteOf(const Imported& imported, std::string_view word) {
  for (const std::string& note : imported.summary.notes) {
    if (note.find(word) != std::string::npos) return note;
  }
  return {};
}

TEST(ImportAlign, RanksByTheEndsOfTheirCollectives) {
  const TemporaryFile zero(rankTrace(0, 500, true));
  const TemporaryFile one(rankTrace(1, 90'000, true));
  const auto imported = importFiles({zero.path(), one.path()});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.ranks, (std::vector<int>{0, 1}));
  std::map<std::int64_t, int> ends;
  for (const auto& [track, event] : imported->named("ncclDevKernel_AllReduce_Sum_f32"))
    ++ends[event.start_ns + event.dur_ns];
  EXPECT_EQ(ends.size(), 5U);  // each collective ends at one moment, on both ranks
  EXPECT_EQ(imported->only("first 0").start_ns, 0);
  EXPECT_EQ(imported->only("first 1").start_ns, 0);
  EXPECT_NE(noteOf(*imported, "ends of 5 common collectives").find("uncertainty 0 ns"), std::string::npos);
  ASSERT_EQ(imported->sink.processes.size(), 2U);
  EXPECT_EQ(imported->sink.processes[1].rank, 1);
  EXPECT_EQ(imported->sink.processes[1].name.substr(0, 7), "rank 1:");
  EXPECT_EQ(imported->sink.devices.size(), 2U);
}

TEST(ImportAlign, RanksThatTheFilesDoNotTell) {
  const TemporaryFile a(rankTrace(0, 0, false), "trace_rank3.json");
  const TemporaryFile b(rankTrace(1, 0, false), "trace_rank7.json");
  EXPECT_EQ(importFiles({a.path(), b.path()})->summary.ranks, (std::vector<int>{3, 7}));
  const TemporaryFile c(rankTrace(0, 0, false));
  const TemporaryFile d(rankTrace(1, 0, false));
  EXPECT_EQ(importFiles({c.path(), d.path()})->summary.ranks, (std::vector<int>{0, 1}));
}

TEST(ImportAlign, ALogBesideATraceByItsTimestamps) {
  const TemporaryFile trace(R"({"baseTimeNanoseconds":1700000000000000000,"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"op","pid":5,"tid":5,"ts":10,"dur":9}]})");
  const TemporaryFile log(
      "onednn_verbose,1700000000000.005,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0,,,2x2,0.25\n");
  const auto imported = importFiles({trace.path(), log.path()});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->only("reorder").start_ns, 0);  // the earliest of all
  EXPECT_EQ(imported->only("op").start_ns, 5000);
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000000005000");
  EXPECT_FALSE(noteOf(*imported, "placed by its wall clock").empty());
}

TEST(ImportAlign, MarksAndNothing) {
  const std::string steps = R"({"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":5,"tid":5,"ts":100,"dur":50},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#5","pid":5,"tid":5,"ts":150,"dur":50}]})";
  const TemporaryFile one(steps);
  const TemporaryFile two(R"([{"name":"iteration 5","ph":"X","ts":7150,"dur":50,"pid":1,"tid":1},
{"name":"x","ph":"X","ts":7000,"dur":5,"pid":1,"tid":1}])");
  const auto imported = importFiles({one.path(), two.path()});
  ASSERT_EQ(imported->error, "");
  if (!noteOf(*imported, "common iteration marks").empty()) {
    EXPECT_EQ(imported->only("iteration 5").start_ns, imported->only("ProfilerStep#5").start_ns);
  }
  const TemporaryFile three(range("y", 3));
  EXPECT_FALSE(
      noteOf(*importFiles({one.path(), three.path()}), "the offset of its clock is unknown").empty());
}

// Recorded ranks: each a Pitwall trace.
TEST(ImportAlign, TracesOfOursBecomeOne) {
  const TemporaryFile folder("");
  std::vector<std::string> paths;
  for (int rank = 0; rank < 2; ++rank) {
    paths.push_back(folder.folder() + "/rank" + std::to_string(rank) + ".pitwall");
    auto sink = createTrace(paths.back());
    ASSERT_TRUE(sink.has_value());
    const ProcessId process = (*sink)->process({100 + rank, "train", "train --x", rank});
    const ThreadId thread = (*sink)->thread({process, 1, "main"});
    const TrackId track = (*sink)->track({TrackKind::thread, process, thread, {}, "main", ""});
    (*sink)->meta("trace.start_unix_ns", std::to_string(1'700'000'000'000'000'000 + rank * 1000));
    (*sink)->meta("host.name", "host" + std::to_string(rank));
    if (rank == 1) (*sink)->meta(meta::kSerialisedKernels, "1");
    Event event;
    event.name = (*sink)->string("step " + std::to_string(rank));
    event.correlation = 1;
    event.start_ns = event.pushed_ns = event.ready_ns = 50;
    event.dur_ns = 10;
    (*sink)->events(track, {&event, 1});
    ASSERT_TRUE((*sink)->finish().has_value());
  }
  const auto imported = importFiles(paths);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->only("step 0").start_ns, 50);
  EXPECT_EQ(imported->only("step 1").start_ns, 1050);
  EXPECT_NE(imported->only("step 0").correlation, imported->only("step 1").correlation);
  EXPECT_EQ(imported->summary.ranks, (std::vector<int>{0, 1}));
  EXPECT_EQ(imported->sink.meta_values.at("host.name"), "host0");
  EXPECT_EQ(imported->sink.meta_values.at("input.2.host.name"), "host1");
  EXPECT_EQ(imported->sink.meta_values.at(meta::kSerialisedKernels), "1") << "it holds for all";
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000000000000");
}

const char kDump[] =
    R"({"header":{"id":"0x7f","rank":1,"n_ranks":2,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.0","dump_timestamp_us":1700000000000500,"hostname":"box","pid":7},"coll_perf":{"coll":"AllReduce","coll_sn":7,"coll_msg_size_bytes":4096,"coll_exec_time_us":100,"coll_busbw_gbs":2.5}}
{"header":{"id":"0x7f","rank":1,"n_ranks":2,"nnodes":1},"metadata":{"dump_timestamp_us":1700000000000900,"hostname":"box","pid":7},"coll_perf":{"coll":"AllGather","coll_sn":8,"coll_msg_size_bytes":64,"coll_exec_time_us":30,"event_trace_ts":{"coll_start_ts":1700000000000600,"coll_stop_ts":1700000000000640}}}
)";

TEST(ImportNccl, InspectorDump) {
  const auto imported = importText(kDump);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs.at(0).format, "NCCL inspector dump");
  EXPECT_EQ(imported->summary.ranks, std::vector<int>{1});
  const Event reduce = imported->only("AllReduce");
  EXPECT_EQ(reduce.kind, EventKind::communication);
  EXPECT_EQ(reduce.value, 4096);
  EXPECT_EQ(reduce.dur_ns, 100'000);
  EXPECT_EQ(imported->sink.text(reduce.args), R"({"collective":"AllReduce","group_size":2})");
  EXPECT_EQ(imported->only("AllGather").start_ns, 200'000);  // the first is taken to end with its dump
  EXPECT_EQ(imported->only("AllGather").dur_ns, 40'000);
  EXPECT_EQ(imported->samples("NCCL bus bandwidth").at(0).value, 2.5e9);
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000000400000");
  const auto cut = importText(std::string(kDump).substr(0, sizeof kDump - 60));
  EXPECT_FALSE(cut->summary.complete());
  EXPECT_EQ(cut->sink.all_events.size(), 1U);
}

TEST(ImportNccl, DebugLog) {
  const auto imported = importText(
      "step 1\n"
      "box:145:145 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0.\n"
      "box:145:145 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
      "box:145:900 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n"
      "box:145:900 [0] NCCL INFO Using network Socket\n"
      "box:145:900 [0] NCCL INFO Setting affinity for GPU 1 to 22-31,48-63\n"
      "box:145:900 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n"
      "box:145:900 [0] NCCL INFO Init timings - ncclCommInitRank: rank 0 nranks 2 total 0.85 (kernels 0.30)\n"
      "box:145:145 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f count 1024 datatype 7 op 0 root 0 comm "
      "0x55 "
      "[nranks=2] stream 0x5\n"
      "box:145:901 [0] proxy.cc:1458 NCCL WARN Accept failed\n");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs.at(0).format, "NCCL debug log");
  EXPECT_EQ(imported->summary.inputs.at(0).version, "2.21.5+cuda12.4");
  const auto& meta = imported->sink.meta_values;
  EXPECT_EQ(meta.at("nccl.network"), "Socket");
  EXPECT_EQ(meta.at("nccl.channels_via.SHM/direct/direct"), "1");
  EXPECT_EQ(meta.at("nccl.affinity.gpu1"), "22-31,48-63");
  EXPECT_EQ(imported->sink.settings.at("NCCL_SOCKET_IFNAME").value, "eth0");
  EXPECT_EQ(imported->only("AllReduce").value, 4096);
  EXPECT_EQ(imported->only("ncclCommInitRank").dur_ns, 850'000'000);
  for (const auto& [key, value] : meta) EXPECT_EQ(value.find("10.0.0.1"), std::string::npos) << key;
}

}  // namespace
}  // namespace pitwall::test::inputs_test
