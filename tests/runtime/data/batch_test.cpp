// Batches: contents and order, with and without prefetching, and their events in the trace.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "runtime/data.h"
#include "tests/support/memory_sink.h"

namespace pitwall::data::batch_test {
namespace {

std::unique_ptr<Session> openSession() {
  SessionOptions options;
  options.backend = "null";
  auto session = Session::open(options);
  EXPECT_TRUE(session.has_value()) << session.error().message;
  return std::move(session).value();
}

// Identifiable items: item i has pixel values i and label i % 251.
ImageDataset countingDataset(std::int64_t count) {
  ImageDataset dataset;
  dataset.count = count;
  dataset.height = 1;
  dataset.width = 2;
  for (std::int64_t i = 0; i < count; ++i) {
    dataset.pixels.push_back(static_cast<std::uint8_t>(i));
    dataset.pixels.push_back(static_cast<std::uint8_t>(i >> 8));
    dataset.labels.push_back(static_cast<std::uint8_t>(i % 251));
  }
  return dataset;
}

std::vector<Batch> epoch(BatchIterator& batches) {
  std::vector<Batch> all;
  for (;;) {
    Batch batch;
    const auto more = batches.next(batch);
    EXPECT_TRUE(more.has_value());
    if (!more.has_value() || !*more) return all;
    all.push_back(std::move(batch));
  }
}

std::unique_ptr<BatchIterator> open(Session& session, const ImageDataset& dataset,
                                    const BatchOptions& options) {
  auto batches = makeBatches(session, dataset, options);
  EXPECT_TRUE(batches.has_value()) << batches.error().message;
  return std::move(batches).value();
}

std::vector<float> labelsOf(const std::vector<Batch>& batches) {
  std::vector<float> labels;
  for (const Batch& batch : batches) labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
  return labels;
}

TEST(Batches, InOrderWithoutShuffling) {
  const auto session = openSession();
  const auto dataset = countingDataset(10);
  const auto batches = open(*session, dataset, {.batch_size = 4, .shuffle = false});
  const auto all = epoch(*batches);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].items, 4);
  EXPECT_EQ(all[2].items, 2) << "the rest";
  EXPECT_EQ(all[2].image_shape, (Shape{2, 1, 1, 2}));
  EXPECT_EQ(all[1].labels, (std::vector<float>{4, 5, 6, 7}));
  EXPECT_FLOAT_EQ(all[1].images[2], 5.0F / 255.0F);
  Batch untouched;
  untouched.items = 77;
  const auto more = batches->next(untouched);
  ASSERT_TRUE(more.has_value());
  EXPECT_FALSE(*more);
  EXPECT_EQ(untouched.items, 77);
}

TEST(Batches, DropsTheRestWhenAsked) {
  const auto session = openSession();
  const auto dataset = countingDataset(10);
  const auto batches = open(*session, dataset, {.batch_size = 4, .drop_last = true});
  EXPECT_EQ(epoch(*batches).size(), 2U);
}

TEST(Batches, ShufflingShowsEachItemOnceAndDiffersByEpochAndSeed) {
  const auto session = openSession();
  const auto dataset = countingDataset(250);
  const auto batches = open(*session, dataset, {.batch_size = 16, .seed = 5});
  const auto first = labelsOf(epoch(*batches));
  batches->reset();
  const auto second = labelsOf(epoch(*batches));
  EXPECT_EQ(std::set<float>(first.begin(), first.end()).size(), 250U);
  EXPECT_EQ(std::set<float>(second.begin(), second.end()).size(), 250U);
  EXPECT_NE(first, second);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  const auto again = open(*session, dataset, {.batch_size = 16, .seed = 5});
  EXPECT_EQ(labelsOf(epoch(*again)), first) << "the same seed";
  const auto other = open(*session, dataset, {.batch_size = 16, .seed = 6});
  EXPECT_NE(labelsOf(epoch(*other)), first) << "another seed";
  // Another batch size divides the same order differently.
  const auto larger = open(*session, dataset, {.batch_size = 100, .seed = 5});
  EXPECT_EQ(labelsOf(epoch(*larger)), first);
}

