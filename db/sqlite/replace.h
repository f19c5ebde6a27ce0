// Puts a new database at the place of an old one.
#pragma once

#include <string>

#include "db/result.h"

namespace pitwall::store {

// Whether the database at `path` is being written or read: then its side files must not be removed. Errors: io.
Status checkUnused(const std::string& path);

// Gives the finished database at `draft` its name. Side files of an old one are removed first: SQLite would use its log
// with the new file. Errors: io.
Status moveIntoPlace(const std::string& draft, const std::string& path);

// "cannot write trace 'PATH': REASON; REMEDY" for an errno.
Failure cannotWriteTrace(const std::string& path, int error);

}  // namespace pitwall::store
