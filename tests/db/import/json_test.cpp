#include "db/import/input/json.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "db/import/chrome/chrome_event.h"
#include "db/import/chrome/event_parser.h"
#include "db/import/input/scan.h"

namespace pitwall::import::json_test {
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

// The result of a parse, as text.
std::string found(const ParsedEvent& parsed, const ChromeEvent& event, std::string_view text) {
  std::string out = std::to_string(static_cast<int>(parsed.status)) + " " + std::to_string(parsed.taken) +
                    " " + parsed.error + " " + std::to_string(parsed.repairs) + parsed.repair_kind;
  if (parsed.status != JsonStatus::ok) return out;
  const auto add = [&](const JsonValue& value) {
    out += "|" + std::to_string(static_cast<int>(value.type)) + std::string(value.text);
    if (value.type != JsonType::none) out += "@" + std::to_string(value.text.data() - text.data());
  };
  for (const JsonValue& value :
       {event.name, event.category, event.phase, event.time, event.duration, event.id, event.id_local,
        event.scope, event.binding, event.process, event.thread}) {
    add(value);
  }
  for (const ChromeArg& arg : event.args()) {
    out += "\n" + std::string(arg.name);
    add(arg.value);
  }
  add(event.arg(Arg::grid));
  return out + "\n" + std::string(event.args_text);
}

const std::vector<std::string> kEvents = {
    "{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void k<float, 4>(int)\", \"pid\": 0, \"tid\": "
    "7,\n    \"ts\": "
    "4458676983543.183, \"dur\": 41.407,\n    \"args\": {\n      \"External id\": 12,      \"queued\": 0, "
    "\"grid\": "
    "[512, 1, 1],      \"correlation\": 57541\n    }\n  }",
    "{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 0, \"tid\": 7,\n    \"ts\": "
    "45.1, \"dur\": "
    "4,\n    \"args\": {\n      \"External id\": 12,      \"Input Dims\": [[64, 3], [], [\"]\\\"\"]], \"x\": "
    "NaN\n    }\n  }",
    R"({"name":"a\"b","ph":"b","id2":{"local":"0x1"},"ts":"7","pid":-5,"args":{},"tid":"text","scope":null,"id":1.5e3})",
};

// Earlier events never change the result of the next one.
TEST(ImportJson, RememberingChangesNothing) {
  std::mt19937 random(7);
  EventParser remembering;
  ChromeEvent event;
  const std::string behind(80, ' ');  // far from the end, where comparing is allowed
  for (int round = 0; round < 4000; ++round) {
    std::string text = kEvents[random() % kEvents.size()];
    for (int changes = static_cast<int>(random() % 3); changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = "{}[]\",:\\0e-\n a"[random() % 14]; break;
        case 1: text.erase(at, 1 + random() % 9); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 30)); break;
      }
    }
    if (text.empty() || text[0] != '{') text = "{" + text;
    if (random() % 4 != 0) text += behind;
    SCOPED_TRACE(text);
    const std::string fresh = found(parseEvent(text, event), event, text);
    EXPECT_EQ(found(remembering.parse(text, event), event, text), fresh);
  }
}

TEST(ImportJson, RememberedPlacesAreBounded) {
  EventParser parser;
  ChromeEvent event;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = "{\"ph\":\"X\",\"args\":{\"k" + std::to_string(i) + "\":" + std::to_string(i) +
                             ",\"" + std::string(100, 'k') + "\":1}}" + std::string(80, ' ');
    ASSERT_EQ(parser.parse(text, event).status, JsonStatus::ok);
    ASSERT_EQ(event.args().size(), 2U);
    EXPECT_EQ(event.args()[0].value.text, std::to_string(i));
    EXPECT_EQ(event.phase.text, "X");
  }
}

TEST(ImportJson, NestedValuesOfEveryLengthAreSkipped) {
  JsonValue value;
  for (std::size_t length = 0; length < 200; ++length) {
    for (const std::string& inside :
         {std::string(length, 'x'), std::string(length, ']'), std::string(length, '{')}) {
      const std::string nested = "[[1],{\"a\":\"" + inside + "\"},[\"\\\\\",\"\\\"]\"]]";
      const std::string more = nested + ",[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[";
      EXPECT_EQ(scanValue(more, value), JsonStatus::ok);
      EXPECT_EQ(value.text, nested);
      EXPECT_EQ(scanValue(nested, value), JsonStatus::ok);
      EXPECT_EQ(scanValue(nested.substr(0, nested.size() - 1), value), JsonStatus::needMore);
    }
  }
}

TEST(ImportJson, TimesInEverySpelling) {
  ChromeEvent event;
  const auto ns = [&](const std::string& text) {
    const std::string object = "{\"ts\":" + text + "}";
    EXPECT_EQ(parseEvent(object, event).status, JsonStatus::ok);
    return event.timeNs();
  };
  EXPECT_EQ(ns("4458676983543.183"), 4458676983543183);
  EXPECT_EQ(ns("1700000000000100.5"), 1700000000000100500);
  EXPECT_EQ(ns("1700000000000100"), 1700000000000100000);
  EXPECT_EQ(ns("12345678.25"), 12345678250);
  EXPECT_EQ(ns("5."), 5000);
  EXPECT_EQ(ns("0.0005"), 1);
  EXPECT_EQ(ns("-1.25"), -1250);
  EXPECT_EQ(ns("1e3"), 1000000);
  EXPECT_EQ(ns("\"7.5\""), 7500);
  for (const char* wrong : {"1.2.3", "1/2", "12345678901234567890", "1.5x", "9223372036854775807"})
    EXPECT_FALSE(ns(wrong)) << wrong;
}

TEST(ImportJson, EightDigitsAndLines) {
  std::uint64_t number = 0;
  EXPECT_TRUE(eightDigits("01234567", number));
  EXPECT_EQ(number, 1234567U);
  EXPECT_FALSE(eightDigits("0123:567", number));
  EXPECT_FALSE(eightDigits("/1234567", number));
  std::string text;
  for (std::int64_t i = 0; i < 9000; ++i) {
    if (i % 100 == 0) {
      EXPECT_EQ(countLines(text.data(), text.data() + text.size()), i);
    }
    text += '\n';
  }
  EXPECT_EQ(compact("{ \"a b\" : [1,\n 2] , \"c\\\" d\":\t3}"), R"({"a b":[1,2],"c\" d":3})");
}

}  // namespace
}  // namespace pitwall::import::json_test