struct Prefetch {
  int threads, depth;
};
class PrefetchTest : public testing::TestWithParam<Prefetch> {};
INSTANTIATE_TEST_SUITE_P(Options, PrefetchTest,
                         testing::Values(Prefetch{1, 1}, Prefetch{1, 2}, Prefetch{2, 1}, Prefetch{3, 4},
                                         Prefetch{8, 64}),
                         [](const auto& p) {
                           return std::to_string(p.param.threads) + "threads" +
                                  std::to_string(p.param.depth) + "deep";
                         });

TEST_P(PrefetchTest, NeverChangesBatchesOrTheirOrder) {
  const auto session = openSession();
  const auto dataset = countingDataset(1003);
  BatchOptions options{.batch_size = 16, .seed = 9};
  const auto direct = open(*session, dataset, options);
  options.prefetch_threads = GetParam().threads;
  options.prefetch_depth = GetParam().depth;
  const auto ahead = open(*session, dataset, options);
  for (int e = 0; e < 3; ++e) {
    const auto expected = epoch(*direct), got = epoch(*ahead);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].labels, expected[i].labels) << "epoch " << e << " batch " << i;
      ASSERT_EQ(got[i].images, expected[i].images);
      ASSERT_EQ(got[i].image_shape, expected[i].image_shape);
    }
    Batch none;
    EXPECT_FALSE(*ahead->next(none));
    direct->reset();
    ahead->reset();
  }
}

TEST_P(PrefetchTest, EndsAndRestartsInTheMiddleOfAnEpoch) {
  const auto session = openSession();
  const auto dataset = countingDataset(1000);
  const BatchOptions options{
      .batch_size = 8, .prefetch_threads = GetParam().threads, .prefetch_depth = GetParam().depth};
  const auto direct = open(*session, dataset, {.batch_size = 8});
  direct->reset();
  const auto second_epoch = labelsOf(epoch(*direct));
  for (int taken = 0; taken < 20; ++taken) {
    const auto batches = open(*session, dataset, options);
    Batch batch;
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(*batches->next(batch));
    if (taken % 2 == 0) continue;  // destroyed in this state
    batches->reset();
    ASSERT_EQ(labelsOf(epoch(*batches)), second_epoch);
  }
}

// Produces batches of one label, its index; fails and throws at given indices; counts live objects.
class TestSource : public BatchSource {
 public:
  TestSource(std::int64_t count, std::set<std::int64_t> failing, std::set<std::int64_t> throwing = {})
      : count_(count), failing_(std::move(failing)), throwing_(std::move(throwing)) {}
  std::int64_t batchesPerEpoch() const override { return count_; }
  Status make(std::int64_t epoch_index, std::int64_t index, Batch& batch) override {
    begun = std::max(begun.load(), index + 1);
    if (failing_.count(index) != 0) {
      return fail(ErrorCode::io,
                  "batch " + std::to_string(index) + " of epoch " + std::to_string(epoch_index));
    }
    if (throwing_.count(index) != 0) throw std::runtime_error("thrown");
    batch.items = 1;
    batch.labels = {static_cast<float>(index)};
    return {};
  }
  std::atomic<std::int64_t> begun{0};

 private:
  const std::int64_t count_;
  const std::set<std::int64_t> failing_, throwing_;
};

class SourceErrors : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, SourceErrors, testing::Values(0, 1, 3));

TEST_P(SourceErrors, ComeAtTheirPlaceAndTheEpochGoesOn) {
  const auto session = openSession();
  auto batches = makeBatches(
      *session, std::make_unique<TestSource>(10, std::set<std::int64_t>{3, 4, 9}, std::set<std::int64_t>{6}),
      {.threads = GetParam(), .depth = 3});
  ASSERT_TRUE(batches.has_value());
  for (int e = 0; e < 2; ++e) {
    for (std::int64_t i = 0; i < 10; ++i) {
      Batch batch;
      const auto more = (*batches)->next(batch);
      if (i == 3 || i == 4 || i == 9) {
        ASSERT_FALSE(more.has_value());
        EXPECT_EQ(more.error().message, "batch " + std::to_string(i) + " of epoch " + std::to_string(e));
      } else if (i == 6) {
        ASSERT_FALSE(more.has_value());
        EXPECT_NE(more.error().message.find("thrown"), std::string::npos);
      } else {
        ASSERT_TRUE(more.has_value());
        ASSERT_TRUE(*more);
        EXPECT_EQ(batch.labels[0], static_cast<float>(i));
      }
    }
    Batch none;
    EXPECT_FALSE(*(*batches)->next(none));
    (*batches)->reset();
  }
}

