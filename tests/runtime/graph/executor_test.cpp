// Executors: fused and not, on both backends, with every plan of memory.
#include "runtime/executor.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <omp.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "db/reader.h"
#include "tests/runtime/graph/executor_check.h"
#include "tests/runtime/session/session_fixture.h"
#include "tests/support/temp_folder.h"
#include "tests/support/thread_ids.h"

namespace pitwall::test::executor_test {
namespace {

using Arrays = ArraysByName;
using Settings = ProgramSettings;
using Values = OutputValues;
using testing::HasSubstr;
using testing::IsEmpty;

std::unique_ptr<Executor> bindTo(Session& session, const Symbol& symbol, const Arrays& arrays) {
  auto bound = Executor::bind(session, symbol, arrays);
  EXPECT_TRUE(bound.has_value()) << bound.error().message;
  return bound.has_value() ? std::move(*bound) : nullptr;
}

Values run(Session& session, const Symbol& symbol, const Shape& data) {
  const auto executor = bindTo(session, symbol, arraysOf(session, symbol, data));
  if (executor == nullptr) return {};
  EXPECT_TRUE(executor->forward().has_value());
  return valuesOf(*executor);
}

const Shape kImages{2, 3, 12, 10};

TEST(ExecutorTest, FusedOrNotOnEitherBackendTheResultIsTheSame) {
  const Symbol net = network();
  const Symbol symbol = Symbol::group({net, *net.internals().find("sum2_output")});
  const auto plain = run(*open("reference", {{"MXNET_SUBGRAPH_BACKEND", "NONE"}}), symbol, kImages);
  ASSERT_EQ(plain.size(), 2U);
  for (const char* backend : {"reference", "onednn"}) {
    expectNear(run(*open(backend), symbol, kImages), plain, 1e-4F);
    expectNear(run(*open(backend, {{"MXNET_SUBGRAPH_BACKEND", "NONE"}}), symbol, kImages), plain, 1e-4F);
  }
  for (const char* fusion : {"NONE", "MKLDNN"})
    expectNear(run(*open("onednn", {{"MXNET_SUBGRAPH_BACKEND", fusion}, {"PITWALL_MEASURE_KERNELS", "1"}}),
                   symbol, kImages),
               plain, 1e-4F);
}

// Convolution along one axis, a split with several outputs, and functions of each element.
TEST(ExecutorTest, SequencesAndParts) {
  Symbol body = node("Convolution", "conv", {Symbol::variable("data")},
                     {{"kernel", "(3,)"}, {"num_filter", "16"}, {"pad", "(1,)"}});
  body = relu("relu", node("BatchNorm", "bn", {body}, {{"fix_gamma", "False"}}));
  body = node("Pooling", "pool", {body}, {{"kernel", "(2,)"}, {"stride", "(2,)"}, {"pool_type", "sum"}});
  const Symbol parts = node("SliceChannel", "parts", {body}, {{"num_outputs", "2"}});
  body = node("elemwise_mul", "product",
              {parts[0], node("_plus_scalar", "above", {parts[1]}, {{"scalar", "1"}})});
  const Symbol shifted = node("_plus_scalar", "positive", {relu("again", body)}, {{"scalar", "2"}});
  const Symbol symbol = Symbol::group({node("log_softmax", "scores", {body}, {{"axis", "1"}}),
                                       node("_rdiv_scalar", "inverse", {shifted}, {{"scalar", "3"}})});
  const Shape data{2, 3, 20};
  const auto plain = run(*open("reference", {{"MXNET_SUBGRAPH_BACKEND", "NONE"}}), symbol, data);
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_EQ(plain[0].size(), 2U * 8 * 10);
  for (const char* backend : {"reference", "onednn"})
    expectNear(run(*open(backend), symbol, data), plain, 1e-4F);
}

TEST(ExecutorTest, NeighboursThatAreFusedAreOneKernel) {
  const auto session = open("onednn");
  const auto executor = bindTo(*session, network(), arraysOf(*session, network(), kImages));
  const std::string plan = executor->describePlan();
  for (const char* part :
       {"conv1+bn1+relu1", "conv2+bn2+sum1+relu2", "bn3+relu3", "conv3+sum2", "conv4+relu4", "fc1+relu5"})
    EXPECT_THAT(plan, HasSubstr(part));
  const auto apart = open("onednn", {{"MXNET_SUBGRAPH_BACKEND", "NONE"}, {"MXNET_USE_FUSION", "0"}});
  const auto unfused = bindTo(*apart, network(), arraysOf(*apart, network(), kImages));
  EXPECT_THAT(unfused->describePlan(), testing::Not(HasSubstr("+")));
}

// What the convolution alone reads of a BatchNorm is never whole in memory where that is large.
TEST(ExecutorTest, ALargeBatchNormIsComputedInPieces) {
  const Symbol data = Symbol::variable("data");
  const Symbol first = convolution("conv1", data, 16);
  const Symbol before = relu("relu1", node("BatchNorm", "bn1", {first}, {{"fix_gamma", "False"}}));
  const Symbol narrow = relu("relu2", convolution("conv2", before, 2));
  const Symbol symbol = node("elemwise_add", "sum1", {convolution("conv3", narrow, 16), first});
  const auto planOf = [&](const ProgramSettings& settings, std::int64_t batch, Values* values) {
    const auto session = open("onednn", settings);
    const auto executor = bindTo(*session, symbol, arraysOf(*session, symbol, {batch, 3, 130, 130}));
    EXPECT_TRUE(executor->forward().has_value());
    if (values != nullptr) *values = valuesOf(*executor);
    return std::pair(executor->describePlan(), executor->memory().planned);
  };
  Values joined, apart;
  const auto [plan, planned] = planOf({}, 5, &joined);
  EXPECT_THAT(plan, HasSubstr("bn1+relu1+conv2+relu2"));
  const auto [longer, more] = planOf({{"MXNET_SUBGRAPH_BACKEND", "NONE"}}, 5, &apart);
  expectNear(joined, apart, 1e-4F);
  const auto single = planOf({{"MXNET_DISABLE_MKLDNN_FUSE_CONV_BN", "1"}}, 5, nullptr);
  EXPECT_THAT(single.first, HasSubstr("bn1+relu1:"));
  EXPECT_LT(planned, single.second * 2 / 3) << "a block less";
  EXPECT_LT(planned, more);
  EXPECT_THAT(planOf({}, 1, nullptr).first, HasSubstr("bn1+relu1:")) << "one image is no batch";
}

// Sharing, and overwriting inputs, change no bit.
TEST(ExecutorTest, EveryPlanOfMemoryGivesTheSameBits) {
  const Symbol net = network(), inner = net.internals();
  const Symbol symbol = Symbol::group({net, *inner.find("relu1_output"), *inner.find("sum2_output")});
  for (const char* fusion : {"NONE", "MKLDNN"}) {
    Values first;
    Bytes least = 0, most = 0;
    for (const char* range : {"16", "1", "0"}) {
      for (const char* in_place : {"1", "0"}) {
        const auto session = open("onednn", {{"MXNET_SUBGRAPH_BACKEND", fusion},
                                             {"NNVM_EXEC_MATCH_RANGE", range},
                                             {"MXNET_EXEC_ENABLE_INPLACE", in_place}});
        const auto executor = bindTo(*session, symbol, arraysOf(*session, symbol, kImages));
        ASSERT_TRUE(executor->forward().has_value());
        const Executor::Memory memory = executor->memory();
        if (first.empty()) {
          first = valuesOf(*executor);
          least = memory.planned;
        }
        EXPECT_EQ(valuesOf(*executor), first) << fusion << " " << range << " " << in_place;
        EXPECT_LE(memory.planned, memory.unshared);
        most = memory.planned;
        if (std::string(range) + in_place == "00") {
          EXPECT_EQ(memory.planned, memory.unshared);
        }
      }
    }
    EXPECT_LT(least, std::string(fusion) == "NONE" ? most / 2 : most) << fusion;
  }
}

// The threads of the binding thread would make those of the workers sleep between their parallel regions.
TEST(ExecutorTest, BindingLeavesNoOpenMpThreads) {
  if (dlsym(RTLD_DEFAULT, "__kmpc_fork_call") != nullptr)
    GTEST_SKIP() << "libomp keeps its threads for the process, not for the thread that had them";
  const auto session = open("onednn", {{"PITWALL_MEASURE_KERNELS", "1"}});
  const Arrays arrays = arraysOf(*session, network(), Shape{4, 3, 12, 10});
  ASSERT_TRUE(session->engine().waitForAll().has_value());
  const auto before = threadIds();
  const int usual = omp_get_max_threads();
  omp_set_num_threads(4);
  const auto executor = bindTo(*session, network(), arrays);
  omp_set_num_threads(usual);
  // libgomp does not wait for the threads that a smaller team than the one before has no use for.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!threadsSince(before).empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_THAT(threadsSince(before), IsEmpty());
}

// The times in the file of measurements, rewritten, decide which of both sets of kernels is bound.
TEST(ExecutorTest, TheFasterSetOfConvolutionsIsTaken) {
  const TempFolder folder;
  const std::string path = folder / "kernels.txt";
  const Env kernel_choices("PITWALL_KERNEL_CHOICES", path);
  const auto planOf = [&](const char* measures) {
    const auto session = open("onednn", {{"PITWALL_MEASURE_KERNELS", measures}});
    return bindTo(*session, network(), arraysOf(*session, network(), kImages))->describePlan();
  };
  const std::string first_choice = planOf("0");
  (void)planOf("1");
  std::string problems;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) problems += line.substr(0, line.rfind('\t') + 1) + '\n';
  ASSERT_THAT(problems, HasSubstr("convolution"));
  const auto planWith = [&](const std::string& times) {
    std::string lines = problems;
    for (std::size_t at = 0; (at = lines.find("\t\n", at)) != lines.npos; at += times.size())
      lines.insert(at + 1, times);
    std::ofstream(path) << lines;
    return planOf("1");
  };
  EXPECT_EQ(planWith("0.001 0.002 0"), first_choice);
  EXPECT_EQ(planWith("0.001 0.00095 0"), first_choice) << "not clearly faster";
  EXPECT_THAT(planWith("0.002 0.001 0"), testing::Not(HasSubstr(" acdb "))) << "on blocked data";
}

// Each setting separates what it names, and nothing else.
TEST(ExecutorTest, SingleFusionsCanBeTurnedOff) {
  const Symbol symbol = network();
  const auto plain = run(*open("reference", {{"MXNET_SUBGRAPH_BACKEND", "NONE"}}), symbol, kImages);
  const std::map<std::string, std::vector<std::string>> kept{
      {"",
       {"conv1+bn1+relu1", "conv2+bn2+sum1+relu2", "bn3+relu3", "conv3+sum2", "conv4+relu4", "fc1+relu5"}},
      {"MXNET_DISABLE_MKLDNN_CONV_OPT", {"bn1+relu1", "bn3+relu3", "fc1+relu5"}},
      {"MXNET_DISABLE_MKLDNN_FUSE_CONV_BN",
       {"bn1+relu1", "bn3+relu3", "conv3+sum2", "conv4+relu4", "fc1+relu5"}},
      {"MXNET_DISABLE_MKLDNN_FUSE_CONV_RELU",
       {"conv1+bn1", "conv2+bn2+sum1", "bn3+relu3", "conv3+sum2", "fc1+relu5"}},
      {"MXNET_DISABLE_MKLDNN_FUSE_CONV_SUM",
       {"conv1+bn1+relu1", "conv2+bn2", "bn3+relu3", "conv4+relu4", "fc1+relu5"}},
      {"MXNET_DISABLE_MKLDNN_FC_OPT",
       {"conv1+bn1+relu1", "conv2+bn2+sum1+relu2", "bn3+relu3", "conv3+sum2", "conv4+relu4"}},
      {"MXNET_DISABLE_MKLDNN_FUSE_FC_ELTWISE",
       {"conv1+bn1+relu1", "conv2+bn2+sum1+relu2", "bn3+relu3", "conv3+sum2", "conv4+relu4"}}};
  for (const auto& [name, layers] : kept) {
    SCOPED_TRACE(name);
    Settings settings{{"MXNET_USE_FUSION", "0"}};
    if (!name.empty()) settings.emplace_back(name, "1");
    const auto session = open("onednn", settings);
    const auto executor = bindTo(*session, symbol, arraysOf(*session, symbol, kImages));
    std::vector<std::string> fused;
    std::istringstream plan(executor->describePlan());
    for (std::string word; plan >> word;)
      if (word.find('+') != word.npos) fused.push_back(word.substr(0, word.size() - 1));
    EXPECT_EQ(fused, layers);
    ASSERT_TRUE(executor->forward().has_value());
    expectNear(valuesOf(*executor), plain, 1e-4F);
  }
}

TEST(ExecutorTest, InputsAndWeightsThatAreWrittenLaterCount) {
  const auto session = open("onednn");
  const Symbol symbol = network();
  Arrays arrays = arraysOf(*session, symbol, kImages);
  const auto executor = bindTo(*session, symbol, arrays);
  ASSERT_TRUE(executor->forward().has_value());
  const Values before = valuesOf(*executor);
  for (const char* name : {"data", "conv2_weight", "bn1_moving_var", "fc2_bias", "bn3_gamma"}) {
    SCOPED_TRACE(name);
    auto values = *arrays[name].toVector();
    for (float& value : values) value = value * 0.5F + 0.25F;
    ASSERT_TRUE(arrays[name].copyFrom(values).has_value());
    ASSERT_TRUE(executor->forward().has_value());
    const Values after = valuesOf(*executor);
    EXPECT_NE(after, before);
    const auto anew = bindTo(*session, symbol, arrays);
    ASSERT_TRUE(anew->forward().has_value());
    EXPECT_EQ(valuesOf(*anew), after);
  }
}

TEST(ExecutorTest, OutputsThatAreArgumentsAndViews) {
  const auto session = open("onednn");
  const Symbol data = Symbol::variable("data");
  const Symbol flat = node("Flatten", "flat", {data});
  const Symbol conv = relu("relu", convolution("conv", data, 4));
  const Symbol symbol = Symbol::group({data, flat, conv, node("Flatten", "flat_conv", {conv})});
  const auto arrays = arraysOf(*session, symbol, kImages);
  const auto executor = bindTo(*session, symbol, arrays);
  ASSERT_NE(executor, nullptr);
  ASSERT_TRUE(executor->forward().has_value());
  const Values values = valuesOf(*executor);
  EXPECT_EQ(values[0], *arrays.at("data").toVector());
  EXPECT_EQ(values[1], values[0]);
  EXPECT_EQ(values[3], values[2]);
  EXPECT_EQ(executor->outputs()[1].shape(), (Shape{2, 360}));
  EXPECT_EQ(executor->outputs()[3].shape(), (Shape{2, 480}));
}

TEST(ExecutorTest, KernelsAreRecordedWithTheirLayers) {
  const TempFolder folder;
  for (const char* bulk : {"1", "0"}) {
    const std::string path = folder / (std::string("x") + bulk + ".pitwall");
    {
      const auto session = open("onednn", {{"MXNET_EXEC_BULK_EXEC_INFERENCE", bulk}}, path);
      const auto executor = bindTo(*session, network(), arraysOf(*session, network(), kImages));
      for (int i = 0; i < 3; ++i) ASSERT_TRUE(executor->forward().has_value());
      ASSERT_TRUE(session->finish().has_value());
    }
    const auto trace = Trace::open(path);
    ASSERT_TRUE(trace.has_value()) << trace.error().message;
    const auto rows = (*trace)->query(
        "SELECT count(*), min(o.flop), o.name FROM event e JOIN operator o ON o.id = e.operator "
        "WHERE o.layer = 'conv2+bn2+sum1+relu2'");
    ASSERT_TRUE(rows.has_value()) << rows.error().message;
    EXPECT_EQ(rows->rows[0][0], SqlValue{std::int64_t{3}}) << bulk;
    EXPECT_GT(std::get<std::int64_t>(rows->rows[0][1]), 2 * 2 * 16 * 12 * 10 * 16 * 9);
    EXPECT_EQ(rows->rows[0][2], SqlValue{std::string("Convolution")});
  }
}

TEST(ExecutorTest, InputsAreReplacedAndHeldResultsKept) {
  for (const bool overwrite : {true, false}) {
    const auto session = open("onednn");
    Arrays arrays = arraysOf(*session, network(), kImages);
    Executor::Options options;
    options.overwrite_outputs = overwrite;
    auto executor = Executor::bind(*session, network(), arrays, options);
    ASSERT_TRUE(executor.has_value()) << executor.error().message;
    ASSERT_TRUE((*executor)->forward().has_value());
    const NDArray held = (*executor)->outputs()[0];
    const std::vector<float> first = *held.toVector();

    const NDArray other = NDArray::fromValues(*session, kImages, std::vector<float>(2 * 3 * 12 * 10, 0.5F));
    ASSERT_TRUE((*executor)->replaceInput("data", other).has_value());
    ASSERT_TRUE((*executor)->forward().has_value());
    arrays["data"] = other;
    const auto expected = bindTo(*session, network(), arrays);
    ASSERT_TRUE(expected->forward().has_value());
    EXPECT_EQ(*(*executor)->outputs()[0].toVector(), *expected->outputs()[0].toVector());
    EXPECT_EQ(*held.toVector() == first, !overwrite);

    const Status weight = (*executor)->replaceInput("conv1_weight", other);
    ASSERT_FALSE(weight.has_value());
    EXPECT_THAT(weight.error().message, testing::HasSubstr("'conv1_weight' is no input of the executor"));
    const Status shape = (*executor)->replaceInput("data", held);
    ASSERT_FALSE(shape.has_value());
    EXPECT_THAT(shape.error().message, testing::HasSubstr("'data' must be 2x3x12x10 of float32"));
  }
}

TEST(ExecutorTest, MistakesAreMessages) {
  const auto session = open("onednn");
  const Symbol symbol = network();
  Arrays arrays = arraysOf(*session, symbol, kImages);
  const auto messageOf = [&](const Arrays& given) {
    const auto bound = Executor::bind(*session, symbol, given);
    return bound.has_value() ? std::string() : bound.error().message;
  };
  Arrays without = arrays;
  without.erase("conv2_weight");
  EXPECT_THAT(messageOf(without), HasSubstr("no array for 'conv2_weight' (16x16x3x3)"));
  without = arrays;
  without.erase("softmax_label");  // not needed
  EXPECT_EQ(messageOf(without), "");
  Arrays wrong = arrays;
  wrong["conv2_weight"] = NDArray::zeros(*session, {16, 16, 5, 5});
  EXPECT_THAT(messageOf(wrong), HasSubstr("conv2"));
  wrong = arrays;
  wrong["data"] = NDArray::zeros(*session, kImages, MemoryTag::data, Device{DeviceKind::cpu, 1});
  EXPECT_THAT(messageOf(wrong), HasSubstr("copy it there first"));
}

TEST(ExecutorTest, SettingsOfTheGraph) {
  const auto memoryWith = [](Settings settings) {
    const auto session = open("onednn", std::move(settings));
    return bindTo(*session, network(), arraysOf(*session, network(), kImages))->memory().planned;
  };
  // Of all ranges that the search tries none is better.
  const Bytes searched = memoryWith({{"NNVM_AUTO_SEARCH_MATCH_RANGE", "1"}});
  for (const char* range : {"1", "2", "4", "8", "16"})
    EXPECT_LE(searched, memoryWith({{"NNVM_EXEC_MATCH_RANGE", range}})) << range;
  const auto session = open("onednn", {{"MXNET_SUBGRAPH_BACKEND", "TensorRT"}});
  const auto refused = Executor::bind(*session, network(), arraysOf(*session, network(), kImages));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("MXNET_SUBGRAPH_BACKEND=TensorRT"));
}

