#include "db/event.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pitwall::event_test {
namespace {

// Names of the values 0..last, which are stored in files.
template <class Enum>
std::set<std::string> namesUpTo(Enum last) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.insert(toString(static_cast<Enum>(i)));
  return names;
}

template <class Enum>
void expectDistinctNames(Enum last) {
  const std::set<std::string> names = namesUpTo(last);
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last) + 1);
  EXPECT_FALSE(names.contains(""));
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_STREQ(toString(static_cast<Enum>(static_cast<int>(last) + 1)), "unknown")
      << "a new value? test it here";
}

TEST(EventNames, AreDistinct) {
  expectDistinctNames(EventKind::communication);
  expectDistinctNames(Phase::data);
  expectDistinctNames(DependencyKind::flow);
  expectDistinctNames(TrackKind::counter);
  expectDistinctNames(SettingSource::program);
}

TEST(EventNames, AreThoseThatRulesUse) {
  EXPECT_STREQ(toString(EventKind::operatorRun), "operator");
  EXPECT_STREQ(toString(EventKind::dataWait), "data_wait");
  EXPECT_STREQ(toString(EventKind::dataWork), "data_work");
  EXPECT_STREQ(toString(Phase::backward), "backward");
  EXPECT_STREQ(toString(SettingSource::byDefault), "default");
  EXPECT_STREQ(toString(DependencyKind::readAfterWrite), "read_after_write");
}

}  // namespace
}  // namespace pitwall::event_test
