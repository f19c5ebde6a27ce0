#include "db/json_string.h"

#include <gtest/gtest.h>

namespace pitwall::json_string_test {
namespace {

TEST(JsonString, QuotesBackslashesAndControlCharactersAreEscaped) {
  EXPECT_EQ(jsonString(""), "\"\"");
  EXPECT_EQ(jsonString("plain"), "\"plain\"");
  EXPECT_EQ(jsonString("a\"b\\c\nd\te\rf"), R"("a\"b\\c\nd\te\rf")");
  EXPECT_EQ(jsonString(std::string_view("\0\x01\x1f\x7f", 4)), "\"\\u0000\\u0001\\u001f\x7f\"");
}

TEST(JsonString, TextStaysAndOtherBytesAreReplaced) {
  EXPECT_EQ(jsonString("Uml\xC3\xA4ute"), "\"Uml\xC3\xA4ute\"");
  EXPECT_EQ(jsonString("cut \xC3"), "\"cut \xEF\xBF\xBD\"");
  EXPECT_EQ(jsonString("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");  // a surrogate
  EXPECT_EQ(jsonString("\xff\xc3\xa4"), "\"\xEF\xBF\xBD\xC3\xA4\"");
}

TEST(JsonString, IsAppendedToWhatIsThere) {
  std::string out = "{";
  appendJsonString("a\nb", out);
  EXPECT_EQ(out, "{\"a\\nb\"");
}

}  // namespace
}  // namespace pitwall::json_string_test
