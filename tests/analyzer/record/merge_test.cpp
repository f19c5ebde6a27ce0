#include "analyzer/record/merge/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "db/meta.h"
#include "db/reader.h"
#include "db/sqlite/connection.h"
#include "db/store.h"
#include "tests/support/temp_folder.h"

namespace pitwall::record::merge_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MergeParts : public testing::Test {
 protected:
  void SetUp() override {
    output = folder / "run.pitwall";
    write(output, 100, 1);
    fs::create_directory(partsFolder(output));
  }

  std::string part(const std::string& name) const { return partsFolder(output) + "/" + name; }

  static void write(const std::string& path, std::int64_t pid, int events, const std::string& note = "") {
    auto sink = createTrace(path).value();
    const ProcessId process = sink->process({pid, "program", "program", 0});
    const ThreadId thread = sink->thread({process, pid, "main"});
    const TrackId tracks[] = {
        sink->track({TrackKind::thread, process, thread, {}, "", ""}),
        sink->track({TrackKind::thread, process, sink->thread({process, pid + 1000, "other"}), {}, "", ""})};
    Event event;
    event.name = sink->string("range");
    for (int i = 0; i < events; ++i) {
      event.start_ns = event.pushed_ns = event.ready_ns = 100 * i;
      event.dur_ns = 10 + i % 7;
      sink->events(tracks[i % 2], {&event, 1});
    }
    sink->meta(meta::kRecorderNotes, note);
    ASSERT_TRUE(sink->finish().has_value());
  }

  static void damageChunk(const std::string& path, const std::string& id) {
    auto database = store::Connection::open(path, store::OpenMode::readWrite);
    ASSERT_TRUE(database.has_value());
    const std::string sql =
        "UPDATE event_chunk SET dur = zeroblob(length(dur)) WHERE id = (SELECT " + id + " FROM event_chunk)";
    EXPECT_TRUE(database->execute(sql.c_str()).has_value());
  }

  std::size_t eventsInOutput() {
    trace = Trace::open(output).value();
    std::size_t count = 0;
    for (std::uint32_t id = 1; id <= trace->tracks().size(); ++id)
      count += trace->events(TrackId{id}).value().size();
    return count;
  }

  test::TempFolder folder;
  std::string output;
  std::unique_ptr<Trace> trace;
};

TEST_F(MergeParts, AllAreInOneTrace) {
  write(part("101.pitwall"), 101, 3, "a note of 101");
  write(part("102.pitwall"), 102, 5, "a note of 102");
  const auto left_out = mergeParts(output, false);
  ASSERT_TRUE(left_out.has_value()) << left_out.error().message;
  EXPECT_THAT(left_out->unreadable, IsEmpty());
  EXPECT_THAT(left_out->empty, IsEmpty());
  EXPECT_EQ(eventsInOutput(), 9U);
  EXPECT_EQ(trace->meta(meta::kRecorderNotes), "a note of 101\na note of 102");
  EXPECT_FALSE(fs::exists(partsFolder(output)));
}

TEST_F(MergeParts, APartWithoutRecordsDoesNotTakeTheOthersWithIt) {
  write(part("101.pitwall"), 101, 3);
  write(part("102.pitwall"), 102, 0);
  const auto left_out = mergeParts(output, false);
  ASSERT_TRUE(left_out.has_value()) << left_out.error().message;
  EXPECT_THAT(left_out->unreadable, IsEmpty());
  EXPECT_THAT(left_out->empty, ElementsAre(HasSubstr("102.pitwall: the process recorded nothing")));
  EXPECT_EQ(eventsInOutput(), 4U);
  EXPECT_THAT(trace->meta(meta::kRecorderNotes).value_or(""), HasSubstr("102.pitwall"));
  EXPECT_THAT(trace->losses(), IsEmpty());
  EXPECT_FALSE(fs::exists(partsFolder(output)));
}

