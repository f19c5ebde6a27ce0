#include "db/export/append_text.h"

#include <iterator>

namespace pitwall::exporting {

void appendFormatted(fmt::memory_buffer& out, fmt::string_view format, fmt::format_args arguments) {
  fmt::vformat_to(std::back_inserter(out), format, arguments);
}

}  // namespace pitwall::exporting
