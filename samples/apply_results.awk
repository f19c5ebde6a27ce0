# Writes measured results into a settings file of `pitwall analyze --env`, and withdraws settings that were
# not confirmed.
#
# awk -f apply_results.awk RESULTS FILE.env: a line of RESULTS is RULE, a tab, confirmed or withdrawn, a tab,
# and the comment: "predicted ..., measured ...". Prints the new file. Settings of a withdrawn rule stay, as
# comments.
BEGIN { FS = "\t" }
FILENAME == ARGV[1] { status[$1] = $2; reason[$1] = $3; next }
/^# Predicted, not tested/ {
  print "# Measured on this machine: settings that were not confirmed are withdrawn."
  next
}
/^# .*\[[^]]*\]$/ {
  rule = $0; sub(/.*\[/, "", rule); sub(/\]$/, "", rule)
  print
  if (rule in status) print "# " (status[rule] == "confirmed" ? "Confirmed: " : "Withdrawn: ") reason[rule] "."
  next
}
/^$/ { rule = "" }
/^export / && status[rule] == "withdrawn" { print "# " $0; next }
{ print }
