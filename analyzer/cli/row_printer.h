// Prints rows of SQL: as a table, or as csv, tsv or json for programs.
#pragma once

#include <memory>
#include <string>

#include "db/reader.h"

namespace pitwall::cli {

class RowPrinter : public SqlVisitor {
 public:
  // After the last row; false when standard output could not be written.
  virtual bool finish() = 0;
};

// `format`: "text", "csv", "tsv" or "json". A text table is made to fit `width` columns by cutting the
// longest texts; 0 = as wide as it gets.
std::unique_ptr<RowPrinter> makeRowPrinter(const std::string& format, std::size_t width);

}  // namespace pitwall::cli
