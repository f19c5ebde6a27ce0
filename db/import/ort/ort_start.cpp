#include "db/import/ort/ort_start.h"

#include "db/import/chrome/chrome_event.h"

namespace pitwall::import {

// An array whose first event is one of the session, or (of a later part of a profile) of a node.
bool isOrtProfile(std::string_view start) {
  if (!start.starts_with('[')) return false;
  const std::size_t brace = start.find_first_not_of(" \t\r\n", 1);
  if (brace == std::string_view::npos || start[brace] != '{') return false;
  ChromeEvent event;
  if (parseEvent(start.substr(brace), event).status != JsonStatus::ok) return false;
  const std::string_view name = event.name.text;
  if (event.category.text == "Session")
    return name.starts_with("model_loading_") || name == "session_initialization" || name == "model_run" ||
           name == "SequentialExecutor::Execute";
  return event.category.text == "Node" && event.arg("op_name").type == JsonType::string &&
         name.ends_with("_time");
}

}  // namespace pitwall::import
