// The peer: RapidJSON's SAX parser with SSE4.2, which visits every value of the file and keeps none.
#if defined(__SSE4_2__)
#define RAPIDJSON_SSE42
#elif defined(__SSE2__)
#define RAPIDJSON_SSE2
#endif
#include "tests/bench/peer_rapidjson.h"

#include <rapidjson/filereadstream.h>
#include <rapidjson/reader.h>

#include <cstdio>
#include <vector>

namespace pitwall::bench {

bool hasRapidJson() { return true; }

std::int64_t rapidJsonValues(const std::string& path) {
  struct Count : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Count> {
    std::int64_t values = 0;
    bool Default() { return ++values > 0; }
  };
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return -1;
  std::vector<char> buffer(std::size_t{1} << 20);
  rapidjson::FileReadStream stream(file, buffer.data(), buffer.size());
  rapidjson::Reader reader;
  Count count;
  const bool good = !reader.Parse(stream, count).IsError();
  std::fclose(file);
  return good ? count.values : -1;
}

}  // namespace pitwall::bench
