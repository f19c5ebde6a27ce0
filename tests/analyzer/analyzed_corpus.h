// A trace of the external corpus, imported and analysed, for tests.
#pragma once

#include "tests/analyzer/analyzed.h"
#include "tests/db/import/corpus.h"

namespace pitwall::test {

inline std::unique_ptr<Analyzed> analyzeCorpus(const std::string& name) {
  return analyzeFiles({corpusFolder() + "/" + name});
}

}  // namespace pitwall::test
