// Which threads of a process run Python, when they start and end.
#include <gtest/gtest.h>

#include "tests/analyzer/record/python_311.h"

namespace pitwall::record::python_threads_test {
namespace {

using python_311::Memory;

class PythonThreads : public python_311::Python311 {};

// A second thread, number 78: its state after that of the first.
TEST_F(PythonThreads, AThreadThatStartsOrEndsIsSeenByTheNextSearch) {
  ASSERT_TRUE(stacks_->findThreads());
  const Address second = memory_.take(256);
  memory_.put<std::uint64_t>(second + 160, 78);
  memory_.put(state_ + 8, second);
  ASSERT_TRUE(stacks_->findThreads());
  EXPECT_TRUE(stacks_->hasThread(78));
  memory_.put<std::uint64_t>(second + 160, 79);  // it has ended, another has its state
  ASSERT_TRUE(stacks_->findThreads());
  EXPECT_FALSE(stacks_->hasThread(78));
  EXPECT_TRUE(stacks_->hasThread(79));
  memory_.put<Address>(state_ + 8, 0);
  ASSERT_TRUE(stacks_->findThreads());
  EXPECT_FALSE(stacks_->hasThread(79));
  EXPECT_TRUE(stacks_->hasThread(77));
}

TEST_F(PythonThreads, AnInterpreterThatStartsIsSeenByOneOfTheNextSearches) {
  ASSERT_TRUE(stacks_->findThreads());
  const Address interpreter = memory_.take(64), state = memory_.take(256);
  memory_.put<std::uint64_t>(state + 160, 80);
  memory_.put(interpreter + 16, state);
  memory_.put(*memory_.value<Address>(runtime_ + 40), interpreter);
  for (int i = 0; i < 8; ++i) stacks_->findThreads();
  EXPECT_TRUE(stacks_->hasThread(80));
  EXPECT_TRUE(stacks_->hasThread(77));
}

// What could not be read once is read again.
TEST_F(PythonThreads, ASearchThatWasCutShortIsRepeated) {
  const Address outside = Memory::kBase + (1 << 20);
  memory_.put(state_ + 8, outside);
  ASSERT_TRUE(stacks_->findThreads());
  memory_.bytes.resize(2 << 20);
  memory_.put<std::uint64_t>(outside + 160, 78);
  ASSERT_TRUE(stacks_->findThreads());
  EXPECT_TRUE(stacks_->hasThread(78));
}

TEST_F(PythonThreads, LoopsOfThreadsAndInterpretersEnd) {
  int reads = 0;
  memory_.before_part = [&reads] { ++reads; };
  const Address interpreter = *memory_.value<Address>(runtime_ + 40);
  const auto readsOf = [&] {  // of a first search, which compares nothing with the last
    stacks_ = std::move(PythonStacks::create(memory_, frames_, runtime_, 11).value());
    reads = 0;
    stacks_->findThreads();
    return reads;
  };
  const int of_one_thread = readsOf();
  memory_.put(state_ + 8, state_);
  EXPECT_LE(readsOf(), of_one_thread + 2);
  memory_.put(interpreter, interpreter);
  EXPECT_LE(readsOf(), 64 * of_one_thread);
  memory_.put<std::uint64_t>(state_ + 160, 0);  // a thread without a number
  EXPECT_LE(readsOf(), 3 * 4096 + 64 * of_one_thread);
}

}  // namespace
}  // namespace pitwall::record::python_threads_test
