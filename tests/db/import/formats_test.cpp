// The table of formats, and what is made from it.
#include "db/import/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/import.h"
#include "tests/db/import/imported.h"
#include "tests/support/read_all.h"

namespace pitwall::import {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Formats, EachIsInTheDocumentWithItsFiles) {
  const std::string document = test::readAll(PITWALL_FORMATS_DOCUMENT);
  for (const auto& format : importFormats())
    EXPECT_THAT(document, HasSubstr("| " + format.name + " | `" + format.files + "` |\n"));
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
  EXPECT_THAT(why("{\"name\" 1}").why, HasSubstr("damaged at byte"));
}

}  // namespace
}  // namespace pitwall::import
