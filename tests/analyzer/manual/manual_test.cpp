// Pages and completions of a made-up command with awkward texts.
#include "analyzer/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pitwall::manual::manual_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Command made() {
  Command command;
  command.name = "tool";
  command.summary = "Does it";
  Option format;
  format.names = {"--format"};
  format.value.placeholder = "TEXT";
  format.value.choices = {"a", "b"};
  format.value.default_value = "a";
  format.meaning = "It's [odd]: a \\ and µ";
  command.options = {format};
  Command below;
  below.name = "tool run";
  below.summary = "Runs it";
  below.runs_program = true;
  command.commands = {below};
  command.own_pages = true;
  command.text.notes = {".TH is no macro here", "'quoted"};
  command.text.exit_codes = {{"0", "done"}};
  command.text.examples = {{"tool --format=a", "An example."}};
  return command;
}

TEST(ManPage, TextIsNoMacro) {
  const std::string page = manPage(made(), "1.2.3", {"tool", "other"});
  EXPECT_THAT(page, HasSubstr("\n\\&.TH is no macro here\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&\\(aqquoted\n"));
  EXPECT_THAT(page, HasSubstr("It\\(aqs [odd]: a \\e and \\[u00B5] (default: a)."));
}

TEST(ManPage, HasTheSectionsThatHaveText) {
  const std::string page = manPage(made(), "1.2.3", {"tool", "other"});
  EXPECT_THAT(page, testing::StartsWith(".TH \"TOOL\" 1 \"\" \"Pitwall 1.2.3\""));
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXAMPLES"})
    EXPECT_THAT(page, HasSubstr(std::string("\n.SH ") + section + "\n"));
  EXPECT_THAT(page, HasSubstr("\n.SH \"EXIT STATUS\"\n"));
  EXPECT_THAT(page, HasSubstr(".SH \"SEE ALSO\"\n\\fBother\\fR(1)\n"));
  EXPECT_THAT(page, Not(HasSubstr("FILES")));
  EXPECT_THAT(page, HasSubstr("\\fBtool\\-run\\fR(1)"));
}

TEST(Completion, QuotesTexts) {
  EXPECT_THAT(zshCompletion(made()), HasSubstr("[It'\\''s \\[odd\\]\\: a \\\\ and µ]:TEXT:(a b)"));
  EXPECT_THAT(fishCompletion(made()), HasSubstr("'It\\'s [odd]: a \\\\ and µ'"));
  EXPECT_THAT(bashCompletion(made()), HasSubstr("'tool --format') kind=value words='a b' ;;"));
}

}  // namespace
}  // namespace pitwall::manual::manual_test
