#include "db/import/input/text.h"

#include <gtest/gtest.h>

#include "db/import/onednn/onednn_line.h"

namespace pitwall::import::text_test {
namespace {

TEST(ImportText, MicrosecondsBecomeNanosecondsExactly) {
  EXPECT_EQ(parseScaled("4458676983543.183", 1000), 4458676983543183);
  EXPECT_EQ(parseScaled("1694039968955744", 1000), 1694039968955744000);
  EXPECT_EQ(parseScaled("0.0005", 1000), 1);
  EXPECT_EQ(parseScaled("0.0004", 1000), 0);
  EXPECT_EQ(parseScaled("-2.5", 1000), -2500);
  EXPECT_EQ(parseScaled("1.5e3", 1000), 1500000);
  EXPECT_EQ(parseScaled(".75", 1000), 750);
  EXPECT_EQ(parseScaled("246.", 1000), 246000);
  EXPECT_EQ(parseScaled("+050", 1), 50);
}

TEST(ImportText, RefusesWhatIsNoNumberOrOutOfRange) {
  for (const char* text : {"", ".", "+", "-", "1.5e", "2e+", "100a", "invalid", "0x10", "1,5", " 1", "1 "}) {
    EXPECT_FALSE(parseScaled(text, 1000)) << text;
    EXPECT_FALSE(parseReal(text)) << text;
  }
  EXPECT_FALSE(parseScaled("9223372036854775807", 1000));
  EXPECT_FALSE(parseScaled("99999999999999999999999999", 1));
  EXPECT_FALSE(parseScaled("1e300", 1000));
  EXPECT_FALSE(parseScaled("4611686018427387904", 1));  // kLatestNs itself
}

TEST(ImportText, IntegersKeepTheBitsOfUnsignedOnes) {
  EXPECT_EQ(parseInteger("13084354670121613409"), static_cast<std::int64_t>(13084354670121613409ULL));
  EXPECT_EQ(parseInteger("-7"), -7);
  EXPECT_FALSE(parseInteger("18446744073709551616"));
  EXPECT_FALSE(parseInteger("12a"));
}

TEST(ImportText, CleansWhatIsNotText) {
  const auto clean = [](std::string_view text) {
    std::string out;
    const bool replaced = appendClean(text, out);
    return std::pair(out, replaced);
  };
  EXPECT_EQ(clean("caf\xC3\xA9"), std::pair(std::string("caf\xC3\xA9"), false));
  EXPECT_EQ(clean("a\xFFz"), std::pair(std::string("a\xEF\xBF\xBDz"), true));
  EXPECT_EQ(clean(std::string_view("a\0b", 3)), std::pair(std::string("a\xEF\xBF\xBD"
                                                                      "b"),
                                                          true));
  EXPECT_EQ(clean("\xC0\x80").first, "\xEF\xBF\xBD\xEF\xBF\xBD");  // overlong
  EXPECT_EQ(clean("\xED\xA0\x80").first.size(), 9U);               // a surrogate
  EXPECT_EQ(clean("\xE2\x82").second, true);                       // truncated sequence
  EXPECT_EQ(clean(std::string(100000, 'x')).first.size(), kLongestName);
}

TEST(ImportText, StepNumbers) {
  EXPECT_EQ(stepNumber("ProfilerStep#12"), 12);
  EXPECT_EQ(stepNumber("iteration 3"), 3);
  EXPECT_EQ(stepNumber("Step_0"), 0);
  EXPECT_FALSE(stepNumber("step"));
  EXPECT_FALSE(stepNumber("step one"));
  EXPECT_FALSE(stepNumber("stepping 3 times"));
}

TEST(ImportText, MarkersOfOneDnnAnywhereInALine) {
  const std::string line = "#49: dnnl_verbose,exec,x onednn_verbose,y";
  const auto first = findMarker(line, 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(line.substr(first->fields, 4), "exec");
  const auto second = findMarker(line, first->fields);
  ASSERT_TRUE(second);
  EXPECT_EQ(line.substr(second->fields), "y");
  EXPECT_FALSE(findMarker(line, second->fields));
  EXPECT_FALSE(findMarker("onednn_acl_verbose,acl_kernel,NAME,exec_time,0.43", 0));
}

}  // namespace
}  // namespace pitwall::import::text_test
