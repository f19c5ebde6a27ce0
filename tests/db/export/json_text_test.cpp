#include "db/export/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "db/json_string.h"

namespace pitwall::exporting::json_text_test {
namespace {

template <class Append, class Value>
std::string made(Append append, Value value) {
  fmt::memory_buffer out;
  append(out, value);
  return {out.data(), out.size()};
}

std::string inJson(std::string_view text) {
  return made([](auto& out, std::string_view t) { appendJsonString(t, out); }, text);
}

TEST(JsonText, AnyBytesBecomeValidText) {
  EXPECT_EQ(inJson("plain"), "\"plain\"");
  EXPECT_EQ(inJson("a\"b\\c\nd\te\x01"), R"("a\"b\\c\nd\te\u0001")");
  EXPECT_EQ(inJson("Uml\xC3\xA4ute"), "\"Uml\xC3\xA4ute\"");
  EXPECT_EQ(inJson("cut \xC3"), "\"cut \xEF\xBF\xBD\"");
  EXPECT_EQ(inJson("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");  // a surrogate
  for (int c = 0; c < 256; ++c) {
    const std::string text = std::string("{\"k\":") + inJson(std::string(1, static_cast<char>(c))) + "}";
    EXPECT_TRUE(isJsonObject(text)) << c;
  }
}

TEST(JsonText, NumbersThatADoubleWouldRoundAreText) {
  const auto integer = [](std::int64_t value) {
    return made([](auto& out, std::int64_t v) { appendInteger(out, v); }, value);
  };
  EXPECT_EQ(integer(-5), "-5");
  EXPECT_EQ(integer((std::int64_t{1} << 53) - 1), "9007199254740991");
  EXPECT_EQ(integer(std::int64_t{1} << 53), "\"9007199254740992\"");
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::min()), "\"-9223372036854775808\"");
}

TEST(JsonText, RealsReadBackAsTheyWere) {
  for (const double value : {0.0, 1.0, -0.1, 1e300, 5e-324, 123456789.123456789, 1e21}) {
    const std::string text = made([](auto& out, double v) { appendReal(out, v); }, value);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
    EXPECT_TRUE(isJsonObject("{\"k\":" + text + "}")) << text;
  }
  EXPECT_EQ(made([](auto& out, double v) { appendReal(out, v); }, std::nan("")), "\"NaN\"");
}

TEST(JsonText, MicrosecondsKeepNanoseconds) {
  const auto time = [](std::int64_t ns) {
    return made([](auto& out, std::int64_t v) { appendMicroseconds(out, v); }, ns);
  };
  EXPECT_EQ(time(0), "0");
  EXPECT_EQ(time(1234), "1.234");
  EXPECT_EQ(time(5000), "5");
  EXPECT_EQ(time(-1), "-0.001");
  EXPECT_EQ(time(std::numeric_limits<std::int64_t>::min()), "-9223372036854775.808");
}

TEST(JsonText, OnlyOneStrictObjectIsAnObject) {
  for (const char* text :
       {"{}", R"({"a":[1,-2.5e+3,true,null,{"b":"\u00e4"}]})", R"({ "a" : 1 , "b" : [ ] })"})
    EXPECT_TRUE(isJsonObject(text)) << text;
  for (const char* text :
       {"", "[]", "{", "{}x", "{\"a\":01}", "{\"a\":1,}", "{'a':1}", "{\"a\":NaN}", "{\"a\":+1}",
        "{\"a\":1.}", "{\"a\":\"\\x\"}", "{\"a\":\"\n\"}", "{\"a\":\"\xff\"}", "{\"a\" 1}"})
    EXPECT_FALSE(isJsonObject(text)) << text;
  EXPECT_FALSE(isJsonObject("{\"a\":" + std::string(100000, '[')));
}

}  // namespace
}  // namespace pitwall::exporting::json_text_test