TEST_F(MergeParts, AnUnreadablePartIsNamedAndStays) {
  write(part("101.pitwall"), 101, 3);
  std::ofstream(part("102.pitwall")) << "SQLite format 3, but not really";
  const auto left_out = mergeParts(output, false);
  ASSERT_TRUE(left_out.has_value()) << left_out.error().message;
  EXPECT_THAT(left_out->unreadable, ElementsAre(HasSubstr("102.pitwall")));
  EXPECT_EQ(eventsInOutput(), 4U);
  ASSERT_EQ(trace->losses().size(), 1U);
  EXPECT_THAT(trace->losses()[0].reason, HasSubstr("102.pitwall"));
  EXPECT_FALSE(fs::exists(part("101.pitwall")));
  EXPECT_TRUE(fs::exists(part("102.pitwall")));
}

// The first chunk is the one that shows whether a part has records.
TEST_F(MergeParts, ADamagedChunkIsNamedAndTheOthersOfItsPartAreKept) {
  for (const char* chunk : {"min(id)", "max(id)"}) {
    write(output, 100, 1);
    fs::create_directory(partsFolder(output));
    write(part("101.pitwall"), 101, 3);
    write(part("102.pitwall"), 102, 400);
    damageChunk(part("102.pitwall"), chunk);
    write(part("103.pitwall"), 103, 5);
    const auto left_out = mergeParts(output, false);
    ASSERT_TRUE(left_out.has_value()) << left_out.error().message;
    EXPECT_THAT(left_out->unreadable, IsEmpty()) << chunk;
    const std::size_t kept = eventsInOutput();
    EXPECT_GE(kept, 9U + 100U) << chunk;
    EXPECT_LT(kept, 9U + 400U) << chunk;
    ASSERT_EQ(trace->losses().size(), 1U) << chunk;
    EXPECT_THAT(trace->losses()[0].reason, HasSubstr("event_chunk")) << chunk;
  }
}

TEST_F(MergeParts, OnlyPartsThatCannotBeMergedLeaveTheRecordersOwnData) {
  write(part("102.pitwall"), 102, 0);
  ASSERT_TRUE(mergeParts(output, false).has_value());
  EXPECT_EQ(eventsInOutput(), 1U);
}

// The system gives no names to Python's threads, and truncates those that it gives.
TEST_F(MergeParts, NamesThatTheProgramGaveToItsThreadsAreKept) {
  const auto writeThread = [](const std::string& path, const std::string& first, const std::string& second) {
    auto sink = createTrace(path).value();
    const ProcessId process = sink->process({100, "python3.11", "python3 x.py", 0});
    const ThreadId threads[] = {sink->thread({process, 100, first}), sink->thread({process, 101, second})};
    Event event;
    event.dur_ns = 1;
    for (const ThreadId thread : threads)
      sink->events(sink->track({TrackKind::thread, process, thread, {}, "", ""}), {&event, 1});
    ASSERT_TRUE(sink->finish().has_value());
  };
  writeThread(output, "python3", "pt_data_worker");
  writeThread(part("100.pitwall"), "reader", "second");
  ASSERT_TRUE(mergeParts(output, false).has_value());
  trace = Trace::open(output).value();
  ASSERT_EQ(trace->threads().size(), 2U);
  EXPECT_EQ(trace->threads()[0].name, "reader");
  EXPECT_EQ(trace->threads()[1].name, "pt_data_worker");
}

// A profile of ONNX Runtime with one operator, of process 100, which began 2 ms after the recording.
class MergeProfiles : public MergeParts {
 protected:
  static constexpr std::int64_t kStartNs = 1'700'000'000'000'000'000;

  void SetUp() override {
    output = folder / "run.pitwall";
    auto sink = createTrace(output).value();
    const ProcessId process = sink->process({100, "python3", "python3 x.py", 0});
    const ThreadId thread = sink->thread({process, 100, "main"});
    Event event;
    event.name = sink->string("range");
    event.dur_ns = 10'000'000;
    sink->events(sink->track({TrackKind::thread, process, thread, {}, "", ""}), {&event, 1});
    sink->meta(meta::kTraceStartUnixNs, std::to_string(kStartNs));
    ASSERT_TRUE(sink->finish().has_value());
    fs::create_directory(partsFolder(output));
  }

