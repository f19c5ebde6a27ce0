// What a user's SQL may do to an open trace: read everything, and create and fill temp tables.
#pragma once

namespace pitwall::store {

class TraceData;

// Applies as long as the connection lives, to statements prepared while data.user_statement is true.
void installAuthorizer(TraceData& data);

}  // namespace pitwall::store