TEST(Prefetch, NeverRunsFurtherAheadThanItsDepth) {
  const auto session = openSession();
  auto source = std::make_unique<TestSource>(100, std::set<std::int64_t>{});
  const TestSource& watched = *source;
  auto batches = makeBatches(*session, std::move(source), {.threads = 4, .depth = 5});
  ASSERT_TRUE(batches.has_value());
  Batch batch;
  for (std::int64_t taken = 0; taken < 50; ++taken) {
    if (taken % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_LE(watched.begun.load(), taken + 5);
    ASSERT_TRUE(*(*batches)->next(batch));
  }
}

TEST(PrefetchBatches, GivesWhatTheIteratorGives) {
  const auto session = openSession();
  for (const int depth : {1, 3, 50}) {
    auto inner = makeBatches(*session, std::make_unique<TestSource>(10, std::set<std::int64_t>{3}), {});
    ASSERT_TRUE(inner.has_value());
    auto batches = prefetchBatches(*session, std::move(*inner), depth);
    ASSERT_TRUE(batches.has_value());
    for (int e = 0; e < 3; ++e, (*batches)->reset()) {
      for (std::int64_t i = 0; i < 10; ++i) {
        Batch batch;
        const auto more = (*batches)->next(batch);
        ASSERT_EQ(more.has_value(), i != 3);
        if (i == 3) {
          EXPECT_EQ(more.error().message, "batch 3 of epoch " + std::to_string(e));
        } else {
          ASSERT_TRUE(*more);
          EXPECT_EQ(batch.labels[0], static_cast<float>(i));
        }
      }
      Batch none;
      EXPECT_FALSE(*(*batches)->next(none));
      EXPECT_FALSE(*(*batches)->next(none));
    }
  }
  EXPECT_FALSE(prefetchBatches(*session, nullptr, 0).has_value());
}

TEST(PrefetchBatches, EndsAndRestartsInTheMiddleOfAnEpoch) {
  const auto session = openSession();
  for (int taken = 0; taken < 20; ++taken) {
    auto inner = makeBatches(*session, std::make_unique<TestSource>(30, std::set<std::int64_t>{}), {});
    auto batches = prefetchBatches(*session, std::move(*inner), 4);
    Batch batch;
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(*(*batches)->next(batch));
    if (taken % 2 == 0) continue;  // destroyed in this state
    (*batches)->reset();
    ASSERT_TRUE(*(*batches)->next(batch));
    EXPECT_EQ(batch.labels[0], 0);
    ASSERT_TRUE(*(*batches)->next(batch));
    EXPECT_EQ(batch.labels[0], 1);
  }
}

TEST(Batches, ImpossibleOptionsAreRefused) {
  const auto session = openSession();
  const auto dataset = countingDataset(10);
  const auto refused = [&](const BatchOptions& options, const ImageDataset& images) {
    const auto batches = makeBatches(*session, images, options);
    EXPECT_FALSE(batches.has_value());
    return batches.has_value() ? std::string() : batches.error().message;
  };
  EXPECT_EQ(refused({.batch_size = 0}, dataset), "batch_size is 0: must be at least 1");
  EXPECT_EQ(refused({.prefetch_threads = -1}, dataset), "prefetch_threads is -1: 0 to 1024 are allowed");
  EXPECT_EQ(refused({.prefetch_threads = 1, .prefetch_depth = 0}, dataset),
            "prefetch_depth is 0: 1 to 1000000 are allowed");
  EXPECT_EQ(refused({.batch_size = 11, .drop_last = true}, dataset),
            "drop_last leaves nothing of 10 items in batches of 11");
  EXPECT_NE(refused({}, ImageDataset{}).find("0 items"), std::string::npos);
  ImageDataset broken = dataset;
  broken.labels.pop_back();
  EXPECT_NE(refused({}, broken).find("9 labels"), std::string::npos);
}

// --- the trace -----------------------------------------------------------------------------------------

class Forward : public test::MemorySink {
 public:
  explicit Forward(test::MemorySink& kept) : kept_(kept) {}
  ~Forward() override { kept_ = static_cast<test::MemorySink&>(*this); }

 private:
  test::MemorySink& kept_;
};

class RecordedBatches : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, RecordedBatches, testing::Values(0, 2));