  void about(const std::string& more) const {
    std::ofstream(part("x.about")) << "pitwall: about a profile\nframework ONNX Runtime\nprocess 100\n"
                                   << more;
  }

  static constexpr const char* kProfile =
      R"([{"cat":"Session","pid":100,"tid":100,"name":"session_initialization","ph":"X","ts":0,"dur":5,"args":{}},
      {"cat":"Node","pid":100,"tid":100,"name":"a_kernel_time","ph":"X","ts":1000,"dur":50,"args":{"op_name":"Gemm"}}])";
};

TEST_F(MergeProfiles, AreOnTheirThreadAtTheirTime) {
  std::ofstream(part("x.json")) << kProfile;
  about("start_unix_ns " + std::to_string(kStartNs + 2'000'000) + "\npath " + part("x.json") + "\n");
  const auto left_out = mergeParts(output, false);
  ASSERT_TRUE(left_out.has_value()) << left_out.error().message;
  EXPECT_THAT(left_out->unreadable, IsEmpty());
  trace = Trace::open(output).value();
  ASSERT_EQ(trace->processes().size(), 1U);
  ASSERT_EQ(trace->threads().size(), 1U);
  const auto rows = trace->query("SELECT start_ns FROM event WHERE kind = 'operator'").value().rows;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(rows[0][0]), 3'000'000);
  EXPECT_FALSE(fs::exists(partsFolder(output)));
}

TEST_F(MergeProfiles, OutsideOfTheFolderStayThere) {
  const std::string profile = folder / "mine.json";
  std::ofstream(profile) << kProfile;
  about("path " + profile + "\n");
  ASSERT_TRUE(mergeParts(output, false).has_value());
  EXPECT_EQ(eventsInOutput(), 3U);
  EXPECT_TRUE(fs::exists(profile));
}

TEST_F(MergeProfiles, ThatAreMissingAreNamed) {
  about("path " + part("x.json") + "\nnote something happened\n");
  const auto left_out = mergeParts(output, false);
  ASSERT_TRUE(left_out.has_value()) << left_out.error().message;
  EXPECT_THAT(left_out->empty, ElementsAre(HasSubstr("ONNX Runtime's profile of process 100 is missing")));
  EXPECT_EQ(eventsInOutput(), 1U);
  EXPECT_THAT(trace->meta(meta::kRecorderNotes).value_or(""), HasSubstr("is missing"));
  EXPECT_THAT(trace->meta(meta::kRecorderNotes).value_or(""), HasSubstr("\nsomething happened"));
}

TEST_F(MergeProfiles, ThatCannotBeReadAreNamedAndStay) {
  std::ofstream(part("x.json")) << "no profile";
  about("path " + part("x.json") + "\n");
  write(part("101.pitwall"), 101, 3);
  const auto left_out = mergeParts(output, false);
  ASSERT_TRUE(left_out.has_value()) << left_out.error().message;
  EXPECT_THAT(left_out->unreadable, ElementsAre(HasSubstr("x.json")));
  EXPECT_EQ(eventsInOutput(), 4U);
  ASSERT_EQ(trace->losses().size(), 1U);
  EXPECT_TRUE(fs::exists(part("x.json")));
  EXPECT_FALSE(fs::exists(part("101.pitwall")));
}

TEST_F(MergeProfiles, AFileThatIsNoDescriptionIsLeft) {
  std::ofstream(part("x.about")) << "something else";
  ASSERT_TRUE(mergeParts(output, false).has_value());
  EXPECT_EQ(eventsInOutput(), 1U);
}

TEST_F(MergeParts, PartsAreKeptOnRequest) {
  write(part("101.pitwall"), 101, 3);
  write(part("102.pitwall"), 102, 0);
  ASSERT_TRUE(mergeParts(output, true).has_value());
  EXPECT_TRUE(fs::exists(part("101.pitwall")));
  EXPECT_TRUE(fs::exists(part("102.pitwall")));
}

}  // namespace
}  // namespace pitwall::record::merge_test