// Chains, branches and sums at random: what shares memory must not be needed any more.
TEST(ExecutorTest, RandomGraphsGiveTheSameBitsWithAndWithoutSharing) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<Symbol> made{Symbol::variable("data")};
    const auto any = [&]() -> const Symbol& { return made[random() % made.size()]; };
    for (int i = 0; i < 14; ++i) {
      const std::string name = "n" + std::to_string(i);
      switch (random() % 5) {
        case 0: made.push_back(convolution(name, any(), 3)); break;
        case 1: made.push_back(relu(name, any())); break;
        case 2: made.push_back(node("clip", name, {any()}, {{"a_min", "-0.5"}, {"a_max", "0.5"}})); break;
        default: made.push_back(node("elemwise_add", name, {any(), any()})); break;
      }
    }
    const Symbol symbol = Symbol::group({made.back(), any(), any()});
    const Values plain = run(*open("onednn", {{"MXNET_SUBGRAPH_BACKEND", "NONE"},
                                              {"NNVM_EXEC_MATCH_RANGE", "0"},
                                              {"MXNET_EXEC_ENABLE_INPLACE", "0"}}),
                             symbol, {1, 3, 5, 7});
    EXPECT_EQ(run(*open("onednn", {{"MXNET_SUBGRAPH_BACKEND", "NONE"}}), symbol, {1, 3, 5, 7}), plain);
    expectNear(run(*open("onednn"), symbol, {1, 3, 5, 7}), plain, 1e-4F);
  }
}

}  // namespace
}  // namespace pitwall::test::executor_test
