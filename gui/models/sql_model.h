// The result of an SQL query as a table, and its execution: read-only, in the background,
// cancellable at any time.
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "db/mutex.h"
#include "db/reader.h"
#include "gui/models/background.h"

namespace pitwall::gui {

struct SqlAnswer {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlValue>> rows;  // of the last statement that yields any columns
  bool cut = false;                         // there were more than kMostRows
  std::string error;                        // empty: none
  double seconds = 0;

  static constexpr std::size_t kMostRows = 200'000;
};

// A trace opened for queries only. One query at a time; others wait.
class SqlSource {
 public:
  explicit SqlSource(std::string path) : path_(std::move(path)) {}
  // Opens the trace at the first call; runs the analyses when the query names their results.
  SqlAnswer run(const std::string& sql, const std::atomic<bool>& cancel);

 private:
  const std::string path_;
  Mutex mutex_;
  std::unique_ptr<Trace> trace_ PITWALL_GUARDED_BY(mutex_);
  bool analyzed_ PITWALL_GUARDED_BY(mutex_) = false;
};

class SqlModel final : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void setAnswer(std::shared_ptr<const SqlAnswer> answer);  // null: none
  const SqlAnswer* answer() const { return answer_.get(); }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;  // UserRole: the unformatted value
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;  // asynchronous; column -1: the original order

 private:
  const SqlValue& value(const QModelIndex& index) const;

  std::shared_ptr<const SqlAnswer> answer_;
  std::vector<std::uint32_t> order_;
  Background background_;
};

}  // namespace pitwall::gui
