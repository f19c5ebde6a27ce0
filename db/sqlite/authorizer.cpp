#include "db/sqlite/authorizer.h"

#include <sqlite3.h>

#include <string_view>

#include "db/sqlite/trace_data.h"

namespace pitwall::store {

namespace {

bool isHarmlessPragma(std::string_view name) {
  for (const std::string_view known : {"table_info", "table_xinfo", "table_list", "index_list", "index_info",
                                       "function_list", "module_list", "compile_options"}) {
    if (sqlite3_strnicmp(name.data(), known.data(), static_cast<int>(known.size())) == 0 &&
        name.size() == known.size())
      return true;
  }
  return false;
}

int judge(void* context, int action, const char* first, const char* second, const char* database,
          const char*) {
  if (!static_cast<TraceData*>(context)->user_statement) return SQLITE_OK;
  const bool temp = database != nullptr && std::string_view(database) == "temp";
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_INDEX:
    case SQLITE_DROP_TEMP_VIEW: return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: return first != nullptr && isHarmlessPragma(first) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_REINDEX: return temp ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
  }
}

}  // namespace

void installAuthorizer(TraceData& data) { sqlite3_set_authorizer(data.connection().handle(), judge, &data); }

}  // namespace pitwall::store
