#include "runtime/backend/onednn/convolution_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "runtime/backend/onednn/fused.h"
#include "runtime/backend/onednn/openmp_limit.h"

namespace pitwall::onednn {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using Tag = dnnl::memory::format_tag;

// Images: of larger batches so many are measured, since an image takes as long in any of them.
constexpr std::int64_t kMeasuredImages = 4;
// After a first run that is not measured, each candidate runs until it has taken so long, so many times at least and at most.
constexpr int kLeastRounds = 3, kMostRounds = 8;
constexpr double kLongEnough = 0.02;  // seconds
// Where the median run takes longer than the fastest by this factor, other programs have disturbed the measurement.
constexpr double kDisturbed = 1.6;
constexpr char kDisturbedMark[] = " disturbed";

struct Candidate {
  ConvolutionForward primitive;
  int threads = 0;
  double seconds = std::numeric_limits<double>::infinity();
  bool disturbed = false;
};

dnnl::prop_kind kindOf(const Request& r) {
  return r.pass == Pass::inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
}

// The library's implementation of that number, empty when there are fewer. next_impl() changes the object that all copies of a
// primitive_desc share, and reads the desc that it was made of.
ConvolutionForward forwardIn(const Request& r, const ConvolutionProblem& p,
                             const dnnl::primitive_attr& attributes, dnnl::algorithm algorithm,
                             const Desc& data, const Desc& out, int number) {
  const dnnl::convolution_forward::desc desc(kindOf(r), algorithm, data, anyLayout(p.weight), p.biasDesc(),
                                             out, p.strides, p.dilates, p.pad_low, p.pad_high);
  ConvolutionForward found(desc, attributes, r.engine, true);
  for (; number > 0 && found; --number)
    if (!found.next_impl()) return {};
  return found;
}

Desc inTag(const Dims& dims, Tag tag) { return {dims, dnnl::memory::data_type::f32, tag}; }

// The implementations of one convolution.
class Candidates {
 public:
  Candidates(const ConvolutionDesc& d, const Request& r, const ConvolutionProblem& p)
      : desc_(d), request_(r), problem_(p), attributes_(fusedAttributes(d.activation, d.adds)) {}

  Candidate first() const { return {forward(kDirect, anyLayout(problem_.data), anyLayout(problem_.out), 0)}; }

  // Those on blocked data that are no simple loops; perhaps none.
  std::vector<Candidate> onBlockedData() const {
    std::vector<Candidate> found;
    // Few channels, those of images, stay as they are.
    const bool few = problem_.data[1] < 8;
    constexpr std::array kImages{Tag::nChw16c, Tag::nChw8c}, kLines{Tag::nCw16c, Tag::nCw8c};
    for (const Tag tag : problem_.data.size() == 3 ? kLines : kImages) {
      const ConvolutionForward direct = forward(
          kDirect, few ? rowMajor(problem_.data) : inTag(problem_.data, tag), inTag(problem_.out, tag), 0);
      if (!direct || rankOf(direct.impl_info_str()) < 2) continue;
      found.push_back({direct});
      break;
    }
    const OpenMpLimit limit(request_.options.winograd_threads);
    for (int i = 0;; ++i) {
      const ConvolutionForward winograd = forward(dnnl::algorithm::convolution_winograd,
                                                  anyLayout(problem_.data), anyLayout(problem_.out), i);
      if (!winograd || rankOf(winograd.impl_info_str()) < 2) break;
      found.push_back({winograd, request_.options.winograd_threads});
    }
    return found;
  }

  // What their times depend on, for KernelChoices.
  std::string describe() const {
    return fmt::format(
        "convolution {} {} to {} strides {} dilates {} pads {} {} bias {} adds {} activation {} "
        "threads {} of winograd {}",
        fmt::join(problem_.data, "x"), fmt::join(problem_.weight, "x"), fmt::join(problem_.out, "x"),
        fmt::join(problem_.strides, ","), fmt::join(problem_.dilates, ","), fmt::join(problem_.pad_low, ","),
        fmt::join(problem_.pad_high, ","), desc_.bias, desc_.adds, static_cast<int>(desc_.activation.type),
        omp_get_max_threads(), request_.options.winograd_threads);
  }

 private:
  ConvolutionForward forward(dnnl::algorithm algorithm, const Desc& data, const Desc& out, int number) const {
    return forwardIn(request_, problem_, attributes_, algorithm, data, out, number);
  }

  const ConvolutionDesc& desc_;
  const Request& request_;
  const ConvolutionProblem& problem_;
  const dnnl::primitive_attr attributes_;
};

// Runs primitives on memory that it allocates.
class Measurement {
 public:
  explicit Measurement(const dnnl::engine& engine) : engine_(engine), stream_(engine) {}

  // Of all candidates in turns, so that what disturbs the machine disturbs each.
  void run(std::vector<Candidate>& candidates) {
    std::vector<Prepared> prepared;
    for (const Candidate& c : candidates) prepared.push_back(prepare(c));
    for (Prepared& p : prepared) (void)time(p);
    std::vector<std::vector<double>> runs(candidates.size());
    for (int round = 0; round < kMostRounds; ++round)
      for (std::size_t i = 0; i < candidates.size(); ++i)
        if (round < kLeastRounds || std::reduce(runs[i].begin(), runs[i].end()) < kLongEnough)
          runs[i].push_back(time(prepared[i]));
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      std::sort(runs[i].begin(), runs[i].end());
      candidates[i].seconds = runs[i].front();
      candidates[i].disturbed = runs[i][runs[i].size() / 2] > kDisturbed * runs[i].front();
    }
  }

