#!/usr/bin/env bash
# The loop that Pitwall exists for: record, analyse, apply the environment file, run again. Whether it got faster is for
# the quickstart to measure; here, that the advice is applied and that the same recording gives the same findings.
source "$(dirname "$0")/lib.sh" "$@"
trace=$SCRATCH/lenet.pitwall env_file=$SCRATCH/lenet.env

# Twice the CPUs there are: a cause that the settings alone show, however fast or busy the machine is.
export OMP_NUM_THREADS=$((2 * $(nproc)))
expect 0 "images/s" env PITWALL_TRACE="$trace" MXNET_KVSTORE_BIGARRAY_BOUND=5000 MXNET_UPDATE_ON_KVSTORE=0 \
  "$TRAIN" --synthetic --steps 100
expect 0 "threads/more-than-cpus" "$PITWALL" analyze "$trace" --env "$env_file"
"$PITWALL" analyze "$trace" --format json >"$SCRATCH/first.json"
"$PITWALL" analyze "$trace" --format json >"$SCRATCH/second.json"
cmp -s "$SCRATCH/first.json" "$SCRATCH/second.json" || report_failure "two analyses of one trace differ"

# What rules about the kvstore read is in the recording: settings with their sources, one rank, no device. The runtime
# has no kvstore: its type is unknown, and no such setting is recommended.
facts=$("$PITWALL" query "$trace" "SELECT group_concat(value || ' ' || source, ', ') || ', ' || (
  SELECT coalesce(kvstore, 'no kvstore') || ', ' || ranks || ' rank, ' || devices || ' devices' FROM analysis_summary) FROM (
  SELECT value, source FROM analysis_setting WHERE name IN ('MXNET_ENABLE_GPU_P2P', 'MXNET_KVSTORE_BIGARRAY_BOUND',
  'MXNET_KVSTORE_REDUCTION_NTHREADS', 'MXNET_UPDATE_ON_KVSTORE') ORDER BY name)" | tail -n 1)
[ "$facts" = "1 default, 5000 environment, 4 default, 0 environment, no kvstore, 1 rank, 0 devices" ] ||
  report_failure "facts about the kvstore: $facts"
! grep -qE "^(# )?export MXNET_(KVSTORE|UPDATE_ON_KVSTORE)" "$env_file" || report_failure "a kvstore setting is recommended"

bash -n "$env_file" || report_failure "the environment file is not a shell script"
# What the user had set is proposed, not overridden.
grep -q "^# export OMP_NUM_THREADS=" "$env_file" || report_failure "the environment file proposes nothing: $(cat "$env_file")"
while read -r line; do
  grep -qE "^(#.*|export [A-Za-z_][A-Za-z_0-9]*=.*)?$" <<<"$line" || report_failure "environment file: unexpected '$line'"
done <"$env_file"

unset OMP_NUM_THREADS
sed -i "s/^# export /export /" "$env_file"
# Applied, the program reads every exported value: the new trace shows it as set by the environment.
(set -a; . "$env_file"; PITWALL_TRACE=$SCRATCH/after.pitwall "$TRAIN" --synthetic --steps 200 >/dev/null 2>&1) ||
  report_failure "training with the recommended settings failed"
if command -v sqlite3 >/dev/null; then
  while IFS='=' read -r name value; do
    name=${name#export }
    value=${value//[\'\"]/}
    got=$(sqlite3 "$SCRATCH/after.pitwall" "SELECT value || ' ' || source FROM (
      SELECT name, value, source FROM setting UNION ALL
      SELECT 'PITWALL_TUNE_' || name, value, source FROM tunable) WHERE name = '$name'")
    [ "$got" = "$value environment" ] || report_failure "$name=$value was exported, but the trace has '$got'"
    printf 'applied: %s=%s\n' "$name" "$value"
  done < <(grep '^export ' "$env_file")
fi
finish
