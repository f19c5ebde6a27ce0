#include "db/import/json.h"

#include <gtest/gtest.h>

#include <string>

#include "db/import/chrome_event.h"

namespace pitwall::import {
namespace {

JsonStatus scanValue(std::string_view text, JsonValue& value) { return JsonScanner(text).value(value); }

TEST(ImportJson, ValuesOfEveryType) {
  JsonValue value;
  EXPECT_EQ(scanValue("  \"a\\\"b\" ", value), JsonStatus::ok);
  EXPECT_EQ(value.text, "a\\\"b");
  EXPECT_EQ(scanValue("\"ends in a backslash\\\\\",", value), JsonStatus::ok);
  EXPECT_EQ(scanValue("-1.5e3,", value), JsonStatus::ok);
  EXPECT_EQ(value.type, JsonType::number);
  EXPECT_EQ(scanValue("{\"a\":[1,{\"b\":\"]}\"}]} ,", value), JsonStatus::ok);
  EXPECT_EQ(value.text, "{\"a\":[1,{\"b\":\"]}\"}]}");
  EXPECT_EQ(scanValue("true}", value), JsonStatus::ok);
  EXPECT_EQ(value.type, JsonType::boolean);
}

TEST(ImportJson, EveryPrefixOfAnEventAsksForMore) {
  const std::string text =
      R"({"name":"a \"b\"","cat":"c","ph":"X","ts":1.5,"dur":2,"pid":1,"tid":"x","id2":{"local":1},"args":{"k":[1,{"z":null}]}})";
  ChromeEvent event;
  for (std::size_t i = 1; i < text.size(); ++i) {
    EXPECT_EQ(parseEvent(text.substr(0, i), event).status, JsonStatus::needMore) << text.substr(0, i);
  }
  const ParsedEvent parsed = parseEvent(text, event);
  EXPECT_EQ(parsed.status, JsonStatus::ok);
  EXPECT_EQ(parsed.taken, text.size());
  EXPECT_EQ(event.timeNs(), 1500);
  EXPECT_EQ(event.id_local.text, "1");
  EXPECT_EQ(event.arg("k").type, JsonType::array);
  EXPECT_EQ(event.arg("absent").type, JsonType::none);
}

TEST(ImportJson, RepairsAreCounted) {
  ChromeEvent event;
  ParsedEvent parsed = parseEvent(R"({"ph":"X","ts":NaN,"args":{"External id":N/A,"x":-Infinity}})", event);
  EXPECT_EQ(parsed.status, JsonStatus::ok);
  EXPECT_EQ(parsed.repairs, 3);
  EXPECT_FALSE(event.timeNs());
  parsed = parseEvent(R"({"ph":"X" "ts":1,"args":{"a":1,},})", event);
  EXPECT_EQ(parsed.status, JsonStatus::ok);
  EXPECT_EQ(parsed.repairs, 3);  // one comma too few, two too many
  EXPECT_EQ(event.timeNs(), 1000);
}

TEST(ImportJson, DamageNamesItsPlace) {
  ChromeEvent event;
  EXPECT_EQ(parseEvent(R"({"ph":"X","ts"=1})", event).status, JsonStatus::damaged);
  EXPECT_EQ(parseEvent(R"({"ph":"X",ts:1})", event).status, JsonStatus::damaged);
  const ParsedEvent parsed = parseEvent(R"({"ph":,"ts":1})", event);
  EXPECT_EQ(parsed.status, JsonStatus::damaged);
  EXPECT_EQ(parsed.taken, 6U);
}

TEST(ImportJson, DepthIsBounded) {
  JsonValue value;
  const std::string deep = std::string(100000, '[') + std::string(100000, ']') + " ";
  EXPECT_EQ(scanValue(deep, value), JsonStatus::damaged);
  const std::string allowed = std::string(kDeepestJson, '[') + std::string(kDeepestJson, ']') + " ";
  EXPECT_EQ(scanValue(allowed, value), JsonStatus::ok);
}

TEST(ImportJson, Escapes) {
  EXPECT_EQ(unescape(R"(a\"b\\c\/d\n\t)"), "a\"b\\c/d\n\t");
  EXPECT_EQ(unescape(R"(\u00e9\u20ac)"), "\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(unescape(R"(\ud83d\ude00)"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(unescape(R"(\u12)"), "\\u12");
  EXPECT_EQ(unescape("tail\\"), "tail\\");
}

}  // namespace
}  // namespace pitwall::import
