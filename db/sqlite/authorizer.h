// What SQL from outside may do to an open trace: read everything, and make and fill temp tables.
#pragma once

namespace pitwall::store {

class TraceData;

// Holds as long as the connection; statements are judged when they are prepared, while data.user_statement.
void installAuthorizer(TraceData& data);

}  // namespace pitwall::store
