#include "db/findings.h"

#include <string_view>

#include "db/reader.h"
#include "db/sqlite/connection.h"

namespace pitwall {

namespace {

using store::Connection;
using store::Statement;

struct Inserts {
  Statement finding, proposal, evidence;
};

Result<Inserts> prepareInserts(Connection& connection) {
  Inserts inserts;
  struct Prepare {
    const char* sql;
    Statement& into;
  };
  for (const Prepare& p :
       {Prepare{"INSERT INTO finding(id, rule, title, severity, verdict, gain_low, gain_high, gain_method, "
                "guard, status)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                inserts.finding},
        Prepare{
            "INSERT INTO proposal(finding_id, name, current, proposed, reason) VALUES (?1, ?2, ?3, ?4, ?5)",
            inserts.proposal},
        Prepare{"INSERT INTO evidence(finding_id, row_json) VALUES (?1, ?2)", inserts.evidence}}) {
    Result<Statement> statement = connection.prepare(p.sql);
    if (!statement.has_value()) return fail(statement.error());
    p.into = std::move(*statement);
  }
  return inserts;
}

Status insertFinding(Inserts& into, std::int64_t rank, const FindingRow& row) {
  using Text = std::string_view;
  into.finding.bind(1, rank).bind(2, Text(row.id)).bind(3, Text(row.title)).bind(4, Text(row.severity));
  into.finding.bind(5, Text(row.verdict)).bind(6, row.gain_low).bind(7, row.gain_high);
  into.finding.bind(8, Text(row.gain_method)).bind(9, Text(row.guard)).bind(10, Text(row.status));
  if (Status status = into.finding.run(); !status.has_value()) return status;
  for (const FindingRow::Proposal& proposal : row.proposals) {
    into.proposal.bind(1, rank).bind(2, Text(proposal.name)).bind(3, Text(proposal.current));
    into.proposal.bind(4, Text(proposal.proposed)).bind(5, Text(proposal.reason));
    if (Status status = into.proposal.run(); !status.has_value()) return status;
  }
  for (const std::string& evidence : row.evidence) {
    into.evidence.bind(1, rank).bind(2, Text(evidence));
    if (Status status = into.evidence.run(); !status.has_value()) return status;
  }
  return {};
}

Status replaceAll(Connection& connection, std::span<const FindingRow> findings) {
  if (Status status = connection.execute("DELETE FROM evidence; DELETE FROM proposal; DELETE FROM finding;");
      !status.has_value())
    return status;
  Result<Inserts> inserts = prepareInserts(connection);
  if (!inserts.has_value()) return fail(inserts.error());
  std::int64_t rank = 0;
  for (const FindingRow& row : findings) {
    if (Status status = insertFinding(*inserts, ++rank, row); !status.has_value()) return status;
  }
  return {};
}

}  // namespace

Status saveFindings(const std::string& path, std::span<const FindingRow> findings) {
  // Opening it as a trace gives better errors than SQLite.
  if (Result<std::unique_ptr<Trace>> trace = Trace::open(path); !trace.has_value())
    return fail(trace.error());
  Result<Connection> connection = Connection::open(path, store::OpenMode::readWrite);
  if (!connection.has_value()) return fail(connection.error());
  if (Status status = connection->execute("BEGIN IMMEDIATE"); !status.has_value()) return status;
  Status status = replaceAll(*connection, findings);
  if (status.has_value()) status = connection->execute("COMMIT");
  if (!status.has_value()) (void)connection->execute("ROLLBACK");
  return status;
}

}  // namespace pitwall