 private:
  struct Prepared {
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
    int threads;
  };

  dnnl::memory zeros(const Desc& desc) const {
    dnnl::memory memory(desc, engine_);
    if (desc.get_size() != 0) std::memset(memory.get_data_handle(), 0, desc.get_size());
    return memory;
  }

  Prepared prepare(const Candidate& c) const {
    const OpenMpLimit limit(c.threads);
    const ConvolutionForward& pd = c.primitive;
    Prepared prepared{dnnl::convolution_forward(pd), {}, c.threads};
    prepared.arguments = {{DNNL_ARG_SRC, zeros(pd.src_desc())},
                          {DNNL_ARG_WEIGHTS, zeros(pd.weights_desc())},
                          {DNNL_ARG_DST, zeros(pd.dst_desc())},
                          {DNNL_ARG_SCRATCHPAD, zeros(pd.scratchpad_desc())}};
    if (pd.bias_desc().get_size() != 0) prepared.arguments.emplace(DNNL_ARG_BIAS, zeros(pd.bias_desc()));
    return prepared;
  }

  // As when a network runs: other layers have been computed since the weight was read.
  double time(Prepared& prepared) {
    forgetPages();
    removeFromCaches(prepared.arguments.at(DNNL_ARG_WEIGHTS));
    const OpenMpLimit limit(prepared.threads);
    const auto begin = Clock::now();
    prepared.primitive.execute(stream_, prepared.arguments);
    stream_.wait();
    return Seconds(Clock::now() - begin).count();
  }

  // Leaves the pages of others in the processor's table of translations.
  void forgetPages() {
    constexpr std::size_t kPages = 16384, kPage = 4096;
    pages_.resize(kPages * kPage);
    for (std::size_t i = 0; i < pages_.size(); i += kPage) ++pages_[i];
  }

  // On other processors than x86 it stays there.
  static void removeFromCaches([[maybe_unused]] const dnnl::memory& memory) {
#if defined(__x86_64__)
    const auto* const data = static_cast<const std::byte*>(memory.get_data_handle());
    for (std::size_t i = 0; i < memory.get_desc().get_size(); i += 64) _mm_clflush(data + i);
    _mm_mfence();
#endif
  }

  const dnnl::engine& engine_;
  dnnl::stream stream_;
  std::vector<unsigned char> pages_;
};

// The times of the first implementation and of the fastest on blocked data, and the latter's number among the candidates. A
// measurement that other programs have disturbed is repeated by the next process.
struct Times {
  double first = 0, blocked = 0;
  int number = -1;  // there is none

  std::string text() const { return fmt::format("{:.9f} {:.9f} {}", first, blocked, number); }
  static std::optional<Times> of(const std::string& text) {
    Times times;
    if (text.ends_with(kDisturbedMark) ||
        std::sscanf(text.c_str(), "%lf %lf %d", &times.first, &times.blocked, &times.number) != 3)
      return std::nullopt;
    return times;
  }
};

Times measured(const Request& r, const std::string& problem, const Candidates& of) {
  std::vector<Candidate> candidates{of.first()};
  for (Candidate& c : of.onBlockedData()) candidates.push_back(std::move(c));
  Measurement(r.engine).run(candidates);
  Times times{.first = candidates[0].seconds, .blocked = candidates[0].seconds};
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (i > 1 && candidates[i].seconds >= times.blocked) continue;
    times.blocked = candidates[i].seconds;
    times.number = static_cast<int>(i) - 1;
  }
  const bool disturbed =
      std::any_of(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.disturbed; });
  if (disturbed && !r.choices->find(problem))
    r.choices->add(problem, times.text() + kDisturbedMark, KernelChoices::Keep::inFile);
  r.choices->add(problem, times.text(),
                 disturbed ? KernelChoices::Keep::inMemory : KernelChoices::Keep::inFile);
  return times;
}

}  // namespace

ChosenConvolution chooseConvolution(const ConvolutionDesc& d, const Request& r, const ConvolutionProblem& p) {
  using Implementation = ConvolutionDesc::Implementation;
  const auto first = [&] { return forwardOf(r, p, kindOf(r), fusedAttributes(d.activation, d.adds)); };
  if (r.choices == nullptr || d.implementation == Implementation::library) return {first()};
  ConvolutionProblem part = p;
  part.data[0] = part.out[0] =
      std::min(p.data[0], std::max<std::int64_t>(kMeasuredImages, omp_get_max_threads()));
  const Candidates candidates(d, r, part);
  const std::string problem = candidates.describe();
  std::optional<Times> times;
  if (const auto text = r.choices->find(problem)) times = Times::of(*text);
  if (!times) times = measured(r, problem, candidates);
  const double parts =
      static_cast<double>(p.data[0]) / static_cast<double>(std::max<std::int64_t>(1, part.data[0]));
  if (d.implementation == Implementation::blocked && times->number >= 0) {
    const std::vector<Candidate> all = Candidates(d, r, p).onBlockedData();
    if (const auto number = static_cast<std::size_t>(times->number); number < all.size())
      return {all[number].primitive, all[number].threads, parts * times->blocked};
  }
  return {first(), 0, parts * times->first};
}

}  // namespace pitwall::onednn
