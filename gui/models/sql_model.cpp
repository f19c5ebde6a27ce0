#include "gui/models/sql_model.h"

#include <QElapsedTimer>
#include <QFont>
#include <algorithm>
#include <numeric>

#include "analyzer/analysis.h"

namespace pitwall::gui {
namespace {

class AnswerCollector final : public SqlVisitor {
 public:
  AnswerCollector(SqlAnswer& answer, const std::atomic<bool>& cancel) : answer_(answer), cancel_(cancel) {}
  void columns(std::span<const std::string> names) override {
    answer_.columns.assign(names.begin(), names.end());
    answer_.rows.clear();
    answer_.cut = false;
  }
  bool row(std::span<const SqlValue> values) override {
    if (cancel_.load()) return false;
    answer_.cut = answer_.rows.size() >= SqlAnswer::kMostRows;
    if (!answer_.cut) answer_.rows.emplace_back(values.begin(), values.end());
    return !answer_.cut;
  }
  bool cancelled() override { return cancel_.load(); }

 private:
  SqlAnswer& answer_;
  const std::atomic<bool>& cancel_;
};

// As SQLite orders values of different types: null, numbers, text.
bool less(const SqlValue& a, const SqlValue& b) {
  const auto kind = [](const SqlValue& v) { return v.index() == 2 ? std::size_t{1} : v.index(); };
  if (kind(a) != kind(b)) return kind(a) < kind(b);
  if (kind(a) == 0) return false;
  if (kind(a) == 3) return std::get<std::string>(a) < std::get<std::string>(b);
  if (a.index() == 1 && b.index() == 1) return std::get<std::int64_t>(a) < std::get<std::int64_t>(b);
  const auto real = [](const SqlValue& v) {
    return v.index() == 1 ? static_cast<double>(std::get<std::int64_t>(v)) : std::get<double>(v);
  };
  return real(a) < real(b);
}

}  // namespace

SqlAnswer SqlSource::run(const std::string& sql, const std::atomic<bool>& cancel) {
  const ScopedLock lock(mutex_);
  SqlAnswer answer;
  QElapsedTimer timer;
  timer.start();
  const auto failed = [&](const Error& error) {
    answer.error = error.message;
    return answer;
  };
  if (!trace_) {
    auto opened = Trace::open(path_);
    if (!opened.has_value()) return failed(opened.error());
    trace_ = std::move(opened.value());
  }
  if (!analyzed_ && sql.find("analysis_") != std::string::npos) {
    AnalyzeOptions options;
    options.cancel = &cancel;
    if (auto report = analyzeTrace(*trace_, options); !report.has_value()) return failed(report.error());
    analyzed_ = true;
  }
  AnswerCollector collector(answer, cancel);
  if (Status status = trace_->visit(sql, {}, collector); !status.has_value()) return failed(status.error());
  answer.seconds = static_cast<double>(timer.nsecsElapsed()) * 1e-9;
  return answer;
}

void SqlModel::setAnswer(std::shared_ptr<const SqlAnswer> answer) {
  background_.cancel();
  beginResetModel();
  answer_ = std::move(answer);
  order_.resize(answer_ ? answer_->rows.size() : 0);
  std::iota(order_.begin(), order_.end(), 0U);
  endResetModel();
}

int SqlModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int SqlModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || !answer_ ? 0 : static_cast<int>(answer_->columns.size());
}

const SqlValue& SqlModel::value(const QModelIndex& index) const {
  return answer_
      ->rows[order_[static_cast<std::size_t>(index.row())]][static_cast<std::size_t>(index.column())];
}

QVariant SqlModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !answer_) return {};
  const SqlValue& held = value(index);
  if (role == Qt::TextAlignmentRole)
    return QVariant(held.index() == 3 ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::UserRole && role != Qt::ToolTipRole) return {};
  if (const auto* integer = std::get_if<std::int64_t>(&held)) return QVariant::fromValue<qlonglong>(*integer);
  if (const auto* real = std::get_if<double>(&held))
    return role == Qt::UserRole ? QVariant(*real) : QString::number(*real, 'g', 10);
  if (const auto* text = std::get_if<std::string>(&held)) {
    const QString whole = QString::fromStdString(*text);
    return role == Qt::UserRole ? whole : whole.left(role == Qt::ToolTipRole ? 2000 : 500).simplified();
  }
  return role == Qt::DisplayRole ? QVariant(QStringLiteral("NULL")) : QVariant(QString());
}

QVariant SqlModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role == Qt::InitialSortOrderRole && section >= 0 && section < columnCount() && !answer_->rows.empty()) {
    const bool is_text =
        std::holds_alternative<std::string>(answer_->rows[0][static_cast<std::size_t>(section)]);
    return is_text ? Qt::AscendingOrder : Qt::DescendingOrder;
  }
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= columnCount())
    return {};
  return QString::fromStdString(answer_->columns[static_cast<std::size_t>(section)]);
}

void SqlModel::sort(int column, Qt::SortOrder order) {
  if (!answer_ || column >= columnCount()) return;
  background_.ask(
      [answer = answer_, column, order](const std::atomic<bool>&) {
        std::vector<std::uint32_t> rows(answer->rows.size());
        std::iota(rows.begin(), rows.end(), 0U);
        if (column < 0) return rows;
        const auto at = static_cast<std::size_t>(column);
        std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
          const SqlValue &x = answer->rows[a][at], &y = answer->rows[b][at];
          return order == Qt::AscendingOrder ? less(x, y) : less(y, x);
        });
        return rows;
      },
      [this](std::vector<std::uint32_t> rows) {
        beginResetModel();
        order_ = std::move(rows);
        endResetModel();
      });
}

}  // namespace pitwall::gui
