// Predictions for small programs whose answers follow by hand, and what holds of every one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/analyzer/simulated.h"

namespace pitwall::test::simulate_test {
namespace {

using testing::HasSubstr;

TEST(Simulate, TheUnchangedProgramTakesTheRecordedTime) {
  const Simulated s(kLoop);
  EXPECT_TRUE(s.check().predictable) << s.check().why;
  EXPECT_EQ(s.check().recorded_ns, 100'000);
  EXPECT_EQ(s.check().replayed_usual_ns, 100'000);
  EXPECT_EQ(s.check().iterations, 5) << "without warm-up and the last";
  EXPECT_EQ(s.check().path.limit, "waiting for batches");
  EXPECT_EQ(s.after({}).middle_ns, 100'000);
}

TEST(Simulate, AFasterKernelSavesItsTimeUntilTheHostLimits) {
  const Simulated s(kLoop);
  EXPECT_EQ(s.after({"op:gemm=0.5"}).middle_ns, 90'000);
  EXPECT_EQ(s.after({"op:gemm=2"}).middle_ns, 120'000);
  EXPECT_EQ(s.after({"op:gemm=0"}).middle_ns, 82'000) << "the call begins at 47 and takes 2 at least";
  TimeNs before = 0;
  for (const char* change : {"op:gemm=0", "op:gemm=0.1", "op:gemm=0.3", "op:gemm=1", "op:gemm=3"}) {
    const auto after = s.after({change}).middle_ns;
    EXPECT_GE(after, before) << change << ": longer work never shortens an iteration";
    before = after;
  }
}

TEST(Simulate, WithoutWaitsForBatchesTheRestRemains) {
  const Simulated s(kLoop);
  const auto none = s.after({"data_wait=0"});
  EXPECT_EQ(none.middle_ns, 60'000);
  EXPECT_EQ(none.path.limit, "own code");
  EXPECT_EQ(s.after({"data_wait=0.5"}).middle_ns, 80'000);
  EXPECT_EQ(s.after({"data_wait=0", "op:gemm=0.5"}).middle_ns, 50'000) << "changes add up";
}

TEST(Simulate, WorkersHideTheMakingOfBatchesAsFarAsTheyKeepUp) {
  const Simulated s(kLoop);
  const auto one = s.after({"workers=1"});
  EXPECT_EQ(one.low_ns, 60'000) << "a batch takes 40 to make";
  EXPECT_GT(one.middle_ns, one.low_ns) << "they take CPU time from the program";
  EXPECT_LE(one.high_ns, 78'000) << "by 30 %";
  const Simulated slow(
      "repeat 8 100us\n"
      "iteration 0 32\n"
      "span data_wait 0 80us\n"
      "span data_work 0 80us\n"
      "op conv Convolution forward 80us 20us on=main\n"
      "end\n");
  EXPECT_EQ(slow.after({"workers=1"}).low_ns, 80'000) << "an iteration takes as long as the worker";
  EXPECT_EQ(slow.after({"workers=1"}).path.limit, "making batches");
  EXPECT_EQ(slow.after({"workers=2"}).low_ns, 40'000);
  EXPECT_EQ(slow.after({"workers=8"}).low_ns, 20'000) << "and as the rest";
}

// An iteration of 100 us: 40 for its batch, which the thread makes; a sample of its state within, and one after it.
std::string sampledLoading(int repetitions, const std::string& state) {
  return "repeat " + std::to_string(repetitions) +
         " 100us\n"
         "iteration 0 32\n"
         "span data_wait 0 40us\n"
         "span data_work 0 40us\n"
         "op conv Convolution forward 40us 60us on=main\n"
         "counter state - 20us " +
         state +
         " within=main\n"
         "counter state - 70us 0 within=main\n"
         "end\n";
}

TEST(Simulate, WorkersThatOnlyWaitTakeNoCpuFromTheProgram) {
  const auto four = [](const std::string& text) { return Simulated(text).after({"workers=4"}); };
  const auto computes = four(sampledLoading(400, "0"));
  const auto sleeps = four(sampledLoading(400, "4"));
  EXPECT_EQ(sleeps.low_ns, 60'000);
  EXPECT_LE(sleeps.high_ns, 61'500) << "1 % of a CPU at most";
  EXPECT_THAT(sleeps.notes, testing::Contains(HasSubstr("uses 0.0")));
  EXPECT_GE(computes.high_ns, 70'000) << "other cores, and passing the batch";
  EXPECT_THAT(computes.notes, testing::Not(testing::Contains(HasSubstr("By the samples"))));
  const auto half = four(sampledLoading(400, "0|4"));
  EXPECT_GT(half.high_ns, sleeps.high_ns);
  EXPECT_LT(half.high_ns, computes.high_ns);
  EXPECT_EQ(four(sampledLoading(20, "4")).high_ns, computes.high_ns) << "too few samples say nothing";
}

TEST(Simulate, OperatorsOfTheEngineWaitForTheirPushAndTheOneBefore) {
  const Simulated s(kEngine);
  EXPECT_TRUE(s.check().predictable) << s.check().why;
  EXPECT_EQ(s.check().replayed_usual_ns, 100'000);
  EXPECT_EQ(s.check().path.limit, "host work");
  EXPECT_EQ(s.after({"op:^conv=0.5"}).middle_ns, 85'000);
  EXPECT_EQ(s.after({"op:Activation=0"}).middle_ns, 80'000);
  EXPECT_EQ(s.after({"op:.=0"}).middle_ns, 52'000)
      << "the second push at 4, 8 until that operator starts, 2 until the thread goes on, 38 of own code";
}

TEST(Simulate, OperatorsOnTheTrainingThreadAreItsOwnWork) {
  const Simulated s(
      "repeat 8 100us\n"
      "iteration 0 32\n"
      "op conv Convolution forward 10us 30us pushed=9us on=main\n"
      "op relu Activation forward 45us 20us pushed=44us on=main\n"
      "span data_wait 70us 10us\n"
      "end\n");
  EXPECT_TRUE(s.check().predictable) << s.check().why;
  EXPECT_EQ(s.after({"op:conv=0.5"}).middle_ns, 85'000);
  EXPECT_EQ(s.after({"op:.=0", "data_wait=0"}).middle_ns, 40'000) << "own code stays";
}

TEST(Simulate, WhereOthersMakeTheBatchesTheWaitGoesAtBestAndStaysAtWorst) {
  const Simulated s(
      "repeat 8 100us\n"
      "iteration 0 32\n"
      "span data_wait 0 40us\n"
      "op conv Convolution forward 40us 60us on=main\n"
      "end\n");
  const auto four = s.after({"workers=4"});
  EXPECT_EQ(four.low_ns, 60'000);
  EXPECT_EQ(four.high_ns, 100'000);
  EXPECT_THAT(four.notes, testing::Contains(HasSubstr("is not recorded")));
}

TEST(Simulate, AChangeThatIsNoneIsNamedWithWhatThereIs) {
  const Simulated s(kLoop);
  EXPECT_THAT(s.errorOf({"speed=2"}),
              HasSubstr("'speed=2' is not a change that can be simulated; use one of data_wait=F"));
  EXPECT_THAT(s.errorOf({"workers=0"}), HasSubstr("'0' is not a value of workers=N"));
  EXPECT_THAT(s.errorOf({"workers=1.5"}), HasSubstr("'1.5' is not a value of workers=N"));
  EXPECT_THAT(s.errorOf({"data_wait=-1"}), HasSubstr("'-1' is not a value"));
  EXPECT_THAT(s.errorOf({"op:=1"}), HasSubstr("is not a change"));
  EXPECT_THAT(s.errorOf({"op:(=1"}), HasSubstr("'(' is not a regular expression"));
  EXPECT_THAT(s.errorOf({"op:winograd=1"}), HasSubstr("has a name with 'winograd'"));
  EXPECT_THAT(s.errorOf({"op:gemm=roofline"}), HasSubstr("this trace has no peak rates"));
  const Simulated without("repeat 8 100us\niteration 0 32\nop a Dense forward 0 90us on=main\nend\n");
  EXPECT_THAT(without.errorOf({"data_wait=0"}),
              HasSubstr("'data_wait=0': this trace has no wait for a batch"));
}

TEST(Simulate, OperatorsTakeAtLeastWhatTheMachineAllows) {
  const Simulated s(
      "meta roof.flop_per_second 1e9\n"
      "repeat 8 100us\n"
      "iteration 0 32\n"
      "op a Dense forward 0 90us on=main flop=30000\n"
      "op b Relu forward 90us 10us on=main\n"
      "end\n");
  EXPECT_EQ(s.after({"op:Dense=roofline"}).middle_ns, 40'000) << "30000 FLOP take 30 us";
  EXPECT_THAT(s.errorOf({"op:Relu=roofline"}), HasSubstr("no FLOP or bytes"));
}

TEST(Simulate, ATraceThatCannotBeReplayedSaysWhy) {
  const Simulated kernels("repeat 8 100us\niteration 0 32\nwork kernel a 0 90us\nend\n");
  EXPECT_FALSE(kernels.check().predictable);
  EXPECT_THAT(kernels.check().why, HasSubstr("no calls or operators of host threads"));
  EXPECT_THAT(kernels.errorOf({"op:a=0.5"}), HasSubstr("not predictable"));
  const Simulated lossy(std::string(kLoop) + "loss 400us 450us 7 ring~full\n");
  EXPECT_THAT(lossy.check().why, HasSubstr("events are missing"));
  const Simulated serialised("meta recorder.serialised_kernels 1\n" + std::string(kLoop));
  EXPECT_THAT(serialised.check().why, HasSubstr("one after the other"));
}

// An iteration of 400 us: a bulk of two operators, pushed at 10 and 11, launches work of 100 and 100; an update that uses
// its result starts 10 after it has ended and launches work of 30; 10 later the thread's wait ends.
TEST(Simulate, OperatorsOfTheEngineWaitForTheDevice) {
  const Simulated s(
      "repeat 8 400us\n"
      "iteration 0 32\n"
      "span wait 15us 295us\n"
      "span bulk 20us 20us on=gpu0_worker_0\n"
      "op a Convolution forward 20us 8us pushed=10us on=gpu0_worker_0\n"
      "op b Pooling forward 28us 8us pushed=11us after=a on=gpu0_worker_0\n"
      "work kernel conv 50us 100us launch=22us call=4us of=a calls=calls_of_gpu0_worker_0\n"
      "work kernel pool 150us 100us launch=30us call=4us of=b calls=calls_of_gpu0_worker_0\n"
      "op c sgd_mom_update update 260us 45us pushed=12us after=a on=gpu_0_asynchronous\n"
      "work kernel sgd 270us 30us launch=262us call=4us of=c calls=calls_of_gpu0_worker_0\n"
      "end\n");
  EXPECT_TRUE(s.check().predictable) << s.check().why;
  EXPECT_EQ(s.check().recorded_ns, 400'000);
  EXPECT_NEAR(static_cast<double>(s.check().replayed_usual_ns), 400e3, 2e3) << "with delays that are usual";
  EXPECT_EQ(s.after({"op:conv=0.5"}).middle_ns, 350'000);
  EXPECT_EQ(s.after({"op:pool=0"}).middle_ns, 300'000);
  EXPECT_NEAR(static_cast<double>(s.after({"op:pool=2", "op:sgd=0"}).middle_ns), 470e3, 2e3);
  EXPECT_EQ(s.check().path.limit, "device work");
}

// An operator is started on another stream at 40, when the work that it uses has begun: its own work waits for it, until 150.
TEST(Simulate, WorkOfOperatorsThatStartAheadWaitsOnItsStream) {
  const Simulated s(
      "repeat 8 400us\n"
      "iteration 0 32\n"
      "span wait 15us 295us\n"
      "op a Convolution forward 20us 130us pushed=10us on=gpu_0_asynchronous\n"
      "work kernel conv 50us 100us launch=22us call=4us of=a calls=calls_of_gpu0_worker_0 stream=1\n"
      "op c Convolution forward 150us 145us pushed=12us after=a on=gpu_0_asynchronous_2\n"
      "work kernel next 152us 143us launch=40us call=4us of=c calls=calls_of_gpu0_worker_1 stream=2\n"
      "end\n");
  EXPECT_TRUE(s.check().predictable) << s.check().why;
  EXPECT_NEAR(static_cast<double>(s.check().replayed_usual_ns), 400e3, 2e3);
  EXPECT_NEAR(static_cast<double>(s.after({"op:conv=0.5"}).middle_ns), 350e3, 2e3);
  EXPECT_NEAR(static_cast<double>(s.after({"op:next=0"}).middle_ns), 257e3, 2e3);
}

}  // namespace
}  // namespace pitwall::test::simulate_test
