// The dialog that asks for a trace: of Pitwall, or of any tool whose format can be imported.
#pragma once

#include <QString>
#include <QWidget>

namespace pitwall::gui {

// The path; empty when the dialog was cancelled.
QString askForTrace(QWidget* parent, const QString& title);

// Any number of them.
QStringList askForTraces(QWidget* parent, const QString& title);

// The filters of the dialog, made from importFormats(): all formats first, then each, then all files.
QString traceFilters();

}  // namespace pitwall::gui
