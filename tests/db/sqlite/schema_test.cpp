// Migration of older files to the newest schema.
#include "db/sqlite/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace pitwall::store::schema_test {
namespace {

using ::testing::HasSubstr;

class Migrate : public ::testing::Test {
 protected:
  void SetUp() override {
    auto connection = Connection::open(folder_ / "a.pitwall", OpenMode::createFile);
    ASSERT_TRUE(connection.has_value());
    connection_ = std::move(*connection);
    const Status made = createSchema(connection_);
    ASSERT_TRUE(made.has_value()) << made.error().message;
  }

  std::int64_t version() { return connection_.integer("PRAGMA user_version").value(); }
  std::int64_t columnsOfMeta() {
    return connection_.integer("SELECT count(*) FROM pragma_table_info('meta')").value();
  }

  test::TempFolder folder_;
  Connection connection_;
};

constexpr Migration kSteps[] = {{1, "ALTER TABLE meta ADD COLUMN note TEXT"},
                                {2, "ALTER TABLE meta ADD COLUMN more TEXT; UPDATE meta SET more = 'x'"},
                                {3, "ALTER TABLE nothing ADD COLUMN broken TEXT"}};

TEST_F(Migrate, ANewFileHasTheNewestVersion) {
  EXPECT_EQ(version(), kSchemaVersion);
  EXPECT_EQ(connection_.integer("PRAGMA application_id").value(), kApplicationId);
  EXPECT_EQ(connection_.text("PRAGMA journal_mode").value(), "wal");
  EXPECT_TRUE(migrate(connection_, kSchemaVersion, migrations()).has_value());
  EXPECT_EQ(version(), kSchemaVersion);
}

TEST_F(Migrate, TakesEachStepInOrder) {
  ASSERT_TRUE(migrate(connection_, 3, kSteps).has_value());
  EXPECT_EQ(version(), 3);
  EXPECT_EQ(columnsOfMeta(), 4);
}

TEST_F(Migrate, StartsWhereTheFileIs) {
  ASSERT_TRUE(migrate(connection_, 2, kSteps).has_value());
  EXPECT_EQ(columnsOfMeta(), 3);
  ASSERT_TRUE(migrate(connection_, 3, kSteps).has_value());
  EXPECT_EQ(columnsOfMeta(), 4);
}

TEST_F(Migrate, ChangesNothingWhenAStepFails) {
  const Status status = migrate(connection_, 4, kSteps);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(version(), 1);
  EXPECT_EQ(columnsOfMeta(), 2);
}

TEST_F(Migrate, RefusesAGapAndANewerFile) {
  ASSERT_TRUE(connection_.execute("PRAGMA user_version = 3").has_value());
  Status status = migrate(connection_, 5, std::span(kSteps).first(2));
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::versionMismatch);
  status = migrate(connection_, 2, kSteps);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::versionMismatch);
  EXPECT_THAT(status.error().message, HasSubstr("newer Pitwall"));
  EXPECT_EQ(version(), 3);
}

// Each version below the current one needs its step.
TEST_F(Migrate, TheListIsComplete) {
  ASSERT_EQ(migrations().size(), static_cast<std::size_t>(kSchemaVersion - 1));
  for (int i = 0; i < kSchemaVersion - 1; ++i)
    EXPECT_EQ(migrations()[static_cast<std::size_t>(i)].from, i + 1);
}

}  // namespace
}  // namespace pitwall::store::schema_test
