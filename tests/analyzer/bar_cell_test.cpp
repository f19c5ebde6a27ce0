// A bar in a table, as each format draws it.
#include <gmock/gmock.h>

#include "analyzer/emit/cells.h"
#include "analyzer/emit/html_emitter.h"
#include "analyzer/emit/json_emitter.h"
#include "analyzer/emit/markdown_emitter.h"
#include "analyzer/emit/text_emitter.h"

namespace pitwall::emit::bar_cell_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Table tableWith(const Cell& cell) {
  return {{{"name", "name"}, {"share", "share of all"}}, {{text("it"), cell}}};
}

template <typename Emitter>
std::string shown(Emitter&& emitter, const Cell& cell) {
  emitter.table("list", "", tableWith(cell));
  return std::forward<Emitter>(emitter).take();
}

TEST(BarCell, TextHasAMarkForEachThirtieth) {
  const auto line = [](double share) { return shown(TextEmitter({}), bar(share)); };
  EXPECT_THAT(line(0.5), HasSubstr("it    " + std::string(15, '#') + "\n"));
  EXPECT_THAT(line(1), HasSubstr("it    " + std::string(30, '#') + "\n"));
  EXPECT_THAT(line(0.016), Not(HasSubstr("#"))) << "less than half of a mark";
  EXPECT_THAT(line(0.017), HasSubstr("it    #\n"));
  EXPECT_THAT(line(-1), Not(HasSubstr("#"))) << "a share is not below 0";
  EXPECT_THAT(line(7), HasSubstr("it    " + std::string(30, '#') + "\n")) << "nor above 1";
}

TEST(BarCell, MarkdownHasTheSameMarks) {
  EXPECT_THAT(shown(MarkdownEmitter(), bar(0.1)), HasSubstr("| it | ### |"));
}

TEST(BarCell, HtmlHasItsExactLength) {
  EXPECT_THAT(shown(HtmlEmitter("t", {}), bar(0.51)),
              HasSubstr("<td data-value=\"0.51\"><span class=\"bar\" style=\"width:6.12em\"></span></td>"));
}

TEST(BarCell, JsonHasTheShare) {
  EXPECT_THAT(shown(JsonEmitter(), bar(0.51)), HasSubstr(R"({"name": "it", "share": 0.51})"));
}

TEST(BarCell, ANameOfNumberSignsIsNoBar) {
  const auto page = shown(HtmlEmitter("t", {}), text("####"));
  EXPECT_THAT(page, HasSubstr("<td>####</td>"));
  EXPECT_THAT(page, Not(HasSubstr("<span class=\"bar\"")));
}

}  // namespace
}  // namespace pitwall::emit::bar_cell_test