TEST_P(RecordedBatches, SayWhoWaitedForWhom) {
  const auto session = openSession();
  test::MemorySink sink;
  ASSERT_TRUE(session->profiler().start(std::make_unique<Forward>(sink)).has_value());
  const auto dataset = countingDataset(100);
  {
    const auto batches = open(*session, dataset, {.batch_size = 16, .prefetch_threads = GetParam()});
    ASSERT_EQ(epoch(*batches).size(), 7U);
  }
  ASSERT_TRUE(session->profiler().stop().has_value());
  const auto waits = sink.eventsOf(EventKind::dataWait), works = sink.eventsOf(EventKind::dataWork);
  ASSERT_EQ(waits.size(), 7U) << "the end of the epoch is no wait";
  ASSERT_EQ(works.size(), 7U);
  ASSERT_EQ(sink.all_dependencies.size(), 7U);
  std::map<CorrelationId, Event> made, got;
  for (const Event& e : works) made[e.correlation] = e;
  for (const Event& e : waits) got[e.correlation] = e;
  std::int64_t items = 0;
  for (const Dependency& d : sink.all_dependencies) {
    EXPECT_EQ(d.kind, DependencyKind::batch);
    ASSERT_EQ(made.count(d.source), 1U);
    ASSERT_EQ(got.count(d.target), 1U);
    const Event& work = made[d.source];
    const Event& wait = got[d.target];
    EXPECT_EQ(work.value, wait.value) << "the same batch";
    EXPECT_LE(work.start_ns + work.dur_ns, wait.start_ns + wait.dur_ns);
    items += wait.value;
  }
  EXPECT_EQ(items, 100);
  std::set<std::string> tracks;
  for (const auto& [track, event] : sink.all_events) {
    if (event.kind == EventKind::dataWork) tracks.insert(sink.tracks.at(track.value - 1).name);
    if (event.kind == EventKind::dataWait) {
      EXPECT_EQ(sink.tracks.at(track.value - 1).name, "main");
      EXPECT_EQ(event.depth, 0);
    }
  }
  if (GetParam() == 0) {
    EXPECT_EQ(tracks, std::set<std::string>{"main"});
    for (const Event& e : works) EXPECT_EQ(e.depth, 1) << "inside the wait";
  } else {
    for (const std::string& name : tracks) EXPECT_EQ(name.substr(0, 9), "prefetch ");
  }
}

// --- digits --------------------------------------------------------------------------------------------

TEST(SyntheticDigits, AreDeterministicAndOfAllClasses) {
  const auto a = syntheticDigits(500, 1), b = syntheticDigits(500, 1), c = syntheticDigits(500, 2);
  EXPECT_EQ(a.pixels, b.pixels);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_NE(a.pixels, c.pixels);
  EXPECT_EQ(std::set<std::uint8_t>(a.labels.begin(), a.labels.end()).size(), 10U);
  EXPECT_EQ(a.count, 500);
  EXPECT_EQ(a.pixels.size(), 500U * 28 * 28);
}

// The nearest of 3000 known digits, by Euclidean distance: a classifier without training must be far better
// than chance, so that the set is learnable, but not perfect, so that it is not trivial.
TEST(SyntheticDigits, CanBeLearned) {
  const auto known = syntheticDigits(3000, 1), asked = syntheticDigits(200, 2);
  constexpr std::size_t kPixels = 28 * 28;
  int right = 0;
  for (std::size_t i = 0; i < asked.labels.size(); ++i) {
    std::int64_t nearest = INT64_MAX;
    std::uint8_t label = 0;
    for (std::size_t k = 0; k < known.labels.size(); ++k) {
      std::int64_t distance = 0;
      for (std::size_t p = 0; p < kPixels; ++p) {
        const int d = asked.pixels[i * kPixels + p] - known.pixels[k * kPixels + p];
        distance += d * d;
      }
      if (distance < nearest) {
        nearest = distance;
        label = known.labels[k];
      }
    }
    right += label == asked.labels[i] ? 1 : 0;
  }
  EXPECT_GT(right, 120);
  EXPECT_LT(right, 200);
}

}  // namespace
}  // namespace pitwall::data::batch_test
