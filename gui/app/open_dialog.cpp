#include "gui/app/open_dialog.h"

#include <QFileDialog>
#include <QStringList>

#include "db/import.h"

namespace pitwall::gui {

QString traceFilters() {
  QStringList all, each;
  for (const auto& format : importFormats()) {
    QStringList patterns;
    for (const QString& pattern : QString::fromStdString(format.files).split(' ')) {
      patterns << pattern << pattern + ".gz" << pattern + ".zst";
    }
    all << patterns;
    // A bracket in a name would end it for the dialog.
    each << QString("%1 (%2)").arg(QString::fromStdString(format.name).remove("()"), patterns.join(' '));
  }
  all.removeDuplicates();
  each.prepend(QObject::tr("Traces (%1)").arg((all << "*.zip").join(' ')));
  each.append(QObject::tr("All files (*)"));
  return each.join(";;");
}

QStringList askForTraces(QWidget* parent, const QString& title) {
  return QFileDialog::getOpenFileNames(parent, title, {}, traceFilters());
}

QString askForTrace(QWidget* parent, const QString& title) {
  return QFileDialog::getOpenFileName(parent, title, {}, traceFilters());
}

}  // namespace pitwall::gui
