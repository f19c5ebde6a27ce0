// The table of formats, and what is made from it.
#include "db/import/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/import.h"
#include "tests/db/import/imported.h"
#include "tests/support/read_all.h"

namespace pitwall::import::formats_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Row by row, in the order in which they are tried; a failure shows the table to put into the document.
TEST(Formats, TheDocumentHasTheirTable) {
  std::string table = "| format | usual files |\n|---|---|\n";
  for (const auto& format : importFormats()) table += "| " + format.name + " | `" + format.files + "` |\n";
  EXPECT_THAT(test::readAll(PITWALL_FORMATS_DOCUMENT), HasSubstr("\n\n" + table + "\n"));
}

TEST(Formats, AMessageNamesThemAll) {
  const auto imported = test::importText("hello world\n");
  for (const auto& format : importFormats()) EXPECT_THAT(imported->error, HasSubstr(format.name));
}

TEST(Formats, TheFirstThatRecognisesAnInputReadsIt) {
  const auto id = [](std::string_view bytes) { return formatOf(fileStart(bytes))->id; };
  EXPECT_EQ(id("\xEF\xBB\xBF  {\"traceEvents\":[]}"), FormatId::chromeJson);
  EXPECT_EQ(id("{\"ph\":\"X\"}\n"), FormatId::chromeJson);
  EXPECT_EQ(id("[worker-0] onednn_verbose,exec,cpu\n"), FormatId::verboseLog) << "not an array";
  EXPECT_EQ(id("node:1:2 [0] NCCL INFO x\n"), FormatId::verboseLog);
  EXPECT_EQ(id("{\"a\":{\"coll_perf\":{}}}"), FormatId::ncclInspector);
  EXPECT_EQ(id("Profile Statistics:\nName  Total Count\n"), FormatId::mxnetTable);
  EXPECT_EQ(id("[\n{\"cat\" : \"Session\",\"ph\" : \"X\",\"name\" :\"model_loading_array\",\"args\" : {}},"),
            FormatId::onnxRuntime);
  std::string database("SQLite format 3\0", 16);
  database.resize(100);
  EXPECT_EQ(id(database), FormatId::nsightSqlite);
  EXPECT_EQ(id(database.replace(68, 4, "Pitw")), FormatId::pitwallTrace);
  EXPECT_EQ(id(database.replace(68, 4, "PitR")), FormatId::pitwallRows);
}

TEST(Formats, WhatNoneRecognisesIsDescribed) {
  const auto why = [](std::string_view bytes) { return unrecognised(fileStart(bytes)); };
  EXPECT_EQ(formatOf(fileStart("hello")), nullptr);
  EXPECT_THAT(why("hello").why, StartsWith("is text of an unknown kind"));
  EXPECT_TRUE(why("hello").is_log);
  EXPECT_THAT(why(" \n").why, StartsWith("holds nothing but spaces"));
  EXPECT_THAT(why(std::string_view("\x01\x02\x03\x04", 4)).why, StartsWith("is binary data"));
  EXPECT_THAT(why("\xFF\xFEh").why, HasSubstr("UTF-16"));
  EXPECT_THAT(why("{\"name\": \"x\"}").why, HasSubstr("without traceEvents"));
  EXPECT_FALSE(why("{\"name\": \"x\"}").is_log);
  EXPECT_THAT(why("[{\"name\": \"x\"}, {\"name\": \"y\"}]").why,
              HasSubstr("array of objects without \"ph\""));
  EXPECT_THAT(why("{\"name\" 1}").why, HasSubstr("damaged at byte"));
}

TEST(Formats, ClosedAndOtherToolsFilesNameTheWayToWhatCanBeRead) {
  const auto why = [](std::string_view bytes, std::string_view path) {
    return unrecognised(fileStart(bytes), path).why;
  };
  EXPECT_THAT(why("x", "my run.nsys-rep"), HasSubstr("nsys export --type sqlite 'my run.nsys-rep'"));
  EXPECT_THAT(why("x", "old.qdrep"), HasSubstr("nsys export --type sqlite old.qdrep"));
  EXPECT_THAT(why("x", "k.ncu-rep"), HasSubstr("ncu --import k.ncu-rep --page raw --csv"));
  EXPECT_THAT(why("PERFILE2\x68", "perf.data"), HasSubstr("perf script -F +pid -i perf.data"));
  EXPECT_THAT(why(std::string_view("PK\x05\x06\0\0", 6), "a.zip"), HasSubstr("zip archive without files"));
  EXPECT_THAT(why("\x80\x04\x95", "model.pickle"), HasSubstr("Python pickle"));
  EXPECT_THAT(why("BZh91AY&SY\x01\x02", "my trace.json.bz2"),
              HasSubstr("bunzip2 --keep 'my trace.json.bz2'"));
  EXPECT_THAT(why("7z\xBC\xAF\x27\x1C\x01", "job.7z"), HasSubstr("unpack it: 7z x job.7z"));
  EXPECT_THAT(why("\x04\x22\x4D\x18\x01", "a.lz4"), HasSubstr("lz4 -d a.lz4"));
}

// Through the whole import, with the input's path in the message.
TEST(Formats, WhatHoldsNothingSaysSo) {
  for (const std::string_view text : {"[]", "{\"traceEvents\":[]}"})
    EXPECT_THAT(test::importText(text)->error, HasSubstr("it holds no events")) << text;
  EXPECT_THAT(test::importText("[{\"a\":1}]")->error, HasSubstr("without \"ph\""));
  EXPECT_THAT(test::importText("")->error, HasSubstr("is empty"));
  EXPECT_THAT(test::importText(std::string("PK\x05\x06", 4) + std::string(18, '\0'))->error,
              HasSubstr("zip archive without files"));
}

}  // namespace
}  // namespace pitwall::import::formats_test
