// The malformed inputs of the corpus: each ends within a second, with the valid prefix or a precise message.
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>

#include "tests/db/import/corpus.h"
#include "tests/db/import/imported.h"

namespace pitwall::test::corpus_malformed_test {
namespace {

std::unique_ptr<Imported> malformed(const std::string& name) {
  return importFiles({corpusFolder() + "/malformed/" + name});
}

TEST(ImportMalformed, EachWithinASecond) {
  PITWALL_NEEDS_CORPUS();
  for (const auto& entry : std::filesystem::directory_iterator(corpusFolder() + "/malformed")) {
    SCOPED_TRACE(entry.path().string());
    const std::clock_t begin = std::clock();  // of the processor: others may keep it busy
    const auto imported = importFiles({entry.path().string()});
    EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC);
    EXPECT_TRUE(!imported->error.empty() || imported->summary.totalEvents() > 0);
  }
}

TEST(ImportMalformed, WrongNumbersOfKineto) {
  PITWALL_NEEDS_CORPUS();
  const auto good = malformed("kineto_ok_base.json");
  ASSERT_EQ(good->error, "");
  const auto nan = malformed("kineto_nan_dur.json");
  EXPECT_EQ(nan->summary.totalEvents(), good->summary.totalEvents() - 2);
  EXPECT_EQ(Imported::counted(nan->summary.dropped, "events whose length"), 2);
  EXPECT_NE(nan->summary.dropped.at("events whose length (dur) is not a number or out of range")
                .example.find("line 7"),
            std::string::npos);
  const auto not_available = malformed("kineto_unquoted_NA.json");
  EXPECT_EQ(not_available->summary.totalEvents(), good->summary.totalEvents());
  EXPECT_GE(Imported::counted(not_available->summary.repaired, "words in place"), 3);
  const auto strings = malformed("kineto_negative_and_string_numbers.json");
  EXPECT_EQ(strings->error, "");
  EXPECT_GE(Imported::counted(strings->summary.dropped, "values among the events"), 4);
  const auto future = malformed("kineto_window_end_far_future.json");
  EXPECT_EQ(future->summary.end_ns, good->summary.end_ns);
}

TEST(ImportMalformed, TwoDocumentsAndCuts) {
  PITWALL_NEEDS_CORPUS();
  const auto good = malformed("kineto_ok_base.json");
  const auto two = malformed("kineto_two_documents.json");
  EXPECT_EQ(two->summary.totalEvents(), good->summary.totalEvents());
  EXPECT_EQ(Imported::counted(two->summary.dropped, "a second document"), 1);
  const auto cut = malformed("mxnet_truncated.json");
  EXPECT_FALSE(cut->summary.complete());
  EXPECT_NE(cut->summary.inputs.at(0).damage.find("byte"), std::string::npos);
  EXPECT_GT(cut->summary.totalEvents() + cut->events("counter samples"), 20);
  EXPECT_NE(malformed("binary_garbage.json")->error.find("binary data"), std::string::npos);
}

TEST(ImportMalformed, Nsight) {
  PITWALL_NEEDS_CORPUS();
  const auto reversed = malformed("nsys_end_before_start.sqlite");
  EXPECT_EQ(reversed->events("kernel"), 2);
  EXPECT_GE(Imported::counted(reversed->summary.repaired, "events that end before"), 1);
  const auto nameless = malformed("nsys_no_stringids.sqlite");
  EXPECT_EQ(nameless->events("kernel"), 2);
  EXPECT_EQ(nameless->named("kernel 139").size(), 1U);
  EXPECT_GT(Imported::counted(nameless->summary.repaired, "names, since the table StringIds is missing"), 0);
  const auto few = malformed("nsys_no_kernels_no_runtime.sqlite");
  EXPECT_EQ(few->error, "");
  EXPECT_EQ(few->events("copy"), 1);
}

TEST(ImportMalformed, OneDnn) {
  PITWALL_NEEDS_CORPUS();
  const auto comma = malformed("onednn_comma_decimal_locale.log");
  EXPECT_EQ(Imported::counted(comma->summary.repaired, "times with a decimal comma"),
            comma->records("lines exec") + comma->records("lines create"));
  EXPECT_EQ(comma->records("lines torn"), 0);
  const auto prefixed = malformed("onednn_prefixed_by_logger.log");
  EXPECT_GT(prefixed->records("lines exec"), 10);
  EXPECT_EQ(prefixed->records("lines torn"), 0);
  const auto torn = malformed("onednn_interleaved_two_threads.log");
  EXPECT_EQ(torn->records("lines torn"), 2);
  EXPECT_GT(torn->records("lines exec"), 30);
  const auto bare = malformed("onednn_no_header_no_template.log");
  EXPECT_GT(bare->records("lines exec"), 50);
}

}  // namespace
}  // namespace pitwall::test::corpus_malformed_test
