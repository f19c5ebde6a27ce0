// Changes of devices, links and the engine, in small programs whose answers follow by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/analyzer/simulated.h"

namespace pitwall::test::simulate_changes_test {
namespace {

using testing::HasSubstr;

// A call of 5 at 41 launches a kernel, which starts 4 after the call's begin and runs until 65.
TEST(SimulatedChanges, AShorterLaunchStartsTheKernelEarlier) {
  const Simulated s(
      "repeat 8 100us\n"
      "iteration 0 32\n"
      "op step Count forward 1us 40us on=main\n"
      "work kernel gemm 45us 20us launch=41us\n"
      "call cudaStreamSynchronize 47us 20us\n"
      "end\n");
  EXPECT_EQ(s.after({"launch=0"}).middle_ns, 96'000);
  EXPECT_EQ(s.after({"launch=0.5"}).middle_ns, 98'000);
  EXPECT_EQ(s.after({"launch=1"}).middle_ns, 100'000);
  EXPECT_THAT(Simulated(kEngine).errorOf({"launch=0"}), HasSubstr("no calls that launch device work"));
}

// 1 us and 2 ns for each byte.
TEST(SimulatedChanges, TransfersTakeALatencyAndATimeForTheirBytes) {
  const Simulated s(
      "repeat 8 100us\n"
      "iteration 0 32\n"
      "op step Count forward 1us 40us on=main\n"
      "work copy Memcpy~HtoD 46us 3us launch=42us call=1us api=cudaMemcpyAsync bytes=1000\n"
      "work copy Memcpy~HtoD 49us 9us launch=44us call=1us api=cudaMemcpyAsync bytes=4000\n"
      "call cudaStreamSynchronize 47us 13us\n"
      "end\n");
  EXPECT_EQ(s.after({"bandwidth=2"}).middle_ns, 95'000);
  EXPECT_EQ(s.after({"latency=0"}).middle_ns, 98'000);
  EXPECT_EQ(s.after({"latency=2", "bandwidth=0.5"}).middle_ns, 112'000);
  const Simulated one(
      "repeat 8 100us\n"
      "iteration 0 32\n"
      "op step Count forward 1us 40us on=main\n"
      "work copy Memcpy~HtoD 46us 10us launch=42us call=1us api=cudaMemcpyAsync bytes=1000\n"
      "call cudaStreamSynchronize 47us 13us\n"
      "end\n");
  EXPECT_EQ(one.after({"bandwidth=2"}).low_ns, 95'000) << "all of it may be for the bytes";
  EXPECT_EQ(one.after({"bandwidth=2"}).high_ns, 100'000) << "or none";
  EXPECT_THAT(Simulated(kEngine).errorOf({"bandwidth=2"}),
              HasSubstr("no copies or collectives with their bytes"));
}

// As above, in a job of 4 ranks. With 8, a ring takes 7/3 of the steps and a tree 3/2, and 7/6 of the bytes are sent.
TEST(SimulatedChanges, MoreRanksTakeMoreStepsAndSendMoreBytes) {
  const auto job = [](const std::string& ranks, const std::string& name) {
    return "meta distributed.world_size " + ranks +
           "\n"
           "repeat 8 100us\n"
           "iteration 0 32\n"
           "op step Count forward 1us 40us on=main\n"
           "work communication " +
           name +
           " 46us 3us launch=42us call=1us api=cudaLaunchKernel bytes=1000\n"
           "work communication " +
           name +
           " 49us 9us launch=44us call=1us api=cudaLaunchKernel bytes=4000\n"
           "call cudaStreamSynchronize 47us 13us\n"
           "end\n";
  };
  const Simulated s(job("4", "ncclAllReduce"));
  const auto more = s.after({"ranks=8"});
  EXPECT_EQ(more.low_ns, 102'666);
  EXPECT_EQ(more.middle_ns, 103'500);
  EXPECT_EQ(more.high_ns, 104'334);
  EXPECT_EQ(s.after({"ranks=4"}).middle_ns, 100'000);
  EXPECT_LT(s.after({"ranks=2"}).high_ns, 100'000);
  EXPECT_EQ(s.after({"ranks=8", "latency=0"}).middle_ns, 99'666) << "the two changes of a transfer together";
  EXPECT_EQ(Simulated(job("4", "ncclSendRecv")).after({"ranks=8"}).middle_ns, 100'000) << "two ranks each";
  EXPECT_EQ(Simulated(job("4", "ncclAllGather")).after({"ranks=8"}).high_ns, 100'000 + 2667 + 13'333)
      << "each rank may bring as many bytes as now";
  EXPECT_THAT(Simulated(job("1", "ncclAllReduce")).errorOf({"ranks=8"}),
              HasSubstr("no collectives of several ranks"));
}

// The call that copies returns at 67, 2 after the copy's end. The kernel is launched at 68 and runs from 70 to 90.
TEST(SimulatedChanges, AsynchronousCopiesBlockTheHostNoLongerAndOverlapAtBest) {
  const Simulated s(
      "repeat 8 100us\n"
      "iteration 0 32\n"
      "op step Count forward 1us 39us on=main\n"
      "work copy Memcpy~HtoD~(Pageable~->~Device) 45us 20us launch=41us call=26us api=cudaMemcpyAsync "
      "bytes=1000\n"
      "work kernel gemm 70us 20us launch=68us call=1us\n"
      "call cudaStreamSynchronize 71us 21us\n"
      "end\n");
  const auto after = s.after({"copies=async"});
  EXPECT_EQ(after.high_ns, 95'000) << "the kernel starts when the copy ends";
  EXPECT_EQ(after.low_ns, 76'000) << "the kernel starts as soon as it is launched";
  EXPECT_THAT(Simulated(kEngine).errorOf({"copies=async"}), HasSubstr("no copies to a device"));
  // Copies that take longer than all else remain.
  EXPECT_EQ(s.after({"copies=async", "op:gemm=0", "op:Count=0", "op:Memcpy=4"}).low_ns, 80'000);
}

TEST(SimulatedChanges, TwoWorkersRunOperatorsSideBySide) {
  const std::string machine = "meta process.usable_cpus 4\nmeta process.openmp_threads 1\n";
  const Simulated s(machine + kEngine);
  EXPECT_EQ(s.after({"engine_workers=2"}).middle_ns, 80'000) << "the wait ends 2 after the longer one, at 42";
  EXPECT_EQ(s.after({"engine_workers=1"}).middle_ns, 100'000);
  EXPECT_EQ(s.after({"engine_workers=8"}).low_ns, 80'000);
  const Simulated full("meta process.usable_cpus 1\nmeta process.openmp_threads 1\n" + std::string(kEngine));
  EXPECT_GE(full.after({"engine_workers=2"}).high_ns, 100'000) << "there is one CPU";
}

// A worker computes two gradients, of which a store sums the first one from 40 to 60: the communicating thread is at it from 45 on.
std::string withExchange(const std::string& name) {
  return "meta process.usable_cpus 4\nmeta process.openmp_threads 1\nmeta distributed.world_size 2\n"
         "repeat 8 100us\n"
         "iteration 0 32\n"
         "op conv2 Convolution backward 10us 30us pushed=2us\n"
         "op conv2.weight " +
         name +
         " update 40us 20us pushed=3us after=conv2 on=cpu_0_asynchronous\n"
         "op conv1 Convolution backward 40us 4us pushed=4us\n"
         "span communication 45us 15us on=kvstore_communication\n"
         "span wait 6us 56us\n"
         "end\n";
}

TEST(SimulatedChanges, ExchangesOfAStoreNeedNoWorker) {
  const Simulated s(withExchange("KVStoreDistAllReduce"));
  EXPECT_EQ(s.after({"engine_workers=1"}).middle_ns, 100'000);
  EXPECT_EQ(s.after({"threads=2"}).low_ns, 85'000) << "the convolution before takes half of its time";
  EXPECT_EQ(s.after({"op:conv1=15"}).middle_ns, 140'000) << "the wait is for the worker then";
}

TEST(SimulatedChanges, ExchangesOfAStoreTakeMoreTimeAmongMoreRanks) {
  const Simulated s(withExchange("KVStoreDistAllReduce"));
  EXPECT_EQ(s.after({"ranks=2"}).middle_ns, 100'000);
  EXPECT_EQ(s.after({"ranks=4"}).high_ns, 130'000) << "3 times as many steps of a ring";
  EXPECT_EQ(s.after({"ranks=4"}).low_ns, 100'000) << "all of it may be for the data of another rank";
  EXPECT_EQ(s.after({"bandwidth=0.5"}).high_ns, 115'000);
  EXPECT_EQ(s.after({"bandwidth=3"}).low_ns, 90'000);
  EXPECT_EQ(s.after({"latency=0"}).low_ns, 85'000)
      << "what passes before the exchange begins is no part of it";
  EXPECT_THAT(s.after({"latency=0"}).notes,
              testing::Contains(HasSubstr("may wait for the data of other ranks")));
}

TEST(SimulatedChanges, RequestsToServersAreNoExchangesOfAllRanks) {
  const Simulated s(withExchange("KVStoreDistPush"));
  EXPECT_THAT(s.errorOf({"ranks=4"}), HasSubstr("no collectives of several ranks"));
  EXPECT_EQ(s.after({"bandwidth=0.5"}).high_ns, 115'000);
  EXPECT_THAT(Simulated(withExchange("KVStoreReduce")).errorOf({"bandwidth=2"}),
              HasSubstr("no copies or collectives"))
      << "within a process";
}

TEST(SimulatedChanges, OneTraceBoundsTheEffectOfThreadsAndOfTheBatch) {
  const Simulated s("meta process.usable_cpus 4\nmeta process.openmp_threads 2\n" + std::string(kEngine));
  const auto four = s.after({"threads=4"});
  EXPECT_EQ(four.low_ns, 75'000) << "in proportion";
  EXPECT_EQ(four.high_ns, 100'000) << "no effect";
  const auto one = s.after({"threads=1"});
  EXPECT_EQ(one.low_ns, 100'000);
  EXPECT_EQ(one.high_ns, 150'000);
  EXPECT_EQ(s.after({"threads=8"}).high_ns, 150'000) << "8 threads on 4 CPUs";
  EXPECT_EQ(s.after({"batch=x2"}).low_ns, 100'000);
  EXPECT_EQ(s.after({"batch=x2"}).high_ns, 150'000);
  EXPECT_THAT(s.after({"batch=x2"}).notes, testing::Contains(HasSubstr("2 times as many items")));
  EXPECT_THAT(s.errorOf({"batch=2"}), HasSubstr("'2' is not a value of batch=xF"));
  EXPECT_THAT(Simulated(kEngine).errorOf({"threads=4"}), HasSubstr("no number of threads"));
}

TEST(SimulatedChanges, LargerBulksSaveTheEnginesDelaysAtMost) {
  const Simulated s(kEngine);
  const auto ten = s.after({"bulk=8"});
  EXPECT_EQ(ten.low_ns, 93'000) << "8 before the first operator become 1";
  EXPECT_EQ(ten.high_ns, 100'000);
}

}  // namespace
}  // namespace pitwall::test::simulate_changes_test
