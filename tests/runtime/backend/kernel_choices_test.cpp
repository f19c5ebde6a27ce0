// Measured choices: kept in a file for later processes on the same machine.
#include "runtime/backend/support/kernel_choices.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.h"

namespace pitwall::kernel_choices_test {
namespace {

using Keep = KernelChoices::Keep;

TEST(KernelChoices, AreThereForTheNextProcess) {
  const test::TempFolder folder;
  const std::string path = folder / "a/folder/kernels.txt";
  KernelChoices first(path, "processor 1");
  EXPECT_EQ(first.find("a problem"), std::nullopt);
  first.add("a problem", "winograd", Keep::inFile);
  first.add("another", "direct", Keep::inFile);
  EXPECT_EQ(first.find("a problem"), "winograd");

  const KernelChoices later(path, "processor 1");
  EXPECT_EQ(later.find("a problem"), "winograd");
  EXPECT_EQ(later.find("another"), "direct");
}

TEST(KernelChoices, OfAnotherMachineAreIgnoredAndStay) {
  const test::TempFolder folder;
  const std::string path = folder / "kernels.txt";
  KernelChoices(path, "processor 1").add("a problem", "winograd", Keep::inFile);
  KernelChoices other(path, "processor 2");
  EXPECT_EQ(other.find("a problem"), std::nullopt);
  other.add("a problem", "direct", Keep::inFile);
  EXPECT_EQ(KernelChoices(path, "processor 1").find("a problem"), "winograd");
  EXPECT_EQ(KernelChoices(path, "processor 2").find("a problem"), "direct");
}

TEST(KernelChoices, TheLastOfAProblemCounts) {
  const test::TempFolder folder;
  const std::string path = folder / "kernels.txt";
  KernelChoices(path, "p").add("a problem", "direct", Keep::inFile);
  KernelChoices(path, "p").add("a problem", "winograd", Keep::inFile);
  EXPECT_EQ(KernelChoices(path, "p").find("a problem"), "winograd");
}

TEST(KernelChoices, OfADisturbedMeasurementEndWithTheProcess) {
  const test::TempFolder folder;
  const std::string path = folder / "kernels.txt";
  KernelChoices choices(path, "p");
  choices.add("a problem", "direct", Keep::inMemory);
  EXPECT_EQ(choices.find("a problem"), "direct");
  EXPECT_EQ(KernelChoices(path, "p").find("a problem"), std::nullopt);
}

TEST(KernelChoices, LinesThatAreNoChoicesAreIgnored) {
  const test::TempFolder folder;
  const std::string path = folder / "kernels.txt";
  std::ofstream(path) << "\n\t\np\nno tabs at all\np\ta problem\tdirect\np\tcut";
  const KernelChoices choices(path, "p");
  EXPECT_EQ(choices.find("a problem"), "direct");
  EXPECT_EQ(choices.find("cut"), std::nullopt);
}

TEST(KernelChoices, WithoutAWritableFileLastAsLongAsTheProcess) {
  const test::TempFolder folder;
  for (const std::string& path : {std::string(), folder / ".", std::string("/proc/none/kernels.txt")}) {
    KernelChoices choices(path, "p");
    choices.add("a problem", "direct", Keep::inFile);
    EXPECT_EQ(choices.find("a problem"), "direct") << path;
  }
}

}  // namespace
}  // namespace pitwall::kernel_choices_test
