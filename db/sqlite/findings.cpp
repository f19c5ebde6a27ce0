#include "db/findings.h"

#include <string_view>

#include "db/reader.h"
#include "db/sqlite/connection.h"
#include "db/try.h"

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
    p.into = PITWALL_TRY(connection.prepare(p.sql));
  }
  return inserts;
}

Status insertFinding(Inserts& into, std::int64_t rank, const FindingRow& row) {
  using Text = std::string_view;
  into.finding.bind(1, rank).bind(2, Text(row.id)).bind(3, Text(row.title)).bind(4, Text(row.severity));
  into.finding.bind(5, Text(row.verdict)).bind(6, row.gain_low).bind(7, row.gain_high);
  into.finding.bind(8, Text(row.gain_method)).bind(9, Text(row.guard)).bind(10, Text(row.status));
  PITWALL_TRY(into.finding.run());
  for (const FindingRow::Proposal& proposal : row.proposals) {
    into.proposal.bind(1, rank).bind(2, Text(proposal.name)).bind(3, Text(proposal.current));
    into.proposal.bind(4, Text(proposal.proposed)).bind(5, Text(proposal.reason));
    PITWALL_TRY(into.proposal.run());
  }
  for (const std::string& evidence : row.evidence) {
    into.evidence.bind(1, rank).bind(2, Text(evidence));
    PITWALL_TRY(into.evidence.run());
  }
  return {};
}

Status replaceAll(Connection& connection, std::span<const FindingRow> findings) {
  PITWALL_TRY(connection.execute("DELETE FROM evidence; DELETE FROM proposal; DELETE FROM finding;"));
  Inserts inserts = PITWALL_TRY(prepareInserts(connection));
  std::int64_t rank = 0;
  for (const FindingRow& row : findings) {
    PITWALL_TRY(insertFinding(inserts, ++rank, row));
  }
  return {};
}

}  // namespace

Status saveFindings(const std::string& path, std::span<const FindingRow> findings) {
  // Opening it as a trace gives better errors than SQLite.
  PITWALL_TRY(Trace::open(path));
  Connection connection = PITWALL_TRY(Connection::open(path, store::OpenMode::readWrite));
  PITWALL_TRY(connection.execute("BEGIN IMMEDIATE"));
  Status status = replaceAll(connection, findings);
  if (status.has_value()) status = connection.execute("COMMIT");
  if (!status.has_value()) (void)connection.execute("ROLLBACK");
  return status;
}

}  // namespace pitwall
