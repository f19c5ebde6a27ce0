#include "db/sqlite/event_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "db/try.h"

namespace pitwall::store {

namespace {

constexpr char kInsert[] =
    "INSERT INTO event_summary(id, last_start_ns, group_count, group_name, group_kind, group_events, "
    "group_total,"
    " group_min, group_max, node_count, node_depth, node_start, node_end, node_events, node_total, "
    "node_longest,"
    " node_name, node_row) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
    "?17, ?18)";
constexpr char kGroups[] =
    "SELECT last_start_ns, group_count, group_name, group_kind, group_events, group_total, group_min, "
    "group_max"
    " FROM event_summary WHERE id = ?1";
constexpr char kNodes[] =
    "SELECT last_start_ns, node_count, node_depth, node_start, node_end, node_events, node_total, "
    "node_longest,"
    " node_name, node_row FROM event_summary WHERE id = ?1";

using GroupMember = std::int64_t EventGroup::*;
constexpr GroupMember kGroupColumns[] = {&EventGroup::name,     &EventGroup::kind,     &EventGroup::events,
                                         &EventGroup::total_ns, &EventGroup::least_ns, &EventGroup::most_ns};
using NodeMember = std::int64_t EventNode::*;
constexpr NodeMember kNodeColumns[] = {&EventNode::depth,  &EventNode::start_ns, &EventNode::end_ns,
                                       &EventNode::events, &EventNode::total_ns, &EventNode::longest_ns,
                                       &EventNode::name,   &EventNode::row};

}  // namespace

Result<EventSummaryWriter> EventSummaryWriter::create(Connection& connection) {
  Statement insert = PITWALL_TRY(connection.prepare(kInsert));
  EventSummaryWriter writer;
  writer.insert_ = std::move(insert);
  writer.encoded_.resize(std::size(kGroupColumns) + std::size(kNodeColumns));
  return writer;
}

Status EventSummaryWriter::write(std::int64_t chunk, const EventSummary& summary) {
  insert_.bind(1, chunk).bind(2, summary.last_start_ns);
  std::size_t next = 0;
  int parameter = 3;
  const auto bindRows = [&](const auto& rows, const auto& columns) {
    insert_.bind(parameter++, static_cast<std::int64_t>(rows.size()));
    for (const auto column : columns) {
      if (rows.empty()) {
        insert_.bindNull(parameter++);
        continue;
      }
      column_.clear();
      for (const auto& row : rows) column_.push_back(row.*column);
      encoder_.encode(column_, ColumnShape::scattered, encoded_[next]);
      insert_.bindBlob(parameter++, encoded_[next++]);
    }
  };
  bindRows(summary.groups, kGroupColumns);
  bindRows(summary.nodes, kNodeColumns);
  return insert_.run();
}

template <class Row, class Columns>
Result<bool> EventSummaryReader::read(Statement& statement, const char* sql, std::int64_t chunk,
                                      std::vector<Row>& rows, TimeNs& last_start, const Columns& columns) {
  if (statement.handle() == nullptr) {
    Result<Statement> prepared = connection_.prepare(sql);
    if (!prepared.has_value()) return fail(damaged(chunk, prepared.error().message));
    statement = std::move(*prepared);
  }
  rows.clear();
  Result<bool> found = statement.bind(1, chunk).step();
  Status status;
  if (!found.has_value()) status = fail(damaged(chunk, found.error().message));
  const std::int64_t count = status.has_value() && *found ? statement.integer(1) : 0;
  if (count < 0 || count > kMaxChunkRows) status = fail(damaged(chunk, fmt::format("{} rows", count)));
  if (status.has_value() && count > 0) {
    last_start = statement.integer(0);
    rows.resize(static_cast<std::size_t>(count));
    column_.resize(rows.size());
    int at = 2;
    for (const auto column : columns) {
      if (Status decoded = decodeColumn(statement.blob(at++), column_); !decoded.has_value()) {
        status = fail(damaged(chunk, decoded.error().message));
        break;
      }
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*column = column_[i];
    }
  }
  statement.reset();
  PITWALL_TRY(status);
  return count > 0;
}

Result<bool> EventSummaryReader::groups(std::int64_t chunk, std::int64_t strings, EventSummary& into) {
  const bool found =
      PITWALL_TRY(read(groups_, kGroups, chunk, into.groups, into.last_start_ns, kGroupColumns));
  for (const EventGroup& group : into.groups) {
    if (group.name < 0 || group.name > strings)
      return fail(damaged(chunk, "a group has a name that does not exist"));
  }
  return found;
}

Result<bool> EventSummaryReader::nodes(std::int64_t chunk, std::int64_t events, std::int64_t strings,
                                       EventSummary& into) {
  const bool found = PITWALL_TRY(read(nodes_, kNodes, chunk, into.nodes, into.last_start_ns, kNodeColumns));
  for (const EventNode& node : into.nodes) {
    if (node.name < 0 || node.name > strings || node.row < 0 || node.row >= events || node.depth < 0 ||
        node.depth > 0xffff)
      return fail(damaged(chunk, "a node has a row, depth or name that does not exist"));
  }
  return found;
}

Error EventSummaryReader::damaged(std::int64_t chunk, const std::string& what) const {
  return {ErrorCode::corruptTrace,
          fmt::format("trace '{}' is damaged: event_summary {}: {}; record again, or restore a copy",
                      connection_.path(), chunk, what)};
}

}  // namespace pitwall::store
