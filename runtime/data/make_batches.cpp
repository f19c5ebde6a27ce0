#include <fmt/format.h>

#include "db/try.h"
#include "runtime/data/direct_iterator.h"
#include "runtime/data/image_source.h"
#include "runtime/data/prefetch_iterator.h"

namespace pitwall::data {

Result<std::unique_ptr<BatchIterator>> makeBatches(Session& session, std::unique_ptr<BatchSource> source,
                                                   PrefetchOptions options) {
  if (options.threads < 0 || options.threads > 1024) {
    return fail(ErrorCode::invalidInput,
                fmt::format("prefetch_threads is {}: 0 to 1024 are allowed", options.threads));
  }
  if (options.threads == 0) {
    return std::unique_ptr<BatchIterator>(
        std::make_unique<DirectIterator>(session.profiler(), std::move(source)));
  }
  if (options.depth < 1 || options.depth > 1'000'000) {
    return fail(ErrorCode::invalidInput,
                fmt::format("prefetch_depth is {}: 1 to 1000000 are allowed", options.depth));
  }
  return std::unique_ptr<BatchIterator>(
      std::make_unique<PrefetchIterator>(session.profiler(), std::move(source), options));
}

Result<std::unique_ptr<BatchIterator>> makeBatches(Session& session, const ImageDataset& dataset,
                                                   BatchOptions options) {
  PITWALL_TRY(checkImages(dataset, options));
  return makeBatches(session, std::make_unique<ImageSource>(dataset, options),
                     PrefetchOptions{options.prefetch_threads, options.prefetch_depth});
}

}  // namespace pitwall::data
